/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/term/theme.h"

#include <curses.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/path.h"

/* name and contents of the file: generated from themes/ by the build */
static const struct {
	const char *name, *text;
} builtin[] = {
#include "themes.inc"
};

#define NR_BUILTIN ((int)(sizeof(builtin) / sizeof(builtin[0])))
#define INHERIT_MAX 4

static const struct {
	const char *name;
	enum role parent;
} roles[ROLE_COUNT] = {
#define _(id, name, parent) { name, ROLE_##parent },
	ROLES(_)
#undef _
};

static const char *const colors[] = {
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
};

static const struct {
	const char *name;
	uint32_t bit;
} attributes[] = {
	{ "bold", A_BOLD },       { "dim", A_DIM },       { "underline", A_UNDERLINE },
	{ "reverse", A_REVERSE }, { "italic", A_ITALIC },
};

#define NR_ATTRIBUTES (sizeof(attributes) / sizeof(attributes[0]))

struct parser {
	struct theme *theme;
	const struct theme_files *files;
	int depth, line;
	int wrong; /* number of the line with an error, which ends the parsing; 0: none */
	FILE *file;
	char *error;
	size_t size;
};

const char *theme_role_name(enum role role)
{
	return roles[role].name;
}

enum role theme_parent(enum role role)
{
	return roles[role].parent;
}

const char *theme_builtin(int nr)
{
	return nr < NR_BUILTIN ? builtin[nr].name : NULL;
}

static bool parse_color(const char *word, int32_t *color)
{
	char *end;
	unsigned long number;
	bool bright = !strncmp(word, "bright-", 7);

	if (!strcmp(word, "default")) {
		*color = THEME_DEFAULT;
		return true;
	}
	for (int i = 0; i < 8; i++) {
		if (strcmp(word + (bright ? 7 : 0), colors[i]))
			continue;
		*color = i + (bright ? 8 : 0);
		return true;
	}
	if (*word == '#' && strlen(word) == 7 && strspn(word + 1, "0123456789abcdefABCDEF") == 6) {
		*color = THEME_RGB | strtol(word + 1, NULL, 16);
		return true;
	}
	number = strtoul(word, &end, 10);
	if (*end || end == word || *word == '-' || number > 255)
		return false;
	*color = number;
	return true;
}

/* "yellow on black bold". Returns whether all words are known. */
static bool parse_look(const char *value, struct look *look)
{
	struct look l = { true, THEME_DEFAULT, THEME_DEFAULT, 0 };
	int32_t *color = &l.fg;
	char word[16];
	int n;

	for (; sscanf(value, " %15s%n", word, &n) == 1; value += n) {
		size_t i = 0;

		while (i < NR_ATTRIBUTES && strcmp(word, attributes[i].name))
			i++;
		if (i < NR_ATTRIBUTES)
			l.attributes |= attributes[i].bit;
		else if (!strcmp(word, "on"))
			color = &l.bg;
		else if (!parse_color(word, color))
			return false;
	}
	*look = l;
	return true;
}

static int theme_parse(struct parser *p, const char *name);

/* Returns whether the value is valid. */
static bool take_value(struct parser *p, const char *name, const char *value)
{
	if (!strcmp(name, "inherits")) {
		struct parser parent = *p;

		parent.depth++;
		if (!theme_parse(&parent, value))
			return true;
		snprintf(p->error, p->size, "the inherited theme is missing or invalid");
		return false;
	}
	for (int r = 0; r < ROLE_COUNT; r++)
		if (!strcmp(name, roles[r].name)) {
			snprintf(p->error, p->size, "%s: expected colours and attributes, such as red on #102030 bold",
				 name);
			return parse_look(value, &p->theme->looks[r]);
		}
	snprintf(p->error, p->size, "no such role: systoprc(5) lists them");
	return false;
}

static int on_value(void *arg, const char *section, const char *name, const char *value)
{
	struct parser *p = arg;

	(void)section;
	if (!take_value(p, name, value))
		p->wrong = p->line;
	return !p->wrong;
}

/* Reader for ini.h: fgets() that counts lines for error messages. It returns NULL after an error, where ini.h would
 * continue: a theme that inherits itself in each line would be read exponentially often. */
static char *read_line(char *buf, int size, void *arg)
{
	struct parser *p = arg;
	bool cut;

	if (p->wrong)
		return NULL;
	p->line++;
	if (!file_gets(buf, size, p->file, &cut))
		return NULL;
	if (cut && !strchr("#;", buf[strspn(buf, " \t")])) {
		snprintf(p->error, p->size, "too long");
		p->wrong = p->line;
		return NULL;
	}
	return buf;
}

static FILE *theme_open(const char *name, const struct theme_files *files, const char **why)
{
	char path[4096 + 300];

	errno = ENOENT;
	for (int i = 0; i < NR_BUILTIN; i++)
		if (!strcmp(builtin[i].name, name))
			return fmemopen((char *)builtin[i].text, strlen(builtin[i].text), "r");
	if (!files)
		return NULL;
	if (strchr(name, '/'))
		return path_read(name, files->uid, why);
	if (!*files->dir)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s.theme", files->dir, name);
	return path_read(path, files->uid, why);
}

static int theme_parse(struct parser *p, const char *name)
{
	const char *why = NULL;
	char what[96];
	bool failed;
	int line;

	if (p->depth > INHERIT_MAX) {
		snprintf(p->error, p->size, "it inherits itself");
		return -ELOOP;
	}
	p->file = theme_open(name, p->files, &why);
	if (!p->file) {
		snprintf(p->error, p->size, "%s", why ? why : errno == ENOENT ? "no such theme" : strerror(errno));
		return -ENOENT;
	}
	p->line = 0;
	*p->error = '\0';
	line = ini_parse_stream(read_line, p, on_value, p);
	failed = ferror(p->file);
	fclose(p->file);
	if (failed) {
		snprintf(p->error, p->size, "cannot be read");
		return -EIO;
	}
	if (!line)
		line = p->wrong;
	if (!line)
		return 0;
	snprintf(what, sizeof(what), "%s", *p->error && line == p->wrong ? p->error : "not understood");
	snprintf(p->error, p->size, "line %d: %s", line > 0 ? line : 0, what);
	return -EINVAL;
}

int theme_load(struct theme *t, const char *name, const struct theme_files *files, char *error, size_t size)
{
	struct theme loaded = { 0 };
	struct parser p = { .theme = &loaded, .files = files, .error = error, .size = size };
	int err;

	loaded.looks[ROLE_TEXT] = (struct look){ .fg = THEME_DEFAULT, .bg = THEME_DEFAULT };
	err = theme_parse(&p, name);
	if (err)
		return err;
	snprintf(loaded.name, sizeof(loaded.name), "%s", name);
	*t = loaded;
	return 0;
}

const struct look *theme_look(const struct theme *t, enum role role)
{
	while (!t->looks[role].set && roles[role].parent != role)
		role = roles[role].parent;
	return &t->looks[role];
}
