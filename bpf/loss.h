/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_LOSS_H
#define SYSTOP_BPF_LOSS_H

/*
 * What was not measured, or not correctly, by cause: counted per CPU by the programs and by user space, summed, shown
 * and exported. Rows: id, JSON name, meaning.
 */

/* Numbers that are missing or wrong for good. */
#define LOSSES(_)                                                                                  \
	_(NO_SLOT,       "no_slot",       "switches of threads without a slot: all slots were in use") \
	_(NO_STORAGE,    "no_storage",    "switches of threads whose task storage could not be allocated") \
	_(STATE_UNKNOWN, "state_unknown", "switches with a state bit that systop does not know, counted as sleep") \
	_(UNLISTED,      "unlisted",      "dead threads not shown: too many others died in the same interval, or their data was incomplete") \
	_(STACK_FULL,    "stack_full",    "stacks for which the dictionary had no room: their time is shown without one") \
	_(STACK_COLLISION, "stack_collision", "stacks that had the same hash as another one: their time is shown without one") \
	_(IRQ,           "irq",           "interrupts whose beginning or end was not seen: not counted") \
	_(FILES,         "files",         "stacks in a mapped file for which no id was free: those frames have no file and no name") \
	_(WAITS,         "waits",         "long waits, sleeps and wakeups beyond the budget: their blocker or waker is unknown") \
	_(STACK_EVENTS,  "stack_events",  "samples and blocks whose stacks were overwritten before they were read, or that were too many for a refresh") \
	_(COMMANDS,      "commands",      "command lines for which there was no room, or whose thread was gone: read later if the process still exists") \
	_(SCOPE,         "scope",         "cgroups of -c for which the scope had no room: their threads are not shown")

/* What was missed and found elsewhere: the times are complete. */
#define REPAIRS(_)                                                                                 \
	_(GAP,           "gap",           "switches the kernel did not report: the times are those of sched_info") \
	_(SEED_MISSED,   "seed_missed",   "threads of /proc that the kernel's iterator did not list at start: shown from their first switch on") \
	_(FIRST_SIGHT,   "first_sight",   "threads first met at a switch, neither seen at birth nor listed at start: shown from then on") \
	_(QUEUE_STALE,   "queue_stale",   "runqueue waits that the kernel reported over 1 ms too long: cut to what is possible") \
	_(TORN,          "torn",          "slots that changed during every attempt to read them: their time is in the next refresh")

enum loss_cause {
#define _(id, name, help) LOSS_##id,
	LOSSES(_)
	LOSS_REPAIRED, /* causes from here on are no loss */
	LOSS_LAST = LOSS_REPAIRED - 1,
	REPAIRS(_)
#undef _
	LOSS_COUNT
};

#endif
