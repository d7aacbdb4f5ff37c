/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "collect/areas.h"
#include "model/event.h"
#include "record/keep.h"
#include "record/rings.h"
#include "record/window.h"
#include "ring.h"
#include "slot.h"
#include "util/clock.h"
#include "util/online.h"

#define SEC 1000000000ULL
#define SLOTS 1024

static struct ring_slot slots[2][SLOTS];
static uint64_t heads[2];

/* Fills a ring so that slot number @place contains its number. */
static void fill(int cpu, uint64_t head)
{
	for (uint64_t place = heads[cpu]; place < head; place++)
		slots[cpu][place % SLOTS] = (struct ring_slot){ place, cpu };
	heads[cpu] = head;
}

static int begin(void **state)
{
	(void)state;
	memset(slots, 0, sizeof(slots));
	memset(heads, 0, sizeof(heads));
	return 0;
}

TEST(keep, what_is_wanted_is_there_when_the_ring_has_gone_round)
{
	struct keep_ring rings[2];

	fill(0, 700);
	fill(1, 1500);
	rings[0] = (struct keep_ring){ slots[0], &heads[0], 100, 700, 0 };
	rings[1] = (struct keep_ring){ slots[1], &heads[1], 1500 - SLOTS, 1500, 0 };
	assert_int_equal(keep_rings(rings, 2, SLOTS, NULL), 0);
	fill(0, 5000);
	fill(1, 5000);
	for (int cpu = 0; cpu < 2; cpu++) {
		for (uint64_t place = rings[cpu].from; place < rings[cpu].end; place++) {
			assert_int_equal(rings[cpu].slots[place % SLOTS].a, place);
			assert_int_equal(rings[cpu].slots[place % SLOTS].b, cpu);
		}
	}
	assert_int_equal(*rings[0].head, 700);
	assert_int_equal(*rings[1].head, 1500);
}

TEST(keep, slots_that_were_overwritten_before_are_told_by_the_head)
{
	struct keep_ring ring = { slots[0], &heads[0], 0, 900, 0 };

	fill(0, 1400);
	assert_int_equal(keep_rings(&ring, 1, SLOTS, NULL), 0);
	assert_int_equal(*ring.head, 1400);
	assert_int_equal(ring.slots[400].a, 400);
	assert_int_equal(ring.slots[10].a, SLOTS + 10);
}

TEST(keep, a_cpu_without_a_ring_has_none)
{
	struct keep_ring rings[2] = { { NULL, NULL, 0, 0, 0 }, { slots[1], &heads[1], 0, 3, 0 } };

	fill(1, 3);
	assert_int_equal(keep_rings(rings, 2, SLOTS, NULL), 0);
	assert_null(rings[0].slots);
	assert_int_equal(rings[1].slots[2].a, 2);
}

static uint64_t free_bytes = UINT64_MAX / 2, all_blocks = 1;

int __wrap_fstatvfs(int fd, struct statvfs *fs);
int __wrap_fstatvfs(int fd, struct statvfs *fs)
{
	(void)fd;
	*fs = (struct statvfs){ .f_frsize = 4096, .f_blocks = all_blocks, .f_bavail = free_bytes / 4096 };
	return 0;
}

TEST(keep, what_is_too_much_for_memory_goes_to_the_folder)
{
	uint32_t nr = 1 << 22;
	struct ring_slot *many = calloc(nr, sizeof(*many));
	uint64_t head = nr;
	struct keep_ring ring = { many, &head, 0, nr, 0 };

	assert_non_null(many);
	many[nr - 1].a = 7;
	assert_int_equal(keep_rings(&ring, 1, nr, NULL), -EOPNOTSUPP);
	assert_ptr_equal(ring.slots, many);
	assert_int_equal(keep_rings(&ring, 1, nr, "/nonexistent"), -ENOENT);
	assert_ptr_equal(ring.slots, many);
	free_bytes = 2 * nr * sizeof(*many) - 4096; /* the trace would lack room there */
	assert_int_equal(keep_rings(&ring, 1, nr, "."), -ENOSPC);
	assert_ptr_equal(ring.slots, many);
	free_bytes += 4096;
	assert_int_equal(keep_rings(&ring, 1, nr, "."), 0);
	assert_ptr_not_equal(ring.slots, many);
	assert_int_equal(ring.slots[nr - 1].a, 7);
	ring = (struct keep_ring){ many, &head, 0, nr, 0 };
	free_bytes = all_blocks = 0; /* a file system without a limit */
	assert_int_equal(keep_rings(&ring, 1, nr, "."), 0);
	assert_int_equal(ring.slots[nr - 1].a, 7);
	free(many);
}

