/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of systop, and the order in which they start and end. */

#include "app/systop.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "config.h"

#include "app/check.h"
#include "app/clocksource.h"
#include "app/complain.h"
#include "app/log.h"
#include "app/namespaces.h"
#include "app/roles.h"
#include "app/services.h"
#include "collect/collect.h"
#include "collect/samplers.h"
#include "collect/words.h"
#include "helper/helper.h"
#include "model/model.h"
#include "owner/containers.h"
#include "proc/cgroup.h"
#include "proc/hierarchy.h"
#include "proc/memory.h"
#include "proc/mounts.h"
#include "proc/user.h"
#include "query/filter.h"
#include "record/rings.h"
#include "save/save.h"
#include "sym/kallsyms.h"
#include "sym/names.h"
#include "tui/screen/tui.h"
#include "tui/term/term.h"
#include "util/fail.h"
#include "util/hash.h"

/* Memory for the history, including that of dead threads. */
#define PAST_BYTES (32 << 20)

void start_helpers(void)
{
	hash_init(); /* before the fork, so that helpers have the same key */
	helper_start(processes, PROCESS_COUNT, PROCESS_STARTER); /* without helpers there are no names */
}

static void ask_again(void *arg, const struct file_key *key)
{
	collect_ask_file(((struct systop *)arg)->collect, key);
}

static uint32_t newest_program(void *arg)
{
	return collect_newest_program(((struct systop *)arg)->collect);
}

static int on_table(void *arg, uint32_t file, int fd)
{
	return collect_table(((struct systop *)arg)->collect, file, fd);
}

static int start_names(struct systop *s)
{
	struct names_options o = {
		.open_role = PROCESS_OPEN,
		.symbols_role = PROCESS_SYMBOLS,
		.kallsyms_fd = kallsyms_open(KALLSYMS_PATH),
		.ask_again = ask_again,
		.newest_program = newest_program,
		.table = s->options.table_mib ? on_table : NULL,
		.arg = s,
	};

	s->names = names_new(&o);
	s->config.role = PROCESS_CONFIG;
	s->topology.sys = TOPOLOGY_SYS;
	if (s->options.redact)
		s->redact = &s->redact_key;
	services_init(s);
	return s->names ? 0 : fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory");
}

static int start_save(struct systop *s)
{
	struct save_options o = {
		.role = PROCESS_WRITE,
		.process_info_role = PROCESS_INFO,
		.collect = s->collect,
		.names = s->names,
		.source = &s->host.source,
		.uname = &s->uts,
		.scope = s->target.text,
		.scoped = s->options.nr_cgroups || s->options.nr_pids || s->options.nr_tids ||
			  s->options.nr_users || s->options.command,
		.version = PACKAGE_VERSION,
		.argv = s->argv,
		.redact = s->redact,
		.arguments = s->options.args,
		.window_s = s->options.window_s,
		.folder = s->folder,
		.trigger = { .filter = s->when, .text = s->options.trigger, .limit = s->options.trigger_limit,
			     .quiet_ns = s->options.window_s * 1000000000ULL },
	};

	if (options_need(&s->options, EXPORT_WINDOW))
		capture_plan_begin(&s->plan);
	s->save = save_new(&o);
	o.trigger = (struct trigger){ 0 };
	s->file = save_new(&o);
	return s->save && s->file ? 0 : fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory");
}

static int open_screen(struct systop *s)
{
	struct tui_options o = {
		.host = &s->host,
		.settings = &s->settings,
		.filter = s->options.filter,
		.theme = s->theme,
		.output = &s->output,
		.notice = s->notice,
	};

	if (s->options.command && !*s->notice)
		snprintf(s->notice, sizeof(s->notice), "the command's output to the terminal is dropped: use sh -c 'COMMAND > FILE'");
	s->host.name = s->uts.nodename;
	s->host.kernel = s->uts.release;
	s->host.version = PACKAGE_VERSION;
	s->host.wait_ns = s->options.wait_ns;
	s->host.scope = s->target.text;
	s->tui = tui_open(&o);
	return s->tui ? 0 : -EIO;
}

