/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random keys, clicks, sizes, refreshes and steps into the past, in an order that no terminal could keep up with:
 * everything the screen refers to must exist. If built in, the sanitizers end it otherwise. SYSTOP_SEED: repeats a
 * failed run.
 */
#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scene.h"
#include "tui/screen/screen.h"
#include "tui/term/paint.h"

#ifdef SANITIZED
#define HOW ""
#else
#define HOW ", without the sanitizers"
#endif

#define SCENES 300
#define STEPS 400 /* per run */
#define MOST_WIDTH 250
#define MOST_HEIGHT 80

static int below(int n)
{
	return rand() % n;
}

static int random_key(bool *is_code)
{
	static const char often[] = "\n\n\n\n12345678fvswbjkhl \033[]{}";
	static const int codes[] = {
		KEY_UP, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_PPAGE, KEY_NPAGE, KEY_HOME, KEY_END, KEY_BTAB, KEY_BACKSPACE,
		KEY_F(1), KEY_F(2), KEY_F(3), KEY_F(4), KEY_F(5), KEY_F(6), KEY_DC,
	};
	int kind = below(8);

	*is_code = kind == 0;
	if (kind == 0)
		return codes[below(sizeof(codes) / sizeof(codes[0]))];
	return kind < 5 ? often[below(sizeof(often) - 1)] : below(127) + 1;
}

static void resize(struct paint *p)
{
	static const struct { int width, height; } plain[] = { { 80, 24 }, { 200, 50 }, { 40, 10 }, { 39, 9 }, { 1, 1 } };
	int i = below(2 * sizeof(plain) / sizeof(plain[0]));

	if (i < (int)(sizeof(plain) / sizeof(plain[0]))) {
		p->width = plain[i].width;
		p->height = plain[i].height;
	} else {
		p->width = 1 + below(MOST_WIDTH);
		p->height = 1 + below(MOST_HEIGHT);
	}
	p->to = p->height;
}

static void step(struct screen *screen, struct scene *scene, struct paint *paint, uint64_t *now)
{
	const struct tick *tick;
	int key, kind = below(40);
	bool is_code;

	*now += below(30) * 10000000ULL;
	if (kind == 0) {
		resize(paint);
		screen_draw(screen, paint, *now);
	} else if (kind < 4) {
		tick = scene_next(scene);
		screen_tick(screen, tick);
		tick_put(tick);
	} else if (kind < 8) {
		screen_mouse(screen, below(6) ? MOUSE_CLICK : below(2) ? MOUSE_WHEEL_UP : MOUSE_WHEEL_DOWN,
			     below(paint->height), below(paint->width), *now);
	} else if (kind < 14) {
		screen_draw(screen, paint, *now);
	} else {
		key = random_key(&is_code);
		screen_key(screen, key, is_code, *now);
	}
}

/* A screen of the scene, not drawn yet. */
static struct screen *open_screen(struct host *host, struct paint *paint, struct scene *scene, const struct theme *theme,
				  WINDOW *pad)
{
	struct settings settings;
	struct screen *screen;

	*host = scene_host;
	host->source.arg = host->arg = scene;
	settings_default(&settings);
	paint_init(paint, pad, 80, 24, below(2));
	paint_theme(paint, theme, true);
	screen = screen_new(host, &settings, NULL);
	scene_check(screen ? 0 : -1);
	return screen;
}

static void storm(struct scene *scene, const struct theme *theme, WINDOW *pad)
{
	uint64_t now = SCENE_NOW_NS;
	struct screen *screen;
	struct paint paint;
	struct host host;

	screen = open_screen(&host, &paint, scene, theme, pad);
	screen_draw(screen, &paint, now);
	for (int nr = below(SCENE_TICKS); nr < SCENE_TICKS; nr++)
		screen_tick(screen, scene->ticks[nr]);
	for (int i = 0; i < STEPS; i++)
		step(screen, scene, &paint, &now);
	screen_free(screen);
}

static void go_on(struct screen *screen, struct scene *scene, int nr)
{
	while (nr--) {
		const struct tick *tick = scene_next(scene);

		screen_tick(screen, tick);
		tick_put(tick);
	}
}

/* Each view, and what opens from it, is paused for longer than the history: the refreshes it was made from are
 * forgotten, and so are their compilers. */
static void pause_in(char view, struct scene *scene, const struct theme *theme, WINDOW *pad)
{
	static const char *const into[] = { "", "j", "\n", "j\n", "f", "\n\n", "\nf", "s" };
	uint64_t now = SCENE_NOW_NS;

	for (size_t i = 0; i < sizeof(into) / sizeof(into[0]); i++) {
		struct screen *screen;
		struct paint paint;
		struct host host;

		screen = open_screen(&host, &paint, scene, theme, pad);
		go_on(screen, scene, 5);
		screen_draw(screen, &paint, now);
		screen_key(screen, view, false, now);
		for (const char *key = into[i]; *key; key++) {
			screen_draw(screen, &paint, now);
			screen_key(screen, *key, false, now);
		}
		screen_draw(screen, &paint, now);
		screen_key(screen, ' ', false, now);
		screen_draw(screen, &paint, now);
		go_on(screen, scene, HISTORY_TICKS + 10);
		screen_draw(screen, &paint, now);
		for (const char *key = "jj\n\033\033"; *key; key++) {
			screen_key(screen, *key, false, now);
			screen_draw(screen, &paint, now);
		}
		screen_free(screen);
	}
}

