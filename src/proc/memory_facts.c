/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/memory_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"

/* A line "NAME NUMBER", and what it adds to. */
struct line {
	const char *name;
	enum memory_fact to;
	unsigned int shift; /* of its unit */
};

static void read_lines(FILE *file, const struct line *lines, size_t nr, struct memory_facts *f)
{
	char line[512], name[64];
	uint64_t v;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %" SCNu64, name, &v) != 2)
			continue;
		for (size_t i = 0; i < nr; i++) {
			uint64_t *to = &f->bytes[lines[i].to];

			if (!strcmp(name, lines[i].name))
				*to = (*to == VALUE_NA ? 0 : *to) + (v << lines[i].shift);
		}
	}
}

static void unknown(struct memory_facts *f)
{
	memset(f, 0xff, sizeof(*f));
}

void memory_facts_process(const char *proc, pid_t tgid, struct memory_facts *f)
{
	static const struct line lines[] = {
		{ "Rss:", MEMORY_RSS, 10 },
		{ "Pss:", MEMORY_PSS, 10 },
		{ "Anonymous:", MEMORY_ANONYMOUS, 10 },
		{ "Swap:", MEMORY_SWAP, 10 },
	};
	FILE *file = file_open("%s/%d/smaps_rollup", proc, tgid);

	unknown(f);
	if (!file)
		return;
	read_lines(file, lines, sizeof(lines) / sizeof(lines[0]), f);
	fclose(file);
}

/* "some avg10=1.20 avg60=... total=...": the first one, in hundredths. */
static void read_pressure(FILE *file, uint64_t *some, uint64_t *full)
{
	char line[256], what[8];
	unsigned int whole, hundredths;

	while (fgets(line, sizeof(line), file)) { /* reading fails if PSI is switched off */
		if (sscanf(line, "%7s avg10=%u.%2u", what, &whole, &hundredths) != 3)
			continue;
		if (!strcmp(what, "some"))
			*some = whole * 100ULL + hundredths;
		else if (!strcmp(what, "full"))
			*full = whole * 100ULL + hundredths;
	}
}

void memory_facts_cgroup(const char *memory, const char *pressure, struct memory_facts *f)
{
	static const char *const names[PRESSURE_COUNT] = { "cpu.pressure", "memory.pressure", "io.pressure" };
	static const struct line lines[] = {
		{ "anon", MEMORY_ANONYMOUS, 0 },
		{ "file", MEMORY_FILE, 0 },
		{ "shmem", MEMORY_SHARED, 0 },
		{ "kernel", MEMORY_KERNEL, 0 }, /* since 5.18 */
		/* v1: including the cgroups below */
		{ "total_rss", MEMORY_ANONYMOUS, 0 },
		{ "total_cache", MEMORY_FILE, 0 },
		{ "total_shmem", MEMORY_SHARED, 0 },
		{ "total_swap", MEMORY_SWAP, 0 },
	};
	FILE *file = *memory ? file_open("%s/memory.stat", memory) : NULL;

	unknown(f);
	if (file) {
		read_lines(file, lines, sizeof(lines) / sizeof(lines[0]), f);
		fclose(file);
	}
	for (int i = 0; i < PRESSURE_COUNT; i++) {
		file = *pressure ? file_open("%s/%s", pressure, names[i]) : NULL;
		if (!file)
			continue;
		read_pressure(file, &f->pressure[i].some, &f->pressure[i].full);
		fclose(file);
	}
}
