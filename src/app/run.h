/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_RUN_H
#define SYSTOP_APP_RUN_H

#include "app/loop.h"

struct systop;

/* run - runs systop from the start of its helpers to the end of all its parts. Returns the exit status. */
int run(struct systop *s);

/* For finish.c and refresh.c. run_tick - one refresh: reads it, and shows or exports it, in one turn.
 * run_report_save - reports the result of a save.
 * run_output_verdict - the verdict on a write to the output with the result @err, 0 or -errno. run_file_verdict - the verdict
 * on the last write of a file of refreshes. Both call fail() if it failed.
 * run_fetch_names - one turn of what finds names; @arg: struct systop. */
enum loop_verdict run_tick(void *arg);
void run_report_save(struct systop *s);
enum loop_verdict run_output_verdict(const struct systop *s, int err);
enum loop_verdict run_file_verdict(struct systop *s);
void run_fetch_names(void *arg);

#endif
