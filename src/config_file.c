/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/settings.h"
#include "util/text.h"

#define ETC_FILE "/etc/systop/systoprc"

/* The directory of the user's file, "": there is none. */
static void user_dir(char *buf, size_t size)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	*buf = '\0';
	if (xdg && *xdg == '/')
		snprintf(buf, size, "%s/systop", xdg);
	else if (home && *home == '/')
		snprintf(buf, size, "%s/.config/systop", home);
}

/* The user's file, which W writes; "": there is nowhere to put it. */
static void user_file(char *buf, size_t size)
{
	const char *env = getenv("SYSTOPRC");
	char dir[PATH_MAX - 16];

	user_dir(dir, sizeof(dir));
	*buf = '\0';
	if (env && *env)
		snprintf(buf, size, "%s", env);
	else if (*dir)
		snprintf(buf, size, "%s/systoprc", dir);
}

void config_themes(char *buf, size_t size)
{
	char dir[PATH_MAX - 16];

	user_dir(dir, sizeof(dir));
	*buf = '\0';
	if (*dir)
		snprintf(buf, size, "%s/themes", dir);
}

/* Opens a file that only its owner, who is root or us, can write to. NULL with errno; @why is set if
 * it is there and not to be trusted. */
static FILE *open_trusted(const char *path, const char **why)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st))
		*why = "cannot be looked at";
	else if (!S_ISREG(st.st_mode))
		*why = "is not a file";
	else if (st.st_uid && st.st_uid != (uid_t)setfsuid(-1))
		*why = "is someone else's: not read";
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		*why = "can be written by others: not read (chmod go-w)";
	if (!*why)
		return fdopen(fd, "r");
	close(fd);
	errno = EPERM;
	return NULL;
}

struct reading {
	struct settings *settings;
	FILE *file;
	int line;
	int too_long;      /* the first line that inih cannot read as one, 0: none */
	bool goes_on;      /* the line began with a blank: its value is more of the one before */
	char value[2048];
	char error[128];
};

static void skip_line(FILE *f)
{
	int c;

	do
		c = getc(f);
	while (c != '\n' && c != EOF);
}

/* For ini.h: fgets() that counts lines. */
static char *read_line(char *buf, int size, void *arg)
{
	struct reading *r = arg;

	r->line++;
	buf[size - 2] = '\0';
	if (!fgets(buf, size, r->file))
		return NULL;
	if (buf[size - 2] && buf[size - 2] != '\n') { /* the rest would be a line of its own */
		skip_line(r->file);
		if (!r->too_long && !strchr("#;", buf[strspn(buf, " \t")]))
			r->too_long = r->line;
	}
	r->goes_on = *buf == ' ' || *buf == '\t';
	return buf;
}

static int on_value(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;

	size_t used = r->goes_on ? strlen(r->value) : 0;

	snprintf(r->value + used, sizeof(r->value) - used, "%s%s", used ? " " : "", value);
	/* What is not known is left alone: it can be of another version. */
	return settings_set(r->settings, section, name, r->value, r->line, r->error,
			    sizeof(r->error)) != -EINVAL;
}

void config_read(struct settings *s, char *notice, size_t size)
{
	char path[PATH_MAX], safe[256];
	struct settings read = *s;
	struct reading r = { .settings = &read };
	const char *why = NULL;
	int line;

	*notice = '\0';
	user_file(path, sizeof(path));
	if (*path)
		r.file = open_trusted(path, &why);
	if (!r.file && !why) {
		snprintf(path, sizeof(path), "%s", ETC_FILE);
		r.file = open_trusted(path, &why);
	}
	text_safe(safe, sizeof(safe), path, strlen(path));
	if (why)
		snprintf(notice, size, "%s %s", safe, why);
	if (!r.file)
		return;
	line = ini_parse_stream(read_line, &r, on_value, &r);
	fclose(r.file);
	if (line)
		snprintf(notice, size, "%s, line %d: %s; defaults are used", safe,
			 line > 0 ? line : r.line, *r.error ? r.error : "not understood");
	else if (r.too_long)
		snprintf(notice, size, "%s, line %d: too long; defaults are used", safe, r.too_long);
	else
		*s = read;
}

/* --- Writing */

/* inih reads lines of up to 200 characters. */
#define VALUE_WIDTH 120

/* What of the settings the new file has already. */
struct writing {
	FILE *to;
	bool named;    /* a setting stands above in its section: lines that begin with a blank go on with it */
	bool replaced; /* that setting: those lines are, too */
	const struct settings *settings;
	bool written[256];
};

