/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expected screens: drawn into a pad from fixed refreshes, and compared cell by cell, including looks, with
 * tests/golden/screens. "scripts/check golden" rewrites them.
 */

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "scene.h"
#include "tui/screen/screen.h"
#include "tui/term/paint.h"

#define NS 1000000000ULL

/* The screen after these keys. */
static const struct shot {
	const char *name;
	int width, height;
	const char *keys;
	const char *theme; /* NULL: default */
	bool ascii, large, untimed; /* a host of 256 CPUs; one whose timer interrupts are not seen */
	const char *section, *setting, *value; /* of the config, NULL: none */
	const char *scope; /* NULL: all */
} shots[] = {
	{ "threads-80x24", 80, 24, "" },
	{ "threads-200x50", 200, 50, "" },
	{ "threads-40x10", 40, 10, "" },
	{ "threads-ascii-80x24", 80, 24, "", .ascii = true },
	{ "threads-time-100x24", 100, 24, "E" },
	{ "threads-rate-100x24", 100, 24, "EE" },
	{ "threads-names-120x24", 120, 24, "C" },
	{ "threads-lines-120x24", 120, 24, "CC" },
	{ "threads-command-found-120x24", 120, 24, "/api-server --\n" },
	{ "threads-panned-80x24", 80, 24, "))))" },
	{ "threads-narrow-columns-60x12", 60, 12, "", .section = "columns", .setting = "threads",
	  .value = "id:3 state past:2 run:4 comm" },
	{ "threads-by-name-80x24", 80, 24, "N" },
	{ "threads-busy-only-80x24", 80, 24, "iK" },
	{ "threads-followed-80x24", 80, 24, "jjF" },
	{ "processes-80x24", 80, 24, "H" },
	{ "processes-200x50", 200, 50, "H" },
	{ "tree-80x24", 80, 24, "t" },
	{ "tree-200x50", 200, 50, "t" },
	{ "cgroups-80x24", 80, 24, "2" },
	{ "cgroups-own-80x24", 80, 24, "2s" },
	{ "cgroups-folded-80x24", 80, 24, "2j-" },
	{ "cgroups-200x50", 200, 50, "2" },
	{ "system-80x24", 80, 24, "7" },
	{ "system-200x50", 200, 50, "7" },
	{ "system-40x10", 40, 10, "7" },
	{ "system-cells-80x24", 80, 24, "7jv" },
	{ "system-256-80x24", 80, 24, "7jjlll", .large = true },
	{ "system-256-200x50", 200, 50, "7G", .large = true },
	{ "system-256-ascii-80x24", 80, 24, "7", .ascii = true, .large = true },
	{ "system-256-mono-80x24", 80, 24, "7", "mono", .large = true },
	{ "system-256-bars-80x24", 80, 24, "7vjjjjjjjjjjjjjjj", .large = true },
	{ "system-256-bars-200x50", 200, 50, "7v", .large = true },
	{ "system-256-end-80x24", 80, 24, "7G", .large = true },
	{ "drill-processes-80x24", 80, 24, "2jj\n" },
	{ "drill-threads-80x24", 80, 24, "2G\n\n" },
	{ "detail-thread-80x24", 80, 24, "\n" },
	{ "detail-thread-200x50", 200, 50, "\n" },
	{ "detail-no-timers-200x50", 200, 50, "\n", .untimed = true },
	{ "flame-no-timers-200x50", 200, 50, "Hf\t\tjj", .untimed = true },
	{ "detail-thread-40x10", 40, 10, "\n" },
	{ "detail-process-80x24", 80, 24, "Hv" },
	{ "detail-arguments-80x60", 80, 60, "HvG" },
	{ "detail-cgroup-80x24", 80, 24, "2jjv" },
	{ "detail-cgroup-60x40", 60, 40, "2jjv" },
	{ "detail-gone-80x24", 80, 24, " [\\4002\n\n]" },
	{ "flame-80x24", 80, 24, "Hf" },
	{ "flame-all-80x24", 80, 24, "3" },
	{ "flame-200x50", 200, 50, "Hf" },
	{ "flame-40x10", 40, 10, "Hf" },
	{ "flame-zoomed-80x24", 80, 24, "Hfjj\n" },
	{ "flame-inverted-80x24", 80, 24, "Hfi" },
	{ "flame-threads-80x24", 80, 24, "Hfm\t\t\t\t\t\t\tm" },
	{ "flame-d-80x24", 80, 24, "Hf\t\t\t" },
	{ "flame-search-80x24", 80, 24, "Hf/serde\n" },
	{ "flame-full-names-80x24", 80, 24, "Hfj", .section = "look", .setting = "full-names", .value = "yes" },
	{ "flame-export-80x24", 80, 24, "Hfe" },
	{ "flame-wall-80x24", 80, 24, "Hf\t\t\t\t\t\t\t" },
	{ "flame-sleep-200x50", 200, 50, "Hf\t\tjj" },
	{ "flame-table-80x24", 80, 24, "Hftj" },
	{ "flame-sandwich-80x24", 80, 24, "Hftj\n" },
	{ "flame-same-80x24", 80, 24, "Hfjj#" },
	{ "flame-compared-80x24", 80, 24, " {Hfx]X" },
	{ "flame-compared-callees-80x24", 80, 24, " {Hfx]Xjjs" },
	{ "flame-nothing-80x24", 80, 24, "Gf" },
	{ "d-state-80x24", 80, 24, "o5" }, /* a view closes the menu */
	{ "d-state-200x50", 200, 50, "5j" },
	{ "latency-80x24", 80, 24, "4" },
	{ "latency-200x50", 200, 50, "4hvhkk" },
	{ "latency-40x10", 40, 10, "4" },
	{ "latency-ascii-80x24", 80, 24, "4\tb", .ascii = true },
	{ "latency-selected-80x24", 80, 24, "4\t\thvljjjv" },
	{ "latency-softirq-200x50", 200, 50, "4\t\t\t\tvhhjjjjjjjjjjjj" },
	{ "latency-threads-80x24", 80, 24, "4jjjvhhjjjjjjjj\n" },
	{ "latency-save-80x24", 80, 24, "4vhw" },
	{ "latency-flame-80x24", 80, 24, "4\t\tvhhjf" },
	{ "subsecond-80x24", 80, 24, "4s" },
	{ "subsecond-200x50", 200, 50, "4s\thkkkkvhhkkv" },
	{ "subsecond-ascii-80x24", 80, 24, "4s\tb", .ascii = true },
	{ "subsecond-save-80x24", 80, 24, "4sw" },
	{ "subsecond-flame-80x24", 80, 24, "4shvhhjjjjjjjjjjf" },
	{ "irq-80x24", 80, 24, "6" },
	{ "irq-200x50", 200, 50, "6j" },
	{ "irq-ascii-80x24", 80, 24, "6", .ascii = true },
	{ "irq-256-80x24", 80, 24, "6", .large = true },
	{ "irq-40x10", 40, 10, "6" },
	{ "irq-60x20", 60, 20, "6" },
	{ "irq-no-timers-80x24", 80, 24, "6", .untimed = true },
	{ "irq-sorted-80x24", 80, 24, "6v<<jI" },
	{ "irq-source-80x24", 80, 24, "6\n" },
	{ "irq-source-200x50", 200, 50, "6\n" },
	{ "irq-flame-80x24", 80, 24, "6\nf" },
	{ "waits-80x24", 80, 24, "8j" },
	{ "waits-200x50", 200, 50, "8" },
	{ "detail-process-200x50", 200, 50, "Hv" },
	{ "past-80x24", 80, 24, "[[" },
	{ "search-80x24", 80, 24, "/post\n" },
	{ "searching-80x24", 80, 24, "/api" },
	{ "filtered-80x24", 80, 24, "\\cg:web cpu>5\n" },
	{ "filter-error-80x24", 80, 24, "\\cg:web cpu>x\n" },
	{ "filter-unknown-80x24", 80, 24, "\\foo=bar\n" },
	{ "filter-long-40x10", 40, 10, "\\cg:web !kworker runq.p99>1ms cpu>x\n" },
	{ "help-80x24", 80, 24, "?" },
	{ "help-end-80x24", 80, 24, "?G" },
	{ "health-80x24", 80, 24, "!" },
	{ "options-80x24", 80, 24, "oH/" }, /* keys of the hidden table do nothing */
	{ "columns-80x24", 80, 24, "o\n" },
	{ "sort-80x24", 80, 24, "." },
	{ "config-written-80x24", 80, 24, "W" },
	{ "too-small-31x8", 31, 8, "" },
	{ "theme-light-80x24", 80, 24, "jj", "light" },
	{ "theme-mono-80x24", 80, 24, "jj", "mono" },
	{ "theme-colour-blind-80x24", 80, 24, "jj", "colour-blind" },
	{ "theme-16-colour-80x24", 80, 24, "jj", "16-colour" },
	{ "preset-htop-80x24", 80, 24, "", .section = "keys", .setting = "preset", .value = "htop" },
};

