/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "proc/user.h"
#include "tui/input/settings.h"
#include "tui/term/theme.h"
#include "util/file.h"
#include "util/invoker.h"
#include "util/path.h"
#include "util/text.h"

#define ETC_FILE "/etc/systop/systoprc"

/* Under sudo, $HOME is mostly root's. */
bool config_home(char *buf, size_t size)
{
	const char *home = getenv("HOME");
	struct stat st;

	if (home && *home == '/' && (!invoker()->name || (!stat(home, &st) && st.st_uid == invoker()->uid)))
		return snprintf(buf, size, "%s", home) < (int)size;
	return invoker()->name && user_home(invoker()->uid, buf, size);
}

/* The directory of the user's file, "": none. */
static void user_dir(char *buf, size_t size)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	char home[PATH_MAX - 32];

	*buf = '\0';
	if (xdg && *xdg == '/')
		snprintf(buf, size, "%s/systop", xdg);
	else if (config_home(home, sizeof(home)))
		snprintf(buf, size, "%s/.config/systop", home);
}

/* The user's file, see config_file(), and config_unused(). */
static char user_file[PATH_MAX];
static bool unused;

static void find_user_file(void)
{
	const char *env = getenv("SYSTOPRC");
	char dir[PATH_MAX - 16];

	user_dir(dir, sizeof(dir));
	*user_file = '\0';
	if (env && *env)
		snprintf(user_file, sizeof(user_file), "%s", env);
	else if (*dir)
		snprintf(user_file, sizeof(user_file), "%s/systoprc", dir);
}

const char *config_file(void)
{
	return user_file;
}

bool config_unused(void)
{
	return unused;
}

void config_themes(struct theme_files *files)
{
	char dir[PATH_MAX - 16];

	user_dir(dir, sizeof(dir));
	*files = (struct theme_files){ .uid = invoker()->uid };
	if (*dir)
		snprintf(files->dir, sizeof(files->dir), "%s/themes", dir);
}

struct reading {
	struct settings *settings;
	FILE *file;
	int line;
	int wrong;         /* the invalid line, after which nothing is read; 0: none */
	int too_long;      /* the first line that is too long for inih, 0: none */
	bool named;        /* the section has a value that a line can continue, */
	bool goes_on;      /* and this line does, as it begins with a blank */
	char value[2048];
	char error[128];
};

/* Replaces a blank that would begin a comment. */
#define NO_COMMENT '\1'

/* From version 56 on, inih looks for comments in lines that continue a value, too. */
static void keep_comments(char *buf)
{
	for (; *buf; buf++)
		if (isspace((unsigned char)buf[0]) && buf[1] == ';')
			*buf = NO_COMMENT;
}

/* For ini.h: fgets() that counts lines. */
static char *read_line(char *buf, int size, void *arg)
{
	struct reading *r = arg;
	bool cut;

	if (r->wrong) /* inih would continue, and the next value would overwrite the error */
		return NULL;
	r->line++;
	if (!file_gets(buf, size, r->file, &cut))
		return NULL;
	if (cut && !r->too_long && !strchr("#;", buf[strspn(buf, " \t")]))
		r->too_long = r->line;
	if (*buf == '[') /* no setting continues in the next section */
		r->named = false;
	r->goes_on = r->named && (*buf == ' ' || *buf == '\t');
	if (r->goes_on)
		keep_comments(buf + strspn(buf, " \t"));
	return buf;
}

static int on_value(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;

	size_t used = r->goes_on ? strlen(r->value) : 0;

	snprintf(r->value + used, sizeof(r->value) - used, "%s%s", used ? " " : "", value);
	for (char *at = r->value; (at = strchr(at, NO_COMMENT));)
		*at = ' ';
	for (size_t end = strlen(r->value); end && r->value[end - 1] == ' ';) /* NO_COMMENT may have been in the file itself */
		r->value[--end] = '\0';
	r->named = *name;
	/* Unknown settings are ignored: they can be from another version. */
	if (settings_set(r->settings, section, name, r->value + strspn(r->value, " "), r->line, r->error, sizeof(r->error)) == -EINVAL)
		r->wrong = r->line;
	return !r->wrong;
}

/* The first line that binds an action to no key, such as one whose key is taken for a comment; 0: none. This is known only at
 * the end of the file, as continuation lines can have the keys. */
static int line_without_key(struct reading *r)
{
	const struct keymap *m = &r->settings->keymap;
	int line = 0;

	for (int a = 0; a < ACTION_NONE; a++) {
		if (!m->bound_at[a] || *m->keys[a] || (line && line < m->bound_at[a]))
			continue;
		line = r->wrong = m->bound_at[a];
		snprintf(r->error, sizeof(r->error), "no key for %s (a ; behind a blank begins a comment: %s =; binds it)",
			 actions[a].name, actions[a].name);
	}
	return line;
}

int config_parse(struct settings *s, FILE *file, char *why, size_t size)
{
	struct settings read = *s;
	struct reading r = { .settings = &read, .file = file };
	int line = ini_parse_stream(read_line, &r, on_value, &r);

	line = line ? line : line_without_key(&r);
	if (ferror(file)) {
		snprintf(why, size, "cannot be read");
		return r.line + 1;
	}
	if (line)
		snprintf(why, size, "%s", *r.error && line == r.wrong ? r.error : "not understood");
	else if (r.too_long)
		snprintf(why, size, "too long");
	else
		*s = read;
	return line > 0 ? line : line ? r.line : r.too_long;
}

/* NULL: it does not exist, or @notice has the reason. */
static FILE *open_config(const char *path, const char *safe, char *notice, size_t size)
{
	const char *why = NULL;
	FILE *file = path_read(path, invoker()->uid, &why);

	if (why)
		snprintf(notice, size, "%s %s", safe, why);
	else if (!file && errno != ENOENT && errno != ENOTDIR)
		snprintf(notice, size, "%s cannot be read: %s; defaults are used", safe, strerror(errno));
	return file;
}

/* Returns whether the file exists. */
static bool read_config(struct settings *s, const char *path, char *notice, size_t size)
{
	char safe[256], error[128];
	FILE *file;
	int line;

	text_safe(safe, sizeof(safe), path, strlen(path));
	file = open_config(path, safe, notice, size);
	if (!file)
		return *notice;
	line = config_parse(s, file, error, sizeof(error));
	fclose(file);
	if (line)
		snprintf(notice, size, "%s, line %d: %s; defaults are used", safe, line, error);
	return true;
}

void config_read(struct settings *s, char *notice, size_t size)
{
	bool exists;

	*notice = '\0';
	find_user_file();
	exists = *user_file && read_config(s, user_file, notice, size);
	unused = *notice;
	if (!exists)
		read_config(s, ETC_FILE, notice, size);
}
