/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_FUZZ_HELPERS_H
#define SYSTOP_TESTS_FUZZ_HELPERS_H

#include "fuzz.h"

#include "helper/helper.h"

/* So many are "started" for an input. */
#define HELPERS_MAX 32

/* helpers_other - the end of the socket which the helper would have that was started last for this role; -1: there is
 * none, or it has ended. helpers_answer - says this; @fd goes with it, and stays open. helpers_close - it ends.
 * helpers_stick - it runs, and does not end when it is killed. helpers_forget - all end: at the end of an input. */
int helpers_other(int role);
void helpers_answer(int role, const void *answer, size_t bytes, int fd);
void helpers_close(int role);
void helpers_stick(int role);
void helpers_forget(void);

/* A role that is run here. role_ask - closes @fd. role_run - on all that was asked; its answers are thrown away. */
struct role_under_test {
	int ask, answer;
};

void role_begin(struct role_under_test *r);
void role_ask(struct role_under_test *r, const void *request, size_t bytes, int fd);
void role_run(struct role_under_test *r, void (*run)(int socket));

#endif
