/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/config_write.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/config_file.h"
#include "helper/message.h"
#include "tui/input/settings.h"
#include "util/clock.h"
#include "util/invoker.h"
#include "util/path.h"
#include "util/text.h"

/* systop does not wait longer than this for a silent helper. */
#define SILENT_NS 5000000000ULL

/* inih reads lines of up to 198 characters. */
#define VALUE_WIDTH 120

/* Progress: which settings the new file has already. */
struct writing {
	FILE *to;
	bool named;    /* the section has a setting above: lines that begin with a blank continue it */
	bool replaced; /* that setting was rewritten: its continuation lines are left out */
	const struct settings *settings;
	bool written[256];
};

/* The last blank before @end at which a line can be broken: blanks around it would be lost, and no line may begin like a
 * comment. NULL: there is none. */
static const char *break_before(const char *value, const char *end)
{
	for (const char *at = end - 1; at > value; at--)
		if (*at == ' ' && !isspace((unsigned char)at[-1]) && !isspace((unsigned char)at[1]) && !strchr(";#", at[1]))
			return at;
	return NULL;
}

/* Where the rest of a value is read as a comment, which it is only in a setting's first line; NULL: nowhere. */
static const char *comment_in(const char *value)
{
	for (const char *at = value; *at; at++)
		if (isspace((unsigned char)at[0]) && at[1] == ';')
			return at;
	return NULL;
}

/* Puts a setting on one line, or with continuation lines. */
static void put_setting(FILE *to, const char *name, const char *value)
{
	const char *comment = comment_in(value), *cut;

	fprintf(to, "%s =%s", name, *value == ';' ? "" : " ");
	if (comment) {
		cut = break_before(value, comment);
		fprintf(to, "%.*s\n\t", cut ? (int)(cut - value) : 0, value);
		value = cut ? cut + 1 : value;
	}
	while (strlen(value) > VALUE_WIDTH) {
		cut = break_before(value, value + VALUE_WIDTH + 1);
		if (!cut)
			break;
		fprintf(to, "%.*s\n\t", (int)(cut - value), value);
		value = cut + 1;
	}
	fprintf(to, "%s\n", value);
}

static void put(struct writing *w, int nr, const struct setting_text *t)
{
	w->written[nr] = true;
	if (t->set)
		put_setting(w->to, t->name, t->value);
}

/* Puts the settings that the old file's section lacked. @begun: the section is there. */
static void put_rest(struct writing *w, const char *section, bool begun)
{
	struct setting_text t;

	for (int nr = 0; settings_get(NULL, nr, &t); nr++) {
		if (w->written[nr] || strcmp(t.section, section))
			continue;
		settings_get(w->settings, nr, &t);
		if (t.set && !begun)
			fprintf(w->to, "\n[%s]\n", section);
		begun |= t.set;
		put(w, nr, &t);
	}
}

static void put_sections(struct writing *w)
{
	struct setting_text t;

	for (int nr = 0; settings_get(NULL, nr, &t); nr++)
		put_rest(w, t.section, false);
}

/* The setting that a line of the old file sets, -1: none that is known. */
static int setting_of(const struct writing *w, const char *section, const char *line,
		      struct setting_text *t)
{
	char name[64];

	if (sscanf(line, " %63[^=: \t\n]", name) != 1 || !strpbrk(line, "=:"))
		return -1;
	for (int nr = 0; settings_get(NULL, nr, t); nr++)
		if (!strcmp(t->section, section) && !strcmp(t->name, name))
			return settings_get(w->settings, nr, t) ? nr : -1;
	return -1;
}

/* Instead of a setting's number: a continuation of a line that was rewritten. */
#define LINE_REPLACED (-2)

