/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_OPTIONS_H
#define SYSTOP_APP_OPTIONS_H

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "app/symbol_dirs.h"
#include "export/exporter.h"
#include "model/metric.h"
#include "save/schedule.h"

enum output {
	OUTPUT_SCREEN,
	OUTPUT_EXPORT,        /* -b, --json, -w, ...: by an exporter */
	OUTPUT_SCHEMA,        /* --schema and others: print and exit */
	OUTPUT_CHECK,         /* as JSON with exporter set */
	OUTPUT_CHECK_SCHEMA,
	OUTPUT_LIST_CGROUPS,
	OUTPUT_SORT_HELP,
	OUTPUT_CONFIG,
	OUTPUT_COMPLETIONS,
	OUTPUT_VERSION,
};

/* A setting of the config file given on the command line, which wins. */
struct setting_option {
	const char *section, *name, *value;
};

struct options {
	enum output output;
	const struct exporter *exporter; /* for OUTPUT_EXPORT, else NULL */
	int word;                /* its operand, if that is one of its words */
	const char *file;        /* else the file, "-": stdout; NULL: none */
	int file_fd;             /* descriptor, if file is the path of one of ours; -1: it is not */
	bool file_streams;       /* it is a pipe or a device */
	uint64_t interval_ns;
	uint64_t iterations;     /* 0: until stopped */
	uint64_t duration_ns;    /* after which systop ends; 0: until stopped */
	struct schedule at;      /* start time */
	const char *save_path;   /* -o: where w saves; NULL: a generated name in the current folder */
	int save_fd;             /* descriptor, if save_path is the path of one; -1: it is not */
	const char *log;         /* --log or -v; NULL: none */
	bool verbose;            /* -v */
	enum metric_id sort;
	const char *sort_text;   /* as it was given; NULL: not given */
	bool all;
	const char *numbers;     /* the first of [INTERVAL [COUNT]], only for outputs of refreshes; NULL: none */
	int nr_numbers;
	bool check;              /* --check */
	unsigned int frequency;  /* samples per second on each CPU, 0: none */
	unsigned int table_mib;  /* memory for the unwinder's tables */
	unsigned int window_s;   /* length of the recorder's window in seconds, 0: off, */
	uint64_t window_bytes;   /* and its size in bytes; 0: chosen by systop */
	uint64_t max_cpu;        /* limit of systop's own cost in 1/1000 % of one CPU, */
	uint64_t max_memory;     /* and in bytes; 0: no limit */
	uint64_t wait_ns;        /* shortest wait for a CPU of which systop records what ran instead */
	bool self, all_cpus;     /* sample systop itself, and isolated and nohz_full CPUs, too */
	bool cpu_clock;          /* samples by the CPU's clock instead of its cycles */
	bool redact;             /* exports have hashes in place of names */
	bool args;               /* traces have the arguments of processes */
	bool force;              /* accept any clock of the kernel */
	const char *filter;      /* --filter, checked; NULL: none */
	const char *trigger;     /* --on, checked; NULL: none */
	unsigned int trigger_limit; /* files per hour */
	const char *shell;       /* of --completions, checked */
	char theme[2 * PATH_MAX]; /* --theme: a relative path, made absolute */
	struct setting_option *settings;
	size_t nr_settings, settings_room;
	const char **cgroups;    /* -c, as given */
	size_t nr_cgroups, cgroups_room;
	pid_t *pids;             /* -p, as given */
	size_t nr_pids, pids_room;
	pid_t *tids;             /* -t, as given */
	size_t nr_tids, tids_room;
	const char **users;      /* -u, as given */
	size_t nr_users, users_room;
	char *symbol_dirs[SYMBOL_DIRS_MAX]; /* --symbol-dir, absolute */
	size_t nr_symbol_dirs;
	char **command;          /* -- CMD args, NULL-terminated; NULL: none */
};

/* options_need - whether the chosen exporter needs any of these: enum export_needs. */
bool options_need(const struct options *o, unsigned int needs);

/* options_table - all options, for help, completions and man page; ends with a row of zeros. If out of memory, those of
 * the exporters are missing.
 * options_exporter - the exporter of an option's row, NULL: none. */
const struct argp_option *options_table(void);
const struct exporter *options_exporter(const struct argp_option *row);

/*
 * options_parse - parses the command line, within invoker_begin(). --help prints here and exits the process with 0.
 * Returns 0, or -EINVAL after fail() (exit status 2). options_fini() frees.
 */
int options_parse(int argc, char **argv, struct options *o);
void options_fini(struct options *o);

#endif
