/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/input/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/format.h"

static const char *const when_names[] = { "auto", "always", "never" };
static const char *const yes_names[] = { "no", "yes" };

#define NR(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* Index of @value in @names, -1: none. */
static int choice(const char *const *names, int nr, const char *value)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(names[i], value))
			return i;
	return -1;
}

/* All settings with their possible values, in the order of the file. */
#define SETTINGS(_)                                                                                \
	_(THEME,    "look",  "theme",    "a theme's name: default light mono colour-blind 16-colour, or a file") \
	_(COLOR,    "look",  "color",    "auto always never")                                      \
	_(ASCII,    "look",  "ascii",    "auto always never: draw with ASCII only")                \
	_(FULL_NAMES, "look", "full-names", "yes no: C++ and Rust functions with all arguments")    \
	_(MOUSE,    "look",  "mouse",    "yes no")                                                 \
	_(COMMAND,  "look",  "command",  "name line merged: what COMMAND shows")                    \
	_(UNITS,    "look",  "units",    "share time rate: times in % of the interval, as time, or per second") \
	_(VIEW,     "view",  "start",    &VIEW_NAMES[1])                                            \
	_(SORT,     "view",  "sort",     "a column's name: systop -s help lists them")              \
	_(INVERT,   "view",  "invert",   "yes no")                                                 \
	_(IDLE,     "view",  "hide-idle", "yes no: hide idle rows")                    \
	_(KTHREADS, "view",  "hide-kthreads", "yes no: hide kernel threads")                  \
	_(DELAY,    "view",  "delay",    "a refresh interval from 0.1s to 60s")                    \
	_(COLUMNS,  "columns", "threads", "columns in order; - hides one, :WIDTH sets its width") \
	_(COLUMNS_PROCESSES, "columns", "processes", "likewise")                                   \
	_(COLUMNS_TREE, "columns", "tree", "likewise")                                             \
	_(COLUMNS_CGROUPS, "columns", "cgroups", "likewise")                                       \
	_(PRESET,   "keys",  "preset",   "systop htop below")

enum setting {
#define _(id, ...) SETTING_##id,
	SETTINGS(_)
#undef _
	SETTING_COUNT
};

static const struct {
	const char *section, *name, *help;
} settings[SETTING_COUNT] = {
#define _(id, section, name, help) { section, name, help },
	SETTINGS(_)
#undef _
};

void settings_default(struct settings *s)
{
	*s = (struct settings){
		.theme = "default",
		.view = "threads",
		.sorting = { .by = (enum column_id)METRIC_RUN, .form = CMDLINE_MERGED },
		.delay_ns = 1000000000,
	};
	for (int t = 0; t < TABLE_COUNT; t++)
		columns_default(&s->columns[t], t);
	keymap_preset(&s->keymap, PRESET_SYSTOP);
}

/* Settings with a fixed set of values: where each is stored, as an int or a bool. */
static const struct {
	const char *const *names;
	int nr;
	size_t at;
} choices[SETTING_COUNT] = {
#define _(id, names, nr, member) [SETTING_##id] = { names, nr, offsetof(struct settings, member) }
	_(COLOR, when_names, NR(when_names), color),
	_(ASCII, when_names, NR(when_names), ascii),
	_(FULL_NAMES, yes_names, 2, full_names),
	_(MOUSE, yes_names, 2, mouse),
	_(COMMAND, cmdline_form_names, CMDLINE_FORMS, sorting.form),
	_(UNITS, units_names, UNITS_COUNT, units),
	_(INVERT, yes_names, 2, sorting.inverted),
	_(IDLE, yes_names, 2, hide_idle),
	_(KTHREADS, yes_names, 2, hide_kthreads),
#undef _
};

/* Reports which values are valid, after the setting's name if it is from a file. */
static int wrong(enum setting id, int line, char *error, size_t size)
{
	const char *help = settings[id].help;
	bool list = choices[id].names || id == SETTING_VIEW || id == SETTING_PRESET;

	snprintf(error, size, "%s%sexpected %s%.*s", line ? settings[id].name : "", line ? ": " : "",
		 list ? "one of: " : "", (int)(choices[id].names ? strcspn(help, ":") : strlen(help)), help);
	return -EINVAL;
}

static int set_choice(struct settings *s, enum setting id, const char *value)
{
	int i = choice(choices[id].names, choices[id].nr, value);
	void *at = (char *)s + choices[id].at;

	if (i >= 0 && choices[id].names == yes_names)
		*(bool *)at = i;
	else if (i >= 0)
		*(int *)at = i;
	return i >= 0 ? 0 : -EINVAL;
}

static const char *get_choice(const struct settings *s, enum setting id)
{
	const void *at = (const char *)s + choices[id].at;

	return choices[id].names[choices[id].names == yes_names ? *(const bool *)at : *(const int *)at];
}

