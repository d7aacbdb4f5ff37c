/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_SAMPLE_LIST_H
#define SYSTOP_MODEL_SAMPLE_LIST_H

#include <stddef.h>

#include "model/sample.h"
#include "util/map.h"

/* Samples that are in no refresh, with threads of their own and stacks that are held: they stay as they are until the list
 * goes, which must be before the model goes. Initialise with zeroes. */
struct sample_list {
	struct stack_sample *at;
	size_t nr, room;
	struct map stacks; /* struct stack, by its address */
	struct map lives;  /* of tid and start -> struct life */
};

/* sample_list_add - a copy of @s, and of its thread, once, as it is met first. 0 or -ENOMEM. */
int sample_list_add(struct sample_list *l, const struct stack_sample *s);
void sample_list_fini(struct sample_list *l);

#endif
