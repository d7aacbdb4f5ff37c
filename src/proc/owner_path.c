/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/owner_path.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/owner.h"

/* The longest name of a directory, and its NUL. */
#define NAME 256

/* Characters of an id that stand for it while its name is not known. */
#define SHORT_ID 12

/* Length of ids of containers, and of a pod's UID without dashes. */
#define CONTAINER_ID 64
#define POD_UID 32

/* The texts of the record being made. */
struct parts {
	struct owner owner;
	bool foreign; /* made by a user or in a container, who can choose any name: none of a container is taken */
	char unit[NAME], short_unit[NAME], container_id[NAME], container[NAME], runtime[NAME], pod_id[NAME], pod[NAME];
};

/* --- Text */

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), tail = strlen(end);

	return len > tail && !strcmp(s + len - tail, end);
}

static bool begins_with(const char *s, const char *begin)
{
	return !strncmp(s, begin, strlen(begin));
}

static size_t hex_digits(const char *s)
{
	return strspn(s, "0123456789abcdef");
}

static bool is_container_id(const char *s)
{
	return hex_digits(s) == CONTAINER_ID && !s[CONTAINER_ID];
}

static int hex_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10;
}

/* Undoes systemd's escapes, \xNN, in place; a NUL stays escaped. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		int value = s[0] == '\\' && s[1] == 'x' && hex_digits(s + 2) >= 2 ? hex_value(s[2]) << 4 | hex_value(s[3]) : 0;

		*to++ = value ? value : *s;
		s += value ? 4 : 1;
	}
	*to = '\0';
}

/* --- Parts of a record */

static void set_unit(struct parts *p, enum owner_kind kind, const char *name)
{
	snprintf(p->unit, sizeof(p->unit), "%s", name);
	unescape(p->unit);
	snprintf(p->short_unit, sizeof(p->short_unit), "%s", p->unit);
	if (ends_with(p->short_unit, ".service"))
		p->short_unit[strlen(p->short_unit) - strlen(".service")] = '\0';
	p->owner.kind = kind;
	p->owner.unit = p->unit;
	p->owner.short_unit = p->short_unit;
}

/* A container that its runtime calls by an id. */
static void set_container(struct parts *p, const char *runtime, const char *id)
{
	snprintf(p->container_id, sizeof(p->container_id), "%s", id);
	snprintf(p->container, sizeof(p->container), "%.*s", SHORT_ID, id);
	snprintf(p->runtime, sizeof(p->runtime), "%s", runtime);
	p->owner.kind = OWNER_CONTAINER;
	p->owner.container_id = p->container_id;
	p->owner.container = p->container;
	p->owner.runtime = *runtime ? p->runtime : NULL;
}

/* One whose name is in the path. */
static void set_machine(struct parts *p, const char *runtime, const char *name)
{
	set_container(p, runtime, "");
	snprintf(p->container, sizeof(p->container), "%s", name);
	unescape(p->container);
	p->owner.container_id = NULL;
}

static void set_pod(struct parts *p, const char *id)
{
	snprintf(p->pod_id, sizeof(p->pod_id), "%s", id);
	snprintf(p->pod, sizeof(p->pod), "%s", id);
	if (is_container_id(p->pod))
		p->pod[SHORT_ID] = '\0';
	p->owner.kind = OWNER_POD;
	p->owner.pod_id = p->pod_id;
	p->owner.pod = p->pod;
}

/* --- Containers */

/* "docker-ID": a prefix, which identifies the runtime, and an id. Those of conmon watch a container, and are none. */
static bool prefixed_id(struct parts *p, const char *name)
{
	const char *dash = strrchr(name, '-');
	char runtime[NAME];

	if (!dash || dash == name || !is_container_id(dash + 1))
		return false;
	snprintf(runtime, sizeof(runtime), "%.*s", (int)(dash - name), name);
	if (ends_with(runtime, "-conmon"))
		return false;
	if (ends_with(runtime, "-payload"))
		*strrchr(runtime, '-') = '\0';
	set_container(p, runtime, dash + 1);
	return true;
}

/* "lxc.payload.web", "lxc/web", "machine/web.libvirt-qemu" */
static bool named_machine(struct parts *p, const char *name, const char *parent)
{
	char machine[NAME];

	if (begins_with(name, "lxc.payload.") && name[12]) {
		set_machine(p, "lxc", name + 12);
	} else if (!strcmp(parent, "lxc") || !strcmp(parent, "lxc.payload")) {
		set_machine(p, "lxc", name);
	} else if (ends_with(name, ".libvirt-qemu") || ends_with(name, ".libvirt-lxc")) {
		snprintf(machine, sizeof(machine), "%.*s", (int)(strrchr(name, '.') - name), name);
		set_machine(p, "libvirt", machine);
	} else {
		return false;
	}
	return true;
}

/* --- Pods */

/* A pod's UID: five groups of digits, joined by - or, in slices, _; or a hash for a static pod. Writes it with -. */
static bool pod_uid(const char *s, char *uid)
{
	size_t digits = 0, len = 0;

	for (; s[len] && len < NAME - 1; len++) {
		bool joins = s[len] == '-' || s[len] == '_';

		if (!joins && !hex_digits((char[]){ s[len], '\0' }))
			return false;
		digits += !joins;
		uid[len] = joins ? '-' : s[len];
	}
	uid[len] = '\0';
	return !s[len] && digits == POD_UID;
}

