/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/belongs.h"

#include "owner/containers.h"
#include "proc/cgroup.h"
#include "unit.h"

static uint64_t generation, learns; /* names that arrive during the next update */
static int updates;

uint64_t __wrap_containers_generation(const struct containers *c);
uint64_t __wrap_containers_generation(const struct containers *c)
{
	(void)c;
	return generation;
}

void __wrap_containers_update(struct containers *c, struct cgroup *const *list, size_t nr);
void __wrap_containers_update(struct containers *c, struct cgroup *const *list, size_t nr)
{
	(void)c;
	(void)list;
	(void)nr;
	updates++;
	generation += learns;
	learns = 0;
}

/* A name that arrives during an update causes another one; without a new name there is none. */
TEST(belongs, name_that_arrives_during_an_update)
{
	struct cgroups *cgroups = cgroups_open(NULL);
	struct belongs b = { 0 };

	assert_non_null(cgroups);
	generation = learns = 1;
	belongs_update(&b, NULL, cgroups);
	assert_int_equal(updates, 1);
	belongs_update(&b, NULL, cgroups);
	assert_int_equal(updates, 2);
	belongs_update(&b, NULL, cgroups);
	assert_int_equal(updates, 2);
	cgroups_free(cgroups);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(belongs_name_that_arrives_during_an_update));
}
