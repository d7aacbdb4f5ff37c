/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/print.h"

#include <stdio.h>

#include "config.h"

#include "app/check.h"
#include "app/completions.h"
#include "app/config_write.h"
#include "app/options.h"
#include "collect/load.h"
#include "export/json/json.h"
#include "model/metric.h"
#include "proc/hierarchy.h"
#include "proc/mounts.h"
#include "proc/scope.h"
#include "tui/widget/columns.h"
#include "util/fail.h"

static int print_version(void)
{
	printf("systop %s\nlibbpf %s\n", PACKAGE_VERSION, load_libbpf());
	return EXIT_STATUS_OK;
}

/* Prints the columns that can be sorted by: values, then other columns. Where both have the same name, -s takes the value. */
static int print_columns(void)
{
	for (int f = 0; f < METRIC_COUNT; f++)
		if (metrics[f].drop)
			printf("%-8s %-22s %s%s\n", metrics[f].title, metrics[f].name, metrics[f].help,
			       metrics[f].level == LEVEL_OF_CGROUPS ? " (not with -b)" : "");
	for (enum column_id id = COLUMN_METRICS; id < COLUMN_COUNT; id++) {
		struct column_info c = column_info(id);
		enum metric_id same = metric_find(c.name);

		if (!column_sorts(id))
			continue;
		printf("%-8s %-22s %s (on the screen", c.title, c.name, c.help);
		if (same != METRIC_COUNT)
			printf(", by sort = %s in systoprc: -s %s is %s", c.name, c.name, metrics[same].title);
		puts(")");
	}
	return EXIT_STATUS_OK;
}

static int print_cgroups(void)
{
	struct cgroup_mounts mounts = { 0 };
	int err;

	if (!hierarchy_mounts(&mounts)) {
		err = cgroups_print(stdout, &mounts);
		if (err)
			fail(err, EXIT_STATUS_RUNTIME, "cannot read the cgroups: %s", strerror(-err));
	}
	cgroup_mounts_fini(&mounts);
	return failure_print(stderr);
}

int print_asked(const struct options *o, const struct settings *s)
{
	switch (o->output) {
	case OUTPUT_VERSION:
		return print_version();
	case OUTPUT_SORT_HELP:
		return print_columns();
	case OUTPUT_CONFIG:
		config_print(stdout, s);
		return EXIT_STATUS_OK;
	case OUTPUT_COMPLETIONS:
		return completions_print(stdout, o->shell) ? EXIT_STATUS_USAGE : EXIT_STATUS_OK;
	case OUTPUT_SCHEMA:
		json_schema(stdout);
		return EXIT_STATUS_OK;
	case OUTPUT_CHECK_SCHEMA:
		json_check_schema(stdout);
		return EXIT_STATUS_OK;
	case OUTPUT_CHECK:
		return check_print(o);
	case OUTPUT_LIST_CGROUPS:
		return print_cgroups();
	default:
		return -1;
	}
}
