/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/exporter.h"

#include <stddef.h>

static const struct exporter *const exporters[] = {
	&export_table,
	&export_json,
	&export_folded,
	&export_openmetrics,
	&export_pprof,
	&export_trace,
};

#define NR_EXPORTERS (sizeof(exporters) / sizeof(exporters[0]))

const struct exporter *exporter_at(unsigned int index)
{
	return index < NR_EXPORTERS ? exporters[index] : NULL;
}

unsigned int exporter_index(const struct exporter *e)
{
	unsigned int index = 0;

	while (index < NR_EXPORTERS && exporters[index] != e)
		index++;
	return index;
}
