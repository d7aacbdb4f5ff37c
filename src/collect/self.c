/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/self.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "helper/cost.h"
#include "helper/helper.h"
#include "model/tick.h"
#include "util/clock.h"
#include "util/file.h"

int self_open(struct self *s)
{
	*s = (struct self){ .statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC) };
	return s->statm_fd < 0 ? -errno : 0;
}

void self_close(struct self *s)
{
	file_close(&s->statm_fd);
}

static uint64_t self_rss_bytes(const struct self *s)
{
	char buf[128];
	ssize_t n = pread(s->statm_fd, buf, sizeof(buf) - 1, 0);
	uint64_t pages;

	if (n <= 0)
		return VALUE_NA;
	buf[n] = '\0';
	if (sscanf(buf, "%*u %" SCNu64, &pages) != 1)
		return VALUE_NA;
	return pages * sysconf(_SC_PAGESIZE);
}

void self_read(struct self *s, uint64_t bpf_ns, uint64_t bpf_bytes, struct self_cost *cost)
{
	uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + helper_cpu_ns();

	*cost = (struct self_cost){
		.cpu_ns = cpu_ns - s->cpu_ns,
		.rss_bytes = self_rss_bytes(s),
		.bpf_ns = bpf_ns - s->bpf_ns,
		.bpf_bytes = bpf_bytes,
	};
	s->cpu_ns = cpu_ns;
	s->bpf_ns = bpf_ns;
}

uint64_t self_private_bytes(void)
{
	return process_private_bytes(getpid()) + helper_private_bytes();
}
