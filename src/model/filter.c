/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/filter.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/text.h"
#include "util/vec.h"

/* From linux/sched.h. */
#define PF_KTHREAD 0x00200000

enum op { OP_HAS, OP_EQ, OP_NE, OP_GT, OP_GE, OP_LT, OP_LE };

/* Longest first: >= is not > and then =. */
static const struct {
	const char *text;
	enum op op;
} ops[] = {
	{ "!=", OP_NE }, { ">=", OP_GE }, { "<=", OP_LE }, { ":", OP_HAS },
	{ "=", OP_EQ },  { ">", OP_GT },  { "<", OP_LT },
};

enum key { KEY_WORD, KEY_COMM, KEY_CGROUP, KEY_USER, KEY_STATE, KEY_IS, KEY_TID, KEY_PID, KEY_PPID,
	   KEY_THREADS, KEY_FIELD };

enum flag { FLAG_KTHREAD, FLAG_EXITED, FLAG_THROTTLED };

static const struct key_name {
	const char *name;
	enum key key;
	bool number;
} key_names[] = {
	{ "comm", KEY_COMM, false },   { "name", KEY_COMM, false },
	{ "cg", KEY_CGROUP, false },   { "cgroup", KEY_CGROUP, false },
	{ "user", KEY_USER, false },   { "uid", KEY_USER, false },
	{ "state", KEY_STATE, false }, { "s", KEY_STATE, false },
	{ "is", KEY_IS, false },       { "tid", KEY_TID, true },
	{ "pid", KEY_PID, true },      { "tgid", KEY_PID, true },
	{ "ppid", KEY_PPID, true },    { "threads", KEY_THREADS, true },
};

static const char *const flag_names[] = {
	[FLAG_KTHREAD] = "kthread", [FLAG_EXITED] = "exited", [FLAG_THROTTLED] = "throttled",
};

/* What a number was written with. */
enum scale { SCALE_NONE, SCALE_PERCENT, SCALE_TIME, SCALE_COUNT };

struct alternative {
	const char *text;
	double number; /* ns for SCALE_TIME */
	enum scale scale;
};

struct term {
	bool negated;
	enum key key;
	enum field_id field; /* KEY_FIELD */
	enum op op;
	struct alternative *any; /* one of them has to hold */
	size_t nr_any, any_room;
};

struct filter {
	char *text; /* what alternatives point into */
	struct term *terms;
	size_t nr, room;
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
	/* The text was cut into strings on the way here: its bytes before @at count, NULs as blanks. */
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
	};
	double number = 0, unit = 1;
	int digits = 0;

	/* By hand, as strtod() reads the locale's decimal point, hex, inf and exponents. */
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

/* A number, with a unit that this field can be compared in. */
static int check_number(struct parser *p, const struct term *t, struct alternative *a)
{
	enum unit unit = t->key == KEY_FIELD ? fields[t->field].unit : UNIT_NONE;
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
	case UNIT_RATE:
		fits = a->scale == SCALE_NONE || a->scale == SCALE_COUNT;
		break;
	default:
		fits = a->scale == SCALE_NONE;
	}
	if (fits)
		return 0;
	return parse_error(p, a->text, "%s is in %s", t->key == KEY_FIELD ? fields[t->field].title : "it",
			   unit == UNIT_SHARE ? "% of the interval, or a time: 5 or 50ms"
			   : unit == UNIT_NS  ? "time: 500us, 1ms, 2s"
			   : unit == UNIT_RATE ? "events a second: 100 or 2K"
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

	if (!*a->text)
		return parse_error(p, a->text, "a value is missing here");
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
	case KEY_COMM:
	case KEY_CGROUP:
		return 0;
	default:
		return check_number(p, t, a);
	}
}

/* Cuts @values at its commas; those of a bare word belong to it. */
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
	bool text = true;

	for (size_t i = 0; i < sizeof(key_names) / sizeof(key_names[0]); i++) {
		if (strcasecmp(name, key_names[i].name))
			continue;
		t->key = key_names[i].key;
		text = !key_names[i].number;
		goto known;
	}
	t->key = KEY_FIELD;
	t->field = field_find(name);
	text = false;
	if (t->field == FIELD_COUNT)
		return parse_error(p, name, "no column %s; words, cg: comm: user: state= is: pid= cpu>",
				   name);
