/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/filter.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "query/filter_terms.h"
#include "util/text.h"
#include "util/vec.h"

/* Longest first: otherwise >= would match as >. */
static const struct {
	const char *text;
	enum op op;
} ops[] = {
	{ "!=", OP_NE }, { ">=", OP_GE }, { "<=", OP_LE }, { ":", OP_HAS },
	{ "=", OP_EQ },  { ">", OP_GT },  { "<", OP_LT },
};

static const struct {
	const char *name;
	enum key key;
	bool number;
} key_names[] = {
	{ "comm", KEY_COMM, false },   { "name", KEY_COMM, false },
	{ "cmd", KEY_CMD, false },     { "command", KEY_CMD, false },
	{ "cg", KEY_CGROUP, false },   { "cgroup", KEY_CGROUP, false },
	{ "unit", KEY_UNIT, false },   { "container", KEY_CONTAINER, false },
	{ "pod", KEY_POD, false },
	{ "user", KEY_USER, false },   { "uid", KEY_USER, false },
	{ "state", KEY_STATE, false }, { "s", KEY_STATE, false },
	{ "is", KEY_IS, false },       { "tid", KEY_TID, true },
	{ "pid", KEY_PID, true },      { "tgid", KEY_PID, true },
	{ "ppid", KEY_PPID, true },    { "threads", KEY_THREADS, true },
};

#define NR_KEYS (sizeof(key_names) / sizeof(key_names[0]))

const struct filter_word filter_words[] = {
	{ "word", "the name or command line contains it, or the path of a cgroup; a number is also a tid or pid" },
	{ "cmd:api.jar", "the command line contains it, with blanks between arguments; with * or ?, a pattern for all of it" },
	{ "cg:api", "the cgroup's path contains it; with * or ?, a pattern for all of it" },
	{ "unit:ssh", "the systemd unit contains it; likewise container:web and pod:shop/api; ids match by their beginning" },
	{ "comm=sh,bash", "equals one of these; != equals none of them; also cg, user, state" },
	{ "user:www-data", "name or number of the user" },
	{ "state=D,R", "letter or name of the state at the end of the interval" },
	{ "is:kthread", "kernel threads; also is:exited, is:throttled" },
	{ "pid=1", "a number: tid, pid, ppid or threads, with = != > >= < <=" },
	{ "cpu>5", "any column: shares in % of the interval, or as a time" },
	{ "runq.p99>1ms", "waits as a time, with its unit: ns us ms s" },
	{ "wakeups>1K", "counts per second" },
	{ "rss>1G", "bytes; read and write: bytes per second" },
	{ "!term", "does not match the term" },
	{ NULL, NULL },
};

static const char *const flag_names[] = {
	[FLAG_KTHREAD] = "kthread", [FLAG_EXITED] = "exited", [FLAG_THROTTLED] = "throttled",
};

struct parser {
	struct filter *filter;
	filter_user *user;
	struct filter_error *error;
};

