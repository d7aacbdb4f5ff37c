/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connects the parts of a running systop; start.c builds it. All start errors are found before the screen opens; later
 * ones are reported after it has closed.
 */

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"

#include "app/check.h"
#include "app/complain.h"
#include "app/config_file.h"
#include "app/config_write.h"
#include "app/crash.h"
#include "app/log.h"
#include "app/loop.h"
#include "app/print.h"
#include "app/priority.h"
#include "app/refresh.h"
#include "app/symbol_dirs.h"
#include "app/systop.h"
#include "collect/collect.h"
#include "collect/words.h"
#include "export/exporter.h"
#include "helper/helper.h"
#include "model/tick.h"
#include "owner/containers.h"
#include "save/destination.h"
#include "save/save.h"
#include "sym/names.h"
#include "tui/screen/tui.h"
#include "tui/term/theme.h"
#include "util/fail.h"
#include "util/invoker.h"
#include "util/standard.h"

/* Time to the first tick: the screen does not stay empty for a whole interval. */
#define FIRST_NS 50000000

/* The processes of -p have ended: a table or JSON ends, too; the screen stays. */
static enum loop_verdict targets_gone(struct systop *s, const struct tick *t)
{
	char when[16], what[192];
	struct tm tm;

	if (s->gone || s->options.command || options_need(&s->options, EXPORT_SAMPLES) || !target_gone(&s->target, t))
		return LOOP_GO_ON;
	s->gone = true;
	localtime_r(&t->wall.tv_sec, &tm);
	strftime(when, sizeof(when), "%H:%M:%S", &tm);
	snprintf(what, sizeof(what), "%s exited by %s",
		 s->target.nr_pidfds > 1 ? "all processes of -p" : s->target.last, when);
	if (s->options.output == OUTPUT_SCREEN) {
		log_line("%s", what);
		tui_notice(s->tui, "%s", what);
		return LOOP_GO_ON;
	}
	fail(-ESRCH, EXIT_STATUS_TARGET, "%s", what);
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

static enum loop_verdict on_work(void *arg)
{
	struct systop *s = arg;

	helper_work();
	collect_files(s->collect, on_file, s);
	collect_blocked_work(s->collect);
	for (uint32_t file = 0; (file = collect_table_wanted(s->collect, file));)
		names_table(s->names, file);
	names_work(s->names);
	containers_work(s->containers);
	return LOOP_GO_ON;
}

static void fetch_names(void *arg)
{
	on_work(arg);
}

/* Longest wait for the reader of the output at the end. */
#define LAST_MS 400

/* Reports the result of a save. */
static void report_save(struct systop *s)
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
	} else if (!save_busy(s->save) && (!options_need(&s->options, EXPORT_WINDOW) || !err)) {
		complain("%s", text);
	}
	if (!s->tui && has_fix && !options_need(&s->options, EXPORT_WINDOW))
		complain("fix: %s", save_fix(err));
}

static enum loop_verdict on_input(void *arg);

static enum loop_verdict output_verdict(int err)
{
	if (!err)
		return LOOP_GO_ON;
	fail(err, EXIT_STATUS_RUNTIME, "cannot write the output: %s", strerror(-err));
	return LOOP_FAILED;
}

static bool on_unfinished(void *arg)
{
	return ((struct systop *)arg)->unfinished;
}

static enum loop_verdict on_line(void *arg)
{
	return output_verdict(refresh_go_on(arg));
}

static enum loop_verdict on_tick(void *arg)
{
	struct systop *s = arg;
	const struct options *o = &s->options;
	enum loop_verdict verdict;
	const struct tick *t;
	int err = 0;

	target_refresh(&s->target, s->collect);
	belongs_update(&s->belongs, s->containers, s->cgroups);
	if (options_need(o, EXPORT_SAMPLES))
		collect_sleepers(s->collect);
	t = collect_tick(s->collect);
	if (!t) {
		fail(-errno, EXIT_STATUS_RUNTIME, "cannot read the refresh: %s", strerror(errno));
		return LOOP_FAILED;
	}
	services_note(&s->output, t);
	if (o->output == OUTPUT_SCREEN) {
		/* Pending keys refer to the rows drawn now, not to those of the new refresh. */
		verdict = on_input(s);
		if (verdict != LOOP_GO_ON) {
			tick_put(t);
			return verdict;
		}
		tui_tick(s->tui, t);
	} else if (options_need(o, EXPORT_TICKS)) {
		err = refresh_write(s, t, fetch_names);
	}
	if (save_tick(s->save, t))
		report_save(s);
	on_work(s);
	verdict = targets_gone(s, t);
	tick_put(t);
	if (err)
		return output_verdict(err);
	if (verdict != LOOP_GO_ON)
		return verdict;
	return o->iterations && ++s->ticks == o->iterations ? LOOP_STOP : LOOP_GO_ON;
}