/* "kubepods-burstable-podUID", "machine-libpod_pod_ID": a slice's name, without its suffix. */
static bool pod_slice(struct parts *p, const char *base)
{
	const char *libpod = strstr(base, "libpod_pod_");
	char uid[NAME];

	if (libpod && is_container_id(libpod + 11)) {
		set_pod(p, libpod + 11);
		return true;
	}
	for (const char *at = strstr(base, "-pod"); at; at = strstr(at + 1, "-pod")) {
		if (!pod_uid(at + 4, uid))
			continue;
		set_pod(p, uid);
		return true;
	}
	return false;
}

/* --- Units */

static void scope(struct parts *p, const char *name, const char *base)
{
	if (prefixed_id(p, base))
		return;
	if (!p->foreign && begins_with(base, "machine-") && base[8])
		set_machine(p, "machine", base + 8);
	else
		set_unit(p, begins_with(base, "session-") ? OWNER_SESSION : OWNER_UNIT, name);
}

static void service(struct parts *p, const char *name, const char *base)
{
	set_unit(p, OWNER_UNIT, name);
	if (!p->foreign && begins_with(base, "systemd-nspawn@") && base[15])
		set_machine(p, "nspawn", base + 15);
}

static void slice(struct parts *p, const char *name, const char *base)
{
	if (!pod_slice(p, base))
		set_unit(p, OWNER_SLICE, name);
}

static const struct suffix {
	const char *text;
	void (*parse)(struct parts *p, const char *name, const char *base); /* NULL: nothing but a unit */
} suffixes[] = {
	{ ".service", service }, { ".scope", scope }, { ".slice", slice },
	{ ".socket", NULL },     { ".mount", NULL },  { ".swap", NULL },
};

static bool unit(struct parts *p, const char *name)
{
	char base[NAME];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (!ends_with(name, suffixes[i].text))
			continue;
		snprintf(base, sizeof(base), "%.*s", (int)(strlen(name) - strlen(suffixes[i].text)), name);
		if (suffixes[i].parse)
			suffixes[i].parse(p, name, base);
		else
			set_unit(p, OWNER_UNIT, name);
		return true;
	}
	return false;
}

/* "kubepods-podUID.slice:cri-containerd:ID": a slice and a scope in systemd's form, made without systemd. */
static bool slice_and_id(struct parts *p, const char *name)
{
	char copy[NAME], *runtime, *id;

	snprintf(copy, sizeof(copy), "%s", name);
	runtime = strchr(copy, ':');
	id = runtime ? strchr(runtime + 1, ':') : NULL;
	if (!id || !is_container_id(id + 1))
		return false;
	*runtime++ = *id++ = '\0';
	if (!ends_with(copy, ".slice"))
		return false;
	copy[strlen(copy) - strlen(".slice")] = '\0';
	pod_slice(p, copy);
	set_container(p, runtime, id);
	return true;
}

static bool parse(struct parts *p, const char *name, const char *parent)
{
	char uid[NAME];

	if (slice_and_id(p, name) || unit(p, name) || prefixed_id(p, name))
		return true;
	if (begins_with(name, "pod") && pod_uid(name + 3, uid))
		set_pod(p, uid);
	else if (is_container_id(name) && !strcmp(parent, "libpod_parent"))
		set_pod(p, name);
	else if (is_container_id(name))
		set_container(p, strcmp(parent, "docker") ? "" : parent, name);
	else
		return !p->foreign && named_machine(p, name, parent);
	return true;
}

/* The user whose systemd runs the unit: "user@1000.service" is above it. */
static uint32_t manager(const char *path, const char *last)
{
	uint32_t user = OWNER_SYSTEM;

	for (const char *at = strstr(path, "/user@"); at && at + 1 < last; at = strstr(at + 1, "/user@")) {
		char *end;
		unsigned long uid = strtoul(at + 6, &end, 10);

		if (isdigit((unsigned char)at[6]) && uid < OWNER_SYSTEM && begins_with(end, ".service/"))
			user = uid;
	}
	return user;
}

/* Parses the part of a path that ends before @end. */
static bool parse_part(struct parts *p, const char *path, const char *end)
{
	const char *begin = memrchr(path, '/', end - path), *above = begin ? memrchr(path, '/', begin - path) : NULL;
	char name[NAME], parent[NAME];

	if (!begin || end - begin < 2 || end - begin > NAME)
		return false;
	above = above ? above + 1 : path;
	snprintf(name, sizeof(name), "%.*s", (int)(end - begin - 1), begin + 1);
	snprintf(parent, sizeof(parent), "%.*s", (int)(begin - above), above);
	return parse(p, name, parent);
}

/* Whether a container is above the last part. */
static bool is_inside(const char *path, const char *last)
{
	for (const char *end = last; end; end = memrchr(path, '/', end - path)) {
		struct parts above = { 0 };

		if (parse_part(&above, path, end) && above.owner.container)
			return true;
	}
	return false;
}

struct owner *owner_of_path(const char *path)
{
	const char *last = strrchr(path, '/');
	struct parts p = { .owner.kind = OWNER_UNIT };

	if (!last)
		return NULL;
	p.owner.user = manager(path, last);
	p.foreign = p.owner.user != OWNER_SYSTEM || is_inside(path, last);
	return parse_part(&p, path, last + strlen(last)) ? owner_new(&p.owner) : NULL;
}
