/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/redact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "model/tick.h"
#include "sym/names.h"
#include "util/hash.h"

int redact_init(struct redact *r)
{
	return getrandom(r->key, sizeof(r->key), 0) == sizeof(r->key) ? 0 : -errno;
}

const char *redact_name(const struct redact *r, const char *name, size_t len, char buf[REDACT_HASH])
{
	len = strnlen(name, len);
	if (!r || !len)
		return name;
	snprintf(buf, REDACT_HASH, "%012" PRIx64, hash_keyed(r->key, name, len) >> 16);
	return buf;
}

const char *redact_comm(const struct redact *r, const struct life *l, char buf[REDACT_HASH])
{
	return redact_name(l->flags & PF_KTHREAD ? NULL : r, l->comm, sizeof(l->comm) - 1, buf);
}

const char *redact_process(const struct redact *r, const struct process *p, char buf[REDACT_HASH])
{
	return redact_name(p->flags & PF_KTHREAD ? NULL : r, p->comm, sizeof(p->comm) - 1, buf);
}

const char *redact_scope(const struct redact *r, const char *scope)
{
	return r && strcmp(scope, "all") ? "redacted" : scope;
}

const char *redact_path(const struct redact *r, const char *path, char *buf, size_t size)
{
	size_t used = 0, len = strcspn(path, "/");

	if (!r)
		return path;
	if (len && path[len] && path[len - 1] == ':' && len < size) { /* cpu:/web: the hierarchy */
		memcpy(buf, path, len);
		path += len;
		used = len;
	}
	buf[used] = '\0';
	for (; *path && used + REDACT_HASH < size; path += len) {
		len = strcspn(path, "/");
		redact_name(r, path, len, buf + used);
		used += len ? REDACT_HASH - 1 : 0;
		if (!path[len])
			break;
		buf[used++] = path[len++];
		buf[used] = '\0';
	}
	return buf;
}

const char *redact_module(const struct redact *r, const char *module, char *buf, size_t size)
{
	return redact_path(*module == '[' ? NULL : r, module, buf, size);
}

const char *redact_function(const struct redact *r, const struct symbol *s, char *buf, size_t size)
{
	size_t len = strlen(s->module);
	char hash[REDACT_HASH];

	if (!r || s->named || *s->module == '[' || strncmp(s->name, s->module, len))
		return s->name;
	snprintf(buf, size, "%s%s", redact_name(r, s->module, len, hash), s->name + len);
	return buf;
}
