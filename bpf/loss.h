/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_BPF_LOSS_H
#define SYSTOP_BPF_LOSS_H

/*
 * What was not measured, or not as it should be, by cause: counted per CPU by the programs and by
 * user space, summed, shown and exported. id, JSON name, what it means.
 */
#define LOSSES(_)                                                                                  \
	_(GAP,           "gap",           "switches the kernel did not report; the interval was repaired from sched_info") \
	_(NO_SLOT,       "no_slot",       "switches of threads without a slot: all slots were in use") \
	_(NO_STORAGE,    "no_storage",    "switches of threads whose task storage could not be had") \
	_(FIRST_SIGHT,   "first_sight",   "threads first seen at a switch: neither born under watch nor found at start") \
	_(QUEUE_STALE,   "queue_stale",   "runqueue waits of the kernel over 1 ms longer than possible, cut") \
	_(STATE_UNKNOWN, "state_unknown", "switches with a state bit systop does not know, taken as sleep") \
	_(TORN,          "torn",          "slots that changed during every attempt to read them: counted in the next refresh") \
	_(UNLISTED,      "unlisted",      "threads that died while too many others had in the same interval to remember them all") \
	_(SEED_MISSED,   "seed_missed",   "threads of /proc that the kernel's iterator did not list at start")        \
	_(STACK_FULL,    "stack_full",    "stacks for which the dictionary had no room: their time is shown without one") \
	_(STACK_COLLISION, "stack_collision", "stacks that had the same hash as another one: likewise") \
	_(IRQ,           "irq",           "interrupts whose beginning or end was not seen: not counted") \
	_(FILES,         "files",         "mapped files that there was no room to tell of: their frames have no names") \
	_(WAITS,         "waits",         "long waits and sleeps, and wakings, that there were too many of to tell each: nobody is named for them") \
	_(STACK_EVENTS,  "stack_events",  "samples and blocks whose stacks were overwritten before they were read")

enum loss_cause {
#define _(id, name, help) LOSS_##id,
	LOSSES(_)
#undef _
	LOSS_COUNT
};

#endif