/* Interprets lines as inih does. @len: including text after a NUL. */
static void put_line(struct writing *w, char *section, size_t size, const char *line, size_t len)
{
	const char *start = line + strspn(line, " \t\r\n\f\v");
	struct setting_text t;
	int nr = -1;

	if (*start && !strchr("#;", *start)) {
		if (start > line && w->named) {
			nr = w->replaced ? LINE_REPLACED : -1;
		} else if (*start == '[') { /* a name may be empty */
			put_rest(w, section, true);
			snprintf(section, size, "%.*s", (int)strcspn(start + 1, "]"), start + 1);
			w->named = false;
		} else {
			nr = setting_of(w, section, line, &t);
			w->named = true;
			w->replaced = nr >= 0;
		}
	}
	if (nr == -1) {
		fwrite(line, 1, len, w->to);
		if (line[len - 1] != '\n') /* the last line */
			fputc('\n', w->to);
	} else if (nr >= 0 && !w->written[nr]) {
		put(w, nr, &t);
	}
}

static void put_all(struct writing *w, FILE *old)
{
	char section[64] = "", *line = NULL;
	size_t room = 0;
	ssize_t len;

	while (old && (len = getline(&line, &room, old)) > 0)
		put_line(w, section, sizeof(section), line, len);
	free(line);
	put_rest(w, section, true);
	put_sections(w);
}

void config_print(FILE *to, const struct settings *s)
{
	struct setting_text t;
	const char *section = "";

	for (int nr = 0; settings_get(s, nr, &t); nr++) {
		if (strcmp(section, t.section))
			fprintf(to, "%s[%s]\n", *section ? "\n" : "", t.section);
		section = t.section;
		fprintf(to, "# %s\n", t.help);
		if (!strcmp(section, "keys") && !t.set)
			fprintf(to, "# %s = %s\n", t.name, s->keymap.keys[action_find(t.name)]);
		else
			put_setting(to, t.name, t.value);
	}
}

/* --- The helper */

/* The settings come as the text of a config file and are parsed as one: no contents can do harm. */
struct config_request {
	char path[4096];
	char text[16384];
};

struct config_answer {
	int32_t err; /* what config_put() returned */
};

