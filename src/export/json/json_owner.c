/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/json/json_owner.h"

#include <stddef.h>

#include "export/json/json_text.h"
#include "export/redact.h"
#include "model/owner.h"

const struct json_owner_property json_owner_properties[] = {
	{ "container", "name of its container, or the first 12 characters of the id while that is all that is known",
	  owner_container },
	{ "pod", "namespace/name of its pod, or its UID", owner_pod },
	{ "unit", "its systemd unit: its own or that of the nearest cgroup above it", owner_unit },
	{ NULL, NULL, NULL },
};

void json_owner(struct json *j, const struct cgroup *c)
{
	for (const struct json_owner_property *p = json_owner_properties; p->name; p++) {
		const char *text = p->text(c);
		char hashed[512];

		json_foreign(j, p->name, text ? redact_path(j->redact, text, hashed, sizeof(hashed)) : NULL);
	}
}
