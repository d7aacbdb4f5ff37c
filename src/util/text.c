/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/text.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Well-formed UTF-8 by its first byte (Unicode 15, table 3-7): the ranges of the second byte exclude overlong forms,
 * surrogates and everything above U+10FFFF. */
static const struct sequence {
	unsigned char first, last; /* first byte */
	unsigned char low, high;   /* second byte */
	unsigned char len;
} sequences[] = {
	{ 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

/* The character at @in, of at most @len > 0 bytes. Returns its length, 0 if it is ill-formed. */
static size_t decode(const char *in, size_t len, uint32_t *c)
{
	const unsigned char *b = (const unsigned char *)in;
	const struct sequence *s = sequences;
	const struct sequence *end = s + sizeof(sequences) / sizeof(sequences[0]);

	while (s < end && (b[0] < s->first || b[0] > s->last))
		s++;
	if (s == end || s->len > len)
		return 0;
	if (s->len == 1) {
		*c = b[0];
		return 1;
	}
	if (b[1] < s->low || b[1] > s->high)
		return 0;
	*c = b[0] & (0x7f >> s->len);
	for (size_t i = 1; i < s->len; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (b[i] & 0x3f);
	}
	return s->len;
}

/* Characters that can move the cursor, change the terminal, reorder or hide text, or that take no space or look
 * empty. */
static const struct {
	uint32_t first, last;
} unsafe[] = {
	{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x00ad, 0x00ad }, { 0x034f, 0x034f },
	{ 0x061c, 0x061c }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
	{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

static bool is_unsafe(uint32_t c)
{
	for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
		if (c >= unsafe[i].first && c <= unsafe[i].last)
			return true;
	return false;
}

/* Output buffer; a character that does not fit is left out, and so is everything after it. */
struct sink {
	char *out;
	size_t size, len;
	bool full;
};

static bool sink_put(struct sink *s, const char *bytes, size_t len)
{
	s->full |= s->len + len >= s->size;
	if (s->full)
		return false;
	memcpy(s->out + s->len, bytes, len);
	s->len += len;
	return true;
}

static void sink_end(struct sink *s)
{
	if (s->size)
		s->out[s->len] = '\0';
}

size_t text_safe(char *out, size_t size, const char *in, size_t len)
{
	struct sink sink = { .out = out, .size = size };
	const char *end = in + strnlen(in, len);

	while (in < end && !sink.full) {
		uint32_t c;
		size_t n;

		if (*in >= ' ' && *in < 0x7f) { /* most text */
			sink_put(&sink, in++, 1);
			continue;
		}
		n = decode(in, end - in, &c);
		if (n && !is_unsafe(c)) {
			sink_put(&sink, in, n);
			in += n;
			continue;
		}
		for (n = n ? n : 1; n; n--, in++) {
			char escape[5];

			snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)*in);
			sink_put(&sink, escape, 4);
		}
	}
	sink_end(&sink);
	return sink.len;
}

/* The next character of the non-empty text @s, and its cells. Returns its bytes. */
static size_t next(const char *s, int *cells)
{
	uint32_t c;
	size_t n;

	*cells = 1;
	if (*s >= ' ' && *s < 0x7f) /* most text; the rest is slow */
		return 1;
	n = decode(s, strnlen(s, 4), &c);
	if (!n)
		return 1;
	*cells = wcwidth(c);
	if (*cells < 0) /* not in the locale's tables */
		*cells = 1;
	return n;
}

int text_width(const char *s)
{
	int cells, width = 0;

	for (; *s; width += cells)
		s += next(s, &cells);
	return width;
}

/* Copies characters from @s as long as they fit in @width cells. Returns cells used. */
static int copy_cells(struct sink *sink, const char *s, int width)
{
	int used = 0;

	while (*s) {
		int cells;
		size_t n = next(s, &cells);

		if (used + cells > width || !sink_put(sink, s, n))
			break;
		used += cells;
		s += n;
	}
	return used;
}

int text_cut(char *out, size_t size, const char *in, int width)
{
	struct sink sink = { .out = out, .size = size };
	int used = copy_cells(&sink, in, width < 0 ? 0 : width);

	sink_end(&sink);
	return used;
}

int text_elide(char *out, size_t size, const char *in, int width)
{
	struct sink sink = { .out = out, .size = size };
	int total = text_width(in), used, head, tail;

	if (width < 0)
		width = 0;
	if (total <= width) {
		used = copy_cells(&sink, in, width);
		sink_end(&sink);
		return used;
	}
	head = width > 2 ? (width - 3) / 2 : 0;
	used = copy_cells(&sink, in, head);
	used += copy_cells(&sink, "..", width - used);
	tail = width - used;
	while (*in && total > tail) {
		int cells;

		in += next(in, &cells);
		total -= cells;
	}
	/* A combining mark here would change the dots. */
	while (*in) {
		int cells;
		size_t n = next(in, &cells);

		if (cells)
			break;
		in += n;
	}
	used += copy_cells(&sink, in, tail);
	sink_end(&sink);
	return used;
}

bool text_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void text_unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to++ = (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

void text_add(char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + used, size - used, fmt, args);
	va_end(args);
}

bool text_number(const char *text, const char *name, uint64_t *number)
{
	const size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && sscanf(line + len, "%*[: \t]%" SCNu64, number) == 1)
			return true;
	}
	return false;
}

void text_set(char **text, const char *fmt, va_list args)
{
	free(*text);
	if (vasprintf(text, fmt, args) < 0)
		*text = NULL;
}
