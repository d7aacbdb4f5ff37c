/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CONFIG_WRITE_H
#define SYSTOP_APP_CONFIG_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "helper/helper.h"

struct settings;

/* A helper that runs as the invoker writes the user's file. All zero except the role: no write is in progress. */
struct config_writer {
	int role;
	struct helper helper;
	uint64_t since; /* CLOCK_MONOTONIC ns of its start; 0: no write */
	char safe[256]; /* the file, fit for a terminal */
};

/*
 * config_write - starts to write the settings to the user's file (never to /etc), which is replaced in one step;
 * unknown lines stay.
 * config_write_work - call it from time to time; returns true when the write has ended.
 * @said: the result.
 */
void config_write(struct config_writer *w, const struct settings *s, char *said, size_t size);
bool config_write_work(struct config_writer *w, char *said, size_t size);

/* config_run - the helper's role: writes one file. config_put - the same, as the user of this process. 0, -errno, or the number
 * of the first invalid line of the file: it stays as it is, as its settings were not read. */
void config_run(int socket);
int config_put(const char *path, const struct settings *s);

/* config_print - prints all settings as a config file, with their possible values. */
void config_print(FILE *to, const struct settings *s);

#endif
