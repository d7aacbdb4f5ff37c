/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills in a man page: copies standard input to standard output and replaces each line "@name@" by the table of that
 * name. The tables are those that the program itself uses.
 */

#include <argp.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/options.h"
#include "app/roles.h"
#include "loss.h"
#include "query/filter.h"
#include "query/runtimes.h"
#include "tui/input/keymap.h"
#include "tui/input/settings.h"
#include "tui/term/theme.h"
#include "tui/widget/columns.h"

/* Plain text for roff. */
static void put(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		switch (*text) {
		case '\\':
			fputs("\\e", stdout);
			break;
		case '-':
			fputs("\\-", stdout);
			break;
		case '^':
			fputs("\\(ha", stdout);
			break;
		case '~':
			fputs("\\(ti", stdout);
			break;
		case '\'':
			fputs("\\(aq", stdout);
			break;
		default:
			putchar(*text);
		}
	}
}

static void put_item(const char *what, const char *help)
{
	fputs(".TP\n.B ", stdout);
	put(what);
	putchar('\n');
	put(help);
	putchar('\n');
}

static void put_options(void)
{
	for (const struct argp_option *o = options_table(); o->name || o->doc; o++) {
		if (!o->name) {
			printf(".SS %.*s\n", (int)strcspn(o->doc, ":"), o->doc);
			continue;
		}
		fputs(".TP\n", stdout);
		if (o->key > ' ' && o->key < 127)
			printf("\\fB\\-%c\\fR, ", o->key);
		fputs("\\fB\\-\\-", stdout);
		put(o->name);
		fputs("\\fR", stdout);
		if (o->arg)
			printf("=\\fI%s\\fR", o->arg);
		putchar('\n');
		put(o->doc);
		putchar('\n');
	}
}

/* Keys of the preset systop. */
static void put_keys(void)
{
	for (int a = 0; a < ACTION_NONE; a++)
		put_item(actions[a].keys[PRESET_SYSTOP], actions[a].help);
}

/* A cell of a tbl(1) table between tabs. */
static void put_cell(const char *text, char end)
{
	fputs("T{\n", stdout);
	put(*text ? text : " ");
	printf("\nT}%c", end);
}

static void put_actions(void)
{
	fputs(".TS\nlb lb lb lb\nl l l l.\nname\tsystop\thtop\tbelow\n", stdout);
	for (int a = 0; a < ACTION_NONE; a++) {
		put_cell(actions[a].name, '\t');
		for (int preset = 0; preset < PRESET_COUNT; preset++)
			put_cell(actions[a].keys[preset], preset + 1 == PRESET_COUNT ? '\n' : '\t');
	}
	fputs(".TE\n", stdout);
}

/* Keys of htop that mean something else, or nothing, in its preset. */
static void put_absent(void)
{
	for (const struct absent *k = htop_absent; k->keys; k++)
		put_item(k->keys, k->why);
}

static void put_columns(void)
{
	for (enum column_id id = 0; id < COLUMN_COUNT; id++) {
		struct column_info info = column_info(id);
		char title[64];

		if (id < COLUMN_METRICS && !info.drop)
			continue;
		snprintf(title, sizeof(title), "%s (%s)", info.title, info.name);
		put_item(title, info.help);
	}
}

static void put_filter(void)
{
	for (const struct filter_word *w = filter_words; w->form; w++)
		put_item(w->form, w->help);
}

static void put_runtimes(void)
{
	fputs(".TS\nlb lb lb\nl lw(22n) lw(34n).\nruntime\tfiles\tits names\n", stdout);
	for (const struct runtime *r = runtimes; r->name; r++) {
		put_cell(r->name, '\t');
		put_cell(r->files, '\t');
		put_cell(r->hint, '\n');
	}
	fputs(".TE\n", stdout);
}

static void put_settings(void)
{
	const char *section = "";
	struct settings defaults;
	struct setting_text t;

	settings_default(&defaults);
	for (int nr = 0; settings_get(&defaults, nr, &t); nr++) {
		if (!strcmp(t.section, "keys") && strcmp(t.name, "preset"))
			continue; /* @actions@ */
		if (strcmp(t.section, section))
			printf(".SS [%s]\n", t.section);
		section = t.section;
		put_item(t.name, t.help);
		fputs(".br\nDefault: ", stdout);
		put(t.value);
		putchar('\n');
	}
}

static void put_roles(void)
{
	for (int r = 0; r < ROLE_COUNT; r++) {
		enum role parent = theme_parent(r);
		char help[64] = "the terminal's default look";

		if (parent != (enum role)r)
			snprintf(help, sizeof(help), "like %s", theme_role_name(parent));
		put_item(theme_role_name(r), help);
	}
}

#define _(id, name, help) put_item(name, help);
static void put_losses(void)
{
	LOSSES(_)
}

static void put_repairs(void)
{
	REPAIRS(_)
}
#undef _

static void put_caps(const struct helper_role *r)
{
	for (int i = 0; i < r->nr_caps; i++) {
		char *name = cap_to_name(r->caps[i]);

		for (char *c = name; c && *c; c++)
			*c = toupper((unsigned char)*c);
		fputs(i ? " " : "", stdout);
		put(name ? name : "?");
		cap_free(name);
	}
	if (!r->nr_caps)
		put("none");
}

static void put_calls(const struct helper_role *r)
{
	bool any = false;

	for (int set = 0; set < CALLS_SETS; set++) {
		if (!(r->calls & 1U << set))
			continue;
		fputs(any ? ", " : "", stdout);
		put(calls_words(set));
		any = true;
	}
}

/* tests/bpf/rights.py reads this table: one cell each for name, user, capabilities, and task. */
static void put_processes(void)
{
	static const char *const users[] = {
		[USER_NOBODY] = "nobody",
		[USER_INVOKER] = "invoker",
		[USER_WRITER] = "writer",
	};

	fputs(".TS\nlb lb lb lb\nl l lw(20n) lw(26n).\nprocess\tuser\tcapabilities\ttask, and allowed system calls\n", stdout);
	for (const struct helper_role *r = processes; r < processes + PROCESS_COUNT; r++) {
		put_cell(r->name, '\t');
		put_cell(users[r->user], '\t');
		fputs("T{\n", stdout);
		put_caps(r);
		fputs("\nT}\tT{\n", stdout);
		put(r->what);
		fputs(": ", stdout);
		put_calls(r);
		fputs("\nT}\n", stdout);
	}
	fputs(".TE\n", stdout);
}

static const struct {
	const char *name;
	void (*put)(void);
} tables[] = {
	{ "@options@\n", put_options }, { "@keys@\n", put_keys },         { "@actions@\n", put_actions },
	{ "@absent@\n", put_absent },
	{ "@columns@\n", put_columns }, { "@filter@\n", put_filter },     { "@settings@\n", put_settings },
	{ "@roles@\n", put_roles },     { "@losses@\n", put_losses },   { "@runtimes@\n", put_runtimes },
	{ "@repairs@\n", put_repairs },
	{ "@processes@\n", put_processes },
};

int main(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin)) {
		size_t i = 0;

		while (i < sizeof(tables) / sizeof(tables[0]) && strcmp(line, tables[i].name))
			i++;
		if (i < sizeof(tables) / sizeof(tables[0])) {
			tables[i].put();
		} else if (line[0] == '@') {
			fprintf(stderr, "man/tables: no table %s", line);
			return EXIT_FAILURE;
		} else {
			fputs(line, stdout);
		}
	}
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
