/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/finish.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "app/complain.h"
#include "app/refresh.h"
#include "app/run.h"
#include "app/systop.h"
#include "collect/collect.h"
#include "export/exporter.h"
#include "model/tick.h"
#include "save/destination.h"
#include "save/save.h"
#include "tui/screen/tui.h"
#include "util/clock.h"
#include "util/fail.h"

/* Longest wait for the reader of the output at the end, until it takes some, and in all. */
#define LAST_MS 400
#define LAST_NS 5000000000ULL

/* Blocks until the save in progress ends, also on quit. @reader: see save_finish(). */
void finish_save(struct systop *s, int reader)
{
	const struct tick *t;

	if (!save_busy(s->save))
		return;
	t = collect_tick(s->collect);
	if (!t) {
		fail(-errno, EXIT_STATUS_RUNTIME, "cannot save: the last refresh cannot be read: %s", strerror(errno));
		save_cancel(s->save);
		return;
	}
	if (s->options.output == OUTPUT_SCREEN) {
		tui_close(s->tui);
		s->tui = NULL;
		run_report_save(s);
	}
	save_finish(s->save, t, reader, run_fetch_names, s);
	tick_put(t);
	run_report_save(s);
}

/* -w: saves the recording after its end. */
void finish_trace(struct systop *s, bool asked_to_end)
{
	const struct options *o = &s->options;
	const char *name = strcmp(o->file, "-") ? o->file : "standard output";
	const struct save_part part = { s->plan.from_ns, s->plan.until_ns };
	struct save *other = s->save, *recording; /* @other: it may be busy for --on or SIGUSR1 */
	int err;

	if (clock_ns(CLOCK_BOOTTIME) < s->plan.from_ns) {
		finish_save(s, -1);
		fail(-ECANCELED, EXIT_STATUS_RUNTIME, "no trace: systop ended before --at, when recording would have begun");
		return;
	}
	recording = save_busy(other) ? s->file : other;
	err = save_start(recording, o->exporter, name, o->file_fd, "", &part);
	if (o->file_streams) /* its reader may be slow, and the rings are not copied */
		collect_stop_rings(s->collect);
	if (recording != other) { /* the recording's rings are copied meanwhile */
		finish_save(s, -1);
		s->save = recording;
		s->file = other;
	}
	s->recorded = true;
	finish_save(s, asked_to_end ? o->file_fd : -1);
	if (!err)
		err = save_failure(s->save)->err;
	if (!err)
		return;
	fail(err, EXIT_STATUS_RUNTIME, "%s", *save_text(s->save) ? save_text(s->save) : strerror(-err));
	if (err != -ECANCELED)
		fail_fix("%s", save_fix(err));
}

/* Writes what the exporter has left. If this is its only output, the result is reported, and a signal only ended the recording,
 * as with -w. With a command, however, the signal may have ended the command, too, whose exit status is not known. */
static enum loop_verdict finish_file(struct systop *s, int *signal_number)
{
	int reader = *signal_number ? s->options.file_fd : -1, err;
	enum loop_verdict verdict;

	save_finish(s->file, NULL, reader, run_fetch_names, s);
	verdict = run_file_verdict(s);
	if (verdict == LOOP_FAILED)
		return verdict;
	err = refresh_end(s);
	if (err || !save_busy(s->file))
		return err ? run_output_verdict(s, err) : LOOP_STOP;
	save_finish(s->file, NULL, reader, run_fetch_names, s);
	verdict = run_file_verdict(s);
	if (!options_need(&s->options, EXPORT_REST)) /* the last of many refreshes */
		return verdict;
	if (verdict != LOOP_FAILED)
		complain("%s", save_text(s->file));
	if (!s->command.pid)
		*signal_number = 0;
	return verdict;
}

/* Sends the rest of a refresh for as long as it is being read. Another signal ends that. */
static void send_rest(struct sink *output)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + LAST_NS;

	while (sink_wait(output, LAST_MS) && clock_ns(CLOCK_MONOTONIC) < until && !loop_ending())
		;
	sink_finish(output, 0);
}

/* Completes the pending line if it is being read; then writes the rest that the exporter has. */
enum loop_verdict finish_output(struct systop *s, enum loop_verdict verdict, int *signal_number)
{
	int err;

	if (s->tui)
		return verdict;
	if (verdict != LOOP_FAILED && *signal_number && options_need(&s->options, EXPORT_REST))
		verdict = run_tick(s);
	if (verdict != LOOP_FAILED && s->options.file && options_need(&s->options, EXPORT_TICKS))
		return finish_file(s, signal_number);
	if (s->options.file) /* an incomplete refresh is not written */
		s->unfinished = true;
	send_rest(&s->output);
	err = refresh_end(s);
	send_rest(&s->output);
	return verdict == LOOP_FAILED || !err ? verdict : run_output_verdict(s, err);
}
