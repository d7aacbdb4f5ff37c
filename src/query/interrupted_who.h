/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_INTERRUPTED_WHO_H
#define SYSTOP_QUERY_INTERRUPTED_WHO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source;
struct irq_source;
struct tick;

/* A thread that an interrupt interrupted. Its number may have had another owner before, and may have one later. */
struct interrupted_who {
	pid_t tid;           /* 0: an idle CPU */
	uint64_t at;         /* CLOCK_BOOTTIME ns */
	char name[68];       /* fit for a terminal; "": not known */
	char cgroup[128];    /* its path, fit for a terminal, a long one cut at the start; "": not known */
	struct interrupted_who *next; /* used by interrupted_who_find() only */
};

/* interrupted_who_find - fills in name and cgroup of all @who, from the lives that @any, any tick, knows. O(threads). 0 or
 * -ENOMEM. */
int interrupted_who_find(const struct tick *any, struct interrupted_who *const *who, size_t nr);

/* interrupted_who_text - "api-worker 20411", "idle"; falls back to @source for threads without a remembered name. */
const char *interrupted_who_text(const struct interrupted_who *w, const struct source *source, char *buf, size_t size);

/* irq_handler_text - the handler, "nvme0q1", or the purpose, "apic timer"; "-": not known. Fit for a terminal. */
const char *irq_handler_text(const struct irq_source *s, char *buf, size_t size);

#endif
