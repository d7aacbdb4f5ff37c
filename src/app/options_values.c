/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the options' values mean. */
#include "app/options_parts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config_file.h"
#include "proc/user.h"
#include "query/filter.h"
#include "tui/input/settings.h"
#include "tui/term/theme.h"
#include "tui/widget/columns.h"
#include "util/fail.h"
#include "util/format.h"
#include "util/text.h"
#include "util/vec.h"

int options_bad_value(const char *option, const char *value, const char *expected)
{
	char safe[128];

	text_safe(safe, sizeof(safe), value, strlen(value));
	fail(-EINVAL, EXIT_STATUS_USAGE, "bad value for %s: \"%s\"", option, safe);
	fail_why("%s", expected);
	return -fail_fix("systop --help");
}

int options_clash(const char *one, const char *other)
{
	fail(-EINVAL, EXIT_STATUS_USAGE, "%s and %s are mutually exclusive: give only one of them", one, other);
	return -fail_fix("systop --help");
}

int options_add_numbers(const char *option, const char *arg, const char *expected, pid_t **list, size_t *nr, size_t *room)
{
	const char *at = arg;

	for (;;) {
		char *end;
		long pid;

		errno = 0;
		pid = strtol(at, &end, 10);
		if (errno || end == at || pid <= 0 || pid > 1 << 22 || (*end && *end != ','))
			return options_bad_value(option, arg, expected);
		if (VEC_PUSH(*list, *nr, *room, (pid_t)pid))
			return ENOMEM;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

int options_set_number(const char *option, const char *arg, long least, long most, const char *expected, unsigned int *to)
{
	char *end;
	long number = strtol(arg, &end, 10);

	if (end == arg || *end || number < least || number > most)
		return options_bad_value(option, arg, expected);
	*to = number;
	return 0;
}

int options_set_duration(const char *option, const char *arg, uint64_t least, uint64_t most, const char *expected, uint64_t *to)
{
	return parse_duration(arg, least, most, to) ? options_bad_value(option, arg, expected) : 0;
}

int options_check_file(const char *option, const char *arg)
{
	return *arg && *arg != '-' ? 0
		: options_bad_value(option, arg, "expected a file; write ./-NAME if its name begins with -");
}

int options_set_output_file(struct options *o, const char *arg)
{
	o->save_path = arg;
	return strcmp(arg, "-") ? options_check_file("-o", arg) : 0; /* standard output, if it becomes -w */
}

int options_set_log(struct options *o, const char *arg, bool verbose)
{
	const char *option = verbose ? "-v" : "--log";

	if (o->log && o->verbose != verbose)
		return options_bad_value(option, arg, "-v includes all of --log: give only one of them");
	if (options_check_file(option, arg))
		return EINVAL;
	o->log = arg;
	o->verbose = verbose;
	return 0;
}

/* A size with suffix K, M or G. Returns 0 or -EINVAL. */
static int parse_size(const char *arg, uint64_t *bytes)
{
	static const char units[] = "KMG";
	unsigned long long size;
	const char *unit;
	int shift;
	char *end;

	errno = 0;
	size = strtoull(arg, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	shift = unit ? 10 * (unit + 1 - units) : 0;
	if (errno || end == arg || *arg == '-' || (*end && (!unit || end[1])) || size > (1ULL << 40) >> shift)
		return -EINVAL;
	*bytes = size << shift;
	return 0;
}

int options_set_size(const char *option, const char *arg, uint64_t least, const char *expected, uint64_t *to)
{
	return parse_size(arg, to) || *to < least ? options_bad_value(option, arg, expected) : 0;
}

/* A number with at most one decimal point; a % may follow. */
int options_set_max_cpu(struct options *o, const char *arg)
{
	char *end;
	double percent;

	errno = 0;
	percent = strtod(arg, &end);
	end += *end == '%';
	if (errno || end == arg || *end || strspn(arg, "0123456789.%") != strlen(arg) || percent < 0.1 || percent > 1000)
		return options_bad_value("--max-cpu", arg, "expected percent of one CPU from 0.1 to 1000, such as 2 or 0.5");
	o->max_cpu = percent * 1000 + 0.5;
	return 0;
}

int options_set_clock(struct options *o, const char *arg)
{
	if (strcmp(arg, "cycles") && strcmp(arg, "cpu"))
		return options_bad_value("--clock", arg, "expected cycles or cpu");
	o->cpu_clock = !strcmp(arg, "cpu");
	return 0;
}

/* The last exporter option wins. */
int options_set_exporter(struct options *o, const struct exporter *e, const char *arg)
{
	char option[32], words[128], expected[160];

	o->output = OUTPUT_EXPORT;
	o->exporter = e;
	o->file = e->operand && !e->word ? arg : NULL;
	o->word = 0;
	if (e->letter)
		snprintf(option, sizeof(option), "-%c", e->letter);
	else
		snprintf(option, sizeof(option), "--%s", e->name);
	if (!e->word)
		return o->file && strcmp(o->file, "-") ? options_check_file(option, o->file) : 0;
	while (e->word(o->word) && strcmp(e->word(o->word), arg))
		o->word++;
	if (e->word(o->word))
		return 0;
	options_words(e, words, sizeof(words));
	snprintf(expected, sizeof(expected), "expected %s", words);
	return options_bad_value(option, arg, expected);
}

/* Replaces an earlier choice of output. */
int options_set_output(struct options *o, enum output output)
{
	o->output = output;
	o->exporter = NULL;
	o->file = NULL;
	return 0;
}

int options_set_iterations(struct options *o, const char *arg)
{
	char *end;

	errno = 0;
	o->iterations = strtoull(arg, &end, 10);
	if (errno || end == arg || *end || arg[0] == '-' || !o->iterations)
		return options_bad_value("-n", arg, "expected a number of intervals, at least 1");
	return 0;
}

/* Stores an option that is also a setting, to apply it after the config file. */
int options_add_setting(struct options *o, const char *option, const char *section, const char *name,
		       const char *value)
{
	struct settings scratch;
	char error[160];

	settings_default(&scratch);
	if (settings_set(&scratch, section, name, value, 0, error, sizeof(error)))
		return options_bad_value(option, value, error);
	return -VEC_PUSH(o->settings, o->nr_settings, o->settings_room,
			 ((struct setting_option){ section, name, value }));
}

int options_set_delay(struct options *o, const char *arg)
{
	int err = options_set_duration("-d", arg, DELAY_MIN_NS, DELAY_MAX_NS, "expected seconds from 0.1 to 60: 2, 0.5 or 500ms",
				       &o->interval_ns);

	return err ? err : options_add_setting(o, "-d", "view", "delay", arg);
}

int options_set_sort(struct options *o, const char *arg)
{
	enum metric_id m;

	if (!strcmp(arg, "help"))
		return options_set_output(o, OUTPUT_SORT_HELP);
	m = metric_find(arg);
	if (m == METRIC_COUNT && !column_sorts(column_find(arg)))
		return options_bad_value("-s", arg, "expected a column's name: systop -s help lists them");
	o->sort_text = arg;
	if (m != METRIC_COUNT)
		o->sort = m;
	return options_add_setting(o, "-s", "view", "sort", m == METRIC_COUNT ? arg : metrics[m].name);
}

/* A relative path becomes absolute, as W writes it to the config, for starts in other folders. */
int options_set_theme(struct options *o, const char *arg)
{
	struct theme_files files;
	struct theme theme;
	char error[256], folder[PATH_MAX];

	config_themes(&files);
	/* The path stays relative if the absolute one does not fit, or a folder above cannot be entered. */
	if (*arg != '/' && strchr(arg, '/') && getcwd(folder, sizeof(folder)) &&
	    snprintf(o->theme, sizeof(o->theme), "%s/%s", folder, arg) < THEME_SIZE &&
	    !theme_load(&theme, o->theme, &files, error, sizeof(error)))
		arg = o->theme;
	if (theme_load(&theme, arg, &files, error, sizeof(error)))
		return options_bad_value("--theme", arg, error);
	return options_add_setting(o, "--theme", "look", "theme", arg);
}

/* Stores the filter expression of @option in *@to. @of_threads: other rows are never matched. */
int options_set_filter(const char *option, const char **to, const char *arg, bool of_threads)
{
	struct filter_error error;
	struct filter *f = filter_parse(arg, user_lookup, &error);
	bool never = f && of_threads && !filter_suits_threads(f);
	char why[sizeof(error.what) + 32];

	filter_free(f);
	*to = arg;
	if (never)
		return options_bad_value(option, arg, "a thread has no mem and no threads: rss is its process's memory");
	if (f)
		return 0;
	snprintf(why, sizeof(why), "column %d: %s", error.column + 1, error.what);
	return options_bad_value(option, arg, why);
}

/* An empty expression would be true for every thread. */
int options_set_trigger(struct options *o, const char *arg)
{
	if (!arg[strspn(arg, " ")])
		return options_bad_value("--on", arg, "expected an expression, such as 'runq.p99>20ms'");
	return options_set_filter("--on", &o->trigger, arg, true);
}
