/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_COLLECT_USAGES_H
#define SYSTOP_COLLECT_USAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "usage.h"

/* What threads have used so far, by the kernel's count for each: a BPF program that is run with a list of slots reads
 * it. */
struct usages;

/* Memory that the program shares, mapped into this process. */
struct usages_memory {
	int prog_fd;           /* usage_read */
	struct usage *asked;   /* USAGE_BATCH */
};

/* usages_new - returns NULL when out of memory. */
struct usages *usages_new(const struct usages_memory *mem);
void usages_free(struct usages *u);

/* usages_asked - the list to fill in: the slots of up to USAGE_BATCH threads; the answers replace them. usages_read -
 * reads the first @nr. If the program cannot be run, all answers are unknown. Takes about 0.1 us a
 * thread. */
struct usage *usages_asked(struct usages *u);
void usages_read(struct usages *u, uint32_t nr);

/* usages_batched - whether the kernel's counters of memory are per CPU: see struct usage_memory. */
bool usages_batched(const struct usages *u);

#endif
