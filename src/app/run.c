/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A running systop: what the main loop calls, and how it begins and ends. */
#include "app/run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"

#include "app/complain.h"
#include "app/config_write.h"
#include "app/crash.h"
#include "app/finish.h"
#include "app/log.h"
#include "app/priority.h"
#include "app/refresh.h"
#include "app/services.h"
#include "app/systop.h"
#include "app/turns.h"
#include "collect/collect.h"
#include "export/exporter.h"
#include "helper/helper.h"
#include "helper/worker.h"
#include "model/loss_names.h"
#include "model/tick.h"
#include "owner/containers.h"
#include "proc/scope.h"
#include "save/destination.h"
#include "save/save.h"
#include "sym/names.h"
#include "tui/screen/tui.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/heap.h"
#include "util/text.h"

/* The first tick's interval: the screen does not stay empty for a whole one. */
#define FIRST_NS 20000000

/* The processes of -p, and the threads of -t, have ended: a table or JSON ends, too; the screen stays. */
static enum loop_verdict targets_gone(struct systop *s, const struct tick *t)
{
	char when[16], *what = s->notice;
	struct tm tm;

	if (s->gone || s->options.command || options_need(&s->options, EXPORT_SAMPLES) || !target_gone(&s->target, t))
		return LOOP_GO_ON;
	s->gone = true;
	localtime_r(&t->wall.tv_sec, &tm);
	strftime(when, sizeof(when), "%H:%M:%S", &tm);
	snprintf(what, sizeof(s->notice), "%s exited by %s",
		 s->target.nr_watched == 1 ? s->target.last :
		 !s->target.nr_tids ? "all processes of -p" : "all processes and threads of -p and -t", when);
	if (s->options.output == OUTPUT_SCREEN) {
		log_line("%s", what);
		tui_notice(s->tui, "%s", what);
		return LOOP_GO_ON;
	}
	return LOOP_STOP;
}

static void on_file(void *arg, const struct file_event *e)
{
	names_file(((struct systop *)arg)->names, e);
}

static bool on_forget(void *arg, const uint32_t *ids, size_t nr)
{
	return names_forget(((struct systop *)arg)->names, ids, nr);
}

void run_fetch_names(void *arg)
{
	struct systop *s = arg;

	helper_work();
	collect_files(s->collect, on_file, s);
	if (collect_answers(s->collect) && s->tui)
		tui_draw(s->tui);
	for (uint32_t file = 0; (file = collect_table_wanted(s->collect, file));)
		names_table(s->names, file);
	names_work(s->names);
	containers_work(s->containers);
}

/* Reports the result of a save. */
void run_report_save(struct systop *s)
{
	const char *text = save_text(s->save);
	int err = save_busy(s->save) ? 0 : save_failure(s->save)->err;
	bool has_fix = err && err != -ECANCELED;

	if (s->tui) {
		if (!save_busy(s->save))
			log_line("%s", text);
		tui_notice(s->tui, "%s%s%s", text, has_fix ? "; fix: " : "", has_fix ? save_fix(err) : "");
	} else if (s->options.output == OUTPUT_SCREEN) {
		complain("%s%s", text, save_busy(s->save) ? "; Ctrl-C: no file" : "");
	} else if (!save_busy(s->save) && (!s->recorded || !err)) {
		complain("%s", text);
	}
	if (!s->tui && has_fix && !s->recorded)
		complain("fix: %s", save_fix(err));
}

static enum loop_verdict on_input(void *arg);

enum loop_verdict run_output_verdict(const struct systop *s, int err)
{
	if (!err)
		return LOOP_GO_ON;
	fail(err, EXIT_STATUS_RUNTIME, "cannot write the output: %s", strerror(-err));
	if (s->options.file)
		fail_fix("%s", save_fix(err));
	return LOOP_FAILED;
}

/* Reports that a cgroup of -c was removed or created again: otherwise a service that restarts would look like one that idles.
 * @nr: number of such cgroups so far in this refresh; the screen has one line for all. */
static void report_cgroup(struct systop *s, const struct cgroup_target *target, size_t nr)
{
	static const char *const changes[] = {
		[TARGET_GONE] = "is gone; it is shown again when it is back",
		[TARGET_BACK] = "is back",
		[TARGET_AGAIN] = "was removed and created again",
	};
	const char *what = changes[target->change];
	char path[128], name[192], more[48] = "";

	text_safe(path, sizeof(path), target->path, strlen(target->path));
	snprintf(name, sizeof(name), "%s%s%s", target->controller ? target->controller : "", target->controller ? ":" : "", path);
	if (!s->tui) {
		complain("cgroup %s %s", name, what);
		return;
	}
	log_line("cgroup %s %s", name, what);
	if (nr > 1)
		snprintf(more, sizeof(more), " (the last of %zu: see --log)", nr);
	tui_notice(s->tui, "cgroup %s %s%s", name, what, more);
}

