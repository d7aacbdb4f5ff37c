/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_FINISH_H
#define SYSTOP_APP_FINISH_H

#include "app/loop.h"

struct systop;

/* What is still to be written when the main loop has ended. */

/* finish_output - completes the pending line if it is being read; then writes the rest that the exporter has.
 * @signal_number: the signal that ended the loop, 0: none; set to 0 if it only ended a recording. Returns the verdict to
 * continue with. */
enum loop_verdict finish_output(struct systop *s, enum loop_verdict verdict, int *signal_number);

/* finish_trace - -w: saves the recording. @asked_to_end: a signal ended it.
 * finish_save - blocks until the save in progress ends. @reader: see save_finish(). */
void finish_trace(struct systop *s, bool asked_to_end);
void finish_save(struct systop *s, int reader);

#endif
