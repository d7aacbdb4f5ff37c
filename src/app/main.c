/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What systop reads before it starts: options, settings, places of files. All start errors are found before the screen
 * opens; later ones are reported after it has closed. */

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/check.h"
#include "app/complain.h"
#include "app/config_file.h"
#include "app/log.h"
#include "app/print.h"
#include "app/run.h"
#include "app/symbol_dirs.h"
#include "app/systop.h"
#include "collect/words.h"
#include "helper/helper.h"
#include "save/destination.h"
#include "tui/term/theme.h"
#include "util/fail.h"
#include "util/invoker.h"
#include "util/standard.h"
#include "util/text.h"

/* Applies the config file, then the command line. */
static void read_settings(struct systop *s)
{
	static struct theme theme;
	const struct options *o = &s->options;
	struct theme_files files;
	char error[160];

	settings_default(&s->settings);
	config_read(&s->settings, s->notice, sizeof(s->notice));
	for (size_t i = 0; i < o->nr_settings; i++)
		settings_set(&s->settings, o->settings[i].section, o->settings[i].name,
			     o->settings[i].value, 0, error, sizeof(error));
	config_themes(&files);
	s->theme = &theme;
	if (!theme_load(&theme, s->settings.theme, &files, error, sizeof(error)))
		return;
	if (!*s->notice)
		snprintf(s->notice, sizeof(s->notice), "theme in the config: %s; using the default", error);
	theme_load(&theme, "default", NULL, error, sizeof(error));
	snprintf(theme.name, sizeof(theme.name), "%s", s->settings.theme); /* W keeps the file's value */
}

/* The file of -o or -w, beside which others are saved; NULL: none, or it is one of our descriptors, such as /dev/stdout, which
 * has no folder. */
static const char *beside(const struct options *o)
{
	if (o->save_path)
		return o->save_fd < 0 ? o->save_path : NULL;
	return options_need(o, EXPORT_WINDOW) && o->file_fd < 0 ? o->file : NULL;
}

/* --on would find only hours later that it cannot save. */
static int find_folder(struct systop *s)
{
	const char *file = beside(&s->options), *end = file ? strrchr(file, '/') : NULL;
	char generated[PATH_MAX];
	bool streams;
	int fd;

	if (end)
		snprintf(s->folder, sizeof(s->folder), "%.*s", (int)(end + 1 - file), file);
	snprintf(generated, sizeof(generated), "%.*ssystop-HOST-TIME.pb", PATH_MAX - 32, s->folder);
	return s->options.trigger ? destination_check(generated, &fd, &streams) : 0;
}

/* Finds the places of traces before anything is recorded. */
static int find_places(struct systop *s)
{
	struct options *o = &s->options;
	bool streams;
	struct stat st;
	int err = 0;

	o->file_fd = o->save_fd = -1;
	if (o->file && !strcmp(o->file, "-"))
		o->file_fd = STDOUT_FILENO;
	else if (o->file)
		err = destination_check(o->file, &o->file_fd, &o->file_streams);
	if (o->file_fd >= 0)
		o->file_streams = !fstat(o->file_fd, &st) && !S_ISREG(st.st_mode);
	if (!err && o->save_path)
		err = destination_check(o->save_path, &o->save_fd, &streams);
	return err ? err : find_folder(s);
}

/* Everything that is read and looked up as the invoker before the start. */
static int read_all(struct systop *s, int argc, char **argv)
{
	int err = invoker_begin();

	if (err)
		return fail(err, EXIT_STATUS_PERMISSION, "cannot read files as the user: %s", strerror(-err));
	err = options_parse(argc, argv, &s->options);
	if (!err) {
		read_settings(s);
		symbol_dirs_find(&s->options);
		err = find_places(s);
	}
	invoker_end();
	return err;
}

/* Checks, before measuring starts, that standard output can be written to. */
static int check_output(const struct options *o)
{
	bool used = o->output != OUTPUT_SCREEN && (!o->file || !strcmp(o->file, "-"));

	if (!used || !standard_closed(STDOUT_FILENO))
		return 0;
	return fail(-EBADF, EXIT_STATUS_RUNTIME, "cannot write the output: standard output is closed");
}

static int print_or_run(struct systop *s)
{
	int status;

	if (s->options.output == OUTPUT_CONFIG && *s->notice) /* no screen shows it */
		complain("%s", s->notice);
	status = print_asked(&s->options, &s->settings);
	return status < 0 ? run(s) : status;
}

/* --check -v: the helper of the log is needed. */
static int check_with_log(struct systop *s)
{
	int status;

	start_helpers();
	if (start_log(&s->options))
		status = failure_print(stderr);
	else
		status = print_or_run(s);
	log_close();
	helper_stop();
	return status;
}

/* The C library opens what TZ names, and would wait for the writer of a FIFO. Times are in UTC then, as with any other wrong name. */
static void check_zone(void)
{
	const char *zone = getenv("TZ");
	struct stat st;

	zone += zone && *zone == ':';
	if (zone && *zone == '/' && !stat(zone, &st) && !S_ISREG(st.st_mode))
		setenv("TZ", "UTC", 1);
}

int main(int argc, char **argv)
{
	struct systop s = { .output.fd = STDOUT_FILENO };

	if (check_setuid())
		return failure_print(stderr);
	standard_open();
	if (invoker_find())
		return failure_print(stderr);
	check_zone();
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* numbers are read by programs, and given with a point */
	if (tolower('I') != 'i') /* Turkish: IRQ% and TID are found in either case, as elsewhere */
		setlocale(LC_CTYPE, text_is_utf8() ? "C.UTF-8" : "C");
	signal(SIGXFSZ, SIG_IGN); /* a file that gets too large is an ordinary error */
	words_listen(NULL); /* hides libbpf's messages, which are for developers; fail() reports errors */
	argv[0] = (char[]){ "systop" };
	if (read_all(&s, argc, argv) || check_output(&s.options)) {
		options_fini(&s.options);
		return failure_print(stderr);
	}
	s.argv = argv;
	uname(&s.uts);
	return s.options.output == OUTPUT_CHECK && s.options.verbose ? check_with_log(&s) : print_or_run(&s);
}
