/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroups in scope, when they change and when there are too many. */
#include "unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/scope.h"

#define ROOM 4

/* The map. */
static struct scope_cgroup map[ROOM];
static size_t nr_in_map;

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd, (void)value, (void)flags;
	if (nr_in_map == ROOM) {
		errno = E2BIG;
		return -E2BIG;
	}
	memcpy(&map[nr_in_map++], key, sizeof(map[0]));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	(void)fd;
	for (size_t i = 0; i < nr_in_map; i++) {
		if (memcmp(&map[i], key, sizeof(map[0])))
			continue;
		map[i] = map[--nr_in_map];
		return 0;
	}
	fail_msg("it is not in the map");
	return -ENOENT;
}

static bool is_in_map(uint64_t id)
{
	for (size_t i = 0; i < nr_in_map; i++)
		if (map[i].id == id)
			return true;
	return false;
}

/* Sets the cgroups with these ids, up to 0. Returns whether the scope of threads has changed. */
static bool set(struct scope *s, int want, const uint64_t *ids)
{
	struct collect_cgroup cgroups[16] = { 0 };
	size_t nr = 0;
	bool changed;

	for (; ids[nr]; nr++)
		cgroups[nr].id = ids[nr];
	assert_int_equal(scope_set_cgroups(s, cgroups, nr), want);
	assert_int_equal(s->nr_cgroups + s->nr_missing, nr);
	assert_int_equal(s->nr_cgroups, nr_in_map);
	changed = s->changed;
	s->changed = false;
	return changed;
}

#define IDS(...) (const uint64_t[]){ __VA_ARGS__, 0 }

TEST(scope, changes)
{
	struct scope *s = calloc(1, sizeof(*s));

	assert_true(set(s, 0, IDS(7, 3, 1 << 20)));
	assert_false(set(s, 0, IDS(3, 1 << 20, 7)));
	assert_true(set(s, 0, IDS(3, 9, 7)));
	assert_true(is_in_map(3) && is_in_map(7) && is_in_map(9) && !is_in_map(1 << 20));
	assert_true(set(s, 0, IDS(3)));
	assert_true(set(s, 0, IDS(0)));
	assert_int_equal(nr_in_map, 0);
	scope_free(s);
}

/* Cgroups for which there is no room are counted, and added as soon as there is some. */
TEST(scope, no_room)
{
	struct scope *s = calloc(1, sizeof(*s));

	assert_true(set(s, -E2BIG, IDS(1, 2, 3, 4, 5, 6)));
	assert_int_equal(s->nr_missing, 2);
	assert_false(set(s, -E2BIG, IDS(1, 2, 3, 4, 5, 6)));
	assert_true(set(s, -E2BIG, IDS(1, 3, 4, 5, 6)));
	assert_int_equal(s->nr_missing, 1);
	assert_int_equal(s->missed, 2);
	assert_false(set(s, -E2BIG, IDS(1, 3, 4, 5, 6, 7)));
	assert_int_equal(s->missed, 3);
	assert_true(set(s, 0, IDS(3, 4, 5, 6)));
	assert_true(is_in_map(3) && is_in_map(4) && is_in_map(5) && is_in_map(6));
	assert_false(set(s, 0, IDS(3, 4, 5, 6)));
	assert_true(set(s, 0, IDS(0)));
	scope_free(s);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(scope_changes), cmocka_unit_test(scope_no_room));
}