TEST(keep, if_one_cannot_be_copied_all_are_what_they_were)
{
	struct keep_ring rings[2] = { { slots[0], &heads[0], 0, 5, 0 }, { (struct ring_slot *)4096, &heads[1], 0, 5, 0 } };

	fill(0, 5);
	fill(1, 5);
	assert_int_equal(keep_rings(rings, 2, SLOTS, NULL), -EFAULT);
	assert_ptr_equal(rings[0].slots, slots[0]);
	assert_ptr_equal(rings[0].head, &heads[0]);
	assert_int_equal(rings[0].copied, 0);
}

TEST(keep, a_ring_has_the_size_that_fits)
{
	uint64_t mib = 1 << 20;

	/* 30 s of 20,000 events a second, in a power of two. */
	assert_int_equal(rings_size(30, 0, 4096 * mib, 2), 1 << 20);
	/* Limited by spare memory: 16 MiB for two CPUs are 2^19 slots each. */
	assert_int_equal(rings_size(30, 0, 16 * mib, 2), 1 << 19);
	assert_int_equal(rings_size(30, 0, 17 * mib, 2), 1 << 19);
	/* A requested size is used completely, however short the window is. */
	assert_int_equal(rings_size(1, 256 * mib, 0, 2), 1 << 23);
	assert_int_equal(rings_size(30, 0, 10000, 2), 0);
	assert_int_equal(rings_size(0, 256 * mib, 4096 * mib, 2), 0);
	/* 512 CPUs of a host with much spare memory: 1 GiB for all of them, unless more is requested. */
	assert_int_equal(rings_size(30, 0, 20480 * mib, 512), 1 << 17);
	assert_int_equal(rings_size(30, 8192 * mib, 20480 * mib, 512), 1 << 20);
}

/* Refreshes of @every_ns for @last_ns: the window is held, no two marks are further apart than events can tell, and one is soon
 * before the last @save_s. */
static void check_marks(unsigned int window_s, unsigned int save_s, uint64_t every_ns, uint64_t last_ns)
{
	static struct cpu_slot cpu;
	struct online *online = online_new(1);
	struct rings_options o = { .map_fd = 0, .pattern_fd = -1, .cpus = &cpu, .nr_cpus = 1, .online = online,
				   .max_bytes = 1 << 20, .slots = SLOTS, .window_s = window_s, .save_s = save_s };
	uint64_t window_ns = window_s * SEC, began, at;
	const struct event_mark *marks;
	struct rings *r;
	uint32_t nr;

	o.pattern_fd = open("/dev/null", O_RDONLY | O_CLOEXEC); /* in place of a map */
	r = rings_new(&o);
	assert_non_null(r);
	assert_int_equal(rings_grow(r), 1);
	began = clock_ns(CLOCK_BOOTTIME) + every_ns;
	for (at = began; at < began + last_ns; at += every_ns)
		rings_tick(r, at);
	at -= every_ns;
	marks = rings_marks(r, 0, &nr);
	assert_int_equal(marks[nr - 1].at, at);
	assert_in_range(rings_held(r, at), window_ns - window_ns / 50 - every_ns, window_ns);
	for (uint32_t i = 1; i < nr; i++)
		assert_in_range(marks[i].at - marks[i - 1].at, 1,
				(marks[i].at > at - save_s * SEC ? save_s * SEC / 25 : window_ns / 50) + every_ns);
	rings_free(r);
	online_free(online);
}

TEST(keep, marks_of_many_refreshes)
{
	check_marks(120, 120, SEC / 10, 400 * SEC);
	check_marks(600, 600, SEC, 2000 * SEC);
	check_marks(30, 30, SEC, 100 * SEC);
	check_marks(2 * 86400, 600, 60 * SEC, 3 * 86400 * SEC);
	check_marks(2 * 86400, 30, SEC, 3 * 86400 * SEC);
}