/* Reports @text before the screen opens, and on it. */
static void warn(struct systop *s, const char *text)
{
	complain("%s", text);
	if (!*s->notice)
		snprintf(s->notice, sizeof(s->notice), "%s", text);
}

static void warn_of_cgroups(struct systop *s)
{
	const char *text = NULL;

	if (!s->mounts.nr)
		text = "no cgroup hierarchy is mounted: all threads are in /; fix: mount -t cgroup2 none /sys/fs/cgroup";
	else if (cgroups_partial(s->cgroups) && namespaces_cgroup())
		text = "inside a cgroup namespace: cgroups outside of it have no names; fix: docker run --cgroupns=host ..., "
		       "nsenter -t 1 -C systop";
	else if (cgroups_partial(s->cgroups))
		text = "only a part of the cgroups is mounted: those outside of it have no names; fix: docker run "
		       "-v /sys/fs/cgroup:/sys/fs/cgroup:ro ...";
	if (text)
		warn(s, text);
}

static void warn_of_frequency(struct systop *s)
{
	int asked = s->options.frequency, most = collect_frequency(s->collect, 0);
	char text[192];

	snprintf(text, sizeof(text), "-F %d: the kernel allows only %d samples per second; fix: sysctl -w "
		 "kernel.perf_event_max_sample_rate=%d", asked, most, asked);
	if (most < asked)
		warn(s, text);
}

/* Without a warning, stacks and profiles of time on CPUs would look like those of an idle host. */
static void warn_of_events(struct systop *s)
{
	int err = s->options.frequency ? samplers_try() : 0;
	char text[128];

	snprintf(text, sizeof(text), "no samples: perf events cannot be opened: %s; see systop --check", strerror(-err));
	if (err)
		warn(s, text);
}

/* Without helpers the frames of a profile are numbers, and most stacks are cut. */
static void warn_of_helpers(struct systop *s)
{
	char text[192];

	snprintf(text, sizeof(text), "no names and command lines, no stacks of programs: %s", helper_trouble());
	if (*helper_trouble())
		warn(s, text);
}

/* Whether there was no error so far; if so, logs the next step. */
static bool next(int err, const char *step)
{
	if (!err)
		log_step(step);
	return !err;
}

int start_log(const struct options *o)
{
	int err = o->log ? log_open(PROCESS_LOG, o->log, o->verbose) : 0;

	if (!err && o->verbose)
		words_listen(log_detail);
	return err;
}

/* @shown, @limits: controllers of the two hierarchies. */
static int start_collect(struct systop *s, const char *shown, const char *limits)
{
	unsigned int window_s = s->options.window_s > s->plan.window_s ? s->options.window_s : s->plan.window_s;
	struct collect_options o = {
		.shown_controller = shown,
		.limits_controller = limits,
		.frequency = s->options.frequency,
		.wait_ns = s->options.wait_ns,
		.self = s->options.self,
		.all_cpus = s->options.all_cpus,
		.cpu_clock = s->options.cpu_clock,
		.starter = helper_starter(),
		.peek_role = PROCESS_PEEK,
		.commands_role = PROCESS_COMMANDS,
		.facts_role = PROCESS_FACTS,
		.table_mib = s->options.table_mib,
		.save_s = s->options.window_s,
		.window_s = window_s,
		.window_bytes = s->options.window_bytes,
		.memory_spare = memory_spare(&s->mounts),
		.max_cpu = s->options.max_cpu,
		.max_memory = s->options.max_memory,
		.report_step = log_step,
		.window_now = options_need(&s->options, EXPORT_WINDOW),
	};

	s->model = model_new(PAST_BYTES);
	if (s->model && window_s)
		model_window(s->model, window_s * 1000000000ULL + SAVE_NAMES_NS + s->options.interval_ns);
	s->collect = s->model ? target_collect(&s->target, &o, s->model, s->cgroups) : NULL;
	return s->collect ? 0 : -EIO;
}

