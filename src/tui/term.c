/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/term.h"

#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/terminal.h"
#include "tui/terminfo.h"
#include "util/fail.h"
#include "util/text.h"

/* What an unknown terminal is taken for, the likeliest first. */
static const char *const fallbacks[] = { "xterm-256color", "xterm", "vt100", "ansi" };

static struct {
	SCREEN *screen;
	bool open;
	struct termios saved;
	char restore[256]; /* leaves the alternate screen, shows the cursor, plain text */
	size_t restore_len;
} term;

/* Whether there is a description of this terminal, built in ones included. */
static bool term_known(const char *name)
{
	const char *builtin;
	int err;

	if (setupterm(name, STDOUT_FILENO, &err) == OK) {
		del_curterm(cur_term);
		return true;
	}
	builtin = terminfo_builtin(name);
	if (!builtin)
		return false;
	setenv("TERMINFO", builtin, 1);
	if (setupterm(name, STDOUT_FILENO, &err) != OK)
		return false;
	del_curterm(cur_term);
	return true;
}

/* The name to use for this terminal, NULL: there is none. */
static const char *term_name(void)
{
	const char *name = getenv("TERM");

	if (name && *name && term_known(name))
		return name;
	for (size_t i = 0; i < sizeof(fallbacks) / sizeof(fallbacks[0]); i++)
		if (term_known(fallbacks[i]))
			return fallbacks[i];
	return NULL;
}

int term_check(void)
{
	const char *name = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fail(-ENOTTY, EXIT_STATUS_USAGE, "cannot draw a screen: not a terminal");
		fail_why("standard %s is not one", isatty(STDIN_FILENO) ? "output" : "input");
		fail_fix("use systop -b");
		return -ENOTTY;
	}
	if (name && !strcmp(name, "dumb")) {
		fail(-ENOTTY, EXIT_STATUS_USAGE, "cannot draw a screen: TERM is dumb");
		fail_why("a dumb terminal cannot place the cursor");
		fail_fix("use systop -b");
		return -ENOTTY;
	}
	if (!term_name()) {
		fail(-ENOTTY, EXIT_STATUS_RUNTIME, "no terminfo for this terminal");
		fail_why("neither TERM nor xterm-256color is described on this host");
		fail_fix("infocmp -x $TERM | ssh HOST tic -x -    # or: systop -b");
		return -ENOTTY;
	}
	return 0;
}

static void remember_text(const char *s)
{
	size_t len = strlen(s);

	if (term.restore_len + len <= sizeof(term.restore)) {
		memcpy(term.restore + term.restore_len, s, len);
		term.restore_len += len;
	}
}

static void remember(const char *capability)
{
	const char *s = tigetstr(capability);

	if (s && s != (char *)-1)
		remember_text(s);
}

/* Mouse reports off: what curses switches on, the terminal's description does not tell how to undo. */
static void remember_mouse(void)
{
	const char *s = tigetstr("kmous");

	if (s && s != (char *)-1)
		remember_text("\033[?1006;1000l");
}

/* If this process is killed, the starter restores what it is told here. */
static void tell_starter(void)
{
	struct terminal t = { .before = term.saved, .len = term.restore_len };

	memcpy(t.leave, term.restore, term.restore_len);
	if (!tcgetattr(STDIN_FILENO, &t.ours))
		helper_terminal(&t, STDOUT_FILENO);
}

int term_open(char *notice, int size)
{
	const char *want = getenv("TERM"), *name = term_name();

	*notice = '\0';
	if (!name || tcgetattr(STDIN_FILENO, &term.saved))
		return fail(-ENOTTY, EXIT_STATUS_RUNTIME, "cannot use the terminal");
	if (!want || strcmp(want, name)) {
		char safe[64];

		text_safe(safe, sizeof(safe), want ? want : "", want ? strlen(want) : 0);
		snprintf(notice, size, "no terminfo for TERM=%s; using %s", safe, name);
	}
	set_escdelay(25);
	term.screen = newterm(name, stdout, stdin);
	if (!term.screen)
		return fail(-ENOTTY, EXIT_STATUS_RUNTIME, "cannot use the terminal");
	term.open = true;
	remember_mouse();
	remember("sgr0");
	remember("rmkx");
	remember("cnorm");
	remember("rmcup");
	raw(); /* ^C and ^Z are keys like all others */
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	if (has_colors()) {
		start_color();
		use_default_colors();
	}
	tell_starter();
	return 0;
}

void term_close(void)
{
	if (!term.open)
		return;
	term.open = false;
	if (!enter_ca_mode) { /* no screen of its own that goes away */
		wclear(stdscr);
		wrefresh(stdscr);
	}
	endwin();
	tcsetattr(STDIN_FILENO, TCSANOW, &term.saved);
	helper_terminal(NULL, -1);
	delscreen(term.screen);
	term.screen = NULL;
}

void term_suspend(void)
{
	endwin();
	tcsetattr(STDIN_FILENO, TCSANOW, &term.saved);
	helper_terminal(NULL, -1);
}

void term_resume(void)
{
	reset_prog_mode();
	tell_starter();
	clearok(curscr, TRUE);
}

void term_size(int *width, int *height)
{
	struct winsize ws = { 0 };

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col)
		resizeterm(ws.ws_row, ws.ws_col);
	getmaxyx(stdscr, *height, *width);
}

void term_emergency(void)
{
	if (!term.open)
		return;
	helper_terminal(NULL, -1);
	if (write(STDOUT_FILENO, term.restore, term.restore_len) < 0)
		return;
	tcsetattr(STDIN_FILENO, TCSANOW, &term.saved);
}