/* The result of the last write of a file of refreshes. */
static enum loop_verdict file_verdict(struct systop *s)
{
	int err = save_busy(s->file) ? 0 : save_failure(s->file)->err;

	if (!err)
		return LOOP_GO_ON;
	fail(err, EXIT_STATUS_RUNTIME, "%s", save_text(s->file));
	if (err != -ECANCELED)
		fail_fix("%s", save_fix(err));
	return LOOP_FAILED;
}

/* The processes have ended: reports what was sampled at once. */
static enum loop_verdict on_sampled_harvest(struct systop *s)
{
	if (!target_ended(&s->target) || s->options.command)
		return LOOP_GO_ON;
	return on_tick(s) == LOOP_FAILED ? LOOP_FAILED : LOOP_STOP;
}

static enum loop_verdict on_harvest(void *arg)
{
	struct systop *s = arg;
	int err = collect_harvest(s->collect);
	char said[512];

	on_work(s); /* late helpers */
	belongs_update(&s->belongs, s->containers, s->cgroups);
	if (!save_busy(s->save)) /* saving needs names */
		collect_files_age(s->collect, on_forget, s);
	if (save_work(s->save))
		report_save(s);
	save_work(s->file);
	if (file_verdict(s) == LOOP_FAILED)
		return LOOP_FAILED;
	if (s->tui && config_write_work(&s->sources.config, said, sizeof(said)))
		tui_notice(s->tui, "%s", said);
	if (!err)
		return options_need(&s->options, EXPORT_SAMPLES) ? on_sampled_harvest(s) : LOOP_GO_ON;
	fail(err, EXIT_STATUS_RUNTIME, "cannot read the slots: %s", strerror(-err));
	return LOOP_FAILED;
}

/* SIGUSR1: like the key w. */
static void on_save(void *arg)
{
	struct systop *s = arg;

	int err = save_start(s->save, &export_trace, s->options.save_path, s->options.save_fd, "", NULL);

	if (err ? err != -EBUSY && err != -EOPNOTSUPP : s->options.output == OUTPUT_SCREEN)
		report_save(s);
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
	return output_verdict(err);
}

static void on_suspend(void *arg)
{
	tui_suspend(((struct systop *)arg)->tui);
}

static void on_resume(void *arg)
{
	tui_resume(((struct systop *)arg)->tui);
}

static void on_resize(void *arg)
{
	tui_resize(((struct systop *)arg)->tui);
}

static const struct loop_ops screen_ops = {
	.tick = on_tick,
	.harvest = on_harvest,
	.input = on_input,
	.work = on_work,
	.save = on_save,
	.unsent = on_unsent,
	.send = on_send,
	.resize = on_resize,
	.suspend = on_suspend,
	.resume = on_resume,
};

static const struct loop_ops batch_ops = {
	.tick = on_tick,
	.harvest = on_harvest,
	.work = on_work,
	.save = on_save,
	.unsent = on_unsent,
	.send = on_send,
	.unfinished = on_unfinished,
	.go_on = on_line,
};

static enum loop_verdict on_input(void *arg)
{
	struct systop *s = arg;

	switch (tui_input(s->tui)) {
	case TUI_QUIT:
		return LOOP_STOP;
	case TUI_SUSPEND:
		loop_suspend(&screen_ops, s);
		return LOOP_GO_ON;
	default:
		return LOOP_GO_ON;
	}
}

/* Applies the config file, then the command line. */
static void read_settings(struct systop *s)
{
	static struct theme theme;
	const struct options *o = &s->options;
	struct theme_files files;
	char error[160];

	settings_default(&s->settings);
	config_read(&s->settings, s->notice, sizeof(s->notice));
	for (size_t i = 0; i < o->nr_settings; i++)
		settings_set(&s->settings, o->settings[i].section, o->settings[i].name,
			     o->settings[i].value, 0, error, sizeof(error));
	config_themes(&files);
	s->theme = &theme;
	if (!theme_load(&theme, s->settings.theme, &files, error, sizeof(error)))
		return;
	if (!*s->notice)
		snprintf(s->notice, sizeof(s->notice), "theme in the config: %s; using the default", error);
	theme_load(&theme, "default", NULL, error, sizeof(error));
	snprintf(theme.name, sizeof(theme.name), "%s", s->settings.theme); /* W keeps the file's value */
}