#define NR_SHOTS (sizeof(shots) / sizeof(shots[0]))

/* --- A window as text */

/* The looks on a screen, each with a letter. */
struct looks {
	int nr;
	struct {
		attr_t attributes;
		short pair;
	} at[52];
};

static char look_letter(struct looks *looks, attr_t attributes, short pair)
{
	int i = 0;

	attributes &= A_ATTRIBUTES & ~A_COLOR;
	if (!attributes && !pair)
		return '.';
	while (i < looks->nr && (looks->at[i].attributes != attributes || looks->at[i].pair != pair))
		i++;
	if (i == looks->nr) {
		if (i == 52)
			abort();
		looks->at[i].attributes = attributes;
		looks->at[i].pair = pair;
		looks->nr++;
	}
	return i < 26 ? 'a' + i : 'A' + i - 26;
}

static void put_legend(FILE *to, const struct looks *looks)
{
	for (int i = 0; i < looks->nr; i++) {
		attr_t a = looks->at[i].attributes;
		int fg = -1, bg = -1;

		if (looks->at[i].pair)
			extended_pair_content(looks->at[i].pair, &fg, &bg);
		fprintf(to, "%c%s%s%s%s%s", i < 26 ? 'a' + i : 'A' + i - 26, a & A_BOLD ? " bold" : "",
			a & A_DIM ? " dim" : "", a & A_UNDERLINE ? " underline" : "",
			a & A_REVERSE ? " reverse" : "", a & A_ITALIC ? " italic" : "");
		if (fg >= 0)
			fprintf(to, " foreground %d", fg);
		if (bg >= 0)
			fprintf(to, " background %d", bg);
		fputc('\n', to);
	}
}

