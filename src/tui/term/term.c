/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/term/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/terminal.h"
#include "tui/term/terminfo.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/sink.h"
#include "util/text.h"

/* Substitutes for an unknown terminal, the likeliest first. */
static const char *const fallbacks[] = { "xterm-256color", "xterm", "vt100", "ansi" };

/* Longest wait on leaving for a terminal that does not take the last frame. */
#define LEAVE_MS 400

/* A terminal that was not read for this long is redrawn completely: it may be a different one by now. */
#define STUCK_NS 1000000000ULL

static struct {
	SCREEN *screen;
	FILE *frames;          /* output of curses: a memory file, as curses would block on a terminal that is not
			        * read */
	struct sink *output; /* writes it to the terminal */
	uint64_t stuck;        /* CLOCK_MONOTONIC ns: start of dropping frames; 0: none dropped */
	bool open;
	struct termios saved, raw;
	char restore[256]; /* leaves the alternate screen or clears the only one, shows the cursor, resets attributes */
	size_t restore_len;
} term;

/* Whether this terminal has a description, including the built-in ones. */
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

/* The name to use for this terminal, NULL: none. */
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
		fail_why("standard %s is not a terminal", isatty(STDIN_FILENO) ? "output" : "input");
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

/* Without delays, such as $<2>: only curses itself understands these. */
static void remember_text(const char *s)
{
	if (term.restore_len + strlen(s) > sizeof(term.restore))
		return;
	while (*s) {
		if (strncmp(s, "$<", 2)) {
			term.restore[term.restore_len++] = *s++;
			continue;
		}
		s += strcspn(s, ">");
		s += *s == '>';
	}
}

static void remember(const char *capability)
{
	const char *s = tigetstr(capability);

	if (s && s != (char *)-1)
		remember_text(s);
}

/* Adds the sequence that switches mouse reports off: the terminal's description has none for it. */
static void remember_mouse(void)
{
	const char *s = tigetstr("kmous");

	if (s && s != (char *)-1)
		remember_text("\033[?1006;1000l");
}

/* Curses writes at each move of the cursor, until it has left the screen and come back to it once: what it writes for that is
 * dropped. @fd: its output, in memory. */
static void write_in_blocks(int fd)
{
	off_t begun;

	curs_set(0); /* also writes what has begun the screen */
	begun = lseek(fd, 0, SEEK_CUR);
	endwin();
	doupdate();
	lseek(fd, begun, SEEK_SET);
	clearok(curscr, TRUE);
}

/* Starts curses, which reads the terminal's settings, then redirects its output to memory. */
static int open_curses(const char *name)
{
	int fd = dup(STDOUT_FILENO), memory = memfd_create("systop-frames", MFD_CLOEXEC);

	term.frames = fd < 0 ? NULL : fdopen(fd, "w");
	if (!term.frames && fd >= 0)
		close(fd);
	if (term.frames && memory >= 0)
		term.screen = newterm(name, term.frames, stdin);
	if (term.screen) {
		raw(); /* ^C and ^Z are ordinary keys */
		noecho();
		nonl();
		tcgetattr(STDIN_FILENO, &term.raw);
		dup3(memory, fd, O_CLOEXEC);
		write_in_blocks(fd);
	}
	if (memory >= 0)
		close(memory);
	if (term.screen)
		return 0;
	if (term.frames)
		fclose(term.frames);
	return -ENOTTY;
}

/* Gives the starter the text with which it restores the terminal if this process is killed. */
static void notify_starter(void)
{
	struct terminal t = { .before = term.saved, .len = term.restore_len };

	memcpy(t.leave, term.restore, term.restore_len);
	if (!tcgetattr(STDIN_FILENO, &t.ours))
		helper_terminal(&t, STDOUT_FILENO);
}

int term_open(struct sink *output, char *notice, int size)
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
	term.output = output;
	if (open_curses(name))
		return fail(-ENOTTY, EXIT_STATUS_RUNTIME, "cannot use the terminal");
	term.open = true;
	remember_mouse();
	remember("sgr0");
	remember("rmkx");
	remember("cnorm");
	remember(enter_ca_mode ? "rmcup" : "clear");
	typeahead(-1); /* a frame is drawn as a whole: curses does not look for keys meanwhile */
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	if (has_colors()) {
		start_color();
		use_default_colors();
	}
	notify_starter();
	return 0;
}

bool term_ready(void)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!sink_ready(term.output)) {
		if (!term.stuck)
			term.stuck = now;
		return false;
	}
	if (term.stuck && now - term.stuck > STUCK_NS)
		clearok(curscr, TRUE);
	term.stuck = 0;
	return true;
}

bool term_missed(void)
{
	return term.stuck;
}

/* Errors are ignored: the main loop notices a terminal that is gone. */
void term_send(void)
{
	int fd = fileno(term.frames);
	off_t bytes = lseek(fd, 0, SEEK_CUR);

	if (bytes <= 0)
		return;
	sink_add(term.output, fd, bytes);
	lseek(fd, 0, SEEK_SET); /* its pages are used again */
}

/* Restores the terminal; drops pending frames if it does not read them. */
static void leave(void)
{
	endwin();
	term_send();
	sink_finish(term.output, LEAVE_MS);
	tcsetattr(STDIN_FILENO, TCSANOW, &term.saved);
	helper_terminal(NULL, -1);
}

void term_close(void)
{
	if (!term.open)
		return;
	term.open = false;
	if (!enter_ca_mode) { /* no alternate screen to switch away from */
		wclear(stdscr);
		wrefresh(stdscr);
	}
	leave();
	delscreen(term.screen);
	fclose(term.frames);
	term.screen = NULL;
}

void term_suspend(void)
{
	leave();
}

void term_resume(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &term.raw);
	notify_starter();
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
	sink_write(STDOUT_FILENO, term.restore, term.restore_len, LEAVE_MS);
	tcsetattr(STDIN_FILENO, TCSANOW, &term.saved);
}
