/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_OPTIONS_PARTS_H
#define SYSTOP_APP_OPTIONS_PARTS_H

/* Shared by the files of the options: options.c (parser), options_table.c (table), options_values.c (values). */

#include "app/options.h"

enum {
	KEY_SCHEMA = 256,
	KEY_ALL,
	KEY_CHECK,
	KEY_USAGE,
	KEY_LIST_CGROUPS,
	KEY_FILTER,
	KEY_ASCII,
	KEY_COLOR,
	KEY_FULL_NAMES,
	KEY_THEME,
	KEY_MOUSE,
	KEY_VIEW,
	KEY_PRINT_CONFIG,
	KEY_COMPLETIONS,
	KEY_SELF,
	KEY_ALL_CPUS,
	KEY_TABLE_MEM,
	KEY_SYMBOL_DIR,
	KEY_WINDOW,
	KEY_WINDOW_MEM,
	KEY_DURATION,
	KEY_AT,
	KEY_ON,
	KEY_ON_LIMIT,
	KEY_WAIT_MIN,
	KEY_MAX_CPU,
	KEY_MAX_MEM,
	KEY_LOG,
	KEY_CLOCK,
	KEY_FORCE,
	KEY_REDACT,
	KEY_ARGS,
	KEY_EXPORTERS, /* and up: options of exporters without a letter, by their place */
};

/* options_key - key of an exporter's option; @place: see exporter_at().
 * options_words - its choices of argument: "cpu, runq or wall". */
int options_key(unsigned int place);
void options_words(const struct exporter *e, char *buf, size_t size);

/* options_bad_value - fail() with the reason @expected, such as "expected bash, zsh or fish"; returns EINVAL.
 * options_check_file - whether @arg can be a file: a word that looks like an option is a file that was forgotten.
 * All others check the value of an option and store it: options_add_numbers() adds numbers that commas separate,
 * options_set_number(), options_set_duration() and options_set_size() store one from @least to @most. They return 0, EINVAL
 * after fail(), or ENOMEM. */
int options_bad_value(const char *option, const char *value, const char *expected);
int options_check_file(const char *option, const char *arg);
int options_clash(const char *one, const char *other); /* the same for two mutually exclusive options */
int options_add_numbers(const char *option, const char *arg, const char *expected, pid_t **list, size_t *nr, size_t *room);
int options_set_number(const char *option, const char *arg, long least, long most, const char *expected, unsigned int *to);
int options_set_duration(const char *option, const char *arg, uint64_t least, uint64_t most, const char *expected, uint64_t *to);
int options_set_size(const char *option, const char *arg, uint64_t least, const char *expected, uint64_t *to);
int options_set_output_file(struct options *o, const char *arg);
int options_set_log(struct options *o, const char *arg, bool verbose);
int options_set_max_cpu(struct options *o, const char *arg);
int options_set_clock(struct options *o, const char *arg);
int options_set_exporter(struct options *o, const struct exporter *e, const char *arg);
int options_set_output(struct options *o, enum output output);
int options_set_iterations(struct options *o, const char *arg);
int options_add_setting(struct options *o, const char *option, const char *section, const char *name, const char *value);
int options_set_delay(struct options *o, const char *arg);
int options_set_sort(struct options *o, const char *arg);
int options_set_theme(struct options *o, const char *arg);
int options_set_filter(const char *option, const char **to, const char *arg, bool of_threads);
int options_set_trigger(struct options *o, const char *arg);

#endif
