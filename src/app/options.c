/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/options.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app/completions.h"
#include "app/config_file.h"
#include "export/exporter.h"
#include "proc/user.h"
#include "query/filter.h"
#include "save/trigger.h"
#include "tui/input/settings.h"
#include "tui/input/views.h"
#include "tui/term/theme.h"
#include "util/fail.h"
#include "util/format.h"
#include "util/text.h"
#include "util/vec.h"

#define INTERVAL_MIN_NS 100000000ULL
#define FREQUENCY_MAX 9999
#define TABLE_MIB_MAX 64
#define WINDOW_MAX_S 600
#define MAX_MEM_LEAST (1U << 20)
#define WINDOW_DEFAULT_S 30
#define FREQUENCY_DEFAULT 99
#define INTERVAL_MAX_NS 60000000000ULL

enum {
	KEY_SCHEMA = 256,
	KEY_ALL,
	KEY_CHECK,
	KEY_USAGE,
	KEY_LIST_CGROUPS,
	KEY_FILTER,
	KEY_ASCII,
	KEY_COLOR,
	KEY_FULL_NAMES,
	KEY_THEME,
	KEY_MOUSE,
	KEY_VIEW,
	KEY_PRINT_CONFIG,
	KEY_COMPLETIONS,
	KEY_SELF,
	KEY_ALL_CPUS,
	KEY_TABLE_MEM,
	KEY_SYMBOL_DIR,
	KEY_WINDOW,
	KEY_WINDOW_MEM,
	KEY_DURATION,
	KEY_AT,
	KEY_ON,
	KEY_ON_LIMIT,
	KEY_WAIT_MIN,
	KEY_MAX_CPU,
	KEY_MAX_MEM,
	KEY_LOG,
	KEY_CLOCK,
	KEY_FORCE,
	KEY_EXPORTERS, /* and up: options of exporters without a letter, by their place */
};

