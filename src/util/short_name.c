/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Shorter arguments stay: they are worth their room. */
#define KEEP_MAX 16

/* Maximum nesting of brackets; a name with more is not understood. */
#define DEPTH_MAX 64

/* Maximum nesting of qualified paths, "<<A as B>::C as D>::f", whose arguments are still shortened. */
#define PATHS_MAX 8

#define RUST_HASH_LEN 19 /* "::h" and 16 digits */

struct text {
	const char *at;
	size_t len;
};

struct result {
	char *out;
	size_t size, len;
	bool failed; /* the name is not understood */
};

static void put(struct result *r, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (r->len + 1 < r->size)
			r->out[r->len++] = text[i];
}

static bool is_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool starts(struct text t, size_t at, const char *with)
{
	size_t len = strlen(with);

	return t.len - at >= len && !memcmp(t.at + at, with, len);
}

/* Length of the operator's whole name at @at: "operator<<"; 0: none begins there, or one that is named by words. */
static size_t operator_len(struct text t, size_t at)
{
	static const char *const symbols[] = { "()", "[]", " new[]", " delete[]", "->*", "->", "<=>", "<<=", "<<", "<=", "<",
					       ">>=", ">>", ">=", ">", "==", "!=", "++", "--", "+=", "-=", "*=", "/=",
					       "%=", "^=", "&=", "|=", "&&", "||", "=", "!", "+", "-", "*", "/", "%", "^",
					       "&", "|", "~", "," };
	size_t word = strlen("operator");

	if (!starts(t, at, "operator") || (at && is_identifier(t.at[at - 1])))
		return 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (starts(t, at + word, symbols[i]))
			return word + strlen(symbols[i]);
	return 0;
}

/* Index after the bracket that closes the one at @at; 0: none does. Within parentheses, < and > can also be comparisons. */
static size_t group_end(struct text t, size_t at)
{
	char open[DEPTH_MAX];
	size_t depth = 0;

	for (size_t i = at; i < t.len; i++) {
		char c = t.at[i];
		size_t skip = operator_len(t, i);

		if (skip) {
			i += skip - 1;
			continue;
		}
		if (strchr("<([{", c) && c) {
			if (depth == DEPTH_MAX)
				return 0;
			open[depth++] = c;
			continue;
		}
		if (!strchr(">)]}", c) || !c || (c == '>' && (t.at[i - 1] == '-' || open[depth - 1] != '<')))
			continue;
		while (c == ')' && depth && open[depth - 1] == '<')
			depth--;
		if (!depth || open[depth - 1] != (c == '>' ? '<' : c == ')' ? '(' : c == ']' ? '[' : '{'))
			return 0;
		if (!--depth)
			return i + 1;
	}
	return 0;
}

static struct text inside(struct text t, size_t at, size_t end)
{
	return (struct text){ t.at + at + 1, end - at - 2 };
}

static bool holds(struct text t, const char *what)
{
	return memmem(t.at, t.len, what, strlen(what));
}

/* --- The end of a name */

/* Drops " [clone .cold]"; a name can have several of these. */
static void drop_clones(struct text *t)
{
	static const char mark[] = " [clone ";

	while (t->len && t->at[t->len - 1] == ']') {
		size_t at = t->len - 1;

		while (at && t->at[at] != '[')
			at--;
		if (!at || !starts(*t, at - 1, mark))
			return;
		t->len = at - 1;
	}
}

static void drop_hash(struct text *t)
{
	size_t from = t->len - RUST_HASH_LEN;

	if (t->len <= RUST_HASH_LEN || !starts(*t, from, "::h"))
		return;
	for (size_t i = from + 3; i < t->len; i++)
		if (!strchr("0123456789abcdef", t->at[i]) || !t->at[i])
			return;
	t->len = from;
}

/* --- Its parts */

