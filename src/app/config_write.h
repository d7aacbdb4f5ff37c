/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CONFIG_WRITE_H
#define SYSTOP_APP_CONFIG_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "helper/helper.h"

struct settings;

/* The user's file is written by a helper, which is the invoker. All zero but the role: nothing is being written. */
struct config_writer {
	int role;
	struct helper helper;
	uint64_t since; /* CLOCK_MONOTONIC ns; 0: it is not */
	char safe[256]; /* the file, fit for a terminal */
};

/*
 * config_write - begins to write the settings to the user's file (never to /etc), which is replaced in one step; lines it
 * does not know stay. config_write_work() is called now and then, and returns true when it ended.
 * @said: what came of it.
 */
void config_write(struct config_writer *w, const struct settings *s, char *said, size_t size);
bool config_write_work(struct config_writer *w, char *said, size_t size);

/* config_run - the helper's role: one file. config_put - what it does, as the user this process is. 0 or -errno. */
void config_run(int socket);
int config_put(const char *path, const struct settings *s);

/* config_print - all settings as a config file, with what they can be. */
void config_print(FILE *to, const struct settings *s);

#endif