/* What a key may have opened is closed again, and hidden parts are shown again, before the way to the next view. */
#define HOME "\025\033\033\033" "1="

static void press(struct screen *screen, struct paint *paint, int key, bool is_code, uint64_t *now)
{
	*now += 10000000;
	screen_key(screen, key, is_code, *now);
	screen_draw(screen, paint, *now);
}

static bool drawn_well(const struct paint *paint)
{
	char line[8] = "";

	mvwinnstr(paint->win, 0, 0, line, sizeof(line) - 1);
	if (strcmp(line, "systop "))
		return false;
	for (int y = 0; y < paint->height; y++) {
		if ((mvwinch(paint->win, y, paint->width) & A_CHARTEXT) != ' ')
			return false;
	}
	return true;
}

/* The header stays, and nothing is drawn beside the screen. Returns the number of keys. */
static int every_key(int width, int height, struct scene *scene, const struct theme *theme, WINDOW *pad)
{
	static const char *const views[] = { "", "H", "t", "2", "7", "6", "6\n", "4", "4s", "5", "8", "\n", "f", "\nf", "?", "!",
					     "o", "o\n", "." };
	uint64_t now = SCENE_NOW_NS;
	struct screen *screen;
	struct paint paint;
	struct host host;
	int nr = 0;

	werase(pad);
	screen = open_screen(&host, &paint, scene, theme, pad);
	paint.width = width;
	paint.height = paint.to = height;
	for (int i = 0; i < SCENE_TICKS; i++)
		screen_tick(screen, scene->ticks[i]);
	screen_draw(screen, &paint, now);
	for (size_t view = 0; view < sizeof(views) / sizeof(views[0]); view++) {
		for (int key = 1; key < KEY_MAX; key++) {
			if (key == 128)
				key = KEY_MIN;
			for (const char *k = HOME; *k; k++)
				screen_key(screen, *k, false, now);
			screen_draw(screen, &paint, now);
			for (const char *k = views[view]; *k; k++)
				press(screen, &paint, *k, false, &now);
			press(screen, &paint, key, key >= KEY_MIN, &now);
			if (!drawn_well(&paint)) {
				printf("# %dx%d, view \"%s\", key %d (%s)\n", width, height, views[view], key, keyname(key));
				printf("not ");
				screen_free(screen);
				return nr;
			}
			nr++;
		}
	}
	screen_free(screen);
	return nr;
}

int main(void)
{
	static const struct { int width, height; } sizes[] = { { 40, 10 }, { 80, 24 }, { 200, 50 } };
	const char *given = getenv("SYSTOP_SEED");
	unsigned int seed = given ? (unsigned int)strtoul(given, NULL, 10) : (unsigned int)time(NULL);
	FILE *null = fopen("/dev/null", "r+");
	struct theme theme;
	char error[128];
	WINDOW *pad;

	setlocale(LC_ALL, "C.UTF-8");
	if (!null || !newterm("xterm-256color", null, null) || !(pad = newpad(MOST_HEIGHT, MOST_WIDTH))) {
		printf("Bail out! no terminal\n");
		return EXIT_FAILURE;
	}
	start_color();
	use_default_colors();
	if (theme_load(&theme, "default", NULL, error, sizeof(error)))
		abort();
	srand(seed);
	printf("1..5\n# SYSTOP_SEED=%u\n", seed);
	fflush(stdout);
	for (int i = 0; i < SCENES; i++) {
		struct scene scene;

		scene_make(&scene, below(4) ? 4 : 256);
		storm(&scene, &theme, pad);
		scene_free(&scene);
	}
	printf("ok 1 - %d random keys, clicks, sizes and refreshes" HOW "\n", SCENES * STEPS);
	fflush(stdout);
	for (char view = '1'; view <= '8'; view++) {
		struct scene scene;

		scene_make(&scene, 4);
		pause_in(view, &scene, &theme, pad);
		scene_free(&scene);
	}
	printf("ok 2 - a long pause in every view" HOW "\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct scene scene;
		int nr;

		fflush(stdout);
		scene_make(&scene, 4);
		nr = every_key(sizes[i].width, sizes[i].height, &scene, &theme, pad);
		printf("ok %zu - every key in every view at %dx%d: %d" HOW "\n", 3 + i, sizes[i].width, sizes[i].height, nr);
		scene_free(&scene);
	}
	delwin(pad);
	endwin();
	return EXIT_SUCCESS;
}
