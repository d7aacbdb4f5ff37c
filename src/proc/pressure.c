/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/pressure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"

/* Sums in ns of one file, which has them in us. For CPUs "full" is not defined: the kernel always prints 0. */
static struct pressure read_one(const char *name)
{
	struct pressure p = { VALUE_NA, VALUE_NA };
	char text[512]; /* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", and the same with "full" */
	uint64_t some, full;
	int nr;

	file_text(text, sizeof(text), "/proc/pressure/%s", name); /* fails if PSI is switched off */
	nr = sscanf(text, "some %*s %*s %*s total=%" SCNu64 " full %*s %*s %*s total=%" SCNu64, &some, &full);
	if (nr >= 1)
		p.some_ns = some * 1000;
	if (nr == 2 && strcmp(name, "cpu"))
		p.full_ns = full * 1000;
	return p;
}

static uint64_t growth(uint64_t now, uint64_t before)
{
	return now == VALUE_NA || before == VALUE_NA ? VALUE_NA : now - before;
}

void pressure_read(struct pressure_reader *r, struct pressure grown[PRESSURE_COUNT])
{
	static const char *const names[PRESSURE_COUNT] = { "cpu", "memory", "io" };

	for (int i = 0; i < PRESSURE_COUNT; i++) {
		struct pressure now = read_one(names[i]);

		grown[i].some_ns = r->read ? growth(now.some_ns, r->before[i].some_ns) : VALUE_NA;
		grown[i].full_ns = r->read ? growth(now.full_ns, r->before[i].full_ns) : VALUE_NA;
		r->before[i] = now;
	}
	r->read = true;
}
