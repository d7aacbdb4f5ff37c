/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_TEXT_H
#define SYSTOP_UTIL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * text_safe - makes text of unknown origin (comm, cgroup, path, argv) safe for a terminal, a log or JSON. All such text
 * passes through it before any output.
 * @out, @size: result, always NUL-terminated, valid UTF-8, cut at a whole character or escape
 * @in, @len: bytes; ends at @len or the first NUL
 * C0 and C1 controls (also as U+0080..9F), DEL, bidi marks and overrides (U+061C, 200E, 200F, 202A-202E, 2066-2069),
 * zero-width and invisible characters (00AD, 034F, 17B4, 17B5, 180B-180F, 200B-200D, 2060-2065, 206A-206F, FEFF,
 * 1BCA0-1BCA3, 1D173-1D17A), fillers (115F, 1160, 3164, FFA0), line and paragraph separators (2028, 2029), annotations
 * (FFF0-FFFB), tags (E0000-E0FFF) and every byte that is not well-formed UTF-8 become \xNN per byte; the backslash
 * itself is not escaped. Returns the length of the result in bytes.
 */
size_t text_safe(char *out, size_t size, const char *in, size_t len);

/* text_width - terminal cells of the safe UTF-8 text @s (wide characters 2, combining marks 0). */
int text_width(const char *s);

/*
 * text_elide - cuts @in to at most @width cells, with the middle replaced by "..": head and tail stay, the tail being
 * the longer part (names differ at their ends). Not padded. Returns cells used.
 */
int text_elide(char *out, size_t size, const char *in, int width);

/* text_cut - cuts @in to its first @width cells. Returns cells used. */
int text_cut(char *out, size_t size, const char *in, int width);

/* text_is_utf8 - whether the locale's character set (after setlocale) is UTF-8. */
bool text_is_utf8(void);

/* text_unescape - decodes, in place, \040 and the like: the kernel's escapes for blanks in the paths of /proc files. */
void text_unescape(char *s);

/* text_add - appends to a text of at most @size bytes with its NUL; what does not fit is cut. */
void text_add(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* text_number - the number of the first line "NAME NUMBER" or "NAME: NUMBER" in the text of a file of the kernel. Returns
 * whether there is one. */
bool text_number(const char *text, const char *name, uint64_t *number);

/* text_set - replaces a text of malloc(), or NULL, by a formatted one; NULL: no memory. */
void text_set(char **text, const char *fmt, va_list args);

#endif
