/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/input/keymap.h"

#include <ctype.h>
#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* Names of keys that are not one character, and their curses codes. */
static const struct {
	const char *name;
	int key;
} key_names[] = {
	{ "Space", ' ' },         { "Tab", '\t' },        { "S-Tab", KEY_BTAB },
	{ "Enter", '\n' },        { "Enter", '\r' },      { "Enter", KEY_ENTER },
	{ "Esc", 27 },            { "Bksp", KEY_BACKSPACE }, { "Bksp", 127 },
	{ "Bksp", '\b' },         { "Up", KEY_UP },       { "Down", KEY_DOWN },
	{ "Left", KEY_LEFT },     { "Right", KEY_RIGHT }, { "PgUp", KEY_PPAGE },
	{ "PgUp", KEY_A3 },       { "PgDn", KEY_NPAGE },  { "PgDn", KEY_C3 },
	{ "Home", KEY_HOME },     { "Home", KEY_FIND },
	{ "Home", KEY_A1 },       { "End", KEY_END },     { "End", KEY_LL },
	{ "End", KEY_SELECT },    { "End", KEY_C1 },      { "Ins", KEY_IC },
	{ "Del", KEY_DC },
};

#define NR_NAMES (sizeof(key_names) / sizeof(key_names[0]))

/* What xterm, rxvt, screen, tmux and the Linux console send, each of which can run with the TERM of another. The last ones are the
 * keypad's in application mode, which descriptions often lack; PuTTY sends them for digits, too. */
static const struct {
	const char *sequence;
	int key;
} sequences[] = {
	{ "\033[A", KEY_UP },      { "\033OA", KEY_UP },      { "\033[B", KEY_DOWN },
	{ "\033OB", KEY_DOWN },    { "\033[C", KEY_RIGHT },   { "\033OC", KEY_RIGHT },
	{ "\033[D", KEY_LEFT },    { "\033OD", KEY_LEFT },    { "\033[H", KEY_HOME },
	{ "\033OH", KEY_HOME },    { "\033[1~", KEY_HOME },   { "\033[7~", KEY_HOME },
	{ "\033[F", KEY_END },     { "\033OF", KEY_END },     { "\033[4~", KEY_END },
	{ "\033[8~", KEY_END },    { "\033[2~", KEY_IC },     { "\033[3~", KEY_DC },
	{ "\033[5~", KEY_PPAGE },  { "\033[6~", KEY_NPAGE },  { "\033[Z", KEY_BTAB },
	{ "\033OP", KEY_F(1) },    { "\033OQ", KEY_F(2) },    { "\033OR", KEY_F(3) },
	{ "\033OS", KEY_F(4) },    { "\033[11~", KEY_F(1) },  { "\033[12~", KEY_F(2) },
	{ "\033[13~", KEY_F(3) },  { "\033[14~", KEY_F(4) },  { "\033[15~", KEY_F(5) },
	{ "\033[17~", KEY_F(6) },  { "\033[18~", KEY_F(7) },  { "\033[19~", KEY_F(8) },
	{ "\033[20~", KEY_F(9) },  { "\033[21~", KEY_F(10) }, { "\033[23~", KEY_F(11) },
	{ "\033[24~", KEY_F(12) }, { "\033[[A", KEY_F(1) },   { "\033[[B", KEY_F(2) },
	{ "\033[[C", KEY_F(3) },   { "\033[[D", KEY_F(4) },   { "\033[[E", KEY_F(5) },
	{ "\033Ow", KEY_HOME },    { "\033Ox", KEY_UP },      { "\033Oy", KEY_PPAGE },
	{ "\033Ot", KEY_LEFT },    { "\033Ou", KEY_B2 },      { "\033Ov", KEY_RIGHT },
	{ "\033Oq", KEY_END },     { "\033Or", KEY_DOWN },    { "\033Os", KEY_NPAGE },
	{ "\033Op", KEY_IC },      { "\033On", KEY_DC },      { "\033OM", KEY_ENTER },
	{ "\033Ok", '+' },         { "\033Om", '-' },         { "\033Oj", '*' },
	{ "\033Oo", '/' },
};

void keymap_define(void)
{
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (!key_defined(sequences[i].sequence))
			define_key(sequences[i].sequence, sequences[i].key);
}

/* Code number @nr (0, 1, ...: some keys have several) of the key with this name; ERR: no more. */
static int key_code(const char *name, size_t len, int nr)
{
	char *end;
	long number;

	if (len == 1)
		return nr || *name < '!' || *name > '~' ? ERR : *name;
	if (len == 2 && *name == '^')
		return nr || toupper(name[1]) < 0x40 || toupper(name[1]) > 0x5f ? ERR : toupper(name[1]) & 0x1f;
	if (*name == 'F') {
		number = strtol(name + 1, &end, 10);
		if (end == name + len && number > 0 && number <= 20)
			return nr ? ERR : KEY_F(number);
	}
	for (size_t i = 0; i < NR_NAMES; i++)
		if (strlen(key_names[i].name) == len && !strncmp(key_names[i].name, name, len) &&
		    !nr--)
			return key_names[i].key;
	return ERR;
}