static int parse_error(struct parser *p, const char *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int parse_error(struct parser *p, const char *at, const char *fmt, ...)
{
	char before[4096], raw[sizeof(p->error->what)];
	size_t bytes = at - p->filter->text;
	va_list args;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	text_safe(p->error->what, sizeof(p->error->what), raw, sizeof(raw));
	/* Parsing has replaced separators by NULs: the bytes before @at count, NULs as blanks. */
	bytes = bytes < sizeof(before) - 1 ? bytes : sizeof(before) - 1;
	for (size_t i = 0; i < bytes; i++)
		before[i] = p->filter->text[i] ? p->filter->text[i] : ' ';
	before[bytes] = '\0';
	p->error->column = text_width(before);
	return -1;
}

static bool number_parse(const char *s, struct alternative *a)
{
	static const struct {
		const char *suffix;
		double factor;
		enum scale scale;
	} scales[] = {
		{ "", 1, SCALE_NONE },     { "%", 1, SCALE_PERCENT }, { "ns", 1, SCALE_TIME },
		{ "us", 1e3, SCALE_TIME }, { "ms", 1e6, SCALE_TIME }, { "s", 1e9, SCALE_TIME },
		{ "m", 60e9, SCALE_TIME }, { "h", 3600e9, SCALE_TIME }, { "/s", 1, SCALE_COUNT },
		{ "K", 1e3, SCALE_COUNT }, { "M", 1e6, SCALE_COUNT },
		{ "G", 1e9, SCALE_COUNT },
	};
	double number = 0, unit = 1;
	int digits = 0;

	/* Parsed by hand: strtod() also accepts hex, inf and exponents. */
	for (; isdigit((unsigned char)*s); s++, digits++)
		number = number * 10 + (*s - '0');
	if (*s == '.')
		for (s++; isdigit((unsigned char)*s); s++, digits++)
			number += (*s - '0') * (unit /= 10);
	for (size_t i = 0; digits && i < sizeof(scales) / sizeof(scales[0]); i++) {
		if (strcmp(s, scales[i].suffix))
			continue;
		a->number = number * scales[i].factor;
		a->scale = scales[i].scale;
		return true;
	}
	return false;
}

/* The factor that turns a number's unit of 1000, 1000^2, ... into 1024, 1024^2, ... */
static double bytes_of(const char *number)
{
	switch (number[strlen(number) - 1]) {
	case 'K':
		return 1.024;
	case 'M':
		return 1.024 * 1.024;
	case 'G':
		return 1.024 * 1.024 * 1.024;
	default:
		return 1;
	}
}

/* A number with a unit that suits this metric. */
static int check_number(struct parser *p, const struct term *t, struct alternative *a)
{
	enum unit unit = t->key == KEY_METRIC ? metric_shown(t->metric) : UNIT_NONE;
	bool fits;

	if (!number_parse(a->text, a))
		return parse_error(p, a->text, "not a number: %s", a->text);
	switch (unit) {
	case UNIT_SHARE:
		fits = a->scale != SCALE_COUNT;
		break;
	case UNIT_NS:
		fits = a->scale == SCALE_TIME || !a->number;
		break;
	case UNIT_BYTES:
	case UNIT_BYTE_RATE:
		a->number *= bytes_of(a->text);
		/* fall through */
	case UNIT_RATE:
		fits = a->scale == SCALE_NONE || a->scale == SCALE_COUNT;
		break;
	default:
		fits = a->scale == SCALE_NONE;
	}
	if (fits)
		return 0;
	return parse_error(p, a->text, "%s is in %s", t->key == KEY_METRIC ? metrics[t->metric].title : "it",
			   unit == UNIT_SHARE ? "% of the interval, or a time: 5 or 50ms"
			   : unit == UNIT_NS  ? "time: 500us, 1ms, 2s"
			   : unit == UNIT_RATE ? "events a second: 100 or 2K"
			   : unit == UNIT_BYTE_RATE ? "bytes a second: 4096, 64K or 2M"
			   : unit == UNIT_BYTES ? "bytes: 4096, 64K, 2M or 1G"
					       : "plain numbers");
}

static int check_state(struct parser *p, struct alternative *a)
{
	for (int s = 0; s < STATE_COUNT; s++) {
		if (strcasecmp(a->text, state_names[s]) &&
		    !(a->text[0] == state_letters[s] && !a->text[1]))
			continue;
		a->number = s;
		return 0;
	}
	return parse_error(p, a->text, "state is one of R q D S T X: %s", a->text);
}

static int check_flag(struct parser *p, struct alternative *a)
{
	for (size_t i = 0; i < sizeof(flag_names) / sizeof(flag_names[0]); i++) {
		if (strcasecmp(a->text, flag_names[i]))
			continue;
		a->number = i;
		return 0;
	}
	return parse_error(p, a->text, "is: kthread, exited or throttled, not %s", a->text);
}

static int check_alternative(struct parser *p, const struct term *t, struct alternative *a)
{
	uint32_t uid;
	char *end;

	if (!*a->text)
		return parse_error(p, a->text, "a value is missing here");
	a->pattern = strpbrk(a->text, "*?[");
	switch (t->key) {
	case KEY_STATE:
		return check_state(p, a);
	case KEY_IS:
		return check_flag(p, a);
	case KEY_USER:
		if (p->user(a->text, &uid))
			return parse_error(p, a->text, "no user %s", a->text);
		a->number = uid;
		return 0;
	case KEY_WORD:
		a->number = strtol(a->text, &end, 10);
		if (!isdigit((unsigned char)*a->text) || *end)
			a->number = -1;
		return 0;
	case KEY_COMM:
	case KEY_CMD:
	case KEY_CGROUP:
	case KEY_UNIT:
	case KEY_CONTAINER:
	case KEY_POD:
		return 0;
	default:
		return check_number(p, t, a);
	}
}

/* Splits @values at commas; in a bare word commas are literal. */
static int parse_values(struct parser *p, struct term *t, char *values)
{
	char *next;

	for (; values; values = next) {
		struct alternative a = { .text = values };

		next = t->key == KEY_WORD ? NULL : strchr(values, ',');
		if (next)
			*next++ = '\0';
		if (check_alternative(p, t, &a))
			return -1;
		if (VEC_PUSH(t->any, t->nr_any, t->any_room, a))
			return parse_error(p, values, "out of memory");
	}
	return 0;
}

static int parse_key(struct parser *p, struct term *t, const char *name)
{
	size_t i = 0;
	bool text;

	while (i < NR_KEYS && strcasecmp(name, key_names[i].name))
		i++;
	text = i < NR_KEYS && !key_names[i].number;
	t->key = i < NR_KEYS ? key_names[i].key : KEY_METRIC;
	if (t->key == KEY_METRIC && (t->metric = metric_find(name)) == METRIC_COUNT)
		return parse_error(p, name, "no column %s: use words, cg: unit: comm: cmd: user: state= pid= cpu>", name);
	if (text && t->op > OP_NE)
		return parse_error(p, name, "%s is text: use : = or !=", name);
	if (!text && t->op == OP_HAS)
		t->op = OP_EQ;
	return 0;
}

/* The first operator in @s; NULL: none. */
static char *find_op(char *s, size_t *len, enum op *op)
{
	for (; *s; s++) {
		for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
			*len = strlen(ops[i].text);
			*op = ops[i].op;
			if (!strncmp(s, ops[i].text, *len))
				return s;
		}
	}
	return NULL;
}

