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
	FILE *f = file_open("/proc/pressure/%s", name);
	char line[256];

	while (f && fgets(line, sizeof(line), f)) { /* reading fails if PSI is switched off */
		const char *total = strstr(line, "total=");
		uint64_t us;

		if (!total || sscanf(total, "total=%" SCNu64, &us) != 1)
			continue;
		if (!strncmp(line, "some ", 5))
			p.some_ns = us * 1000;
		else if (!strncmp(line, "full ", 5) && strcmp(name, "cpu"))
			p.full_ns = us * 1000;
	}
	if (f)
		fclose(f);
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
