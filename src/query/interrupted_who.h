/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_QUERY_INTERRUPTED_WHO_H
#define SYSTOP_QUERY_INTERRUPTED_WHO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source;
struct irq_source;
struct tick;

/* Whom an interrupt interrupted: told by a number, which had another owner before and may have one after. */
struct interrupted_who {
	pid_t tid;           /* 0: an idle CPU */
	uint64_t at;         /* CLOCK_BOOTTIME ns */
	char name[68];       /* fit for a terminal; "": not known */
	char cgroup[128];    /* its path, fit for a terminal, its end where it is long; "": not known */
	struct interrupted_who *next; /* for interrupted_who_find() only */
};

/* interrupted_who_find - name and cgroup of all of them, by way of any tick. O(threads). 0 or -ENOMEM. */
int interrupted_who_find(const struct tick *any, struct interrupted_who *const *who, size_t nr);

/* interrupted_who_text - "api-worker 20411", "idle"; asks @source where the past does not know it. */
const char *interrupted_who_text(const struct interrupted_who *w, const struct source *source, char *buf, size_t size);

/* irq_handler_text - who handles it, "nvme0q1", or what it is for, "apic timer"; "-": not known. Fit for a terminal. */
const char *irq_handler_text(const struct irq_source *s, char *buf, size_t size);

#endif
