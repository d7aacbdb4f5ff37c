/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_FUZZ_HELPERS_H
#define SYSTOP_TESTS_FUZZ_HELPERS_H

#include "fuzz.h"

#include "helper/helper.h"

/* Most helpers that an input can "start". */
#define HELPERS_MAX 32

/* helpers_other - the helper's end of the socket, for the helper last started for this role; -1: none, or it has ended.
 * helpers_answer - sends an answer for it; @fd goes with it, and stays open.
 * helpers_close - ends it.
 * helpers_stick - it keeps running, even when killed.
 * helpers_forget - ends all of them, at the end of an input. */
int helpers_other(int role);
void helpers_answer(int role, const void *answer, size_t bytes, int fd);
void helpers_close(int role);
void helpers_stick(int role);
void helpers_forget(void);

/* A role that runs here.
 * role_ask - closes @fd.
 * role_run - handles all requests; its answers are discarded. */
struct role_under_test {
	int ask, answer;
};

void role_begin(struct role_under_test *r);
void role_ask(struct role_under_test *r, const void *request, size_t bytes, int fd);
void role_run(struct role_under_test *r, void (*run)(int socket));

#endif
