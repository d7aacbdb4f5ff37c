/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/completions.h"
#include "app/options_parts.h"
#include "export/exporter.h"
#include "save/trigger.h"
#include "tui/input/settings.h"
#include "tui/widget/prompt.h"
#include "util/fail.h"
#include "util/vec.h"

#define WINDOW_DEFAULT_S 30
#define WINDOW_MAX_S 600
#define FREQUENCY_DEFAULT 99
#define FREQUENCY_MAX 9999
#define TABLE_MIB_MAX 64
#define WAIT_MAX_NS 10000000000ULL
#define DURATION_MAX_NS (100ULL * 365 * 24 * 3600 * 1000000000) /* a hundred years: clocks do not overflow */
#define MAX_MEM_LEAST (1U << 20)

bool options_need(const struct options *o, unsigned int needs)
{
	return o->exporter && o->exporter->needs & needs;
}

static error_t parse_exporter(struct options *o, int key, const char *arg)
{
	const struct argp_option row = { .key = key };
	const struct exporter *e = options_exporter(&row);

	return e ? options_set_exporter(o, e, arg) : ARGP_ERR_UNKNOWN;
}

static const char not_a_command[] = "the command to run must follow --";

/* "-b 5 3", as for vmstat: the interval and the number of refreshes. */
static error_t parse_number_of_refreshes(struct options *o, const char *arg, bool before_command)
{
	const char *of = o->nr_numbers ? "0123456789." : "0123456789.ms"; /* 500ms */

	if (!before_command || o->nr_numbers == 2 || strspn(arg, of) != strlen(arg) || !strpbrk(arg, "0123456789"))
		return ARGP_ERR_UNKNOWN; /* argp then calls with ARGP_KEY_ARGS */
	if (!o->nr_numbers++)
		o->numbers = arg;
	return o->nr_numbers == 1 ? options_set_delay(o, arg) : options_set_iterations(o, arg);
}

/* What depends on more than one option, whatever their order. Returns 0, EINVAL after fail(), or ENOMEM. */
static int together(struct options *o)
{
	if (o->nr_numbers && !options_need(o, EXPORT_TICKS))
		return options_bad_value("the command line", o->numbers, not_a_command);
	if (o->check && o->output == OUTPUT_SCHEMA)
		o->output = OUTPUT_CHECK_SCHEMA;
	if (o->check && o->exporter == &export_json) /* its own form of --check */
		o->output = OUTPUT_CHECK;
	else if (o->output == OUTPUT_CHECK)
		options_set_output(o, OUTPUT_CHECK);
	if (o->output == OUTPUT_SCREEN && o->save_path && o->duration_ns) {
		const char *path = o->save_path;

		o->save_path = NULL;
		return options_set_exporter(o, &export_trace, path);
	}
	return o->save_path ? options_check_file("-o", o->save_path) : 0;
}

/* --at is of recordings only: another output would begin at once. */
static int check_at(const struct options *o)
{
	bool runs = o->output == OUTPUT_SCREEN || o->output == OUTPUT_EXPORT;

	if (o->at.kind == SCHEDULE_NOW || !runs || o->exporter == &export_trace)
		return 0;
	fail(-EINVAL, EXIT_STATUS_USAGE, "--at is given without -w");
	fail_why("it is the time at which a recording begins");
	return -fail_fix("systop -w trace.pb --at /60 --duration 10");
}

/* A trigger has nothing to save if nothing is recorded. */
static int check_trigger(const struct options *o)
{
	if (!o->trigger || o->window_s)
		return 0;
	return options_bad_value("--window", "0", "--on saves what is recorded: expected at least 1 second");
}