/* Nothing can be saved if nothing is recorded. */
static int check_recorder(const struct systop *s)
{
	if (!options_need(&s->options, EXPORT_WINDOW) && !s->options.trigger)
		return 0;
	if (rings_slots(collect_rings(s->collect)))
		return 0;
	fail(-ENOMEM, EXIT_STATUS_USAGE, "cannot record: no memory for the recorder's rings");
	fail_why("each CPU needs at least 16K of --window-mem, which is at most a quarter of --max-mem, and by default at most 1 %% of the host's memory and a quarter of what is left of its cgroup's limit");
	return fail_fix("systop --window-mem 64M    # or more, and no --max-mem below four times that");
}

/* @text: checked before; NULL: none. */
static int start_filter(struct filter **to, const char *text)
{
	struct filter_error error;

	*to = text ? filter_parse(text, user_lookup, &error) : NULL;
	return text && !*to ? fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory") : 0;
}

int start(struct systop *s)
{
	const char *controller, *limits;
	int err;

	err = start_log(&s->options);
	if (!err && s->options.redact && redact_init(&s->redact_key))
		err = fail(-EIO, EXIT_STATUS_RUNTIME, "no random numbers for --redact");
	if (next(err, "check the namespaces"))
		err = namespaces_check(s->options.pids, s->options.nr_pids);
	if (next(err, "check rights"))
		err = check_rights();
	if (next(err, "check the kernel and its types"))
		err = check_kernel();
	if (next(err, "measure the kernel's clock"))
		err = clocksource_check(s->options.force);
	if (next(err, "raise the limit of open files"))
		err = check_files();
	if (!err)
		err = check_stack();
	if (!err && s->options.output == OUTPUT_SCREEN)
		err = term_check();
	if (!err)
		err = start_filter(&s->when, s->options.trigger);
	if (!err)
		err = start_filter(&s->filter, s->options.filter);
	if (next(err, "find the cgroup hierarchies"))
		err = hierarchy_mounts(&s->mounts);
	if (next(err, "check the limit of memory"))
		err = memory_check(&s->mounts);
	if (!err) {
		s->containers = containers_new(PROCESS_OPEN, PROCESS_SYMBOLS);
		err = s->containers ? 0 : fail(-ENOMEM, EXIT_STATUS_RUNTIME, "out of memory");
	}
	if (next(err, "find what is asked for"))
		err = target_resolve(&s->target, &s->options, &s->mounts, s->containers);
	if (next(err, "read the cgroups")) {
		s->cgroups = hierarchy_open(&s->mounts, s->target.cgroups, &controller, &limits);
		err = s->cgroups ? 0 : -EIO;
		if (!err)
			warn_of_cgroups(s);
	}
	if (!err && s->options.command) {
		err = command_fork(&s->command, s->options.command, s->options.output == OUTPUT_SCREEN);
		if (!err)
			target_add(&s->target, s->command.pid);
	}
	if (!err)
		err = start_collect(s, controller, limits);
	if (!err) {
		warn_of_helpers(s);
		warn_of_events(s);
		warn_of_frequency(s);
		err = check_recorder(s);
	}
	if (next(err, "start what finds names"))
		err = start_names(s);
	if (!err)
		err = start_save(s);
	if (!err && s->options.output == OUTPUT_SCREEN)
		err = open_screen(s); /* the terminal's description can be a file that only root can read */
	if (next(err, "give up rights"))
		err = check_drop_privileges();
	if (!err && s->options.command)
		err = command_start(&s->command);
	next(err, "started");
	log_started();
	return err;
}

void stop(struct systop *s)
{
	tui_close(s->tui);
	sink_fini(&s->output);
	topology_fini(&s->topology);
	save_free(s->save);
	save_free(s->file);
	if (s->content)
		fclose(s->content);
	names_free(s->names);
	containers_free(s->containers);
	helper_stop();
	collect_free(s->collect);
	model_free(s->model);
	cgroups_free(s->cgroups);
	cgroup_mounts_fini(&s->mounts);
	command_end(&s->command);
	target_fini(&s->target);
	filter_free(s->filter);
	filter_free(s->when);
	options_fini(&s->options);
}
