/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "util/text.h"

struct safe_case {
	const char *in;
	const char *want;
};

static void check_safe(const struct safe_case *cases, size_t nr)
{
	char out[256];

	for (size_t i = 0; i < nr; i++) {
		size_t len = text_safe(out, sizeof(out), cases[i].in, strlen(cases[i].in));

		assert_string_equal(out, cases[i].want);
		assert_int_equal(len, strlen(out));
	}
}

TEST(text, safe_keeps_text)
{
	static const struct safe_case cases[] = {
		{ "", "" },
		{ "kworker/u6:1-ev", "kworker/u6:1-ev" },
		{ "back\\slash \\x1b", "back\\slash \\x1b" },
		{ " !~", " !~" },
		{ "\u00a0\u00e4\u00df", "\u00a0\u00e4\u00df" },
		{ "\u65e5\u672c\u8a9e", "\u65e5\u672c\u8a9e" },
		{ "e\u0301", "e\u0301" },
		{ "\U0001f600", "\U0001f600" },
		/* the limits of each length, and the neighbours of escaped characters */
		{ "\u07ff\u0800\ud7ff\ue000\uffff", "\u07ff\u0800\ud7ff\ue000\uffff" },
		{ "\U00010000\U0010ffff", "\U00010000\U0010ffff" },
		{ "\u00ac\u00ae\u034e\u0350\u115e\u1161", "\u00ac\u00ae\u034e\u0350\u115e\u1161" },
		{ "\u180a\u1810\u3163\u3165\uff9f\uffa1", "\u180a\u1810\u3163\u3165\uff9f\uffa1" },
		{ "\uffef\ufffc\ufffd", "\uffef\ufffc\ufffd" },
		{ "\u061b\u061d\u200a\u2010\u2027", "\u061b\u061d\u200a\u2010\u2027" },
		{ "\u202f\u205f\u2070\ufefe\uff00", "\u202f\u205f\u2070\ufefe\uff00" },
		{ "\U000dffff\U000e1000", "\U000dffff\U000e1000" },
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

TEST(text, safe_escapes_controls)
{
	static const struct safe_case cases[] = {
		{ "\x1b[2J", "\\x1b[2J" },
		{ "a\tb\nc\rd", "a\\x09b\\x0ac\\x0dd" },
		{ "\x01\x1f\x7f", "\\x01\\x1f\\x7f" },
		{ "\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f" },
		{ "\x9b"
		  "31m",
		  "\\x9b31m" },
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

TEST(text, safe_escapes_what_reorders_or_hides)
{
	static const uint32_t unsafe[] = {
		0x61c,	0x200b, 0x200c, 0x200d,	 0x200e,  0x200f,  0x2028,  0x2029,
		0x202a, 0x202b, 0x202c, 0x202d,	 0x202e,  0x2060,  0x2066,  0x2067,
		0x2068, 0x2069, 0xfeff, 0xe0000, 0xe0001, 0xe0020, 0xe007f,
		0xad,	0x34f,	0x115f, 0x1160,	 0x17b4,  0x17b5,  0x180b,  0x180e,
		0x2061, 0x2062, 0x2063, 0x2064,	 0x2065,  0x206a,  0x206b,  0x206c,
		0x206d, 0x206e, 0x206f, 0x3164,	 0xffa0,  0xfff9,  0xfffa,  0xfffb,
		0x1d173, 0x1d17a, 0xe0100,
	};

	FOR_EACH (c, unsafe) {
		char in[MB_LEN_MAX + 1] = "", want[32] = "", out[32];
		int len = wctomb(in, *c);

		assert_true(len > 1);
		for (int i = 0; i < len; i++)
			snprintf(want + 4 * i, 5, "\\x%02x", (unsigned char)in[i]);
		text_safe(out, sizeof(out), in, len);
		assert_string_equal(out, want);
	}
}

TEST(text, safe_escapes_ill_formed_bytes)
{
	static const struct safe_case cases[] = {
		/* lone continuation bytes, bytes that never occur */
		{ "\x80", "\\x80" },
		{ "a\xbfz", "a\\xbfz" },
		{ "\xfe\xff", "\\xfe\\xff" },
		{ "\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80" },
		{ "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
		/* overlong: '/', DEL, U+0800 - 1, U+10000 - 1 */
		{ "\xc0\xaf", "\\xc0\\xaf" },
		{ "\xc1\xbf", "\\xc1\\xbf" },
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
		{ "\xe0\x9f\xbf", "\\xe0\\x9f\\xbf" },
		{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" },
		{ "\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf" },
		/* surrogates, also as a pair */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xed\xbf\xbf", "\\xed\\xbf\\xbf" },
		{ "\xed\xa0\xbd\xed\xb8\x80", "\\xed\\xa0\\xbd\\xed\\xb8\\x80" },
		/* above U+10FFFF */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		/* truncated by the end, by ASCII, by another sequence */
		{ "\xc3", "\\xc3" },
		{ "\xe2\x82", "\\xe2\\x82" },
		{ "\xf0\x9f\x98", "\\xf0\\x9f\\x98" },
		{ "\xe2\x82z", "\\xe2\\x82z" },
		{ "\xe2\x82\x1b", "\\xe2\\x82\\x1b" },
		{ "\xf0\x9f\xc3\xa4", "\\xf0\\x9f\u00e4" },
		{ "\xc3\xc3\xa4", "\\xc3\u00e4" },
	};

	check_safe(cases, ARRAY_SIZE(cases));
}

TEST(text, safe_stops_at_length_or_nul)
{
	char out[16];

	assert_int_equal(text_safe(out, sizeof(out), "abcdef", 3), 3);
	assert_string_equal(out, "abc");
	assert_int_equal(text_safe(out, sizeof(out), "ab\0cd", 5), 2);
	assert_string_equal(out, "ab");
	/* a comm cut in the middle of a character */
	assert_int_equal(text_safe(out, sizeof(out), "\u65e5", 2), 8);
	assert_string_equal(out, "\\xe6\\x97");
}

TEST(text, safe_cuts_at_whole_characters)
{
	static const struct {
		const char *in;
		size_t size;
		const char *want;
	} cases[] = {
		{ "abc", 4, "abc" },
		{ "abc", 3, "ab" },
		{ "abc", 1, "" },
		{ "a\u65e5", 5, "a\u65e5" },
		{ "a\u65e5", 4, "a" },
		{ "a\x1b", 6, "a\\x1b" },
		{ "a\x1b", 5, "a" },
		{ "a\x1b"
		  "b",
		  5, "a" },
		{ "\xc2\x9b", 8, "\\xc2" },
	};

	FOR_EACH (c, cases) {
		char *out = malloc(c->size); /* of exact size, so that a sanitizer sees one byte too many */

		assert_non_null(out);
		assert_int_equal(text_safe(out, c->size, c->in, strlen(c->in)), strlen(c->want));
		assert_string_equal(out, c->want);
		free(out);
	}
	assert_int_equal(text_safe(NULL, 0, "abc", 3), 0);
}

/* Any bytes: the result is well-formed for the C library, and nothing controls a terminal. */
TEST(text, safe_result_is_always_safe)
{
	unsigned int seed = 1;

	for (int round = 0; round < 20000; round++) {
		char in[12], out[64];
		const char *s = out;
		mbstate_t state = { 0 };
		wchar_t c;
		size_t n;

		for (size_t i = 0; i < sizeof(in); i++) {
			seed = seed * 1103515245 + 12345;
			in[i] = (seed >> 16) | ((seed >> 8) & 0x80);
		}
		text_safe(out, sizeof(out), in, sizeof(in));
		while ((n = mbrtowc(&c, s, MB_CUR_MAX, &state))) {
			assert_within(n, 1, 4);
			assert_true(c >= 0x20 && !(c >= 0x7f && c < 0xa0));
			s += n;
		}
		assert_int_equal(*s, 0);
	}
}

TEST(text, width_counts_cells)
{
	static const struct {
		const char *s;
		int want;
	} cases[] = {
		{ "", 0 },	   { "abc", 3 },	{ "\u00e4", 1 }, { "\u65e5\u672c", 4 },
		{ "e\u0301x", 2 }, { "\U0001f600", 2 }, { "\ue000", 1 },
	};

	FOR_EACH (c, cases)
		assert_int_equal(text_width(c->s), c->want);
}

TEST(text, elide_keeps_head_and_tail)
{
	static const struct {
		const char *in;
		int width;
		const char *want;
		int cells;
	} cases[] = {
		{ "", 5, "", 0 },
		{ "abc", 5, "abc", 3 },
		{ "abcde", 5, "abcde", 5 },
		{ "abcdef", 5, "a..ef", 5 },
		{ "abcdef", 4, "..ef", 4 },
		{ "abcdef", 3, "..f", 3 },
		{ "abcdef", 2, "..", 2 },
		{ "abcdef", 1, ".", 1 },
		{ "abcdef", 0, "", 0 },
		{ "abcdef", -3, "", 0 },
		{ "/system.slice/postgresql@14.service", 18, "/system..4.service", 18 },
		/* a wide character that would be cut is left out */
		{ "\u65e5\u672c\u8a9e\u6587\u5b57", 8, "\u65e5..\u6587\u5b57", 8 },
		{ "\u65e5\u672c\u8a9e\u6587\u5b57", 7, "\u65e5..\u5b57", 6 },
		{ "\u65e5\u672c\u8a9e\u6587\u5b57", 6, "..\u6587\u5b57", 6 },
		{ "\u65e5\u672c\u8a9e\u6587\u5b57", 5, "..\u5b57", 4 },
		{ "\u65e5\u672c\u8a9e\u6587\u5b57", 3, "..", 2 },
		/* marks stay with their letter, also at the cut */
		{ "e\u0301bcdefg", 6, "e\u0301..efg", 6 },
		{ "abcde\u0301f", 3, "..f", 3 },
	};

	FOR_EACH (c, cases) {
		char out[64];

		assert_int_equal(text_elide(out, sizeof(out), c->in, c->width), c->cells);
		assert_string_equal(out, c->want);
		assert_int_equal(text_width(out), c->cells);
	}
}

TEST(text, elide_cuts_at_whole_characters)
{
	char out[6];

	assert_int_equal(text_elide(out, sizeof(out), "abcdefghij", 8), 5);
	assert_string_equal(out, "ab..g");
	assert_int_equal(text_elide(out, sizeof(out), "\u65e5\u672c", 4), 2);
	assert_string_equal(out, "\u65e5");
}

TEST(text, add_appends_and_cuts)
{
	char out[6] = "";

	text_add(out, sizeof(out), "%d,", 12);
	assert_string_equal(out, "12,");
	text_add(out, sizeof(out), "%s", "345");
	assert_string_equal(out, "12,34");
	text_add(out, sizeof(out), "6");
	assert_string_equal(out, "12,34");
}

TEST(text, is_utf8_follows_the_locale)
{
	assert_true(text_is_utf8());
	assert_non_null(setlocale(LC_ALL, "C"));
	assert_false(text_is_utf8());
	/* no tables for it, but one cell each */
	assert_int_equal(text_width("\u00e4b"), 2);
	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
}

TEST(text, number_is_that_of_the_whole_name)
{
	static const char of[] = "anon_thp 1\nanon x\nNAME: a anon 2\n\nanon 3\nRss:\t  40 kB\nanon 5\nlast 6";
	uint64_t v = 0;

	assert_true(text_number(of, "anon", &v) && v == 3);
	assert_true(text_number(of, "anon_thp", &v) && v == 1);
	assert_true(text_number(of, "Rss", &v) && v == 40);
	assert_true(text_number(of, "last", &v) && v == 6);
	assert_false(text_number(of, "NAME", &v) || text_number(of, "ano", &v) || text_number("", "anon", &v));
	assert_int_equal(v, 6);
}

int main(void)
{
	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 1;
	RUN_TESTS(cmocka_unit_test(text_safe_keeps_text),
		  cmocka_unit_test(text_safe_escapes_controls),
		  cmocka_unit_test(text_safe_escapes_what_reorders_or_hides),
		  cmocka_unit_test(text_safe_escapes_ill_formed_bytes),
		  cmocka_unit_test(text_safe_stops_at_length_or_nul),
		  cmocka_unit_test(text_safe_cuts_at_whole_characters),
		  cmocka_unit_test(text_safe_result_is_always_safe),
		  cmocka_unit_test(text_width_counts_cells),
		  cmocka_unit_test(text_elide_keeps_head_and_tail),
		  cmocka_unit_test(text_elide_cuts_at_whole_characters),
		  cmocka_unit_test(text_add_appends_and_cuts),
		  cmocka_unit_test(text_number_is_that_of_the_whole_name),
		  cmocka_unit_test(text_is_utf8_follows_the_locale));
}