/* Finds the place of a trace before anything is recorded. */
static int find_places(struct options *o)
{
	int err = 0;

	o->file_fd = o->save_fd = -1;
	if (o->file && !strcmp(o->file, "-"))
		o->file_fd = STDOUT_FILENO;
	else if (o->file)
		err = destination_check(o->file, &o->file_fd);
	if (!err && o->save_path)
		err = destination_check(o->save_path, &o->save_fd);
	return err;
}

/* Everything that is read and looked up as the invoker before the start. */
static int read_all(struct systop *s, int argc, char **argv)
{
	int err = invoker_begin();

	if (err)
		return fail(err, EXIT_STATUS_PERMISSION, "cannot read files as the user: %s", strerror(-err));
	err = options_parse(argc, argv, &s->options);
	if (!err) {
		read_settings(s);
		symbol_dirs_find(&s->options);
		err = find_places(&s->options);
	}
	invoker_end();
	return err;
}

/* Ends like a process killed by the signal, so that a shell reports 128 + its number. */
static void die_of(int signal_number)
{
	signal(signal_number, SIG_DFL);
	loop_unblock_signals();
	raise(signal_number);
}

/* Blocks until the save in progress ends, also on quit. @reader: see save_finish(). */
static void finish_save(struct systop *s, int reader)
{
	const struct tick *t = save_busy(s->save) ? collect_tick(s->collect) : NULL;

	if (!t)
		return;
	if (s->options.output == OUTPUT_SCREEN) {
		tui_close(s->tui);
		s->tui = NULL;
		report_save(s);
	}
	save_finish(s->save, t, reader, fetch_names, s);
	tick_put(t);
	report_save(s);
}

/* -w: saves the recording after its end. */
static void save_trace(struct systop *s, bool asked_to_end)
{
	const struct options *o = &s->options;
	const char *name = strcmp(o->file, "-") ? o->file : "standard output";
	int err = save_start(s->save, o->exporter, name, o->file_fd, "", NULL);

	finish_save(s, asked_to_end ? o->file_fd : -1);
	if (!err)
		err = save_failure(s->save)->err;
	if (!err)
		return;
	fail(err, EXIT_STATUS_RUNTIME, "%s", *save_text(s->save) ? save_text(s->save) : strerror(-err));
	if (err != -ECANCELED)
		fail_fix("%s", save_fix(err));
}

static int begin_output(struct systop *s)
{
	int err = refresh_begin(s);

	return err ? fail(err, EXIT_STATUS_RUNTIME, "cannot begin the output: %s", strerror(-err)) : 0;
}

/* Writes and reports what the exporter makes only at the end: a signal then just ended the recording, as with -w. */
static enum loop_verdict finish_file(struct systop *s, int *signal_number)
{
	int reader = *signal_number ? s->options.file_fd : -1, err;
	enum loop_verdict verdict;

	save_finish(s->file, NULL, reader, fetch_names, s);
	verdict = file_verdict(s);
	if (verdict == LOOP_FAILED)
		return verdict;
	err = refresh_end(s);
	if (err || !save_busy(s->file))
		return err ? output_verdict(err) : LOOP_STOP;
	save_finish(s->file, NULL, reader, fetch_names, s);
	verdict = file_verdict(s);
	if (verdict != LOOP_FAILED)
		complain("%s", save_text(s->file));
	*signal_number = 0;
	return verdict;
}

/* Completes the pending line if it is being read; then writes the rest that the exporter has. */
static enum loop_verdict finish_output(struct systop *s, enum loop_verdict verdict, int *signal_number)
{
	int err;

	if (s->tui)
		return verdict;
	if (verdict != LOOP_FAILED && *signal_number && options_need(&s->options, EXPORT_REST))
		verdict = on_tick(s);
	if (verdict != LOOP_FAILED && s->options.file && options_need(&s->options, EXPORT_TICKS))
		return finish_file(s, signal_number);
	if (s->options.file) /* an incomplete refresh is not written */
		s->unfinished = true;
	sink_finish(&s->output, LAST_MS);
	err = refresh_end(s);
	sink_finish(&s->output, LAST_MS);
	return verdict == LOOP_FAILED || !err ? verdict : output_verdict(err);
}

