/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_REDACT_H
#define SYSTOP_EXPORT_REDACT_H

#include <stddef.h>
#include <stdint.h>

struct life;
struct process;
struct symbol;

/*
 * --redact: exports have hashes in place of the names of threads and of the parts of paths, and no arguments. Equal names
 * have equal hashes in what one run writes, but not in different runs: the key is random. Kernel threads, functions
 * with names, users and numbers stay.
 */
struct redact {
	uint64_t key[2];
};

/* redact_init - 0 or -errno. */
int redact_init(struct redact *r);

/* Bytes of a hash and its NUL: it fits where a thread's name does. */
#define REDACT_HASH 13

/* All return what an export shows: the text itself if @r is NULL, else a hash in @buf. Raw bytes.
 * redact_comm, redact_process - the name of a thread, of a process; redact_name - any name of @len bytes at most,
 * without its NUL. */
const char *redact_comm(const struct redact *r, const struct life *l, char buf[REDACT_HASH]);
const char *redact_process(const struct redact *r, const struct process *p, char buf[REDACT_HASH]);
const char *redact_name(const struct redact *r, const char *name, size_t len, char buf[REDACT_HASH]);

/* redact_scope - what -c, -p, -t, -u and the command to run name: "redacted"; "all" stays. */
const char *redact_scope(const struct redact *r, const char *scope);

/* redact_path - hashes each part of a path, or of the name of a pod, separately; the hierarchy of a cgroup (cpu:/) stays.
 * redact_module - the same for a file with code; the module of other code, such as "[kernel]", stays. redact_function - the
 * name of a function; if it is made from the name of the module, that part is hashed. */
const char *redact_path(const struct redact *r, const char *path, char *buf, size_t size);
const char *redact_module(const struct redact *r, const char *module, char *buf, size_t size);
const char *redact_function(const struct redact *r, const struct symbol *s, char *buf, size_t size);

#endif