static int parse_term(struct parser *p, char *s)
{
	struct term t = { .key = KEY_WORD, .op = OP_HAS };
	char *at, *name = s;
	size_t len;
	int err = 0;

	if (*s == '!' && s[1] != '=') {
		t.negated = true;
		name = ++s;
	}
	if (!*s)
		return parse_error(p, s, "! must be followed by a term");
	at = find_op(s, &len, &t.op);
	if (at == s)
		return parse_error(p, s, "a name is missing before this");
	if (at) {
		*at = '\0';
		s = at + len;
		err = parse_key(p, &t, name);
	} else {
		t.op = OP_HAS;
	}
	if (!err)
		err = parse_values(p, &t, s);
	if (!err && (t.key == KEY_METRIC || key_of_cgroup(t.key) || t.key == KEY_COMM || t.key == KEY_CMD ||
		     (t.key == KEY_WORD && t.any[0].number < 0))) {
		t.memo = calloc(1, sizeof(*t.memo));
		err = t.memo ? 0 : parse_error(p, s, "out of memory");
	}
	if (!err && VEC_PUSH(p->filter->terms, p->filter->nr, p->filter->room, t))
		err = parse_error(p, s, "out of memory");
	if (err) {
		free(t.any);
		free(t.memo);
	}
	return err;
}

struct filter *filter_parse(const char *text, filter_user *user, struct filter_error *error)
{
	struct filter *f = calloc(1, sizeof(*f));
	struct parser p = { f, user, error };
	char *s, *end;

	*error = (struct filter_error){ .what = "out of memory" };
	if (f)
		f->text = strdup(text);
	if (!f || !f->text) {
		filter_free(f);
		return NULL;
	}
	for (s = f->text; *(s += strspn(s, " \t")); s = end) {
		end = s + strcspn(s, " \t");
		if (*end)
			*end++ = '\0';
		if (parse_term(&p, s)) {
			filter_free(f);
			return NULL;
		}
	}
	return f;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nr; i++) {
		free(f->terms[i].any);
		free(f->terms[i].memo);
	}
	free(f->terms);
	free(f->text);
	free(f);
}