/* Which CPUs are online. */
static const char *cpus_online = "0";

void __wrap_file_line(char *line, size_t size, const char *path, ...);

void __wrap_file_line(char *line, size_t size, const char *path, ...)
{
	assert_string_equal(path, ONLINE_FILES "online");
	snprintf(line, size, "%s", cpus_online);
}

static const char *map_file = "/dev/null";

/* Rings, areas, and maps of them. */
int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key, __u32 value, __u32 max,
		   const struct bpf_map_create_opts *opts)
{
	(void)type, (void)name, (void)key, (void)value, (void)max, (void)opts;
	return open(map_file, O_RDWR | O_CLOEXEC);
}

static int deleted;

/* Waits, as the kernel does. */
int bpf_map_delete_elem(int fd, const void *key)
{
	(void)fd, (void)key;
	usleep(3000);
	deleted++;
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)key, (void)value, (void)flags;
	errno = EBADF;
	return fd < 0 ? -1 : 0;
}

static struct online *online;

#define ROOM 8 /* for that many rings */

static struct cpu_slot cpus[ROOM + 2];

/* The rings of a host of @nr CPUs, of which those of @list are online. */
static struct rings *rings_on(const char *list, int nr)
{
	struct rings_options o = { .map_fd = 0, .pattern_fd = -1, .cpus = cpus, .nr_cpus = nr, .slots = SLOTS,
				   .max_bytes = ROOM * SLOTS * sizeof(struct ring_slot), .window_s = 30 };
	struct rings *r;

	cpus_online = list;
	o.online = online = online_new(nr);
	r = rings_new(&o);
	assert_non_null(r);
	while (rings_missing(r))
		assert_int_equal(rings_grow(r), 1);
	return r;
}

static void drop(struct rings *r)
{
	rings_free(r);
	online_free(online);
}

static time_t passed_s;

int __real_clock_gettime(clockid_t clock, struct timespec *to);
int __wrap_clock_gettime(clockid_t clock, struct timespec *to);

int __wrap_clock_gettime(clockid_t clock, struct timespec *to)
{
	int err = __real_clock_gettime(clock, to);

	to->tv_sec += passed_s;
	return err;
}

/* A ring for which there is no memory, or no place in the map: its CPU is known to have none, and gets it later. */
TEST(keep, rings_that_cannot_be_made)
{
	struct online *both;
	struct rings_options o = { .map_fd = -1, .pattern_fd = -1, .cpus = cpus, .nr_cpus = 2, .slots = SLOTS,
				   .max_bytes = ROOM * SLOTS * sizeof(struct ring_slot), .window_s = 30 };
	const char *why;
	struct rings *r;

	cpus_online = "0-1";
	o.online = both = online_new(2);
	r = rings_new(&o);
	assert_non_null(r);
	assert_int_equal(rings_without(r, &why), 0); /* not yet */
	map_file = "/dev/no/such";
	assert_int_equal(rings_grow(r), -ENOENT);
	assert_int_equal(rings_without(r, &why), 2);
	assert_string_equal(why, "No such file or directory");
	map_file = "/dev/null";
	assert_false(rings_missing(r));
	passed_s += 61;
	assert_true(rings_missing(r));
	assert_int_equal(rings_grow(r), -EBADF); /* there is no map */
	assert_int_equal(rings_fd(r, 0), -1);
	assert_int_equal(rings_without(r, &why), 2);
	assert_int_equal(rings_bytes(r), 0);
	rings_free(r);
	online_free(both);
}

