/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_FUZZ_HELPERS_H
#define SYSTOP_TESTS_FUZZ_HELPERS_H

#include "fuzz.h"

#include "helper/helper.h"

/* So many are "started" for an input. */
#define HELPERS_MAX 8

/* helpers_other - the end of the socket of the one that was started as number @nr, which a helper would have; -1: there
 * is none. helpers_drain - takes what it was asked. helpers_answer - says this; @fd goes with it, and stays open.
 * helpers_close - it ends. helpers_forget - all do: at the end of an input. */
int helpers_other(int nr);
void helpers_drain(int nr);
void helpers_answer(int nr, const void *answer, size_t bytes, int fd);
void helpers_close(int nr);
void helpers_forget(void);

/* A role that is run here. role_ask - closes @fd. role_run - on all that was asked; its answers are thrown away. */
struct role {
	int ask, answer;
};

void role_begin(struct role *r);
void role_ask(struct role *r, const void *request, size_t bytes, int fd);
void role_run(struct role *r, void (*run)(int socket));

#endif
