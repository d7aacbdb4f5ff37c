/* SPDX-License-Identifier: GPL-2.0-or-later */
/* systop with small limits that a test can reach. SYSTOP_SMALL: "FILES AGE REST LINES PAST", as in collect/maxima.h,
 * and the bytes of the history. SYSTOP_OWNERS: the folder below which names of containers are looked for. */
#include "collect/maxima.h"
#include "model/model.h"
#include "owner/places.h"

#include <stdio.h>
#include <stdlib.h>

static struct maxima small;
static size_t past_bytes;

const struct maxima *__real_maxima(void);
const struct maxima *__wrap_maxima(void);
struct model *__real_model_new(size_t bytes);
struct model *__wrap_model_new(size_t bytes);

const char *__wrap_owner_root(void);

const char *__wrap_owner_root(void)
{
	const char *said = getenv("SYSTOP_OWNERS");

	return said ? said : "";
}

const struct maxima *__wrap_maxima(void)
{
	const char *said = getenv("SYSTOP_SMALL");

	if (small.files)
		return &small;
	small = *__real_maxima();
	if (said)
		sscanf(said, "%u %u %u %u %zu", &small.files, &small.file_age_s, &small.file_rest_s, &small.irq_lines, &past_bytes);
	return &small;
}

struct model *__wrap_model_new(size_t bytes)
{
	__wrap_maxima();
	return __real_model_new(past_bytes ? past_bytes : bytes);
}
