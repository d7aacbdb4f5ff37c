/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/redact.h"
#include "model/metric.h"
#include "model/tick.h"
#include "util/file.h"
#include "util/text.h"

static void flush(struct json *j)
{
	fwrite(j->text, 1, j->used, j->to); /* json_end() reports failures */
	j->used = 0;
}

static void put(struct json *j, const char *s, size_t len)
{
	if (len > sizeof(j->text) - j->used)
		flush(j);
	memcpy(j->text + j->used, s, len);
	j->used += len;
}

static void put_char(struct json *j, char c)
{
	if (j->used == sizeof(j->text))
		flush(j);
	j->text[j->used++] = c;
}

/* Safe text has no control characters: only two characters need an escape. */
static void put_quoted(struct json *j, const char *s)
{
	put_char(j, '"');
	while (*s) {
		size_t plain = strcspn(s, "\"\\");

		put(j, s, plain);
		s += plain;
		if (*s) {
			put_char(j, '\\');
			put_char(j, *s++);
		}
	}
	put_char(j, '"');
}

static void begin(struct json *j, const char *name)
{
	if (j->follows)
		put_char(j, ',');
	j->follows = true;
	if (!name)
		return;
	put_char(j, '"');
	put(j, name, strlen(name));
	put(j, "\":", 2);
}

void json_open(struct json *j, const char *name, char bracket)
{
	begin(j, name);
	put_char(j, bracket);
	j->follows = false;
}

void json_close(struct json *j, char bracket)
{
	put_char(j, bracket);
	j->follows = true;
}

void json_null(struct json *j, const char *name)
{
	begin(j, name);
	put(j, "null", 4);
}

void json_hundredths(struct json *j, const char *name, uint64_t v)
{
	char digits[32];

	if (v == VALUE_NA) {
		json_null(j, name);
		return;
	}
	begin(j, name);
	put(j, digits, snprintf(digits, sizeof(digits), "%" PRIu64 ".%02" PRIu64, v / 100, v % 100));
}

void json_number(struct json *j, const char *name, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	if (v == VALUE_NA) {
		json_null(j, name);
		return;
	}
	do {
		digits[--at] = '0' + v % 10;
		v /= 10;
	} while (v);
	begin(j, name);
	put(j, digits + at, sizeof(digits) - at);
}

void json_int(struct json *j, const char *name, int64_t v)
{
	if (v >= 0) {
		json_number(j, name, v);
		return;
	}
	begin(j, name);
	put_char(j, '-');
	j->follows = false;
	json_number(j, NULL, -(uint64_t)v);
}

void json_boolean(struct json *j, const char *name, bool v)
{
	begin(j, name);
	put(j, v ? "true" : "false", v ? 4 : 5);
}

void json_string(struct json *j, const char *name, const char *s)
{
	begin(j, name);
	put_quoted(j, s);
}

void json_text(struct json *j, const char *name, const char *s, size_t len)
{
	char safe[4 * JSON_TEXT_MAX + 1]; /* \xNN for each byte */

	text_safe(safe, sizeof(safe), s, len);
	json_string(j, name, safe);
}

void json_foreign(struct json *j, const char *name, const char *s)
{
	if (s)
		json_text(j, name, s, strlen(s));
	else
		json_null(j, name);
}

void json_comm(struct json *j, const struct life *l)
{
	char hash[REDACT_HASH];

	if (l)
		json_text(j, "comm", redact_comm(j->redact, l, hash), sizeof(l->comm));
	else
		json_null(j, "comm");
}

void json_process_comm(struct json *j, const struct process *p)
{
	char hash[REDACT_HASH];

	json_text(j, "comm", redact_process(j->redact, p, hash), sizeof(p->comm));
}

void json_path(struct json *j, const char *name, const struct cgroup *c)
{
	char hashed[4096];

	json_foreign(j, name, c ? redact_path(j->redact, c->path, hashed, sizeof(hashed)) : NULL);
}

int json_end(struct json *j)
{
	put_char(j, '\n');
	flush(j);
	return file_flush(j->to);
}