/* Returns the number of cells that the character takes. */
static int put_cell(FILE *to, WINDOW *win, int y, int x, struct looks *looks, char *letter)
{
	wchar_t text[CCHARW_MAX + 1] = L"";
	attr_t attributes;
	cchar_t cell;
	short pair;
	int width;

	mvwin_wch(win, y, x, &cell);
	getcchar(&cell, text, &attributes, &pair, NULL);
	*letter = look_letter(looks, attributes, pair);
	fprintf(to, "%ls", text);
	width = wcwidth(text[0]);
	return width > 1 ? width : 1;
}

static char *window_text(WINDOW *win, int width, int height)
{
	struct looks looks = { 0 };
	char *text = NULL, *letters = calloc(height, width + 2);
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (int y = 0; y < height; y++) {
		char *line = letters + y * (width + 2);

		for (int x = 0; x < width;) {
			char letter;
			int cells = put_cell(to, win, y, x, &looks, &letter);

			memset(line + x, letter, cells);
			x += cells;
		}
		fputs("|\n", to);
	}
	for (int y = 0; y < height; y++)
		fprintf(to, "%s|\n", letters + y * (width + 2));
	put_legend(to, &looks);
	fclose(to);
	free(letters);
	return text;
}

/* --- Taking a shot */

/* A screen that has shown all refreshes of a scene. */
struct open_screen {
	struct host host;
	WINDOW *pad;
	struct theme theme;
	struct paint paint;
	struct screen *screen;
};

/* It must not move: parts of it point to others. */
static void open_screen(struct open_screen *o, const struct shot *shot, struct scene *scene)
{
	struct settings settings;
	char error[128];

	settings_default(&settings);
	if (shot->setting &&
	    settings_set(&settings, shot->section, shot->setting, shot->value, 0, error, sizeof(error)))
		abort();
	if (theme_load(&o->theme, shot->theme ? shot->theme : "default", NULL, error, sizeof(error)))
		abort();
	o->host = scene_host;
	o->host.source.arg = o->host.arg = scene;
	o->host.scope = shot->scope ? shot->scope : "all";
	o->pad = newpad(shot->height, shot->width);
	paint_init(&o->paint, o->pad, shot->width, shot->height, !shot->ascii);
	paint_theme(&o->paint, &o->theme, true);
	o->screen = screen_new(&o->host, &settings, NULL);
	for (int nr = 0; nr < SCENE_TICKS; nr++) {
		screen_tick(o->screen, scene->ticks[nr]);
		screen_draw(o->screen, &o->paint, SCENE_NOW_NS);
	}
}

/* Among keys: the mouse on the fourth row of a table; a notice; so many refreshes that those before are forgotten, or one;
 * 40 columns, or too few, and back to all of them; two keys without a drawing between. */
#define WHEEL "\1"
#define CLICK "\2"
#define NOTICE "\3"
#define REFRESHES "\4"
#define NARROW "\5"
#define AT_ONCE "\6"
#define TOO_NARROW "\7"
#define REFRESH "\10"
#define ROW 8

static void show_next(struct open_screen *o, int nr)
{
	for (int i = 0; i < nr; i++) {
		const struct tick *t = scene_next(o->host.arg);

		screen_tick(o->screen, t);
		tick_put(t);
	}
}