static int set_text(char *to, size_t size, const char *value)
{
	if (!*value || strlen(value) >= size)
		return -EINVAL;
	snprintf(to, size, "%s", value);
	return 0;
}

static int set_theme(struct settings *s, const char *value, char *error, size_t size)
{
	if (strlen(value) >= sizeof(s->theme))
		snprintf(error, size, "a theme's name or path has at most %zu bytes: use a shorter one",
			 sizeof(s->theme) - 1);
	return set_text(s->theme, sizeof(s->theme), value);
}

static int set_sort(struct settings *s, const char *value)
{
	enum column_id id = column_find(value);

	if (!column_sorts(id))
		return -EINVAL;
	s->sorting.by = id;
	return 0;
}

static int set_key(struct settings *s, const char *name, const char *value, int line, char *error,
		   size_t size)
{
	enum action a = action_find(name);

	if (a == ACTION_NONE) {
		snprintf(error, size, "no such action: systop --print-config lists them");
		return -EINVAL;
	}
	return keymap_bind(&s->keymap, a, value, line, error, size) ? -EINVAL : 0;
}

/* Applies a preset, wherever it stands in the section: keys bound before it are bound again. */
static int set_preset(struct settings *s, const char *value)
{
	struct keymap bound = s->keymap;
	char error[128];
	int preset = choice(preset_names, PRESET_COUNT, value);

	if (preset < 0)
		return -EINVAL;
	s->preset = preset;
	keymap_preset(&s->keymap, preset);
	for (int a = 0; a < ACTION_NONE; a++)
		if (bound.bound_at[a])
			keymap_bind(&s->keymap, a, bound.keys[a], bound.bound_at[a], error,
				    sizeof(error));
	return 0;
}

int settings_delay(struct settings *s, const char *value)
{
	return parse_duration(value, DELAY_MIN_NS, DELAY_MAX_NS, &s->delay_ns) ? -EINVAL : 0;
}

static int set(struct settings *s, enum setting id, const char *value, char *error, size_t size)
{
	enum table table = id - SETTING_COLUMNS;
	int way;

	if (choices[id].names)
		return set_choice(s, id, value);
	switch (id) {
	case SETTING_THEME:
		return set_theme(s, value, error, size);
	case SETTING_VIEW:
		return view_named(value, &way) == VIEW_COUNT ? -EINVAL : set_text(s->view, sizeof(s->view), value);
	case SETTING_SORT:
		return set_sort(s, value);
	case SETTING_DELAY:
		return settings_delay(s, value);
	case SETTING_PRESET:
		return set_preset(s, value);
	default:
		return columns_parse(&s->columns[table], table, value, error, size) ? -EINVAL : 0;
	}
}

int settings_set(struct settings *s, const char *section, const char *name, const char *value,
		 int line, char *error, size_t size)
{
	*error = '\0';
	for (int id = 0; id < SETTING_COUNT; id++) {
		if (strcmp(settings[id].section, section) || strcmp(settings[id].name, name))
			continue;
		if (!set(s, id, value, error, size))
			return 0;
		return *error ? -EINVAL : wrong(id, line, error, size);
	}
	if (!strcmp(section, "keys"))
		return set_key(s, name, value, line, error, size);
	return -ENOENT;
}

/* Exact to the ns: 60 s have 11 digits. */
void settings_print_delay(uint64_t ns, char *buf, size_t size)
{
	snprintf(buf, size, "%.11gs", ns / 1e9);
}

static void get(const struct settings *s, enum setting id, char *buf, size_t size)
{
	const char *text = "";

	if (choices[id].names) {
		snprintf(buf, size, "%s", get_choice(s, id));
		return;
	}
	switch (id) {
	case SETTING_THEME:
		text = s->theme;
		break;
	case SETTING_VIEW:
		text = s->view;
		break;
	case SETTING_SORT:
		text = column_info(s->sorting.by).name;
		break;
	case SETTING_DELAY:
		settings_print_delay(s->delay_ns, buf, size);
		return;
	case SETTING_PRESET:
		text = preset_names[s->preset];
		break;
	default:
		columns_print(&s->columns[id - SETTING_COLUMNS], buf, size);
		return;
	}
	snprintf(buf, size, "%s", text);
}

bool settings_get(const struct settings *s, int nr, struct setting_text *t)
{
	enum action a = nr - SETTING_COUNT;

	*t->value = '\0';
	t->set = false;
	if (nr < SETTING_COUNT) {
		t->section = settings[nr].section;
		t->name = settings[nr].name;
		t->help = settings[nr].help;
		if (s)
			get(s, nr, t->value, sizeof(t->value));
		t->set = *t->value;
		return true;
	}
	if (a >= ACTION_NONE)
		return false;
	t->section = "keys";
	t->name = actions[a].name;
	t->help = actions[a].help;
	t->set = s && s->keymap.bound_at[a];
	if (t->set)
		snprintf(t->value, sizeof(t->value), "%s", s->keymap.keys[a]);
	return true;
}