static void report_cgroups(struct systop *s)
{
	size_t nr = 0, changed = 0;
	const struct cgroup_target *targets = s->target.cgroups ? cgroup_scope_targets(s->target.cgroups, &nr) : NULL;

	for (size_t i = 0; i < nr; i++)
		if (targets[i].change != TARGET_SAME)
			report_cgroup(s, &targets[i], ++changed);
}

/* Requests the command lines of the processes that the refresh shows, for the next refreshes. */
static void want_commands(struct systop *s, const struct tick *t)
{
	for (size_t i = 0; i < t->nr_processes; i++) {
		const struct row *r = &t->processes[i];

		if (s->options.all || values_acted(r->values))
			collect_commands_want(s->collect, &r->number, 1);
	}
}

enum loop_verdict run_tick(void *arg)
{
	struct systop *s = arg;
	const struct options *o = &s->options;
	enum loop_verdict verdict;
	const struct tick *t;
	int err = 0;

	s->due = false;
	s->tick_ns = clock_ns(CLOCK_MONOTONIC);
	target_refresh(&s->target, s->collect, s->cgroups);
	report_cgroups(s);
	belongs_update(&s->belongs, s->containers, s->cgroups);
	if (options_need(o, EXPORT_SAMPLES))
		collect_sleepers(s->collect);
	t = collect_tick(s->collect);
	if (!t) {
		fail(-errno, EXIT_STATUS_RUNTIME, "cannot read the refresh: %s", strerror(errno));
		return LOOP_FAILED;
	}
	memcpy(s->loss, t->loss, sizeof(s->loss));
	services_note(s, t);
	if (o->output == OUTPUT_SCREEN) {
		/* Pending keys refer to the rows drawn now, not to those of the new refresh. */
		verdict = on_input(s);
		if (verdict != LOOP_GO_ON) {
			tick_put(t);
			return verdict;
		}
		tui_tick(s->tui, t);
	} else if (options_need(o, EXPORT_TICKS)) {
		err = refresh_write(s, t);
	}
	if (save_tick(s->save, t))
		run_report_save(s);
	if (options_need(o, EXPORT_COMMANDS))
		want_commands(s, t);
	run_fetch_names(s);
	heap_trim(s->tick_ns);
	verdict = targets_gone(s, t);
	tick_put(t);
	if (err)
		return run_output_verdict(s, err);
	if (verdict != LOOP_GO_ON)
		return verdict;
	if (s->plan.until_ns && clock_ns(CLOCK_BOOTTIME) >= s->plan.until_ns)
		return LOOP_STOP;
	return o->iterations && ++s->ticks == o->iterations ? LOOP_STOP : LOOP_GO_ON;
}

static enum loop_verdict harvest_some(struct systop *s)
{
	int left = collect_harvest(s->collect, turns_until());

	if (!left && s->due)
		left = collect_early(s->collect, turns_until());
	s->dying = left > 0;
	if (left >= 0)
		return LOOP_GO_ON;
	fail(left, EXIT_STATUS_RUNTIME, "cannot read the slots: %s", strerror(-left));
	return LOOP_FAILED;
}

/* A refresh. It comes some turns later if the previous one is still being written, or if many threads died: their ends
 * are read first, a part in each turn. */
static enum loop_verdict on_tick(void *arg)
{
	struct systop *s = arg;
	enum loop_verdict verdict = LOOP_GO_ON;

	s->due = true;
	if (!s->unfinished && !s->dying && collect_crowded(s->collect))
		verdict = harvest_some(s);
	return verdict != LOOP_GO_ON || s->unfinished || s->dying || turns_used() ? verdict : run_tick(s);
}

static bool on_unfinished(void *arg)
{
	const struct systop *s = arg;

	return s->unfinished || s->dying || s->due;
}

static enum loop_verdict on_unfinished_turn(void *arg)
{
	struct systop *s = arg;

	if (s->unfinished)
		return run_output_verdict(s, refresh_go_on(s));
	return s->dying ? harvest_some(s) : run_tick(s); /* the refresh that waits */
}

/* At the end of --duration: reads the rest of the interval as a last refresh, unless a refresh came just before. */
#define LAST_LEAST 20 /* parts of an interval */

static enum loop_verdict on_last(void *arg)
{
	struct systop *s = arg;
	uint64_t since = clock_ns(CLOCK_MONOTONIC) - s->tick_ns;