static void press(struct open_screen *o, const char *keys)
{
	for (const char *key = keys; *key; key++) {
		if (*key == *WHEEL || *key == *CLICK)
			screen_mouse(o->screen, *key == *WHEEL ? MOUSE_WHEEL_DOWN : MOUSE_CLICK, ROW, 2, SCENE_NOW_NS);
		else if (*key == *NOTICE)
			screen_notice(o->screen, "saved");
		else if (*key == *REFRESHES || *key == *REFRESH)
			show_next(o, *key == *REFRESHES ? HISTORY_TICKS : 1);
		else if (*key == *NARROW || *key == *TOO_NARROW)
			o->paint.width = o->paint.width < getmaxx(o->pad) ? getmaxx(o->pad) : *key == *NARROW ? 40 : 20;
		else if (*key != *AT_ONCE)
			screen_key(o->screen, *key, false, SCENE_NOW_NS);
		if (*key != *AT_ONCE && key[1] != *AT_ONCE)
			screen_draw(o->screen, &o->paint, SCENE_NOW_NS);
	}
}

static void close_screen(struct open_screen *o)
{
	screen_free(o->screen);
	delwin(o->pad);
}

static char *shoot(const struct shot *shot, struct scene *scene)
{
	struct open_screen o;
	char *text;

	open_screen(&o, shot, scene);
	press(&o, shot->keys);
	text = window_text(o.pad, shot->width, shot->height);
	close_screen(&o);
	return text;
}

static char *file_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	if (f && text && !fread(text, 1, (1 << 20) - 1, f))
		*text = '\0';
	if (f)
		fclose(f);
	return text;
}

/* Reports the first difference of two texts. Returns whether they are equal. */
static bool same(const char *is, const char *should)
{
	int line = 1;
	size_t a, b;

	for (; *is || *should; line++) {
		a = strcspn(is, "\n");
		b = strcspn(should, "\n");
		if (a != b || strncmp(is, should, a)) {
			printf("# line %d is     %.*s\n#         should %.*s\n", line, (int)a, is, (int)b, should);
			return false;
		}
		is += a + (is[a] == '\n');
		should += b + (should[b] == '\n');
	}
	return true;
}

static bool check(const struct shot *shot, const char *text, bool write)
{
	const char *srcdir = getenv("srcdir");
	char path[4096], *should;
	bool ok = true;
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/golden/screens/%s", srcdir ? srcdir : ".", shot->name);
	if (write) {
		f = fopen(path, "w");
		if (!f || fputs(text, f) < 0 || fclose(f)) {
			printf("# cannot write %s: %s\n", path, strerror(errno));
			return false;
		}
		return true;
	}
	should = file_text(path);
	ok = should && same(text, should);
	free(should);
	return ok;
}

/* Seconds after the keys. */
#define LATER(s) (SCENE_NOW_NS + (s) * 1000000000ULL)

/* Screens after @keys, before and after the names arrive. Returns whether they were due when they should be: once, and with the
 * names. */
static bool late_names(struct scene *scene, const char *keys, char **before, char **after)
{
	const struct shot shot = { "late names", 80, 24, keys };
	struct open_screen o;
	bool due;

	scene->early = true;
	open_screen(&o, &shot, scene);
	press(&o, keys);
	due = !screen_late(o.screen, LATER(1)) && screen_late(o.screen, LATER(2));
	screen_draw(o.screen, &o.paint, LATER(2));
	*before = window_text(o.pad, shot.width, shot.height);
	due = due && !screen_late(o.screen, LATER(4));
	scene->early = false;
	due = due && !screen_late(o.screen, LATER(3)) && screen_late(o.screen, LATER(4));
	screen_draw(o.screen, &o.paint, LATER(4));
	*after = window_text(o.pad, shot.width, shot.height);
	due = due && !screen_late(o.screen, LATER(6));
	close_screen(&o);
	return due;
}

/* Names that arrive appear without a key or a refresh, also while the screen is paused, but not all the time; the selection stays.
 * */
static const struct late {
	const char *name, *keys, *before, *after;
} lates[] = {
	{ "names that come late, paused", " Hf", "PAUSED", "PAUSED" },
	{ "a box whose name comes late stays selected", "Hfj", "[kernel]+0x1840  total", "main  total" },
	{ "a box whose name comes late stays the one zoomed into", "Hfj\n", "\n([kernel]+0x1840 ", "\n[main   " },
};

#define NR_LATES (sizeof(lates) / sizeof(lates[0]))

static bool check_late(struct scene *scene, const struct late *l)
{
	char *before, *after;
	bool ok;

	ok = late_names(scene, l->keys, &before, &after);
	ok = ok && strstr(before, l->before) && strstr(before, "[kernel]+0x1840") && strstr(after, l->after) &&
	     !strstr(after, "[kernel]+0x1840") && strstr(after, "main");
	if (!ok)
		printf("# before:\n%s\n# after:\n%s\n", before, after);
	free(before);
	free(after);
	return ok;
}

