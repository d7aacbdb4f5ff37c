/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_ONLINE_H
#define SYSTOP_UTIL_ONLINE_H

#include <stdbool.h>

/* cpulist_next - the next range of a list of CPUs or nodes in the kernel's form, "0-3,7"; moves @at behind it.
 * Returns false at the end, or if it is no list. */
bool cpulist_next(const char **at, int *first, int *last);

/* The folder with lists of CPUs: "online", "isolated". */
#define ONLINE_FILES "/sys/devices/system/cpu/"

/* Which CPUs are online, from /sys/devices/system/cpu. A host can have hundreds of possible CPUs that never come
 * online; memory is allocated only for online ones. */
struct online;

/* online_new - @nr_cpus: possible CPUs. NULL: out of memory. If the kernel does not report which CPUs are online, all
 * of them are taken to be. */
struct online *online_new(int nr_cpus);
void online_free(struct online *o);

/* online_follow - reads the list again. Returns whether it changed. */
bool online_follow(struct online *o);

bool online_is(const struct online *o, int cpu);
int online_count(const struct online *o);
int online_possible(const struct online *o);

#endif
