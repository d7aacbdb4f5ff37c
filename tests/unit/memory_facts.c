/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/memory_facts.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "folder.h"

#define MIB (1UL << 20)

/* What this process touches is in its page tables, to the page. */
TEST(memory_facts, of_a_process)
{
	struct memory_facts before, after;
	char *at = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	memory_facts_process(getpid(), &before);
	memset(at, 1, 64 * MIB);
	memory_facts_process(getpid(), &after);
	assert_true(after.bytes[MEMORY_RSS] - before.bytes[MEMORY_RSS] - 64 * MIB < MIB);
	assert_true(after.bytes[MEMORY_ANONYMOUS] - before.bytes[MEMORY_ANONYMOUS] - 64 * MIB < MIB);
	assert_true(after.bytes[MEMORY_PSS] <= after.bytes[MEMORY_RSS]);
	assert_true(after.bytes[MEMORY_SWAP] != VALUE_NA);
	assert_true(after.bytes[MEMORY_KERNEL] == VALUE_NA);
	munmap(at, 64 * MIB);
}

TEST(memory_facts, of_nobody)
{
	struct memory_facts f;

	memory_facts_process(0x7fffffff, &f);
	for (int i = 0; i < MEMORY_FACTS; i++)
		assert_true(f.bytes[i] == VALUE_NA);
}

TEST(memory_facts, of_a_cgroup)
{
	struct memory_facts f;

	put_file("memory.stat", "anon 1000\nfile 2000\nkernel 300\nshmem 40\nfile_mapped 7\nanon_thp 9\n");
	put_file("cpu.pressure", "some avg10=1.20 avg60=0.50 avg300=0.00 total=1\n"
				 "full avg10=0.07 avg60=0.00 avg300=0.00 total=1\n");
	put_file("memory.pressure", "some avg10=100.00 avg60=0.50 avg300=0.00 total=1\n");
	memory_facts_cgroup(folder, folder, &f);
	assert_true(f.bytes[MEMORY_ANONYMOUS] == 1000 && f.bytes[MEMORY_FILE] == 2000);
	assert_true(f.bytes[MEMORY_KERNEL] == 300 && f.bytes[MEMORY_SHARED] == 40 && f.bytes[MEMORY_RSS] == VALUE_NA);
	assert_true(f.pressure[PRESSURE_CPU].some == 120 && f.pressure[PRESSURE_CPU].full == 7);
	assert_true(f.pressure[PRESSURE_MEMORY].some == 10000 && f.pressure[PRESSURE_MEMORY].full == VALUE_NA);
	assert_true(f.pressure[PRESSURE_IO].some == VALUE_NA);
}

/* Version 1 has other names, and sums with those below. */
TEST(memory_facts, of_a_cgroup_of_v1)
{
	struct memory_facts f;

	put_file("memory.stat", "cache 1\nrss 2\ntotal_cache 2000\ntotal_rss 1000\ntotal_shmem 40\ntotal_swap 5\n");
	memory_facts_cgroup(folder, "", &f);
	assert_true(f.bytes[MEMORY_ANONYMOUS] == 1000 && f.bytes[MEMORY_FILE] == 2000 && f.bytes[MEMORY_SHARED] == 40);
	assert_true(f.bytes[MEMORY_SWAP] == 5 && f.bytes[MEMORY_KERNEL] == VALUE_NA);
	assert_true(f.pressure[PRESSURE_CPU].some == VALUE_NA);
}

TEST(memory_facts, of_anything)
{
	struct memory_facts f;

	put_file("memory.stat", "\nanon\nanon x\nfile -\n\xff 7\nshmem 99999999999999999999999\n");
	put_file("cpu.pressure", "some avg10=x\nsome\n= = =\n");
	memory_facts_cgroup(folder, folder, &f);
	assert_true(f.bytes[MEMORY_ANONYMOUS] == VALUE_NA && f.bytes[MEMORY_FILE] == VALUE_NA);
	assert_true(f.pressure[PRESSURE_CPU].some == VALUE_NA);
	memory_facts_cgroup("/no/such/folder", "", &f);
	assert_true(f.bytes[MEMORY_ANONYMOUS] == VALUE_NA);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(memory_facts_of_a_process),
		cmocka_unit_test(memory_facts_of_nobody),
		cmocka_unit_test(memory_facts_of_a_cgroup),
		cmocka_unit_test(memory_facts_of_a_cgroup_of_v1),
		cmocka_unit_test(memory_facts_of_anything),
	};

	return cmocka_run_group_tests(cases, folder_new, folder_drop);
}