/* The rings hold what the busiest CPU has not overwritten. A time is at the place that its ring had then. */
TEST(keep, busy_cpus_hold_less)
{
	struct rings *r = rings_on("0-1", 2);
	uint64_t now = clock_ns(CLOCK_BOOTTIME);

	for (int second = 1; second <= 60; second++) {
		now += SEC;
		cpus[0].records += SLOTS / 10;
		cpus[1].records += SLOTS / 4;
		rings_tick(r, now);
		assert_int_equal(rings_held(r, now) / SEC, second < 4 ? second : 4);
	}
	assert_int_equal(rings_place(r, 0, now), cpus[0].records);
	assert_int_equal(rings_place(r, 0, now - 1), cpus[0].records - SLOTS / 10);
	assert_int_equal(rings_place(r, 0, now - 3 * SEC), cpus[0].records - 3 * (SLOTS / 10));
	cpus[0].records += SLOTS / 2;
	now += SEC;
	rings_tick(r, now);
	assert_int_equal(rings_held(r, now) / SEC, 5);
	memset(cpus, 0, sizeof(cpus));
	drop(r);
}

static int count_event(void *arg, int cpu, const struct event *e)
{
	(void)e;
	((int *)arg)[cpu]++;
	return 0;
}

/* If the rings have more than is to be read, what is read begins where the events of all CPUs are complete, whichever CPU is the
 * busiest. */
TEST(keep, a_window_is_complete_since_the_latest_of_all_cpus)
{
	static struct ring_slot recorded[SLOTS];
	uint64_t now = clock_ns(CLOCK_BOOTTIME), ms = SEC / 1000;
	char path[] = "/tmp/systop-ring-XXXXXX";
	int fd = mkstemp(path);
	struct rings *r;

	assert_true(fd >= 0);
	for (uint64_t i = 0; i < SLOTS; i++)
		recorded[i] = (struct ring_slot){ ((now + i * ms) & ((1ULL << RING_TIME_BITS) - 1)) |
						  ring_kind_word(RING_SWITCH, RING_SLEEP), 0 };
	assert_int_equal(write(fd, recorded, sizeof(recorded)), sizeof(recorded));
	map_file = path;
	r = rings_on("0-1", 2);
	for (int busy = 0; busy < 2; busy++) {
		int nr[2] = { 0 };
		uint64_t since;

		cpus[busy].records = SLOTS;
		cpus[!busy].records = SLOTS / 2;
		assert_int_equal(window_read(r, cpus, 2, now, now + 60 * SEC, 2 * SLOTS, &since, count_event, nr), 0);
		assert_true(since == now);
		assert_int_equal(nr[busy], SLOTS);
		assert_int_equal(nr[!busy], SLOTS / 2);
		assert_int_equal(window_read(r, cpus, 2, now, now + 60 * SEC, 2 * 64, &since, count_event, nr), 0);
		assert_int_equal((since - now) / ms, SLOTS - 64);
		assert_int_equal(nr[busy], SLOTS + 64);
		assert_int_equal(nr[!busy], SLOTS / 2 + 64);
	}
	memset(cpus, 0, sizeof(cpus));
	drop(r);
	map_file = "/dev/null";
	close(fd);
	unlink(path);
}

/* The ring of a CPU that went offline is kept, and does not stand for that of one that came. */
TEST(keep, a_cpu_that_comes_has_a_ring)
{
	struct rings *r = rings_on("0-2", 4);

	assert_true(rings_fd(r, 2) >= 0);
	cpus_online = "0-1,3";
	assert_true(online_follow(online));
	assert_true(rings_missing(r));
	assert_int_equal(rings_grow(r), 1);
	assert_true(rings_fd(r, 3) >= 0);
	assert_false(rings_missing(r));
	drop(r);
}

/* There is no room for the ring of a CPU that came, unless that of one which went offline is dropped. */
TEST(keep, an_offline_cpu_makes_room)
{
	struct rings *r = rings_on("0-7", ROOM + 2);
	uint64_t now = clock_ns(CLOCK_BOOTTIME) + 60 * SEC;

	cpus_online = "0-8"; /* no room, but the others are held */
	assert_true(online_follow(online));
	assert_false(rings_missing(r));
	assert_int_equal(rings_grow(r), 0);
	rings_tick(r, now);
	assert_int_equal(rings_held(r, now), 30 * SEC);
	cpus_online = "0-2,4-8";
	assert_true(online_follow(online));
	rings_hold(r, true);
	assert_false(rings_missing(r));
	rings_hold(r, false);
	assert_true(rings_missing(r));
	assert_int_equal(rings_held(r, now), 0);
	assert_int_equal(rings_grow(r), 1);
	assert_int_equal(rings_fd(r, 3), -1);
	assert_true(rings_fd(r, 8) >= 0);
	assert_false(rings_missing(r));
	assert_int_equal(rings_bytes(r), ROOM * SLOTS * sizeof(struct ring_slot));
	drop(r);
}