	return options_need(&s->options, EXPORT_TICKS) && since >= s->options.interval_ns / LAST_LEAST ? on_tick(s) : LOOP_GO_ON;
}

/* The result of the last write of a file of refreshes. */
enum loop_verdict run_file_verdict(struct systop *s)
{
	int err = save_busy(s->file) ? 0 : save_failure(s->file)->err;

	if (!err)
		return LOOP_GO_ON;
	fail(err, EXIT_STATUS_RUNTIME, "%s", save_text(s->file));
	if (err != -ECANCELED)
		fail_fix("%s", save_fix(err));
	return LOOP_FAILED;
}

/* When the processes and all that they forked have ended: reports at once what was sampled. */
static enum loop_verdict on_sampled_harvest(struct systop *s)
{
	if (s->options.command || !target_ended(&s->target) || collect_scope_lives(s->collect))
		return LOOP_GO_ON;
	return run_tick(s) == LOOP_FAILED ? LOOP_FAILED : LOOP_STOP;
}

static enum loop_verdict on_harvest(void *arg)
{
	struct systop *s = arg;
	enum loop_verdict verdict = harvest_some(s);
	char said[512];

	target_follow(&s->target, s->collect);
	run_fetch_names(s); /* late helpers */
	if (s->tui)
		tui_late(s->tui);
	belongs_update(&s->belongs, s->containers, s->cgroups);
	if (!save_busy(s->save)) /* saving needs names */
		collect_files_age(s->collect, on_forget, s);
	if (save_work(s->save))
		run_report_save(s);
	save_work(s->file);
	if (run_file_verdict(s) == LOOP_FAILED)
		return LOOP_FAILED;
	if (s->tui && config_write_work(&s->config, said, sizeof(said)))
		tui_notice(s->tui, "%s", said);
	if (verdict == LOOP_GO_ON && !s->due && save_wants_tick(s->save) && !options_need(&s->options, EXPORT_TICKS)) {
		s->ticks--; /* it does not count for -n */
		verdict = on_tick(s);
	}
	return verdict == LOOP_GO_ON && options_need(&s->options, EXPORT_SAMPLES) ? on_sampled_harvest(s) : verdict;
}

/* SIGUSR1: like the key w. */
static void on_save(void *arg)
{
	struct systop *s = arg;
	const char *path = s->options.save_path ? s->options.save_path : s->folder;

	if (save_start(s->save, &export_trace, path, s->options.save_fd, "", NULL) == -EBUSY && !s->tui)
		complain("not saved: a save is already in progress");
	else
		run_report_save(s);
}

static bool on_unsent(void *arg)
{
	return sink_unsent(&((struct systop *)arg)->output);
}

static enum loop_verdict on_send(void *arg)
{
	struct systop *s = arg;
	int err = sink_send(&s->output);

	if (s->tui) { /* the loop notices a terminal that is gone */
		tui_output(s->tui);
		return LOOP_GO_ON;
	}
	return run_output_verdict(s, err);
}

static void on_suspend(void *arg)
{
	const struct systop *s = arg;

	if (s->tui)
		tui_suspend(s->tui);
}

static void on_resume(void *arg)
{
	const struct systop *s = arg;

	if (s->tui)
		tui_resume(s->tui);
}

static void on_resize(void *arg)
{
	const struct systop *s = arg;

	if (s->tui)
		tui_resize(s->tui);
}

/* The interval between refreshes of the screen, which the key d changes. */
static uint64_t on_interval(void *arg)
{
	const struct systop *s = arg;

	return s->tui ? tui_delay(s->tui) : 0;
}

static const struct loop_ops ops = {
	.tick = on_tick,
	.last = on_last,
	.harvest = on_harvest,
	.input = on_input,
	.work = run_fetch_names,
	.save = on_save,
	.unsent = on_unsent,
	.send = on_send,
	.resize = on_resize,
	.suspend = on_suspend,
	.resume = on_resume,
	.interval = on_interval,
	.unfinished = on_unfinished,
	.go_on = on_unfinished_turn,
};

static enum loop_verdict on_input(void *arg)
{
	struct systop *s = arg;
	enum screen_verdict verdict = tui_input(s->tui);

	if (verdict == SCREEN_SUSPEND)
		loop_suspend(&ops, s);
	return verdict == SCREEN_QUIT ? LOOP_STOP : LOOP_GO_ON;
}

static int begin_output(struct systop *s)
{
	int err = refresh_begin(s);

	return err ? fail(err, EXIT_STATUS_RUNTIME, "cannot begin the output: %s", strerror(-err)) : 0;
}

