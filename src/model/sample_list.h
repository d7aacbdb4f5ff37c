/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_SAMPLE_LIST_H
#define SYSTOP_MODEL_SAMPLE_LIST_H

#include <stddef.h>

#include "model/sample.h"
#include "util/map.h"

/* Samples outside of any tick, with copies of their threads and held stacks: they stay unchanged until the list is
 * freed, which has to be before the model is. Initialise with zeroes. */
struct sample_list {
	struct stack_sample *at;
	size_t nr, room;
	struct map stacks; /* address of a struct stack -> that stack */
	struct map lives;  /* key of tid and start -> struct life */
};

/* sample_list_add - adds a copy of @s, and of its thread when first met. 0 or -ENOMEM. */
int sample_list_add(struct sample_list *l, const struct stack_sample *s);
void sample_list_fini(struct sample_list *l);

#endif
