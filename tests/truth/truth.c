/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads truth.bpf.c and prints, for each line on its stdin, an object of all threads by number and of all cgroups by
 * id; then resets the longest waits and the histograms. Its first line reports that it is attached. */
#include <stdio.h>

#include <bpf/bpf.h>

#include "truth.skel.h"
#include "tests/truth/truth.h"

static void print_threads(int map)
{
	static __u32 tids[TRUTH_THREADS];
	const char *comma = "";
	struct truth t;
	__u32 nr = 0;

	/* All keys first: a row that is rewritten comes again in the map's order. */
	while (nr < TRUTH_THREADS && !bpf_map_get_next_key(map, nr ? &tids[nr - 1] : NULL, &tids[nr]))
		nr++;
	printf("{");
	for (__u32 n = 0; n < nr; n++) {
		__u32 tid = tids[n];

		if (bpf_map_lookup_elem(map, &tid, &t))
			continue;
		printf("%s\"%u\":{\"run_ns\":%llu,\"runq_ns\":%llu,\"d_ns\":%llu,\"sleep_ns\":%llu,\"stopped_ns\":%llu,"
		       "\"longest_ns\":%llu,\"waits\":%llu,\"wakings\":%llu,\"switches\":%llu,\"missed\":%llu,\"unknown_ns\":%llu,\"buckets\":[",
		       comma, tid, t.run_ns, t.runq_ns, t.d_ns, t.sleep_ns, t.stopped_ns, t.longest_ns, t.waits,
		       t.wakings, t.switches, t.missed, t.unknown_ns);
		for (int i = 0; i < TRUTH_BUCKETS; i++)
			printf("%s%u", i ? "," : "", t.buckets[i]);
		printf("]}");
		comma = ",";
		t.longest_ns = 0;
		for (int i = 0; i < TRUTH_BUCKETS; i++)
			t.buckets[i] = 0;
		bpf_map_update_elem(map, &tid, &t, BPF_EXIST);
	}
	printf("}");
}

static void print_cgroups(int map)
{
	__u64 id, *last = NULL;
	struct truth_cgroup g;
	const char *comma = "";

	printf("{");
	for (; !bpf_map_get_next_key(map, last, &id); last = &id, comma = ",")
		if (!bpf_map_lookup_elem(map, &id, &g))
			printf("%s\"%llu\":{\"run_ns\":%llu,\"runq_ns\":%llu,\"d_ns\":%llu,\"sleep_ns\":%llu,\"unknown_ns\":%llu}",
			       comma, id, g.run_ns, g.runq_ns, g.d_ns, g.sleep_ns, g.unknown_ns);
	printf("}");
}

int main(void)
{
	struct truth_bpf *truth = truth_bpf__open_and_load();
	char line[16];

	if (!truth || truth_bpf__attach(truth)) {
		fprintf(stderr, "truth: cannot load or attach\n");
		return 1;
	}
	printf("{}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("{\"threads\":");
		print_threads(bpf_map__fd(truth->maps.threads));
		printf(",\"cgroups\":");
		print_cgroups(bpf_map__fd(truth->maps.cgroups));
		printf("}\n");
		fflush(stdout);
	}
	truth_bpf__destroy(truth);
	return 0;
}