known:
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
		return parse_error(p, s, "! wants a term behind it");
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
	if (!err && VEC_PUSH(p->filter->terms, p->filter->nr, p->filter->room, t))
		err = parse_error(p, s, "out of memory");
	if (err)
		free(t.any);
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
	for (size_t i = 0; i < f->nr; i++)
		free(f->terms[i].any);
	free(f->terms);
	free(f->text);
	free(f);
}

static bool compare(enum op op, double v, double with)
{
	switch (op) {
	case OP_GT:
		return v > with;
	case OP_GE:
		return v >= with;
	case OP_LT:
		return v < with;
	case OP_LE:
		return v <= with;
	case OP_NE:
		return v != with;
	default:
		return v == with;
	}
}

static bool text_match(enum op op, const char *text, const char *with)
{
	if (op != OP_HAS)
		return !strcmp(text, with) == (op == OP_EQ);
	if (strpbrk(with, "*?["))
		return !fnmatch(with, text, FNM_CASEFOLD);
	return strcasestr(text, with);
}

static bool field_match(const struct term *t, const struct alternative *a, const struct row *r,
			uint64_t interval_ns)
{
	uint64_t value = row_value(r, t->field);
	double v = value;

	if (!interval_ns)
		return false;
	if (fields[t->field].unit == UNIT_SHARE && a->scale != SCALE_TIME)
		v = 100 * v / interval_ns;
	else if (fields[t->field].unit == UNIT_RATE)
		v = 1e9 * v / interval_ns;
	return compare(t->op, v, a->number);
}

static bool flag_match(enum flag flag, const struct row *r)
{
	switch (flag) {
	case FLAG_KTHREAD:
		return r->kind == ROW_THREAD && r->thread->flags & PF_KTHREAD;
	case FLAG_EXITED:
		return r->exited;
	default:
		return r->values->v[FIELD_THROTTLED] ||
		       (r->limit && r->limit->nr_throttled != VALUE_NA && r->limit->nr_throttled);
	}
}

static bool word_match(const char *word, const struct row *r)
{
	char *end;
	long number;

	if (r->kind == ROW_CGROUP)
		return text_match(OP_HAS, r->cgroup->path, word);
	if (text_match(OP_HAS, r->thread ? r->thread->comm : r->process->comm, word))
		return true;
	number = strtol(word, &end, 10);
	return isdigit((unsigned char)*word) && !*end &&
	       (number == r->process->tgid || (r->thread && number == r->thread->tid));
}

/* Whether @a holds; of != it is asked whether it is equal. */
static bool alternative_match(const struct term *t, enum op op, const struct alternative *a,
			      const struct row *r, uint64_t interval_ns)
{
	bool cgroup = r->kind == ROW_CGROUP;

	switch (t->key) {
	case KEY_WORD:
		return word_match(a->text, r);
	case KEY_COMM:
		return !cgroup && text_match(op, r->thread ? r->thread->comm : r->process->comm,
					     a->text);
	case KEY_CGROUP:
		return r->cgroup && text_match(op, r->cgroup->path, a->text);
	case KEY_USER:
		return !cgroup && (r->thread ? r->thread->uid : r->process->uid) == a->number;
	case KEY_STATE:
		return r->state == a->number;
	case KEY_IS:
		return flag_match(a->number, r);
	case KEY_TID:
		return r->thread && compare(op, r->thread->tid, a->number);
	case KEY_PID:
		return !cgroup && compare(op, r->process->tgid, a->number);
	case KEY_PPID:
		return !cgroup && compare(op, r->thread ? r->thread->ppid : r->process->ppid,
					  a->number);
	case KEY_THREADS:
		return compare(op, r->nr_threads, a->number);
	default:
		return field_match(t, a, r, interval_ns);
	}
}

static bool term_match(const struct term *t, const struct row *r, uint64_t interval_ns)
{
	/* "not one of the list", not "differs from one of the list" */
	enum op op = t->op == OP_NE ? OP_EQ : t->op;

	if (t->key == KEY_FIELD && row_value(r, t->field) == VALUE_NA)
		return false;
	for (size_t i = 0; i < t->nr_any; i++)
		if (alternative_match(t, op, &t->any[i], r, interval_ns))
			return t->op != OP_NE;
	return t->op == OP_NE;
}

bool filter_match(const struct filter *f, const struct row *r, uint64_t interval_ns)
{
	for (size_t i = 0; f && i < f->nr; i++)
		if (term_match(&f->terms[i], r, interval_ns) == f->terms[i].negated)
			return false;
	return true;
}
