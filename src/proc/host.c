/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/host.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/file.h"
#include "util/text.h"

static uint64_t difference(uint64_t all, uint64_t part)
{
	return all == VALUE_NA || part == VALUE_NA ? VALUE_NA : all - (part < all ? part : all);
}

/* Lines of "MemTotal:       32768 kB". */
static void read_memory(const char *text, struct host_state *h)
{
	uint64_t swap_free = VALUE_NA;
	const struct {
		const char *name;
		uint64_t *to;
	} of[] = {
		{ "MemTotal", &h->mem_total },
		{ "MemAvailable", &h->mem_available },
		{ "MemFree", &h->mem_free },
		{ "SwapTotal", &h->swap_total },
		{ "SwapFree", &swap_free },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		uint64_t kib;

		if (text_number(text, of[i].name, &kib) && kib <= UINT64_MAX >> 11)
			*of[i].to = kib << 10;
	}
	h->swap_used = difference(h->swap_total, swap_free);
}

/* "0.52 0.58 0.59 1/467 12345" */
static void read_load(const char *text, struct host_state *h)
{
	uint64_t whole[HOST_LOADS];
	unsigned int hundredths[HOST_LOADS];

	if (sscanf(text, "%" SCNu64 ".%2u %" SCNu64 ".%2u %" SCNu64 ".%2u", &whole[0], &hundredths[0], &whole[1], &hundredths[1],
		   &whole[2], &hundredths[2]) != 2 * HOST_LOADS)
		return;
	for (int i = 0; i < HOST_LOADS; i++)
		h->load[i] = whole[i] * 100 + hundredths[i];
}

/* "350735.47 234388.90": s since boot, with the time in suspend */
static void read_uptime(const char *text, struct host_state *h)
{
	uint64_t s;
	unsigned int hundredths;

	if (sscanf(text, "%" SCNu64 ".%2u", &s, &hundredths) == 2)
		h->uptime_ns = s * 1000000000 + hundredths * 10000000ULL;
}

void host_read(const char *proc, struct host_state *h)
{
	static const struct {
		const char *name;
		void (*read)(const char *text, struct host_state *h);
	} files[] = { { "meminfo", read_memory }, { "loadavg", read_load }, { "uptime", read_uptime } };
	char text[8192]; /* meminfo has about 1.5 KiB */

	host_unknown(h);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		file_text(text, sizeof(text), "%s/%s", proc, files[i].name);
		files[i].read(text, h);
	}
}
