/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_TEXT_H
#define SYSTOP_EXPORT_JSON_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cgroup;
struct life;
struct process;
struct redact;

/*
 * A JSON writer that emits properties directly: a refresh can have a hundred thousand rows, and building an object tree
 * for each takes ten times as long. Initialise with the stream and zeroes. Names are NULL inside lists.
 */
struct json {
	FILE *to;
	const struct redact *redact; /* of --redact; NULL: names as they are */
	bool follows; /* another value came before in this object or list */
	size_t used;
	char text[1 << 16]; /* not written yet */
};

/* json_open, json_close - begin and end an object ('{' and '}') or a list ('[' and ']'). */
void json_open(struct json *j, const char *name, char bracket);
void json_close(struct json *j, char bracket);

/* json_number - writes a number; VALUE_NA: null. */
void json_number(struct json *j, const char *name, uint64_t v);
/* json_hundredths - the same for a number with two decimals: 52 is 0.52. */
void json_hundredths(struct json *j, const char *name, uint64_t v);
void json_int(struct json *j, const char *name, int64_t v);
void json_boolean(struct json *j, const char *name, bool v);
void json_null(struct json *j, const char *name);

/* json_text - writes up to @len bytes of foreign text, at most JSON_TEXT_MAX, which no command line or path exceeds:
 * bytes that are unfit for a terminal become \xNN. json_string - writes text of our own, or text that passed
 * text_safe(). json_foreign - writes all of a foreign text; NULL: null. */
#define JSON_TEXT_MAX 4096
void json_text(struct json *j, const char *name, const char *s, size_t len);
void json_foreign(struct json *j, const char *name, const char *s);
void json_string(struct json *j, const char *name, const char *s);

/* json_comm, json_process_comm - write the property comm: the name of a thread (NULL: null), or of a process's first thread.
 * json_path - writes the path of a cgroup; NULL: null. */
void json_comm(struct json *j, const struct life *l);
void json_process_comm(struct json *j, const struct process *p);
void json_path(struct json *j, const char *name, const struct cgroup *c);

/* json_end - writes buffered text and the end of the line. Returns 0 or -errno. */
int json_end(struct json *j);

#endif
