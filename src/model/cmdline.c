/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/cmdline.h"

#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* Bytes of a name, as the kernel keeps them. */
#define NAME_BYTES 15

/* A program that an interpreter runs is looked for in this many arguments. */
#define SCRIPT_ARGUMENTS 4

const char *const cmdline_form_names[CMDLINE_FORMS] = { "name", "line", "merged" };

size_t cmdline_len(const char *text, size_t len)
{
	while (len && !text[len - 1])
		len--;
	return len;
}

struct cmdline *cmdline_new(const char *text, size_t len, bool cut)
{
	static uint32_t last;
	struct cmdline *c;

	cut |= len > CMDLINE_MAX;
	len = cmdline_len(text, len < CMDLINE_MAX ? len : CMDLINE_MAX);
	c = malloc(sizeof(*c) + len + 1);
	if (!c)
		return NULL;
	*c = (struct cmdline){ .holders = 1, .id = ++last ? last : ++last, .len = len, .cut = cut };
	memcpy(c->text, text, len);
	c->text[len] = '\0';
	return c;
}

size_t cmdline_bytes(const struct cmdline *c)
{
	return sizeof(*c) + c->len + 1;
}

size_t cmdline_words(const struct cmdline *c, char *buf, size_t size)
{
	size_t len = c->len < size ? c->len : size - 1;

	for (size_t i = 0; i < len; i++)
		buf[i] = c->text[i] ? c->text[i] : ' ';
	buf[len] = '\0';
	return len;
}

static char plain(char c)
{
	return !c ? ' ' : c >= 'A' && c <= 'Z' ? c + 32 : c;
}

bool cmdline_has(const struct cmdline *c, const char *with)
{
	size_t len = strlen(with);

	for (size_t at = 0; at + len <= c->len; at++) {
		size_t i = 0;

		while (i < len && plain(c->text[at + i]) == plain(with[i]))
			i++;
		if (i == len)
			return true;
	}
	return false;
}

/* --- Names in the text */

/* A part of the raw text. */
struct part {
	size_t from, to;
};

/* The name of a program in the argument at @from: after the folders and the mark of a login shell, up to a colon or blank, as some
 * programs set a title of their own. */
static struct part name_in(const struct cmdline *c, size_t from)
{
	size_t end = from + strnlen(c->text + from, c->len - from);
	struct part p = { from, from };

	if (p.from < end && c->text[p.from] == '-')
		p.from++;
	for (p.to = p.from; p.to < end && c->text[p.to] != ' ' && c->text[p.to] != ':'; p.to++)
		if (c->text[p.to] == '/' && p.to + 1 < end && c->text[p.to + 1] != ' ' && c->text[p.to + 1] != '/')
			p.from = p.to + 1;
	while (p.to > p.from + 1 && c->text[p.to - 1] == '/')
		p.to--;
	return p;
}

/* Whether the part is the name that the kernel has, which is cut. */
static bool is_name(const struct cmdline *c, const struct part *p, const char *comm, size_t len)
{
	size_t bytes = p->to - p->from;

	return len && (bytes < NAME_BYTES ? bytes : NAME_BYTES) == len && !memcmp(c->text + p->from, comm, len);
}

/* Whether the text is a kernel worker's name, with what it works on. */
static bool is_worker(const struct cmdline *c, const char *comm, size_t len)
{
	return len && len < c->len && !memcmp(c->text, comm, len) && strchr("-+", c->text[len]);
}

/* The part of the text that is the thread's own name: of the program, or of the script that an interpreter runs.
 * False: it is not there, and @p is the program's name. */
static bool find_name(const struct cmdline *c, const char *comm, size_t len, struct part *p)
{
	size_t at = 0;

	*p = (struct part){ 0, len };
	if (is_worker(c, comm, len))
		return true;
	*p = name_in(c, 0);
	for (int i = 0; i < SCRIPT_ARGUMENTS && at < c->len; i++) {
		struct part name = name_in(c, at);

		if (is_name(c, &name, comm, len)) {
			*p = name;
			return true;
		}
		at += strnlen(c->text + at, c->len - at) + 1;
	}
	return false;
}

/* --- What a row shows */

static void forget(struct cmdline_look *l)
{
	l->from = l->to = 0;
	*l->text = '\0';
}

static void add(struct cmdline_look *l, size_t *used, const char *raw, size_t len)
{
	*used += text_safe(l->text + *used, sizeof(l->text) - *used, raw, len);
}

/* Adds a part of the text, with blanks between arguments, as far as there is room. */
static void add_part(struct cmdline_look *l, size_t *used, const struct cmdline *c, size_t from, size_t to)
{
	while (from < to && *used + 1 < sizeof(l->text)) {
		size_t len = strnlen(c->text + from, to - from);

		add(l, used, c->text + from, len);
		from += len;
		if (from < to && *used + 1 < sizeof(l->text)) {
			l->text[(*used)++] = ' ';
			l->text[*used] = '\0';
			from++;
		}
	}
}

static void show_name(struct cmdline_look *l, const char *comm, size_t len)
{
	forget(l);
	add(l, &l->to, comm, len);
}

/* The command line from @begin on, with @name in it, after @before. */
static void show_line(struct cmdline_look *l, const struct cmdline *c, size_t begin, const struct part *name, const char *before,
		      size_t len)
{
	size_t used = 0, end;

	forget(l);
	add(l, &used, before, len);
	l->to = used;
	if (len && used + 3 < sizeof(l->text)) {
		strcpy(l->text + used, " | ");
		used += 3;
	}
	add_part(l, &used, c, begin, name->from);
	if (!len)
		l->from = used;
	add_part(l, &used, c, name->from, name->to);
	if (!len)
		l->to = used;
	end = used;
	add_part(l, &used, c, name->to, c->len);
	if (c->cut && used > end && used + 3 < sizeof(l->text))
		strcpy(l->text + used, " ..");
}

void cmdline_look(struct cmdline_look *l, const struct cmdline *c, const char *comm, enum cmdline_form form, int width)
{
	size_t len = strnlen(comm, NAME_BYTES + 1);
	struct part name, program;
	bool there;

	if (!c || !c->len || form == CMDLINE_NAME) {
		show_name(l, comm, len);
		return;
	}
	there = find_name(c, comm, len, &name) || form == CMDLINE_LINE;
	show_line(l, c, 0, &name, comm, there ? 0 : len);
	program = name_in(c, 0);
	if (program.from && !is_worker(c, comm, len) && text_width(l->text) > width)
		show_line(l, c, program.from, &name, comm, there ? 0 : len);
}