/* Nothing is written to a directory where others could replace files. */
static int check_folder(const struct path *p)
{
	struct stat st;

	if (fstat(p->folder, &st))
		return -errno;
	return st.st_uid != invoker()->uid || st.st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

static int fill(FILE *to, const struct settings *s, FILE *old)
{
	struct writing w = { .to = to, .settings = s };

	errno = 0;
	put_all(&w, old);
	return (old && ferror(old)) || fflush(to) || ferror(to) || fsync(fileno(to)) ? (errno ? -errno : -EIO) : 0;
}

/* The old file stays until the new one is complete. */
static int replace(const struct path *p, const struct settings *s, FILE *old)
{
	char temporary[32];
	unsigned int random;
	FILE *to;
	int fd, err;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	snprintf(temporary, sizeof(temporary), ".systoprc-%08x", random);
	fd = openat(p->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!to)
		return -errno;
	err = fill(to, s, old);
	if (fclose(to) && !err)
		err = -errno;
	if (!err && renameat(p->folder, temporary, p->folder, p->name))
		err = -errno;
	if (err)
		unlinkat(p->folder, temporary, 0);
	return err;
}

/* The first invalid line of the old file: its settings were not read, and the new file would keep the line. 0: none. -EIO: the
 * file cannot be read. */
static int wrong_line(FILE *old)
{
	struct settings scratch;
	char why[128];
	int line;

	settings_default(&scratch);
	line = config_parse(&scratch, old, why, sizeof(why));
	if (ferror(old))
		line = -EIO;
	rewind(old);
	return line;
}

int config_put(const char *path, const struct settings *s)
{
	const char *why = NULL;
	FILE *old = NULL;
	struct path p;
	int err = path_resolve(path, invoker()->uid, PATH_OWNED | PATH_MAKE, &p);

	if (!err)
		err = check_folder(&p);
	if (!err && p.st.st_mode) {
		old = path_read_at(&p, invoker()->uid, &why);
		err = old ? wrong_line(old) : -errno;
	}
	if (!err)
		err = replace(&p, s, old);
	if (old)
		fclose(old);
	path_close(&p);
	return err;
}

static int serve(const struct config_request *r)
{
	FILE *text = fmemopen((char *)r->text, strlen(r->text), "r");
	struct settings s;
	char why[128];
	int line;

	if (!text)
		return -errno;
	settings_default(&s);
	line = config_parse(&s, text, why, sizeof(why));
	fclose(text);
	return line ? -EINVAL : config_put(r->path, &s);
}

void config_run(int socket)
{
	static struct config_request r;
	struct config_answer a;

	if (helper_receive(socket, &r, sizeof(r), NULL) != sizeof(r))
		return;
	r.path[sizeof(r.path) - 1] = r.text[sizeof(r.text) - 1] = '\0';
	a.err = serve(&r);
	helper_send(socket, &a, sizeof(a), -1);
}

/* --- The main process */

static void report_result(const struct config_writer *w, int err, char *said, size_t size)
{
	if (!err)
		snprintf(said, size, "config written: %s", w->safe);
	else if (err > 0)
		snprintf(said, size, "config NOT written: line %d is wrong, correct it first: %s", err, w->safe);
	else if (err == -EAGAIN && *helper_trouble())
		snprintf(said, size, "config NOT written: %s", helper_trouble());
	else if (err == -EINPROGRESS)
		snprintf(said, size, "config NOT written yet: the disk or the host is slow, it may be written later: %s", w->safe);
	else if (err == -EPERM || err == -ELOOP)
		snprintf(said, size,
			 "config NOT written: %s or a directory or link on the way is someone else's, or others can write there",
			 w->safe);
	else
		snprintf(said, size, "config NOT written: %s: %s", w->safe, strerror(-err));
}

static int put_text(const struct settings *s, char *text, size_t size)
{
	struct writing w = { .to = fmemopen(text, size, "w"), .settings = s };
	int err;

	if (!w.to)
		return -errno;
	put_sections(&w);
	err = fflush(w.to) || ferror(w.to) ? -E2BIG : 0;
	fclose(w.to);
	return err;
}

void config_write(struct config_writer *w, const struct settings *s, char *said, size_t size)
{
	static struct config_request r;
	int err;

	if (w->since) {
		snprintf(said, size, "the config is being written already");
		return;
	}
	snprintf(r.path, sizeof(r.path), "%s", config_file());
	text_safe(w->safe, sizeof(w->safe), r.path, strlen(r.path));
	if (!*r.path) {
		snprintf(said, size, "config NOT written: neither XDG_CONFIG_HOME nor HOME is set");
		return;
	}
	if (config_unused()) {
		snprintf(said, size, "config NOT written: it was not used at the start, correct it and start systop again: %s",
			 w->safe);
		return;
	}
	err = helper_open(w->role, &w->helper);
	if (!err)
		err = put_text(s, r.text, sizeof(r.text));
	if (!err) {
		err = helper_send(w->helper.socket, &r, sizeof(r), -1);
		err = err < 0 ? err : 0;
	}
	if (err) {
		helper_leave(&w->helper);
		report_result(w, err, said, size);
		return;
	}
	w->since = clock_ns(CLOCK_MONOTONIC);
	snprintf(said, size, "writing the config");
}

bool config_write_work(struct config_writer *w, char *said, size_t size)
{
	struct config_answer a = { 0 };
	int got;

	if (!w->since)
		return false;
	got = helper_receive(w->helper.socket, &a, sizeof(a), NULL);
	if (got == -EAGAIN && clock_ns(CLOCK_MONOTONIC) - w->since < SILENT_NS)
		return false;
	if (got == -EAGAIN)
		got = -EINPROGRESS;
	helper_leave(&w->helper); /* it goes on, and exits by itself as soon as it can */
	w->since = 0;
	report_result(w, got == sizeof(a) && a.err > -4096 ? a.err : got < 0 ? got : -EIO, said, size);
	return true;
}
