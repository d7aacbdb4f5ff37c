/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/field.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

const struct field fields[FIELD_COUNT] = {
#define _(id, ...) [FIELD_##id] = { __VA_ARGS__ },
	FIELDS(_)
#undef _
};

static int plain(char c)
{
	return c == '_' || c == '-' ? '.' : tolower((unsigned char)c);
}

/* Whether @asked is @name, with any case and separators, and with or without the unit at its end. */
static bool is_name(const char *asked, const char *name, const char *unit)
{
	size_t i = 0;

	while (asked[i] && name[i] && plain(asked[i]) == plain(name[i]))
		i++;
	return !asked[i] && (!name[i] || !strcmp(name + i, unit));
}

enum field_id field_find(const char *name)
{
	enum field_id f;

	if (!strcasecmp(name, "cpu"))
		return FIELD_RUN;
	for (f = 0; f < FIELD_COUNT; f++) {
		const char *count = strncmp(fields[f].name, "switches_", 9) ? fields[f].name
									   : fields[f].name + 9;

		if (is_name(name, fields[f].name, "_ns") || is_name(name, count, "") ||
		    is_name(name, fields[f].title, "%") || is_name(name, fields[f].title, "/s"))
			break;
	}
	return *name ? f : FIELD_COUNT;
}