static int check_sort(const struct options *o)
{
	if (!o->exporter || !o->sort_text)
		return 0;
	if (o->exporter != &export_table)
		return options_bad_value("-s", o->sort_text, "only the screen and the tables of -b are sorted");
	if (metric_find(o->sort_text) != METRIC_COUNT && metrics[o->sort].level != LEVEL_OF_CGROUPS)
		return 0;
	return options_bad_value("-s", o->sort_text, "only the screen sorts by it: systop -s help lists the columns");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'c':
		if (!*arg)
			return options_bad_value("-c", arg, "expected a cgroup's path, a glob or a part of its name");
		return -VEC_PUSH(o->cgroups, o->nr_cgroups, o->cgroups_room, (const char *)arg);
	case 'p':
		return options_add_numbers("-p", arg, "expected process numbers, separated by commas",
					   &o->pids, &o->nr_pids, &o->pids_room);
	case 't':
		return options_add_numbers("-t", arg, "expected thread numbers, separated by commas",
					   &o->tids, &o->nr_tids, &o->tids_room);
	case 'H':
		return options_add_setting(o, "-H", "view", "start", "threads");
	case 'u':
		return -VEC_PUSH(o->users, o->nr_users, o->users_room, (const char *)arg);
	case 'd':
		return options_set_delay(o, arg);
	case 's':
		return options_set_sort(o, arg);
	case 'F':
		return options_set_number("-F", arg, 0, FREQUENCY_MAX, "expected samples per second, 1 to 9999, or 0 for none",
					  &o->frequency);
	case KEY_CLOCK:
		return options_set_clock(o, arg);
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_REDACT:
	case KEY_ARGS:
		o->redact |= key == KEY_REDACT;
		o->args |= key == KEY_ARGS;
		return o->redact && o->args ? options_clash("--redact", "--args") : 0;
	case KEY_SELF:
		o->self = true;
		return 0;
	case KEY_ALL_CPUS:
		o->all_cpus = true;
		return 0;
	case KEY_TABLE_MEM:
		return options_set_number("--table-mem", arg, 0, TABLE_MIB_MAX, "expected MiB from 0 to 64", &o->table_mib);
	case KEY_SYMBOL_DIR:
		return symbol_dirs_add(o, arg);
	case KEY_WINDOW:
		return options_set_number("--window", arg, 0, WINDOW_MAX_S, "expected seconds from 0 to 600", &o->window_s);
	case 'o':
		return options_set_output_file(o, arg);
	case 'v':
	case KEY_LOG:
		return options_set_log(o, arg, key == 'v');
	case KEY_ON:
		return options_set_trigger(o, arg);
	case KEY_ON_LIMIT:
		return options_set_number("--on-limit", arg, 1, TRIGGER_LIMIT_MAX, "expected a number from 1 to 1000",
					  &o->trigger_limit);
	case KEY_WAIT_MIN:
		return options_set_duration("--wait-min", arg, WAIT_LEAST_NS, WAIT_MAX_NS, "expected a time from 10us to 10s",
					    &o->wait_ns);
	case KEY_MAX_CPU:
		return options_set_max_cpu(o, arg);
	case KEY_MAX_MEM:
		return options_set_size("--max-mem", arg, MAX_MEM_LEAST, "expected a size such as 100M or 1G, at least 1M",
					&o->max_memory);
	case KEY_AT:
		if (schedule_parse(arg, &o->at))
			return options_bad_value("--at", arg, "expected @HH:MM:SS, +SEC or /SEC, such as @14:30:00 or /60");
		return 0;
	case KEY_DURATION:
		return options_set_duration("--duration", arg, DELAY_MIN_NS, DURATION_MAX_NS,
					    "expected 0.1 seconds or more: 10, 500ms, 5m or 2h", &o->duration_ns);
	case KEY_WINDOW_MEM:
		return options_set_size("--window-mem", arg, 1, "expected a size such as 512K, 64M or 1G", &o->window_bytes);
	case 'n':
		return options_set_iterations(o, arg);
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_SCHEMA:
		return options_set_output(o, OUTPUT_SCHEMA);
	case KEY_FILTER:
		return options_set_filter("--filter", &o->filter, arg, false);
	case KEY_ASCII:
		return options_add_setting(o, "--ascii", "look", "ascii", "always");
	case KEY_COLOR:
		return options_add_setting(o, "--color", "look", "color", arg);
	case KEY_FULL_NAMES:
		return options_add_setting(o, "--full-names", "look", "full-names", "yes");
	case KEY_THEME:
		return options_set_theme(o, arg);
	case KEY_MOUSE:
		return options_add_setting(o, "--mouse", "look", "mouse", "yes");
	case KEY_VIEW:
		return options_add_setting(o, "--view", "view", "start", arg);
	case KEY_PRINT_CONFIG:
		return options_set_output(o, OUTPUT_CONFIG);
	case KEY_COMPLETIONS:
		if (completions_print(NULL, arg))
			return options_bad_value("--completions", arg, "expected bash, zsh or fish");
		o->shell = arg;
		return options_set_output(o, OUTPUT_COMPLETIONS);
	case KEY_CHECK:
		o->check = true;
		o->output = o->output == OUTPUT_SCHEMA ? OUTPUT_SCHEMA : OUTPUT_CHECK;
		return 0;
	case KEY_LIST_CGROUPS:
		return options_set_output(o, OUTPUT_LIST_CGROUPS);
	case 'V':
		return options_set_output(o, OUTPUT_VERSION);
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case ARGP_KEY_ARG:
		return parse_number_of_refreshes(o, arg, strcmp(state->argv[state->next - 2], "--"));
	case ARGP_KEY_ARGS:
		/* Other words that follow no option are a command only after "--". */
		if (strcmp(state->argv[state->next - 1], "--"))
			return options_bad_value("the command line", state->argv[state->next],
					 not_a_command);
		o->command = state->argv + state->next;
		state->next = state->argc;
		return 0;
	default:
		return parse_exporter(o, key, arg);
	}
}

/* The screen can show and edit only as much as its prompt holds. */
static int check_filter(const struct options *o)
{
	if (o->output != OUTPUT_SCREEN || !o->filter || strlen(o->filter) < PROMPT_SIZE)
		return 0;
	return options_bad_value("--filter", o->filter,
				 "expected less than 256 bytes for a screen; -p, -t and -b take more");
}

/* argp itself prints its complaints (unknown option, missing value) to stderr. */
int options_parse(int argc, char **argv, struct options *o)
{
	const struct argp argp = {
		.options = options_table(),
		.parser = parse_option,
		.args_doc = "[-b [SEC [N]]] [-- COMMAND [ARG...]]",
		.doc = "Shows live where the time of every cgroup, process and thread goes."
		       "\vsystop only observes: it never kills, renices or moves anything.\n"
		       "Exit status: 0 ok, 1 failure, 2 usage, 3 kernel, 4 permission, "
		       "5 target not found.",
	};
	int err;

	*o = (struct options){ .interval_ns = 1000000000, .sort = METRIC_RUN,
				.frequency = FREQUENCY_DEFAULT, .table_mib = TABLE_MIB_MAX,
				.window_s = WINDOW_DEFAULT_S, .trigger_limit = TRIGGER_LIMIT, .wait_ns = WAIT_DEFAULT_NS };
	argp_err_exit_status = EXIT_STATUS_USAGE;
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, o);
	err = err ? err : together(o);
	err = err ? err : check_filter(o);
	err = err ? err : check_trigger(o);
	err = err ? err : check_sort(o);
	return -(err ? err : check_at(o));
}

void options_fini(struct options *o)
{
	free(o->cgroups);
	free(o->pids);
	free(o->tids);
	free(o->users);
	free(o->settings);
	for (size_t i = 0; i < o->nr_symbol_dirs; i++)
		free(o->symbol_dirs[i]);
}
