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
struct sample_set;
struct source;
struct tick;

/* What is exported, and how it was asked for. Pointers are borrowed. */
struct export {
	const char *host, *kernel, *scope; /* the scope as the header shows it */
	enum metric_id sort;                /* of tables: largest first */
	bool all;                          /* threads that did nothing, too */
	const struct filter *filter;       /* threads that pass, NULL: all; sums are of all */
	int word;                          /* which of exporter.word(); else 0 */
	const struct source *source;
	uint64_t turn_ns, turn_work_ns;    /* longest turn of the main loop, also without its waits for a CPU */
	uint64_t dropped;                  /* refreshes that were not written, as the reader was late */
	void *state;                       /* the exporter's own, NULL until begin(), or tick(), makes one */
};

enum export_needs {
	EXPORT_TICKS = 1,   /* refreshes, each when it comes */
	EXPORT_SAMPLES = 2, /* and their stacks, also of threads that sleep, with names: these are waited for */
	EXPORT_WINDOW = 4,  /* what the recorder has at the end */
	EXPORT_REST = 8,    /* the part of a refresh that there is when a signal ends it, too */
};

/* A format that is written in place of the screen. */
struct exporter {
	/* Its option: the name, the letter (0: none), what stands behind it (NULL: nothing), one of which words (NULL:
	 * a file, "-" is standard output), and what help says. */
	const char *name;
	char letter;
	const char *operand;
	const char *(*word)(int n); /* the n-th; NULL: there are no more */
	const char *help;
	unsigned int needs;       /* enum export_needs */
	/* For ticks, all 0 or -errno. begin() - e->state, before the first one. tick() - writes one, or begins to, which
	 * is 1: then more() writes on until @until (CLOCK_MONOTONIC ns), 0: all of it, and is 1 while there is more; the
	 * tick is held as long. end() - writes what is left, to NULL: nowhere, and frees e->state, also of a tick that
	 * was begun. NULL: nothing is to be done. */
	int (*begin)(struct export *e);
	int (*tick)(struct export *e, FILE *to, const struct tick *t);
	int (*more)(struct export *e, uint64_t until);
	int (*end)(struct export *e, FILE *to);
	/* For samples: of this set, in place of tick(): it is exported by begin(), this and end(). NULL: only of ticks. 0 or
	 * -errno. */
	int (*samples)(struct export *e, const struct sample_set *set);
	/* Of a file, whose operand is no word. It is written by a helper process, when what tick() or end() had to say is
	 * whole: in place of the one before, or not at all. What its name ends with when it has none of its own, without
	 * the dot; NULL: it always has one. Whether others than its owner may read it. */
	const char *suffix;
	bool others_read;
	/* For a window: writes it: 0, -ECANCELED: it is not wanted any more, or -errno. */
	int (*window)(FILE *to, const struct capture *c, struct capture_result *result);
};

/* All of them, in the order of --help; exporter_at - NULL: there is none at this place. exporter_place - of one of
 * them. */
extern const struct exporter export_table, export_json, export_folded, export_trace, export_openmetrics,
	export_pprof;
const struct exporter *exporter_at(unsigned int place);
const struct exporter *exporter_of_samples(void); /* that has samples() and a suffix: the first; NULL: none has */
unsigned int exporter_place(const struct exporter *e);

#endif