/* What a screen of 80x24 shows after these keys, and what it does not. */
static const struct text {
	const char *name, *keys;
	const char *has, *lacks; /* NULL: nothing */
	int width, height;       /* 0: as above */
	const char *scope;
} texts[] = {
	{ "a step forward leaves a live screen live", "]", "LIVE", "PAUSED" },
	{ "so does a leap", "}", "LIVE", "PAUSED" },
	{ "a step forward from before the history goes to its oldest", " " REFRESHES "]", "PAUSED -1m", NULL },
	{ "a step back from there stays, which is said", " " REFRESHES "[", "the past has no room for an earlier", NULL },
	{ "so is one from the first refresh", "{{{{{{{{{{{{[", "no earlier refresh is remembered", NULL },
	{ "the wheel moves the selection", WHEEL, "\n>   2002 ", NULL },
	{ "a second click opens", CLICK CLICK, " detail", NULL },
	{ "the wheel does nothing behind a prompt", "\\cg" WHEEL, "filter: cg", "\n>   2002 " },
	{ "a narrow screen names the threads in D state", "5", "COMM ", NULL, 40, 12 },
	{ "why time has no stack", "3jl", "\nwhy      too short for a stack, or beyond their budget: see STACKS in systop(8)", NULL },
	{ "on a narrow screen by whole words", "3jl", "\nwhy      too short for a stack, or beyond their budget: see |\n         STACKS in systop(8)", NULL, 60, 20 },
	{ "of which a low one shows as many as fit", "3jl", "\nwhy      too short for a stack, or      |\n         beyond their budget: see ", "STACKS in", 40, 16 },
	{ "how small the smallest screens are is not cut", "", "40x10 needed, have  |\n20x5 ", NULL, 20, 5 },
	{ "no sandwich of what is no function, which is said", "3s", "select a function first", NULL },
	{ "nor are the numbers of an interrupt's source cut", "6\n", "p99 ~98us max 31ms", NULL, 40, 12 },
	{ "bars have no columns without CPUs", "7", "CPU  RUN% ! interrupts                                RQ ", NULL, 440, 30 },
	{ "full of all CPUs is unknown", "2gv", "waited for: CPU 2.50 -, memory", NULL, 80, 30 },
	{ "the options say whose columns they are of", "5o", "columns of threads ...", "this table", 80, 24 },
	{ "the order of processes is by PID", "HN", "  sort PID asc ", NULL },
	{ "that of cgroups is by path, which has no column", "2N", "  sort path asc ", NULL },
	{ "or falls back to it", "2T", "  sort path asc ", "TIME+" },
	{ "their names are sorted backwards, too", "2<I", "  MEM |\n   cpu:/tenant7 ", "sort CGROUP asc" },
	{ "the footer has the title of the sorted column", "E", "  sort RUN desc ", "sort RUN%" },
	{ "a share that does not fit is left out whole", "3", "IRQ  Wall ", "unwound", 60, 12 },
	{ "and the functions of a flamegraph", "3t", "[serde_", NULL, 40, 12 },
	{ "a low screen scrolls a flamegraph", "Hf\t\t\tjjjj", "|\n(do_epoll_wait ", "|\n[main ", 40, 11 },
	{ "to its end, too", "Hf\t\t\tG", "|\n(do_epoll_wait ", "|\n[main ", 40, 11 },
	{ "and back", "Hf\t\t\tGg", "|\n[main ", "|\n(do_epoll_wait ", 40, 11 },
	{ "to what is searched", "Hf\t\t\t/epoll\n", "|\n(do_epoll_wait ", "|\n[main ", 40, 11 },
	{ "and to all callers of a function", "Hf\t\t\tt\nkkk", "|\n[main ", "|\n(do_epoll_wait ", 40, 11 },
	{ "after which a graph begins at its top", "Hf\t\t\tt\nkkki", "IRQ  Wall|\n[api-server ", NULL, 40, 11 },
	{ "a click in a scrolled flamegraph selects what is there", "Hf\t\t\tGk" CLICK, "\ndo_epoll_wait  total ", NULL, 40, 12 },
	{ "a thread that ended since has no CPUs of another one with its TID",
	  " [\\4002\n\n", "  may run on CPU -  last on 2 ", NULL },
	{ "keys before another graph is drawn do not move in the last one",
	  "Hfi" AT_ONCE "j" AT_ONCE "l", "\napi-server 2001  total ", NULL },
	{ "a step back from beyond the last column shows one", "))))))))))))))))))))))))))))))))((", "  SWAP COMMAND ", NULL },
	{ "a menu is closed also if the terminal is too small for it", "o" TOO_NARROW "q" TOO_NARROW, "\n>   2001 ", NULL },
	{ "a theme that was tried goes with the menu", "ojj\nj \033o", "  theme: default ...", NULL },
	{ "and stays if it was taken", "ojj\nk\no", "  theme: colour-blind ...", NULL },
	{ "names of users take cells, not bytes", "uG", "\n> дмитрий                  1 process ", NULL },
	{ "interrupts are the host's, what is lost to them the scope's", "6", "lost to interrupts in scope, ", NULL,
	  .scope = "cgroup web" },
	{ "which the line below says", "6", "  of the whole host ", NULL, .scope = "cgroup web" },
	{ "nor does a click", "/api" CLICK CLICK, "/api", " detail" },
	{ "a paused heatmap ages, and so does its axis", "4 " REFRESHES, "    -120s", " now" },
	{ "a search that a view does not have is none of its states: back goes back", "/api\nvq", " match", " detail" },
	{ "nor does it change what q does there", "/api\n7", "\nq quit ", NULL },
	{ "nor has its help keys of a search", "7?", "\nTo move ", "next match" },
	{ "a box is as wide as its share of any screen", "3", "    ]|\n   2001 ", NULL, 400, 24 },
	{ "a column is widened from the width that it has", "o\njjjjjjj+", "\n> [x] TIME        16 ", NULL },
	{ "below 1 its width is automatic again", "o\njjj-", "\n> [x] S         auto ", NULL },
	{ "a page whose text gets shorter is not blank", NARROW "?G" NARROW, "\n wakeups>1K     counts per second ", NULL, 200, 24 },
	{ "a click leaves a list scrolled that shares the screen", "6G" CLICK, "\n>TIMER ", "\n NET_RX ", 80, 18 },
	{ "and a second one opens it", "6G" CLICK CLICK, "] > TIMER ", NULL, 80, 18 },
	{ "a notice is seen below a prompt, and while more is typed", "/a" NOTICE "p", "\nsaved ", "quit" },
	{ "it is there until a key after the prompt", "/a" NOTICE "p\n", "\nsaved ", NULL },
	{ "which ends it", "/a" NOTICE "p\nj", "matches", "\nsaved " },
	{ "another order does not wait for one that is held", " jN", "kthreadd                    |\n      17 S ", NULL },
	{ "nor does one of the menu", " j.g\n", "kthreadd                    |\n      17 S ", NULL },
	{ "a thread that ends during a pause is shown as it was last", " [\\4002\n\n" REFRESH " ",
	  "RUN%       10.0   100ms ", NULL },
	{ "a paused flamegraph stays what it is", REFRESH REFRESH " Hf" REFRESHES "j", "\n4.1s On-CPU, 5 refreshes", NULL },
	{ "also after a step that does not move", REFRESH REFRESH " Hf" REFRESHES "[j", "\n4.1s On-CPU, 5 refreshes", NULL },
	{ "so do the refreshes of a paused detail", REFRESH REFRESH " Hv" REFRESHES "j", "\nTHE LAST 5 REFRESHES", NULL, 80, 60 },
	{ "and their chart", REFRESH REFRESH " Hv" REFRESHES "j", "\n  180 %  ", "····~|", 80, 60 },
	{ "what its threads waited for", REFRESH REFRESH " Hv" REFRESHES,
	  "\nWAITED 3.2s for a CPU in these refreshes", NULL, 80, 60 },
	{ "and what woke them", REFRESH REFRESH " HvG" REFRESHES, "   3.5K times: api-server", NULL, 80, 60 },
	{ "and all that waited", REFRESH REFRESH " 8" REFRESHES "j", " in 5.0s of history", NULL },
	{ "and all in D state", REFRESH REFRESH " 5" REFRESHES "j", " in 5 refreshes", NULL },
	{ "and the past of rows", REFRESH REFRESH " " REFRESHES "j", " ▃▄▅▅▅ api-server ", NULL, 260, 24 },
	{ "and a heatmap with what is below it", REFRESH REFRESH " 4" REFRESHES "b", " in 5 refreshes", NULL },
	{ "and its selected range", REFRESH REFRESH " 4vhhv" REFRESHES "b", " 67ms-134ms: 5 waits, 3 threads: cc1plus 60%", NULL },
	{ "but another one is not remembered", REFRESH REFRESH " 4h" REFRESHES "h", "\n- 67ms-134ms: not remembered", NULL },
	{ "and none can be opened", REFRESH REFRESH " 4h" REFRESHES "\n", "\nthese refreshes are not remembered any more", NULL },
	{ "a detail counts all refreshes, and those that are drawn", "\n" REFRESHES,
	  "THE LAST 69 REFRESHES, 52 drawn (right: the one shown)", NULL, 60, 40 },
	{ "a low heatmap counts the rows that it hides", "4", "\n4 hidden  ", NULL },
	{ "a high one has none", "4", NULL, " hidden ", 80, 40 },
	{ "a flamegraph that is exported after a long pause is of the shown refresh", "3 " REFRESHES "e", " of 1.0 s: ", NULL },
	{ "a search in D state counts its matches", "5/post\n", " in 3 refreshes  1 match ", NULL },
	{ "one in the threads of a range does, too", "4jjjvhhjjjjjjjj\n/api\n", ", 8 threads  3 matches ", NULL },
	{ "a source of interrupts has nothing to open there, which is said", "4\t\t\tvhhjjjjjj\n\n",
	  "\nsources of interrupts have no detail", NULL },
	{ "a menu keeps the keys of the table that it hides", "of", "columns of threads ...", NULL },
	{ "and so does the help", "?f", "\nKeys here", "f flame" },
	{ "the past of an interrupt is not that of the host", "6\nf", "sampled in NET_RX", "\ntime " },
	{ "a number is searched as a whole", "/200\n", "  0 matches", NULL },
	{ "and found", "/2003\n", "\n>   2003 ", "matches" },
	{ "what threads waited for can be searched", "8/limit\n", "\n>  270ms ", NULL },
	{ "and so can who waited", "8/2001\n", "of history  4 matches ", NULL },
	{ "a low screen lists as many victims of a source, and counts the others", "6\n" REFRESHES "rjjjjjjjjjjjjjjj",
	  "\n                                and 9 more ", NULL },
	{ "a leap forward stops at the newest refresh", " {}", "PAUSED -0s", NULL },
	{ "before the first view comes the last one", "`", "[8:Waits]", NULL },
	{ "what waited for a CPU is opened as a flamegraph of that", "8f", " [Runq] ", NULL },
	{ "and what is in D state as one of that", "5f", " [D-state] ", NULL },
	{ "q leaves the help, and not the search behind it", "/api\n?q", "  6 matches ", NULL },
	{ "a search that is cancelled leaves the one before", "/api\n/post\033", "  6 matches ", NULL },
	{ "and so does one that is empty", "/api\n/x\177\n", "  6 matches ", NULL },
	{ "a search and a filter are cleared together", "/api\n\\cg:web\n=", "\n15 of 15 threads  order held  sort ", NULL },
	{ "a filter can be changed", "\\cg:web\n\\", "\nfilter: cg:web ", NULL },
	{ "an interval that is empty stays what it is", "d\025\n", " LIVE 1s ", "expected" },
	{ "the help begins at its top", "?G??", "\nKeys here", NULL },
	{ "and its key closes it", "??", "\n>   2001 ", NULL },
	{ "it closes a menu", "o?q", "\n>   2001 ", NULL },
	{ "which closes it", "?o", "\n> columns of threads ...", NULL },
	{ "a click does not open what the help hides", "?" CLICK CLICK, "\nKeys here", " detail" },
	{ "a key that sorts puts the largest first", "IP", "  sort RUN% desc ", NULL },
	{ "and so does a menu, or what is first by a text", "I.g\n", "  sort TID asc ", NULL },
	{ "which begins with what is sorted by", ".\n", "  sort RUN% desc ", NULL },
	{ "or with the theme", "ojj\nk\n\n\no", "  theme: colour-blind ...", NULL },
	{ "a delay that is typed replaces the one there is", "d2\n", "LIVE 2s", NULL },
	{ "which a key that moves or erases keeps", "d\1772\n", "LIVE 12s", NULL },
	{ "a user whose name is no word of a filter is meant by number", "uG\n", "  filter user=65534 ", NULL },
	{ "users are counted anew when they are listed again", "u\033u",
	  "\n  root                     3 processes                                          |\n  www-data ", NULL },
	{ "the options are of the columns of the view", "2o", "\n> columns of cgroups ...", NULL },
	{ "the last column of a menu is seen", "o\nG", "\n> [ ] UNIT ", NULL },
	{ "a column that is moved stays selected, up to the end", "o\nG<>>", "\n> [ ] UNIT ", "  [ ] PID " },
	{ "a mouse ends a notice, too", NOTICE WHEEL, NULL, "\nsaved " },
	{ "who moves on follows no more", "jjFj", NULL, "  following" },
	{ "a column that is hidden is seen if rows are sorted by it", "T", " TIME+v ", NULL },
	{ "one that was asked for comes before others", "o\nj \033", "     TID     PID S ", NULL },
	{ "of a cgroup alone, its own threads are counted", "2s", "\n  - batch.slice                      0 ", NULL, 200, 24 },
	{ "and so is their past", "2s", "   210M                  |\n", NULL, 200, 24 },
	{ "an error is forgotten when the text changes", "\\cpu>x\n1", NULL, "not a number" },
	{ "and is marked where a long text was scrolled to",
	  "\\cg:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa cpu>x cg:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n",
	  "cpu>x cg:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb  |\n                                           ^ not", NULL },
	{ "a detail of a later refresh is not that of one that is gone", REFRESH "\\cc3\n\n[",
	  "\ncc3 10003 is not there yet: a later refresh ", NULL },
	{ "each refresh adds its wakings once", "HvG" REFRESH, "   2.8K times: api-server", "   2.1K times: ", 80, 60 },
	{ "what a helper reads is of now", " [Hv", "\nmapped pages now: 245M", NULL, 80, 40 },
	{ "and the clock of a CPU is known only now", " [7", " clock -, ", NULL },
	{ "a kernel thread has no memory, but a priority", "/480\n\n", " SCHED_OTHER nice -20 ", "MEMORY", 80, 40 },
	{ "a thread that is not blocked any more was", "5jjjj", "\nits longest block ", NULL },
	{ "a cgroup alone is again one with all below", "2ss", "  with all below ", "own threads" },
	{ "from the tree back to processes", "Htt", "   106  74.0 ", " S COMMAND " },
	{ "a pair is opened as the detail of what waited", "8\n", "[8:Waits] > api-server 2001 detail ", NULL },
	{ "a click selects a CPU", "7" CLICK, "\n>   3 ", NULL },
	{ "the victims of a source are those up to the shown refresh", "6\n[", " in the 2.0s up to -0.0s", NULL },
	{ "a range is of one kind of durations", "4vhv\t", NULL, "RANGE" },
	{ "ages in the past are those of the newest refresh", " [4", "\n-1s ", NULL },
	{ "a graph of another kind is no baseline", "Hfx\tX", "\npress x first", NULL },
	{ "zooming out goes to the caller", "Hfjj\n\177", "\n[main ", "[api-server " },
	{ "a second click zooms in", "3" CLICK CLICK, "\n[serde_json::ser::to_writer  ", "[all " },
	{ "what is counted by stack are times, if they are not samples", "Hft\t\t\t", " COUNT    FUNCTION ", "SAMPLES" },
	{ "of a stripped file nothing may be known", "Hf/libssl\n", "   no symbol covers it   build-id -", NULL },
	{ "nested matches of a search count once", "Hf/a\n", "  /a: 100.0% of it ", NULL },
	{ "the table of functions is not inverted", "Hfti", ", callers below ", " FUNCTION " },
	{ "nor if the graph was", "Hfit", " FUNCTION ", "callers below" },
	{ "whose callees are below it in the sandwich", "Hfitjjjj\n", "\ncalls    api::handle_req ", "callers" },
	{ "self time is that of functions: an inverted graph has none", "Hfij",
	  "\nserde_json::ser::to_writer  total 1.2s (49.4%)  120 ", NULL },
	{ "what is above a box there did not call it", "Hfijj", "\ncallers  main 100.0% ", "\nfrom ", 200, 50 },
	{ "nor have the callers of one", "Hftj\nk", "\nmain  total 600ms (100.0%)  60 samples ", NULL },
	{ "a table of functions is not compared", "HftX", "\nonly the whole graph is compared", NULL },
};

