/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TUI_HOST_H
#define SYSTOP_TUI_HOST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct health;
struct symbol;
struct settings;

/* What the screen asks of the rest, as it opens no files itself; texts come fit for a terminal. */
struct host {
	const char *name, *kernel, *version;
	const char *scope; /* what -c, -p, -u and the command say: "all" */
	void *arg;
	/* Name of a user, its number if it has none. */
	void (*user_name)(unsigned int uid, char *buf, size_t size);
	/* Its number: 0 or -ENOENT. */
	int (*user_find)(const char *name, unsigned int *uid);
	/* What a frame is called, now (sym/names.h). NULL: out of memory. */
	const struct symbol *(*symbol)(void *arg, uint64_t frame, uint32_t tgid);
	/* CPUs a thread may run on: "0-3,7", "-" if it is gone. */
	void (*affinity)(pid_t tid, char *buf, size_t size);
	/* The state of everything (model/health.h); freed by health_fini(). */
	void (*health)(void *arg, struct health *h);
	/* Writes the config file; what came of it in @said. */
	void (*write_config)(void *arg, const struct settings *s, char *said, size_t size);
};

#endif
