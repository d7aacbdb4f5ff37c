/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys, clicks, sizes and refreshes on a screen of the scene. */
#include "fuzz.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene.h"
#include "tui/screen/screen.h"
#include "tui/term/paint.h"

#define MOST_WIDTH 250
#define MOST_HEIGHT 80

/* The size until the input sets another one. */
#define WIDTH 80
#define HEIGHT 24

/* Number of inputs that share a scene: creating one takes most of the time. */
#define INPUTS 200

static struct theme theme;
static WINDOW *pad;
static struct scene scene;
static int inputs;

static void begin(void)
{
	FILE *null = fopen("/dev/null", "r+e");
	char error[128];

	fuzz_check(null && newterm("xterm-256color", null, null), "no terminal");
	pad = newpad(MOST_HEIGHT, MOST_WIDTH);
	fuzz_check(pad, "no memory");
	start_color();
	use_default_colors();
	fuzz_check(!theme_load(&theme, "default", NULL, error, sizeof(error)), "%s", error);
}

static void begin_scene(void)
{
	if (inputs++ % INPUTS)
		return;
	if (scene.model)
		scene_free(&scene);
	scene_make(&scene, 4);
}

/* Nothing happened since @drawn: drawn again it is the same. */
static void draw(struct screen *screen, struct paint *paint, uint64_t now, bool *drawn)
{
	if (!*drawn)
		screen_draw(screen, paint, now);
	*drawn = true;
}

static void step(struct feed *f, struct screen *screen, struct paint *paint, uint64_t *now, bool *drawn)
{
	uint8_t what = feed_number(f, 1);
	const struct tick *tick;

	*now += 50000000;
	*drawn &= what == 0x86;
	switch (what) {
	case 0x80: /* a curses code */
		screen_key(screen, KEY_MIN + feed_number(f, 1), true, *now);
		break;
	case 0x81:
	case 0x82:
	case 0x83:
		screen_mouse(screen, MOUSE_CLICK + what - 0x81, feed_number(f, 1), feed_number(f, 1), *now);
		break;
	case 0x84:
		paint->width = 1 + feed_number(f, 1) % MOST_WIDTH;
		paint->height = paint->to = 1 + feed_number(f, 1) % MOST_HEIGHT;
		break;
	case 0x85:
		tick = scene_next(&scene);
		screen_tick(screen, tick);
		tick_put(tick);
		break;
	case 0x86:
		draw(screen, paint, *now, drawn);
		break;
	case 0x87: /* any character */
		screen_key(screen, feed_number(f, 3), false, *now);
		break;
	default:
		screen_key(screen, what, false, *now);
	}
}

void fuzz_keys(const uint8_t *bytes, size_t size)
{
	struct feed f = { bytes, size };
	uint64_t now = SCENE_NOW_NS;
	static struct settings settings;
	struct screen *screen;
	struct paint paint;
	bool drawn = false;
	struct host host;

	if (!pad)
		begin();
	begin_scene();
	host = scene_host;
	host.source.arg = host.arg = &scene;
	if (!settings.delay_ns)
		settings_default(&settings);
	paint_init(&paint, pad, 1, 1, true);
	paint_theme(&paint, &theme, true);
	screen = screen_new(&host, &settings, NULL);
	fuzz_check(screen, "no memory");
	for (int nr = 0; nr < SCENE_TICKS; nr++)
		screen_tick(screen, scene.ticks[nr]);
	screen_draw(screen, &paint, now); /* too small for all but that message */
	paint.width = WIDTH;
	paint.height = paint.to = HEIGHT;
	while (f.left)
		step(&f, screen, &paint, &now, &drawn);
	draw(screen, &paint, now, &drawn);
	screen_free(screen);
}
