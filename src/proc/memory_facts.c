/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/memory_facts.h"

#include <stdio.h>
#include <string.h>

#include "util/file.h"
#include "util/text.h"

/* A line "NAME NUMBER", and what it is. */
struct line {
	const char *name;
	enum memory_fact to;
	unsigned int shift; /* of its unit */
};

static void read_lines(const char *text, const struct line *lines, size_t nr, struct memory_facts *f)
{
	uint64_t v;

	for (size_t i = 0; i < nr; i++)
		if (text_number(text, lines[i].name, &v))
			f->bytes[lines[i].to] = v << lines[i].shift;
}

static void unknown(struct memory_facts *f)
{
	memset(f, 0xff, sizeof(*f));
}

void memory_facts_process(pid_t tgid, struct memory_facts *f)
{
	static const struct line lines[] = {
		{ "Rss", MEMORY_RSS, 10 },
		{ "Pss", MEMORY_PSS, 10 },
		{ "Anonymous", MEMORY_ANONYMOUS, 10 },
		{ "Swap", MEMORY_SWAP, 10 },
	};
	char text[4096];

	unknown(f);
	file_text(text, sizeof(text), "/proc/%d/smaps_rollup", tgid);
	read_lines(text, lines, sizeof(lines) / sizeof(lines[0]), f);
}

/* "some avg10=1.20 avg60=... avg300=... total=...", then perhaps the same of "full": the first numbers, in hundredths. */
static void read_pressure(const char *text, uint64_t *some, uint64_t *full)
{
	unsigned int whole[2], hundredths[2];
	int nr = sscanf(text, "some avg10=%u.%2u %*s %*s %*s full avg10=%u.%2u", &whole[0], &hundredths[0], &whole[1],
			&hundredths[1]);

	if (nr >= 2)
		*some = whole[0] * 100ULL + hundredths[0];
	if (nr == 4)
		*full = whole[1] * 100ULL + hundredths[1];
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
	char text[8192] = "";

	unknown(f);
	if (*memory)
		file_text(text, sizeof(text), "%s/memory.stat", memory);
	read_lines(text, lines, sizeof(lines) / sizeof(lines[0]), f);
	for (int i = 0; *pressure && i < PRESSURE_COUNT; i++) {
		file_text(text, sizeof(text), "%s/%s", pressure, names[i]); /* fails if PSI is switched off */
		read_pressure(text, &f->pressure[i].some, &f->pressure[i].full);
	}
}