/* Options of exporters follow the title of their group. */
#define GROUP_EXPORTERS 2
static const struct argp_option own_options[] = {
	{ 0, 0, 0, 0, "What to show:", 1 },
	{ "cgroup", 'c', "SPEC", 0, "only this cgroup and everything below it: a path, a glob, a unit, container or pod, or a unique part of a name (repeatable)", 1 },
	{ "pid", 'p', "PID[,PID...]", 0, "only these processes, their threads, and what they fork from now on (repeatable)", 1 },
	{ "user", 'u', "USER", 0, "only this user's threads (repeatable)", 1 },
	{ "delay", 'd', "SEC", 0, "refresh interval, 0.1 to 60 (default 1; also 500ms)", 1 },
	{ "sort", 's', "COLUMN", 0, "sort by this column; help lists them", 1 },
	{ "filter", KEY_FILTER, "EXPR", 0, "show only what matches: 'cg:api !kworker cpu>5 runq.p99>1ms state=D'", 1 },
	{ "freq", 'F', "HZ", 0, "samples per second on each CPU, 1 to 9999 (default 99)", 1 },
	{ "clock", KEY_CLOCK, "KIND", 0, "sampling event: cycles if the CPU counts them (default), or cpu: its clock", 1 },
	{ "self", KEY_SELF, 0, 0, "sample systop itself, too", 1 },
	{ "all-cpus", KEY_ALL_CPUS, 0, 0, "sample isolated and nohz_full CPUs, too", 1 },
	{ "table-mem", KEY_TABLE_MEM, "MIB", 0, "memory for walking stacks without frame pointers, 0 to 64 (default 64); 0: follow frame pointers", 1 },
	{ "symbol-dir", KEY_SYMBOL_DIR, "DIR", 0, "look for debug information here, too: by build-id, or by the name in .gnu_debuglink (repeatable, at most 8)", 1 },
	{ "window", KEY_WINDOW, "SEC", 0, "seconds that w saves, 0 to 600 (default 30); 0: nothing is recorded", 1 },
	{ "window-mem", KEY_WINDOW_MEM, "SIZE", 0, "memory for the window, such as 64M or 1G (default: enough for 20,000 events per second, at most 1 % of the host's and 1 GiB)", 1 },
	{ "wait-min", KEY_WAIT_MIN, "TIME", 0, "record what ran instead in waits for a CPU of at least TIME, 10us to 10s (default 100us)", 1 },
	{ "max-cpu", KEY_MAX_CPU, "PERCENT", 0, "limit the CPU time of systop and its BPF programs to this share of one CPU, 0.1 to 1000, by leaving out details (default: no limit)", 1 },
	{ "max-mem", KEY_MAX_MEM, "SIZE", 0, "limit its memory likewise, such as 100M or 1G (default: no limit)", 1 },
	{ "on", KEY_ON, "EXPR", 0, "save a trace when a thread does this, and go on: 'runq.p99>20ms', 'd>2s comm=java'", 1 },
	{ "on-limit", KEY_ON_LIMIT, "N", 0, "at most N traces per hour (default 6)", 1 },
	{ "output", 'o', "FILE", 0, "where w saves (default: systop-HOST-TIME.pb here)", 1 },
	{ "log", KEY_LOG, "FILE", 0, "add to this file what is reported while the screen is open, and a crash", 1 },
	{ "verbose", 'v', "FILE", 0, "like --log, plus the steps of the start and all messages of libbpf and the verifier", 1 },
	{ "force", KEY_FORCE, 0, 0, "start although a read of the kernel's clock takes long (see --check)", 1 },
	{ 0, 0, 0, 0, "Without a screen:", GROUP_EXPORTERS },
	{ "duration", KEY_DURATION, "SEC", 0, "how long -w records", 2 },
	{ "at", KEY_AT, "TIME", 0, "when -w begins: @HH:MM:SS, +SEC from now, or /SEC: at the next multiple of it by the clock", 2 },
	{ "iterations", 'n', "N", 0, "end after N intervals", 2 },
	{ "all", KEY_ALL, 0, 0, "with -b and --json: also threads that did nothing", 2 },
	{ "schema", KEY_SCHEMA, 0, 0, "print the JSON schema of --json and exit", 2 },
	{ 0, 0, 0, 0, "Looks:", 3 },
	{ "ascii", KEY_ASCII, 0, 0, "draw with ASCII only", 3 },
	{ "color", KEY_COLOR, "WHEN", 0, "auto, always or never (default auto; NO_COLOR is respected)", 3 },
	{ "full-names", KEY_FULL_NAMES, 0, 0, "show names of C++ and Rust functions with all arguments, not shortened", 3 },
	{ "theme", KEY_THEME, "NAME", 0, "default, light, mono, colour-blind, 16-colour, or a file", 3 },
	{ "mouse", KEY_MOUSE, 0, 0, "use the mouse (key m)", 3 },
	{ "view", KEY_VIEW, "NAME", 0, "shown first:" VIEW_NAMES, 3 },
	{ "print-config", KEY_PRINT_CONFIG, 0, 0, "print all settings as a config file and exit", 3 },
	{ 0, 0, 0, 0, "Information:", 4 },
	{ "check", KEY_CHECK, 0, 0, "check whether systop can run here, and exit", 4 },
	{ "list-cgroups", KEY_LIST_CGROUPS, 0, 0, "list the cgroups of every hierarchy and exit", 4 },
	{ "completions", KEY_COMPLETIONS, "SHELL", 0, "print the completions for bash, zsh or fish and exit", 4 },
	{ "version", 'V', 0, 0, "print version and libraries and exit", 4 },
	{ "help", 'h', 0, 0, "print this help and exit", 4 },
	{ "usage", KEY_USAGE, 0, 0, "print the options in short and exit", 4 },
	{ 0 }
};

