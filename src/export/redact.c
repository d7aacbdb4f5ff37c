/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/redact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "model/tick.h"
#include "sym/names.h"

int redact_init(struct redact *r)
{
	return getrandom(r->key, sizeof(r->key), 0) == sizeof(r->key) ? 0 : -errno;
}

/* --- SipHash-2-4: without the key, names cannot be tried out */

static uint64_t turn(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[1] = turn(v[1], 13) ^ v[0];
		v[0] = turn(v[0], 32);
		v[2] += v[3];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = turn(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = turn(v[1], 17) ^ v[2];
		v[2] = turn(v[2], 32);
	}
}

static uint64_t hash_of(const struct redact *r, const char *text, size_t len)
{
	uint64_t v[4] = { r->key[0] ^ 0x736f6d6570736575ULL, r->key[1] ^ 0x646f72616e646f6dULL, r->key[0] ^ 0x6c7967656e657261ULL,
			  r->key[1] ^ 0x7465646279746573ULL };
	size_t at = 0;
	bool last;

	do {
		uint64_t word = 0;

		for (size_t i = 0; i < 8 && at + i < len; i++)
			word |= (uint64_t)(unsigned char)text[at + i] << 8 * i;
		last = at + 8 > len;
		if (last)
			word |= (uint64_t)len << 56;
		v[3] ^= word;
		mix(v, 2);
		v[0] ^= word;
		at += 8;
	} while (!last);
	v[2] ^= 0xff;
	mix(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* --- Texts */

const char *redact_name(const struct redact *r, const char *name, size_t len, char buf[REDACT_HASH])
{
	len = strnlen(name, len);
	if (!r || !len)
		return name;
	snprintf(buf, REDACT_HASH, "%012" PRIx64, hash_of(r, name, len) >> 16);
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
	size_t used = 0, len;

	if (!r)
		return path;
	*buf = '\0';
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