/* Index after the qualifiers of a member function, from @at, right after its parameters. */
static size_t qualifiers_end(struct text t, size_t at)
{
	static const char *const words[] = { " const", " volatile", " &&", " &", " noexcept" };

	const size_t nr = sizeof(words) / sizeof(words[0]);

	for (size_t i = 0; i < nr;) {
		bool found = starts(t, at, words[i]);

		at += found ? strlen(words[i]) : 0;
		i = found ? 0 : i + 1; /* any may follow */
	}
	return at;
}

/* Whether the group in parentheses is a list of parameters: it stands after a name, and at the end, before a local name ("::")
 * or before "@plt". Sets *@next to the index after its qualifiers. */
static bool is_parameters(struct text t, size_t at, size_t end, bool named, size_t *next)
{
	*next = qualifiers_end(t, end);
	return named && at && (*next == t.len || starts(t, *next, "::") || starts(t, *next, "@plt"));
}

static void put_shortened(struct result *r, char open, char close, struct text in)
{
	put(r, &open, 1);
	if (in.len > KEEP_MAX)
		put(r, "..", 2);
	else
		put(r, in.at, in.len);
	put(r, &close, 1);
}

static void put_parts(struct result *r, struct text t, int paths);

/* "<T as Trait>" and "<impl Trait for T>" are the name itself. */
static void put_angle(struct result *r, struct text t, size_t at, size_t end, int paths)
{
	struct text in = inside(t, at, end);
	bool path = !at || holds(in, " as ") || starts(in, 0, "impl ");

	if (!path || paths == PATHS_MAX || (at && t.at[at - 1] != ':')) {
		put_shortened(r, '<', '>', in);
		return;
	}
	put(r, "<", 1);
	put_parts(r, in, paths + 1);
	put(r, ">", 1);
}

/* "{lambda(int)#1}" */
static void put_brace(struct result *r, struct text t, size_t at, size_t end)
{
	static const char lambda[] = "{lambda(";
	size_t open = at + strlen(lambda) - 1, close = starts(t, at, lambda) ? group_end(t, open) : 0;

	if (!close || close > end) {
		put(r, t.at + at, end - at);
		return;
	}
	put(r, t.at + at, open - at);
	put_shortened(r, '(', ')', inside(t, open, close));
	put(r, t.at + close, end - close);
}

static void put_parts(struct result *r, struct text t, int paths)
{
	bool named = false; /* the last part can have parameters */
	bool conversion = false; /* it names a type: "operator char const*" */
	size_t next;

	for (size_t i = 0; i < t.len && !r->failed; i = next) {
		size_t skip = operator_len(t, i), end;

		next = i + (skip ? skip : 1);
		if (skip || !strchr("<([{", t.at[i]) || !t.at[i]) {
			/* a closing bracket without its opening one */
			r->failed = !skip && strchr(">)]}", t.at[i]) && t.at[i] && !(t.at[i] == '>' && i && t.at[i - 1] == '-');
			put(r, t.at + i, next - i);
			conversion |= !skip && starts(t, i, "operator ") && !(i && is_identifier(t.at[i - 1]));
			named = skip || conversion || is_identifier(t.at[i]);
			continue;
		}
		end = group_end(t, i);
		if (!end) {
			r->failed = true;
			return;
		}
		next = end;
		if (t.at[i] == '<')
			put_angle(r, t, i, end, paths);
		else if (t.at[i] == '{')
			put_brace(r, t, i, end);
		else if (t.at[i] == '[' || paths || !is_parameters(t, i, end, named, &next))
			put(r, t.at + i, (next = end) - i);
		conversion &= t.at[i] != '(';
		named = conversion || t.at[i] == '<' || (t.at[i] == '[' && starts(t, i, "[abi:"));
	}
}

size_t short_name(char *out, size_t size, const char *name)
{
	struct text t = { name, strlen(name) };
	struct result r = { .out = out, .size = size };

	if (!size)
		return 0;
	drop_clones(&t);
	drop_hash(&t);
	put_parts(&r, t, 0);
	if (r.failed || !r.len) {
		r.len = 0;
		put(&r, name, strlen(name));
	}
	out[r.len] = '\0';
	return r.len;
}