static int key_of(unsigned int place)
{
	const struct exporter *e = exporter_at(place);

	return e->letter ? e->letter : KEY_EXPORTERS + (int)place;
}

/* "cpu, runq or wall" */
static void words_text(const struct exporter *e, char *buf, size_t size)
{
	size_t used = 0;

	for (int i = 0; e->word(i) && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s", !i ? "" : e->word(i + 1) ? ", " : " or ", e->word(i));
}

static const char *exporter_help(const struct exporter *e)
{
	char words[128], *help = NULL;

	if (!e->word)
		return e->help;
	words_text(e, words, sizeof(words));
	return asprintf(&help, "%s: %s", e->help, words) < 0 ? e->help : help;
}

const struct argp_option *options_table(void)
{
	static struct argp_option *table;
	const struct exporter *e;
	struct argp_option *to;
	unsigned int nr = 0;

	while (exporter_at(nr))
		nr++;
	if (table || !(table = calloc(sizeof(own_options) / sizeof(own_options[0]) + nr, sizeof(*table))))
		return table ? table : own_options;
	to = table;
	for (const struct argp_option *own = own_options; own->name || own->doc; own++) {
		*to++ = *own;
		for (unsigned int i = 0; !own->name && own->group == GROUP_EXPORTERS && (e = exporter_at(i)); i++)
			*to++ = (struct argp_option){ e->name, key_of(i), e->operand, 0, exporter_help(e), GROUP_EXPORTERS };
	}
	return table;
}

const struct exporter *options_exporter(const struct argp_option *row)
{
	const struct exporter *e;

	for (unsigned int i = 0; (e = exporter_at(i)); i++)
		if (row->key == key_of(i))
			return e;
	return NULL;
}

bool options_need(const struct options *o, unsigned int needs)
{
	return o->exporter && o->exporter->needs & needs;
}

static int bad_value(const char *option, const char *value, const char *wanted)
{
	char safe[128];

	text_safe(safe, sizeof(safe), value, strlen(value));
	fail(-EINVAL, EXIT_STATUS_USAGE, "bad value for %s: \"%s\"", option, safe);
	fail_why("%s", wanted);
	fail_fix("systop --help");
	return EINVAL;
}

static int add_pids(struct options *o, const char *arg)
{
	static const char wanted[] = "process numbers, separated by commas, are wanted";
	const char *at = arg;

	for (;;) {
		char *end;
		long pid;

		errno = 0;
		pid = strtol(at, &end, 10);
		if (errno || end == at || pid <= 0 || pid > 1 << 22 || (*end && *end != ','))
			return bad_value("-p", arg, wanted);
		if (VEC_PUSH(o->pids, o->nr_pids, o->pids_room, (pid_t)pid))
			return ENOMEM;
		if (!*end)
			return 0;
		at = end + 1;
	}
}

/* A whole number within bounds. Returns 0 or -EINVAL. */
static int parse_number(const char *arg, long least, long most, long *number)
{
	char *end;

	*number = strtol(arg, &end, 10);
	return end == arg || *end || *number < least || *number > most ? -EINVAL : 0;
}

static int set_table_mem(struct options *o, const char *arg)
{
	long mib;

	if (parse_number(arg, 0, TABLE_MIB_MAX, &mib))
		return bad_value("--table-mem", arg, "MiB from 0 to 64 are wanted");
	o->table_mib = mib;
	return 0;
}

static int set_duration(struct options *o, const char *arg)
{
	if (parse_duration(arg, INTERVAL_MIN_NS, WINDOW_MAX_S * 1000000000ULL, &o->duration_ns))
		return bad_value("--duration", arg, "0.1 to 600 seconds are wanted, as 10 or 500ms");
	return 0;
}

static int set_log(struct options *o, const char *arg, bool verbose)
{
	if (o->log && o->verbose != verbose)
		return bad_value(verbose ? "-v" : "--log", arg, "-v has all that --log has: one of them is enough");
	o->log = arg;
	o->verbose = verbose;
	return 0;
}

static int set_on_limit(struct options *o, const char *arg)
{
	long limit;

	if (parse_number(arg, 1, 1000, &limit))
		return bad_value("--on-limit", arg, "a number from 1 to 1000 is wanted");
	o->trigger_limit = limit;
	return 0;
}

static int set_wait_min(struct options *o, const char *arg)
{
	if (parse_duration(arg, WAIT_LEAST_NS, 10000000000ULL, &o->wait_ns))
		return bad_value("--wait-min", arg, "a time from 10us to 10s is wanted");
	return 0;
}

static int set_window(struct options *o, const char *arg)
{
	long seconds;

	if (parse_number(arg, 0, WINDOW_MAX_S, &seconds))
		return bad_value("--window", arg, "seconds from 0 to 600 are wanted");
	o->window_s = seconds;
	return 0;
}

/* A size with suffix K, M or G. Returns 0 or -EINVAL. */
static int parse_size(const char *arg, uint64_t *bytes)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	unsigned long long size;

	errno = 0;
	size = strtoull(arg, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : units - 1;
	if (errno || end == arg || *arg == '-' || !unit || (*end && end[1]) ||
	    size > (1ULL << 40) >> 10 * (unit + 1 - units))
		return -EINVAL;
	*bytes = size << 10 * (unit + 1 - units);
	return 0;
}

static int set_window_mem(struct options *o, const char *arg)
{
	if (parse_size(arg, &o->window_bytes))
		return bad_value("--window-mem", arg, "a size like 512K, 64M or 1G is wanted");
	return 0;
}

static int set_max_mem(struct options *o, const char *arg)
{
	if (parse_size(arg, &o->max_memory) || o->max_memory < MAX_MEM_LEAST)
		return bad_value("--max-mem", arg, "a size like 100M or 1G is wanted, at least 1M");
	return 0;
}

/* A number with at most one decimal point; a % may follow. */
static int set_max_cpu(struct options *o, const char *arg)
{
	char *end;
	double percent;

	errno = 0;
	percent = strtod(arg, &end);
	end += *end == '%';
	if (errno || end == arg || *end || strspn(arg, "0123456789.%") != strlen(arg) || percent < 0.1 || percent > 1000)
		return bad_value("--max-cpu", arg, "percent of one CPU from 0.1 to 1000 are wanted, as 2 or 0.5");
	o->max_cpu = percent * 1000 + 0.5;
	return 0;
}

static int set_frequency(struct options *o, const char *arg)
{
	long hz;

	if (parse_number(arg, 1, FREQUENCY_MAX, &hz))
		return bad_value("-F", arg, "samples a second, 1 to 9999, are wanted");
	o->frequency = hz;
	return 0;
}

static int set_clock(struct options *o, const char *arg)
{
	if (strcmp(arg, "cycles") && strcmp(arg, "cpu"))
		return bad_value("--clock", arg, "cycles or cpu is wanted");
	o->cpu_clock = !strcmp(arg, "cpu");
	return 0;
}

/* The last exporter option wins. */
static int set_exporter(struct options *o, const struct exporter *e, const char *arg)
{
	char option[32], words[128], wanted[160];

	o->output = OUTPUT_EXPORT;
	o->exporter = e;
	o->file = e->operand && !e->word ? arg : NULL;
	o->word = 0;
	if (!e->word)
		return 0;
	while (e->word(o->word) && strcmp(e->word(o->word), arg))
		o->word++;
	if (e->word(o->word))
		return 0;
	snprintf(option, sizeof(option), "--%s", e->name);
	words_text(e, words, sizeof(words));
	snprintf(wanted, sizeof(wanted), "%s is wanted", words);
	return bad_value(option, arg, wanted);
}

static error_t parse_exporter(struct options *o, int key, const char *arg)
{
	const struct argp_option row = { .key = key };
	const struct exporter *e = options_exporter(&row);

	return e ? set_exporter(o, e, arg) : ARGP_ERR_UNKNOWN;
}

/* Replaces an earlier choice of output. */
static int set_output(struct options *o, enum output output)
{
	o->output = output;
	o->exporter = NULL;
	o->file = NULL;
	return 0;
}

static int set_iterations(struct options *o, const char *arg)
{
	char *end;

	errno = 0;
	o->iterations = strtoull(arg, &end, 10);
	if (errno || end == arg || *end || arg[0] == '-' || !o->iterations)
		return bad_value("-n", arg, "a number of intervals, at least 1, is wanted");
	return 0;
}

/* Stores an option that is also a setting, to apply it after the config file. */
static int add_setting(struct options *o, const char *option, const char *section, const char *name,
		       const char *value)
{
	struct settings scratch;
	char error[160];

	settings_default(&scratch);
	if (settings_set(&scratch, section, name, value, 0, error, sizeof(error)))
		return bad_value(option, value, error);
	return -VEC_PUSH(o->settings, o->nr_settings, o->settings_room,
			 ((struct setting_option){ section, name, value }));
}

static int set_delay(struct options *o, const char *arg)
{
	if (parse_duration(arg, INTERVAL_MIN_NS, INTERVAL_MAX_NS, &o->interval_ns))
		return bad_value("-d", arg, "seconds from 0.1 to 60 are wanted: 2, 0.5 or 500ms");
	return add_setting(o, "-d", "view", "delay", arg);
}

static int set_sort(struct options *o, const char *arg)
{
	if (!strcmp(arg, "help"))
		return set_output(o, OUTPUT_SORT_HELP);
	o->sort = metric_find(arg);
	if (o->sort == METRIC_COUNT)
		return bad_value("-s", arg, "a column's name is wanted: systop -s help lists them");
	return add_setting(o, "-s", "view", "sort", metrics[o->sort].name);
}

static int set_theme(struct options *o, const char *arg)
{
	struct theme_files files;
	struct theme theme;
	char error[256];

	config_themes(&files);
	if (theme_load(&theme, arg, &files, error, sizeof(error)))
		return bad_value("--theme", arg, error);
	return add_setting(o, "--theme", "look", "theme", arg);
}

/* Stores a filter expression in *@to. */
static int set_filter(const char **to, const char *arg)
{
	struct filter_error error;
	struct filter *f = filter_parse(arg, user_lookup, &error);
	char safe[512];

	filter_free(f);
	*to = arg;
	if (f)
		return 0;
	text_safe(safe, sizeof(safe), arg, strlen(arg));
	fail(-EINVAL, EXIT_STATUS_USAGE, "bad filter: %s", error.what);
	fail_why("%s", safe);
	fail_fix("systop --help    # the error is at column %d", error.column + 1);
	return EINVAL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'c':
		if (!*arg)
			return bad_value("-c", arg, "a cgroup's path, glob or part of its name is wanted");
		return -VEC_PUSH(o->cgroups, o->nr_cgroups, o->cgroups_room, (const char *)arg);
	case 'p':
		return add_pids(o, arg);
	case 'u':
		return -VEC_PUSH(o->users, o->nr_users, o->users_room, (const char *)arg);
	case 'd':
		return set_delay(o, arg);
	case 's':
		return set_sort(o, arg);
	case 'F':
		return set_frequency(o, arg);
	case KEY_CLOCK:
		return set_clock(o, arg);
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_SELF:
		o->self = true;
		return 0;
	case KEY_ALL_CPUS:
		o->all_cpus = true;
		return 0;
	case KEY_TABLE_MEM:
		return set_table_mem(o, arg);
	case KEY_SYMBOL_DIR:
		return symbol_dirs_add(o, arg);
	case KEY_WINDOW:
		return set_window(o, arg);
	case 'o':
		o->save_path = arg;
		return 0;
	case 'v':
	case KEY_LOG:
		return set_log(o, arg, key == 'v');
	case KEY_ON:
		return set_filter(&o->trigger, arg);
	case KEY_ON_LIMIT:
		return set_on_limit(o, arg);
	case KEY_WAIT_MIN:
		return set_wait_min(o, arg);
	case KEY_MAX_CPU:
		return set_max_cpu(o, arg);
	case KEY_MAX_MEM:
		return set_max_mem(o, arg);
	case KEY_AT:
		if (schedule_parse(arg, &o->at))
			return bad_value("--at", arg, "@HH:MM:SS, +SEC or /SEC is wanted, as @14:30:00 or /60");
		return 0;
	case KEY_DURATION:
		return set_duration(o, arg);
	case KEY_WINDOW_MEM:
		return set_window_mem(o, arg);
	case 'n':
		return set_iterations(o, arg);
	case KEY_ALL:
		o->all = true;
		return 0;
	case KEY_SCHEMA:
		return set_output(o, OUTPUT_SCHEMA);
	case KEY_FILTER:
		return set_filter(&o->filter, arg);
	case KEY_ASCII:
		return add_setting(o, "--ascii", "look", "ascii", "always");
	case KEY_COLOR:
		return add_setting(o, "--color", "look", "color", arg);
	case KEY_FULL_NAMES:
		return add_setting(o, "--full-names", "look", "full-names", "yes");
	case KEY_THEME:
		return set_theme(o, arg);
	case KEY_MOUSE:
		return add_setting(o, "--mouse", "look", "mouse", "yes");
	case KEY_VIEW:
		return add_setting(o, "--view", "view", "start", arg);
	case KEY_PRINT_CONFIG:
		return set_output(o, OUTPUT_CONFIG);
	case KEY_COMPLETIONS:
		if (completions_print(NULL, arg))
			return bad_value("--completions", arg, "bash, zsh or fish is wanted");
		o->shell = arg;
		return set_output(o, OUTPUT_COMPLETIONS);
	case KEY_CHECK:
		return set_output(o, OUTPUT_CHECK);
	case KEY_LIST_CGROUPS:
		return set_output(o, OUTPUT_LIST_CGROUPS);
	case 'V':
		return set_output(o, OUTPUT_VERSION);
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case ARGP_KEY_ARGS:
		/* Words that follow no option are a command only after "--". */
		if (strcmp(state->argv[state->next - 1], "--"))
			return bad_value("the command line", state->argv[state->next],
					 "the command to run must follow --");
		o->command = state->argv + state->next;
		state->next = state->argc;
		return 0;
	default:
		return parse_exporter(o, key, arg);
	}
}