#define NR_TEXTS (sizeof(texts) / sizeof(texts[0]))

static bool check_text(const struct text *t)
{
	const struct shot shot = { t->name, t->width ? t->width : 80, t->height ? t->height : 24, t->keys,
				   .scope = t->scope };
	struct scene scene;
	bool ok;
	char *text;

	scene_make(&scene, 4);
	text = shoot(&shot, &scene);
	ok = (!t->has || strstr(text, t->has)) && !(t->lacks && strstr(text, t->lacks));
	if (!ok)
		printf("# screen:\n%s\n", text);
	free(text);
	scene_free(&scene);
	return ok;
}

int main(int argc, char **argv)
{
	bool write = argc > 1 && !strcmp(argv[1], "--write");
	FILE *null = fopen("/dev/null", "r+");
	struct scene scene, large, untimed;
	int failed = 0;

	setlocale(LC_ALL, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	unsetenv("COLORTERM");
	if (!null || !newterm("xterm-256color", null, null)) {
		printf("Bail out! no terminal\n");
		return EXIT_FAILURE;
	}
	start_color();
	use_default_colors();
	scene_make(&scene, 4);
	scene_make(&large, 256);
	scene_make_untimed(&untimed);
	printf("1..%zu\n", NR_SHOTS + NR_LATES + NR_TEXTS);
	for (size_t i = 0; i < NR_SHOTS; i++) {
		char *text = shoot(&shots[i], shots[i].large ? &large : shots[i].untimed ? &untimed : &scene);
		bool ok = check(&shots[i], text, write);

		printf("%s %zu - %s\n", ok ? "ok" : "not ok", i + 1, shots[i].name);
		failed += !ok;
		free(text);
	}
	for (size_t i = 0; i < NR_LATES; i++) {
		bool ok = check_late(&scene, &lates[i]);

		printf("%s %zu - %s\n", ok ? "ok" : "not ok", NR_SHOTS + i + 1, lates[i].name);
		failed += !ok;
	}
	for (size_t i = 0; i < NR_TEXTS; i++) {
		bool ok = check_text(&texts[i]);

		printf("%s %zu - %s\n", ok ? "ok" : "not ok", NR_SHOTS + NR_LATES + i + 1, texts[i].name);
		failed += !ok;
	}
	scene_free(&scene);
	scene_free(&large);
	scene_free(&untimed);
	endwin();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
