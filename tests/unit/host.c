/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/host.h"

#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "proc/user.h"

static struct host_state read_of(const char *meminfo, const char *loadavg, const char *uptime)
{
	struct host_state h;

	put_file("meminfo", meminfo);
	put_file("loadavg", loadavg);
	put_file("uptime", uptime);
	host_read(folder, &h);
	return h;
}

static bool nothing_known(const struct host_state *h)
{
	return h->mem_total == VALUE_NA && h->mem_available == VALUE_NA && h->swap_total == VALUE_NA &&
	       h->swap_used == VALUE_NA && h->uptime_ns == VALUE_NA && h->load[0] == VALUE_NA && h->load[1] == VALUE_NA &&
	       h->load[2] == VALUE_NA;
}

TEST(host, as_the_kernel_writes_it)
{
	struct host_state h = read_of("MemTotal:       32768000 kB\nMemFree:          100 kB\nMemAvailable:   16384 kB\n"
				      "SwapCached:            1 kB\nSwapTotal:       8192 kB\nSwapFree:        8190 kB\n"
				      "HugePages_Total:       0\n",
				      "0.52 10.08 129.99 1/467 12345\n", "350735.47 234388.90\n");

	assert_true(h.mem_total == 32768000ULL << 10);
	assert_true(h.mem_available == 16384 << 10);
	assert_true(h.swap_total == 8192 << 10);
	assert_true(h.swap_used == 2 << 10);
	assert_true(h.load[0] == 52 && h.load[1] == 1008 && h.load[2] == 12999);
	assert_true(h.uptime_ns == 350735470000000ULL);
}

/* Without swap, none of it is in use. */
TEST(host, no_swap)
{
	struct host_state h = read_of("SwapTotal: 0 kB\nSwapFree: 0 kB\n", NULL, NULL);

	assert_true(h.swap_total == 0 && h.swap_used == 0);
	assert_true(h.mem_total == VALUE_NA);
}

TEST(host, what_is_missing_is_unknown)
{
	struct host_state h;

	host_read("/no/such/folder", &h);
	assert_true(nothing_known(&h));
	h = read_of("", "", "");
	assert_true(nothing_known(&h));
	h = read_of("MemTotal:\nMemAvailable: x kB\nSwapTotal: 1 kB\nSwapFree: 18446744073709551615 kB\n", "0.1 0.2\n", "1\n");
	assert_true(h.swap_total == 1024 && h.swap_used == VALUE_NA);
	h.swap_total = VALUE_NA;
	assert_true(nothing_known(&h));
}

/* On this machine. */
TEST(host, here)
{
	struct host_state h;

	host_read("/proc", &h);
	assert_true(h.mem_total == (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
	assert_true(h.mem_available < h.mem_total);
	assert_true(h.swap_used <= h.swap_total && h.swap_total != VALUE_NA);
	assert_true(h.load[0] < 1000000 && h.uptime_ns > 1000000000 && h.uptime_ns != VALUE_NA);
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	return __real_fopen(strcmp(path, "/etc/passwd") ? path : in_folder("passwd"), mode);
}

static time_t now_s;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = (struct timespec){ .tv_sec = now_s };
	return 0;
}

static const char *user(uid_t uid)
{
	static char name[64];

	user_name(uid, name, sizeof(name));
	return name;
}

/* Users come, go and get other names while systop runs: it looks for them once a minute. */
TEST(host, users_that_come_later)
{
	put_file("passwd", "a:x:1:1::/:/bin/sh\nb:x:2:2::/:/bin/sh\n");
	assert_string_equal(user(1), "a");
	put_file("passwd", "c:x:2:2::/:/bin/sh\nd:x:3:3::/:/bin/sh\n");
	now_s = 59;
	assert_string_equal(user(2), "b");
	assert_string_equal(user(3), "3");
	now_s = 60;
	assert_string_equal(user(1), "1");
	assert_string_equal(user(2), "c");
	assert_string_equal(user(3), "d");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(host_as_the_kernel_writes_it),
		cmocka_unit_test(host_no_swap),
		cmocka_unit_test(host_what_is_missing_is_unknown),
		cmocka_unit_test(host_here),
		cmocka_unit_test(host_users_that_come_later),
	};

	return cmocka_run_group_tests(cases, folder_new, folder_drop);
}
