/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/field.h"

#include <strings.h>

const struct field fields[FIELD_COUNT] = {
#define _(id, ...) [FIELD_##id] = { __VA_ARGS__ },
	FIELDS(_)
#undef _
};

enum field_id field_find(const char *name)
{
	enum field_id f;

	for (f = 0; f < FIELD_COUNT; f++)
		if (!strcasecmp(name, fields[f].name) || !strcasecmp(name, fields[f].title))
			break;
	return f;
}