/* argp itself prints its complaints (unknown option, missing value) to stderr. */
int options_parse(int argc, char **argv, struct options *o)
{
	const struct argp argp = {
		.options = options_table(),
		.parser = parse_option,
		.args_doc = "[-- COMMAND [ARG...]]",
		.doc = "Shows live where the time of every cgroup, process and thread goes."
		       "\vsystop only looks: it never kills, renices or moves anything.\n"
		       "Exit status: 0 ok, 1 failure, 2 usage, 3 kernel, 4 permission, "
		       "5 target not found.",
	};
	int err;

	*o = (struct options){ .interval_ns = 1000000000, .sort = METRIC_RUN,
				.frequency = FREQUENCY_DEFAULT, .table_mib = TABLE_MIB_MAX,
				.window_s = WINDOW_DEFAULT_S, .trigger_limit = TRIGGER_LIMIT, .wait_ns = WAIT_DEFAULT_NS };
	argp_err_exit_status = EXIT_STATUS_USAGE;
	err = argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, o);
	return -err;
}

void options_fini(struct options *o)
{
	free(o->cgroups);
	free(o->pids);
	free(o->users);
	free(o->settings);
	for (size_t i = 0; i < o->nr_symbol_dirs; i++)
		free(o->symbol_dirs[i]);
}