/* Before systop is ready: the number of refreshes, and a window that holds them. */
static void plan_capture(struct systop *s)
{
	struct options *o = &s->options;

	s->plan = (struct capture_plan){ .at = o->at, .duration_ns = o->duration_ns };
	capture_plan_init(&s->plan, o->interval_ns);
	if (o->duration_ns)
		o->iterations = s->plan.refreshes;
	if (o->window_s < s->plan.window_s)
		o->window_s = s->plan.window_s;
}

static int run(struct systop *s)
{
	bool screen = s->options.output == OUTPUT_SCREEN;
	struct loop_options o = {
		.first_ns = screen ? FIRST_NS : s->options.interval_ns,
		.interval_ns = screen ? s->settings.delay_ns : s->options.interval_ns,
		.terminal_fd = -1,
		.work_fds = { -1, -1, -1, -1 },
		.output_fd = STDOUT_FILENO,
	};
	int signal_number = 0, status;
	enum loop_verdict verdict = LOOP_FAILED;
	enum exit_status failure;
	long rate = 0, rate_now = 0;

	if (options_need(&s->options, EXPORT_WINDOW)) {
		plan_capture(s);
		o.interval_ns = s->plan.interval_ns;
	}
	loop_block_signals();
	priority_raise();
	start_helpers();
	crash_catch(PACKAGE_VERSION); /* helpers have no terminal to restore */
	if (!start(s) && !begin_output(s)) {
		o.work_fds[0] = names_fd(s->names);
		o.work_fds[1] = collect_files_fd(s->collect);
		o.work_fds[2] = collect_blocked_fd(s->collect);
		o.work_fds[3] = containers_fd(s->containers);
		o.terminal_fd = screen ? STDIN_FILENO : -1;
		if (options_need(&s->options, EXPORT_WINDOW))
			o.first_ns = s->plan.first_ns;
		o.child = s->command.pid;
		verdict = loop_run(&o, screen ? &screen_ops : &batch_ops, s, &signal_number, &s->command.status);
		verdict = finish_output(s, verdict, &signal_number);
		if (options_need(&s->options, EXPORT_WINDOW) && verdict != LOOP_FAILED) {
			save_trace(s, signal_number);
			signal_number = 0;
		} else {
			finish_save(s, -1);
		}
	}
	status = command_exit_status(&s->command);
	if (s->collect)
		collect_sample_rate(s->collect, &rate, &rate_now);
	stop(s);
	if (!screen && s->output.dropped)
		complain("%" PRIu64 " refresh%s dropped: the output was read too late", s->output.dropped,
			 s->output.dropped == 1 ? "" : "es");
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

/* Checks before measuring starts that there is a reader of the output. */
static int check_output(const struct options *o)
{
	bool used = o->output != OUTPUT_SCREEN && (!o->file || !strcmp(o->file, "-"));

	if (!used || !standard_closed(STDOUT_FILENO))
		return 0;
	return fail(-EBADF, EXIT_STATUS_RUNTIME, "cannot write the output: standard output is closed");
}

static int print_or_run(struct systop *s)
{
	int status = print_asked(&s->options, &s->settings);

	return status < 0 ? run(s) : status;
}

/* --check -v: the helper of the log is needed. */
static int check_with_log(struct systop *s)
{
	int status;

	start_helpers();
	if (start_log(&s->options))
		status = failure_print(stderr);
	else
		status = print_or_run(s);
	log_close();
	helper_stop();
	return status;
}

int main(int argc, char **argv)
{
	struct systop s = { .output.fd = STDOUT_FILENO };

	if (check_setuid())
		return failure_print(stderr);
	standard_open();
	if (invoker_find())
		return failure_print(stderr);
	setlocale(LC_ALL, "");
	signal(SIGXFSZ, SIG_IGN); /* a file that gets too large is an ordinary error */
	words_listen(NULL); /* for developers; fail() reports errors */
	argv[0] = (char[]){ "systop" };
	if (read_all(&s, argc, argv) || check_output(&s.options)) {
		options_fini(&s.options);
		return failure_print(stderr);
	}
	s.argv = argv;
	uname(&s.uts);
	return s.options.output == OUTPUT_CHECK && s.options.verbose ? check_with_log(&s) : print_or_run(&s);
}