/* Length of the next name in a list of keys, 0 at the end. Moves @at to its start. */
static size_t key_next(const char **at)
{
	*at += strspn(*at, " \t");
	return strcspn(*at, " \t");
}

static bool keys_have(const char *keys, const char *name, size_t len)
{
	for (size_t n; (n = key_next(&keys)); keys += n)
		if (n == len && !strncmp(keys, name, len))
			return true;
	return false;
}

static void keys_drop(char *keys, const char *name, size_t len)
{
	char kept[sizeof(((struct keymap *)0)->keys[0])] = "";
	const char *at = keys;

	for (size_t n; (n = key_next(&at)); at += n)
		if (n != len || strncmp(at, name, len))
			text_add(kept, sizeof(kept), "%s%.*s", *kept ? " " : "", (int)n, at);
	memcpy(keys, kept, sizeof(kept));
}

void keymap_preset(struct keymap *m, enum preset preset)
{
	*m = (struct keymap){ 0 };
	for (int a = 0; a < ACTION_NONE; a++)
		snprintf(m->keys[a], sizeof(m->keys[a]), "%s", actions[a].keys[preset]);
}

/* Whether the action belongs to one view, to the heatmaps or to the flamegraphs: it then precedes actions that apply
 * elsewhere, too. */
static bool is_own(enum action a)
{
	int places = actions[a].places;

	return places == IN_HEAT || places == IN_GRAPH || !(places & (places - 1));
}

/* Whether both apply in some place and neither has precedence. */
static bool overlap(enum action a, enum action b)
{
	return a != b && actions[a].places & actions[b].places && is_own(a) == is_own(b);
}

const char *keymap_bind(struct keymap *m, enum action a, const char *keys, int line, char *buf,
			size_t size)
{
	const char *at = keys;

	if (strlen(keys) >= sizeof(m->keys[a])) {
		snprintf(buf, size, "too many keys for %s", actions[a].name);
		return buf;
	}
	for (size_t n; (n = key_next(&at)); at += n) {
		if (key_code(at, n, 0) == ERR) {
			snprintf(buf, size, "unknown key for %s: systoprc(5) lists them", actions[a].name);
			return buf;
		}
		for (int b = 0; b < ACTION_NONE; b++) {
			if (!overlap(a, b) || !m->bound_at[b] || !keys_have(m->keys[b], at, n))
				continue;
			snprintf(buf, size, "a key of %s is bound to %s already, in line %d",
				 actions[a].name, actions[b].name, m->bound_at[b]);
			return buf;
		}
	}
	at = keys;
	for (size_t n; (n = key_next(&at)); at += n)
		for (int b = 0; b < ACTION_NONE; b++)
			if (overlap(a, b))
				keys_drop(m->keys[b], at, n);
	snprintf(m->keys[a], sizeof(m->keys[a]), "%s", keys);
	m->bound_at[a] = line;
	return NULL;
}

static bool keys_match(const char *keys, int key)
{
	for (size_t n; (n = key_next(&keys)); keys += n) {
		int code;

		for (int nr = 0; (code = key_code(keys, n, nr)) != ERR; nr++)
			if (code == key)
				return true;
	}
	return false;
}

/* Search actions have precedence, then the action that applies in fewer places. */
static bool comes_first(enum action a, enum action b)
{
	if ((actions[a].places == IN_SEARCH) != (actions[b].places == IN_SEARCH))
		return actions[a].places == IN_SEARCH;
	return __builtin_popcount(actions[a].places) < __builtin_popcount(actions[b].places);
}

enum action keymap_action(const struct keymap *m, int key, int places)
{
	enum action found = ACTION_NONE;

	for (int a = 0; a < ACTION_NONE; a++) {
		if (!(actions[a].places & places) || !keys_match(m->keys[a], key))
			continue;
		if (found == ACTION_NONE || comes_first(a, found))
			found = a;
	}
	return found;
}

/* Whether the key means another action there. Compares the first character before the whole name, as most keys differ in it. */
static bool means_another(const struct keymap *m, enum action a, int places, const char *name, size_t len)
{
	for (int b = 0; b < ACTION_NONE; b++)
		if (actions[b].places & places && strchr(m->keys[b], *name) && keys_have(m->keys[b], name, len) &&
		    comes_first(b, a))
			return true;
	return false;
}

const char *keymap_key(const struct keymap *m, enum action a, int places, char *buf, size_t size)
{
	const char *at = m->keys[a];
	size_t n;

	while ((n = key_next(&at)) && means_another(m, a, places, at, n))
		at += n;
	snprintf(buf, size, "%.*s", (int)n, at);
	return buf;
}
