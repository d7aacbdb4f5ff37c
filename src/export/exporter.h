/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_EXPORTER_H
#define SYSTOP_EXPORT_EXPORTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/metric.h"

struct capture;
struct capture_result;
struct filter;
struct redact;
struct sample_set;
struct source;
struct tick;

/* The parameters of an export. Pointers are borrowed. */
struct export {
	const char *host, *kernel, *scope; /* the scope as the header shows it */
	enum metric_id sort;                /* of tables: largest first */
	bool all;                          /* include threads that did nothing */
	const struct filter *filter;       /* which threads to list, NULL: all; sums cover all threads */
	int word;                          /* index of the chosen exporter.word(), else 0 */
	const struct source *source;
	void (*user_name)(unsigned int uid, char *buf, size_t size); /* safe for a terminal */
	const struct redact *redact;       /* of --redact; NULL: names as they are */
	uint64_t turn_ns, turn_work_ns;    /* longest turn of the main loop, and the same without its waits for a CPU */
	uint64_t dropped;                  /* refreshes that were not written because the reader was slow */
	void *state;                       /* the exporter's own; NULL until begin(), or tick(), creates it */
};

enum export_needs {
	EXPORT_TICKS = 1,   /* refreshes, each when it comes */
	EXPORT_SAMPLES = 2, /* and their stacks, also of sleeping threads; export waits for their names */
	EXPORT_WINDOW = 4,  /* the contents of the recorder at the end */
	EXPORT_COMMANDS = 16, /* command lines, which are read as for the screen */
	EXPORT_REST = 8,    /* also the partial refresh that remains when a signal ends the run */
};

/* An output format that replaces the screen. */
struct exporter {
	/* Its option: name, letter (0: none), argument (NULL: none), its choices of argument (NULL: a file, "-" is
	 * standard output), and the text of --help. */
	const char *name;
	char letter;
	const char *operand;
	const char *(*word)(int n); /* the n-th choice; NULL: no more */
	const char *help;
	unsigned int needs;       /* enum export_needs */
	/* For ticks; all return 0 or -errno. begin() - creates e->state, before the first tick. tick() - writes one and returns
	 * 0, or starts to and returns 1: more() then continues until @until (CLOCK_MONOTONIC ns; 0: to the end) and returns 1
	 * while there is more; the tick is held meanwhile. skip() - called instead of tick() while the previous output is still
	 * being written. end() - writes the rest (to NULL: discards it) and frees e->state, even if a tick is unfinished. NULL:
	 * nothing to do. */
	int (*begin)(struct export *e);
	int (*tick)(struct export *e, FILE *to, const struct tick *t);
	int (*more)(struct export *e, uint64_t until);
	int (*skip)(struct export *e, const struct tick *t);
	int (*end)(struct export *e, FILE *to);
	/* For samples: exports this set instead of a tick, after begin() and before end(). NULL: exports ticks only. 0
	 * or -errno. */
	int (*samples)(struct export *e, const struct sample_set *set);
	/* For files, whose operand is not a choice. A helper process writes the file when the output of tick() or end() is
	 * complete: the previous file is replaced in one step, or stays. suffix: without the dot, for names that have none;
	 * NULL: the name is always complete. others_read: whether users other than the owner may read the file. */
	const char *suffix;
	bool others_read;
	/* Writes a window: 0, -ECANCELED if it is no longer wanted, or -errno. */
	int (*window)(FILE *to, const struct capture *c, struct capture_result *result);
};

/* All exporters in the order of --help. exporter_at - by index; NULL: no more. exporter_index - its index. */
extern const struct exporter export_table, export_json, export_folded, export_trace, export_openmetrics,
	export_pprof;
const struct exporter *exporter_at(unsigned int index);
unsigned int exporter_index(const struct exporter *e);

#endif