/* A line, or several that go on with it. */
static void put_setting(FILE *to, const char *name, const char *value)
{
	const char *cut = value;

	fprintf(to, "%s = ", name);
	while (strlen(value) > VALUE_WIDTH) {
		cut = memrchr(value, ' ', VALUE_WIDTH);
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
	if (*t->value)
		put_setting(w->to, t->name, t->value);
}

/* What the old file's section did not have. */
static void put_rest(struct writing *w, const char *section)
{
	struct setting_text t;

	for (int nr = 0; settings_get(w->settings, nr, &t); nr++)
		if (!w->written[nr] && !strcmp(t.section, section))
			put(w, nr, &t);
}

static void put_sections(struct writing *w)
{
	struct setting_text t, u;

	for (int nr = 0; settings_get(w->settings, nr, &t); nr++) {
		bool any = false;

		for (int i = nr; settings_get(w->settings, i, &u); i++)
			any |= !w->written[i] && !strcmp(u.section, t.section) && *u.value;
		if (w->written[nr] || !any)
			continue;
		fprintf(w->to, "\n[%s]\n", t.section);
		put_rest(w, t.section);
	}
}

/* The setting that a line of the old file sets, -1: none that we know. */
static int setting_of(const struct writing *w, const char *section, const char *line,
		      struct setting_text *t)
{
	char name[64];

	if (sscanf(line, " %63[^=: \t\n]", name) != 1 || !strpbrk(line, "=:"))
		return -1;
	for (int nr = 0; settings_get(w->settings, nr, t); nr++)
		if (!strcmp(t->section, section) && !strcmp(t->name, name))
			return nr;
	return -1;
}

/* In place of a setting's number: the line goes with one that is written anew. */
#define LINE_REPLACED (-2)

/* Lines as inih understands them. @len: with what is behind a NUL. */
static void put_line(struct writing *w, char *section, size_t size, const char *line, size_t len)
{
	const char *start = line + strspn(line, " \t\r\n\f\v");
	struct setting_text t;
	char name[64];
	int nr = -1;

	if (*start && !strchr("#;", *start)) {
		if (start > line && w->named) {
			nr = w->replaced ? LINE_REPLACED : -1;
		} else if (sscanf(start, "[%63[^]]", name) == 1) {
			put_rest(w, section);
			snprintf(section, size, "%s", name);
			w->named = false;
		} else {
			nr = setting_of(w, section, line, &t);
			w->named = true;
			w->replaced = nr >= 0;
		}
	}
	if (nr == -1) {
		fwrite(line, 1, len, w->to);
		if (line[len - 1] != '\n') /* the last one */
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
	put_rest(w, section);
	put_sections(w);
}

/* Makes the directories of a path that are missing. */
static int make_dirs(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

/* In the directory of the file: not where others could put something in its place. */
static int check_dir(const char *path)
{
	char dir[PATH_MAX];
	char *slash;
	struct stat st;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	if (stat(slash ? dir : ".", &st))
		return -errno;
	return st.st_uid != (uid_t)setfsuid(-1) || st.st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

static int write_file(const struct settings *s, const char *path, FILE *old)
{
	struct writing w = { .settings = s };
	char temporary[PATH_MAX];
	int fd, err = 0;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	w.to = fdopen(fd, "w");
	if (!w.to) {
		close(fd);
		unlink(temporary);
		return -ENOMEM;
	}
	put_all(&w, old);
	if (fflush(w.to) || ferror(w.to) || fsync(fd))
		err = errno ? -errno : -EIO;
	if (fclose(w.to) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}

int config_write(const struct settings *s, char *said, size_t size)
{
	char path[PATH_MAX - 16], safe[256];
	const char *why = NULL;
	FILE *old = NULL;
	int err;

	user_file(path, sizeof(path));
	text_safe(safe, sizeof(safe), path, strlen(path));
	if (!*path) {
		snprintf(said, size, "config NOT written: neither XDG_CONFIG_HOME nor HOME is set");
		return -ENOENT;
	}
	err = make_dirs(path);
	if (!err)
		err = check_dir(path);
	if (!err) {
		old = open_trusted(path, &why);
		if (why)
			err = -EPERM;
	}
	if (!err)
		err = write_file(s, path, old);
	if (old)
		fclose(old);
	if (!err)
		snprintf(said, size, "config written: %s", safe);
	else if (err == -EPERM)
		snprintf(said, size, "config NOT written: %s or its directory is someone else's, or others can write there",
			 safe);
	else
		snprintf(said, size, "config NOT written: %s: %s", safe, strerror(-err));
	return err;
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
		if (!strcmp(section, "keys") && strcmp(t.name, "preset"))
			fprintf(to, "%s%s = %s\n", *t.value ? "" : "# ", t.name,
				s->keymap.keys[action_find(t.name)]);
		else
			put_setting(to, t.name, t.value);
	}
}