/* Longest recording that -n can ask for. */
#define COUNTED_MAX_NS (INT32_MAX * 1000000000ULL)

/* Call it before systop is ready. -n becomes a duration, as there are refreshes before --at, too. */
static void plan_capture(struct systop *s)
{
	struct options *o = &s->options;
	uint64_t counted = o->iterations <= COUNTED_MAX_NS / o->interval_ns ? o->iterations * o->interval_ns : 0;

	s->plan = (struct capture_plan){ .at = o->at, .duration_ns = o->duration_ns };
	if (counted && (!o->duration_ns || counted < o->duration_ns))
		s->plan.duration_ns = counted;
	o->iterations = 0;
	capture_plan_init(&s->plan, o->interval_ns, o->window_s);
}

/* Ends like a process killed by the signal, so that a shell reports 128 + its number. */
static void die_of(int signal_number)
{
	signal(signal_number, SIG_DFL);
	loop_unblock_signals();
	raise(signal_number);
}

/* Time to the first tick, part of which went by while names and the screen were started. */
static uint64_t first_wait(const struct systop *s)
{
	uint64_t gone = clock_ns(CLOCK_MONOTONIC) - collect_since(s->collect);

	return gone < FIRST_NS ? FIRST_NS - gone : 1;
}

/* Runs the main loop, and then writes what it leaves. */
static void run_loop(struct systop *s, int *signal_number)
{
	bool screen = s->options.output == OUTPUT_SCREEN, window = options_need(&s->options, EXPORT_WINDOW);
	const struct loop_options o = {
		.first_ns = window ? s->plan.first_ns : screen ? first_wait(s) : s->options.interval_ns,
		.interval_ns = window ? s->plan.interval_ns : screen ? s->settings.delay_ns : s->options.interval_ns,
		.clock = window ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, /* a recording includes the time of a suspend */
		.duration_ns = window ? 0 : s->options.duration_ns,
		.terminal_fd = screen ? STDIN_FILENO : -1,
		.work_fds = { worker_events(), collect_files_fd(s->collect) },
		.output_fd = STDOUT_FILENO,
		.child = s->command.pid,
	};
	enum loop_verdict verdict;

	if (screen) /* the first refresh does not count for -n */
		s->ticks--;
	verdict = loop_run(&o, &ops, s, signal_number, &s->command.status);
	verdict = finish_output(s, verdict, signal_number);
	if (window && verdict != LOOP_FAILED) {
		finish_trace(s, *signal_number);
		if (!s->command.pid)
			*signal_number = 0;
	} else {
		finish_save(s, -1);
	}
}

/* Reports losses at the end, as the formats of stacks have no place for them. */
static void report_loss(const uint64_t loss[LOSS_COUNT])
{
	char text[512] = "";

	for (int i = 0; i < LOSS_REPAIRED; i++)
		if (loss[i])
			text_add(text, sizeof(text), "%s%" PRIu64 " %s", *text ? ", " : "", loss[i], loss_names[i].name);
	if (*text)
		complain("lost since the start: %s", text);
}

int run(struct systop *s)
{
	int signal_number = 0, status;
	enum exit_status failure;
	long rate = 0, rate_now = 0;

	if (options_need(&s->options, EXPORT_WINDOW))
		plan_capture(s);
	loop_block_signals();
	priority_raise();
	start_helpers();
	crash_catch(PACKAGE_VERSION); /* helpers have no terminal to restore */
	if (!start(s) && !begin_output(s))
		run_loop(s, &signal_number);
	status = command_exit_status(&s->command);
	if (s->collect)
		collect_sample_rate(s->collect, &rate, &rate_now);
	stop(s);
	if (s->options.output != OUTPUT_SCREEN && s->output.dropped)
		complain("%" PRIu64 " refresh%s dropped: %s", s->output.dropped, s->output.dropped == 1 ? "" : "es",
			 s->options.file ? "it could not be written in time" : "the output was read too late");
	if (options_need(&s->options, EXPORT_SAMPLES))
		report_loss(s->loss);
	if (s->gone && s->options.output != OUTPUT_SCREEN)
		fail(-ESRCH, EXIT_STATUS_TARGET, "%s", s->notice); /* unless something else failed */
	failure = complain_of_failure();
	if (rate_now < rate)
		complain("kernel.perf_event_max_sample_rate fell from %ld to %ld meanwhile; fix: sysctl -w "
			 "kernel.perf_event_max_sample_rate=%ld, and from now on: systop --clock=cpu", rate, rate_now, rate);
	log_close();
	if (failure)
		return failure;
	if (signal_number)
		die_of(signal_number);
	return status;
}