/* Areas that could not be made, or not be put into the map, are tried again when CPUs come or go. */
TEST(keep, areas_are_tried_again)
{
	struct areas *a, *no_map;

	cpus_online = "0-1";
	online = online_new(2);
	a = areas_new(0, online);
	no_map = areas_new(-1, online);
	assert_int_equal(areas_follow(a), -ENODEV); /* it cannot be mapped */
	assert_null(areas_list(a)[0]);
	map_file = "/dev/zero";
	assert_int_equal(areas_follow(a), 0);
	assert_non_null(areas_list(a)[0]);
	assert_non_null(areas_list(a)[1]);
	assert_int_equal(areas_bytes(a), 2 * sizeof(struct cpu_area));
	assert_int_equal(areas_follow(no_map), -EBADF);
	assert_null(areas_list(no_map)[0]);
	assert_int_equal(areas_bytes(no_map), 0);
	map_file = "/dev/null";
	areas_free(no_map);
	areas_free(a);
	online_free(online);
}

/* Above a limit the rings are dropped, but not while they are held. */
TEST(keep, rings_that_are_held_go_later)
{
	struct rings *r = rings_on("0", 1);
	uint32_t nr;

	rings_hold(r, true);
	rings_shed(r, true);
	assert_int_equal(rings_slots(r), SLOTS);
	assert_true(rings_fd(r, 0) >= 0);
	rings_marks(r, 0, &nr);
	assert_int_equal(nr, 1);
	assert_false(rings_missing(r));
	rings_hold(r, false);
	assert_int_equal(rings_slots(r), 0);
	assert_int_equal(rings_grow(r), 0);
	assert_int_equal(rings_fd(r, 0), -1);
	rings_shed(r, false);
	assert_int_equal(rings_slots(r), SLOTS);
	drop(r);
}

/* Rings are dropped in turns: systop answers keys and refreshes in the meantime. */
TEST(keep, rings_that_are_shed_go_a_few_at_a_time)
{
	struct rings *r = rings_on("0-7", 8);

	deleted = 0;
	rings_shed(r, true);
	assert_int_equal(deleted, 0);
	assert_int_equal(rings_slots(r), 0);
	while (rings_missing(r)) {
		int before = deleted;

		assert_int_equal(rings_grow(r), 0);
		assert_in_range(deleted - before, 1, 2);
	}
	assert_int_equal(deleted, 8);
	assert_int_equal(rings_bytes(r), 0);
	rings_shed(r, false);
	assert_true(rings_missing(r));
	assert_int_equal(rings_grow(r), 1);
	drop(r);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test_setup(keep_what_is_wanted_is_there_when_the_ring_has_gone_round, begin),
		  cmocka_unit_test_setup(keep_slots_that_were_overwritten_before_are_told_by_the_head, begin),
		  cmocka_unit_test_setup(keep_a_cpu_without_a_ring_has_none, begin),
		  cmocka_unit_test_setup(keep_what_is_too_much_for_memory_goes_to_the_folder, begin),
		  cmocka_unit_test_setup(keep_if_one_cannot_be_copied_all_are_what_they_were, begin),
		  cmocka_unit_test_setup(keep_a_ring_has_the_size_that_fits, begin),
		  cmocka_unit_test(keep_marks_of_many_refreshes), cmocka_unit_test(keep_busy_cpus_hold_less),
		  cmocka_unit_test(keep_a_window_is_complete_since_the_latest_of_all_cpus),
		  cmocka_unit_test(keep_a_cpu_that_comes_has_a_ring),
		  cmocka_unit_test(keep_an_offline_cpu_makes_room), cmocka_unit_test(keep_areas_are_tried_again),
		  cmocka_unit_test(keep_rings_that_cannot_be_made),
		  cmocka_unit_test(keep_rings_that_are_held_go_later),
		  cmocka_unit_test(keep_rings_that_are_shed_go_a_few_at_a_time));
}
