/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options: --help, man page, completions and the parser follow from it. */
#include "app/options_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "export/exporter.h"
#include "tui/input/views.h"
#include "util/text.h"

/* Options of exporters follow the title of their group. */
#define GROUP_EXPORTERS 4
static const struct argp_option own_options[] = {
	{ 0, 0, 0, 0, "What to show:", 1 },
	{ "cgroup", 'c', "SPEC", 0, "only this cgroup and everything below it: a path, a glob, a unit, container or pod, or a unique part of a name (repeatable)", 1 },
	{ "pid", 'p', "PID[,PID...]", 0, "only these processes, their threads, and what they fork from now on (repeatable)", 1 },
	{ "tid", 't', "TID[,TID...]", 0, "only these threads, not those that they create (repeatable)", 1 },
	{ "user", 'u', "USER", 0, "only this user's threads (repeatable)", 1 },
	{ "threads", 'H', 0, 0, "show threads first, as --view threads", 1 },
	{ "view", KEY_VIEW, "NAME", 0, "view to show first:" VIEW_NAMES, 1 },
	{ "delay", 'd', "SEC", 0, "refresh interval, 0.1 to 60 (default 1; also 500ms)", 1 },
	{ "duration", KEY_DURATION, "SEC", 0, "end after SEC, at least 0.1 (also 500ms, 5m, 2h), with or without a screen", 1 },
	{ "sort", 's', "COLUMN", 0, "sort the screen, or the tables of -b, by this column; -s help lists the columns", 1 },
	{ "filter", KEY_FILTER, "EXPR", 0, "show only what matches, on the screen and with -b and --json: 'cg:api !kworker cpu>5 runq.p99>1ms state=D'", 1 },
	{ 0, 0, 0, 0, "What to record, and what it may cost:", 2 },
	{ "freq", 'F', "HZ", 0,
	  "samples per second on each CPU, 1 to 9999, at most kernel.perf_event_max_sample_rate (default 99); 0: none", 2 },
	{ "clock", KEY_CLOCK, "KIND", 0, "what triggers samples: cycles, if the CPU counts them (default), or cpu, its clock", 2 },
	{ "self", KEY_SELF, 0, 0, "sample systop itself, too", 2 },
	{ "all-cpus", KEY_ALL_CPUS, 0, 0, "sample isolated and nohz_full CPUs, too", 2 },
	{ "table-mem", KEY_TABLE_MEM, "MIB", 0, "memory for tables to walk stacks without frame pointers, 0 to 64 (default 64); 0: follow frame pointers", 2 },
	{ "symbol-dir", KEY_SYMBOL_DIR, "DIR", 0, "look for debug information here, too: by build-id, or by the name in .gnu_debuglink (repeatable, at most 8)", 2 },
	{ "wait-min", KEY_WAIT_MIN, "TIME", 0, "record what ran instead of a thread that waited for a CPU for at least TIME, 10us to 10s (default 100us)", 2 },
	{ "window", KEY_WINDOW, "SEC", 0, "seconds that key w saves, 0 to 600 (default 30); 0: nothing is recorded", 2 },
	{ "window-mem", KEY_WINDOW_MEM, "SIZE", 0, "memory for the window, such as 64M or 1G, at most a quarter of --max-mem (default: enough for 20,000 events per second on each CPU, but at most 1 % of the host's memory, 1 GiB, and a quarter of what is left in systop's cgroup)", 2 },
	{ "max-cpu", KEY_MAX_CPU, "PERCENT", 0, "limit the CPU time of systop and its BPF programs to this share of one CPU, 0.1 to 1000, by leaving out details (default: no limit)", 2 },
	{ "max-mem", KEY_MAX_MEM, "SIZE", 0, "limit the memory of systop and its BPF maps likewise, such as 100M or 1G (default: no limit)", 2 },
	{ "force", KEY_FORCE, 0, 0, "start even if the kernel's clock is slow to read (see --check)", 2 },
	{ 0, 0, 0, 0, "Files:", 3 },
	{ "on", KEY_ON, "EXPR", 0, "save a trace whenever a thread matches, and continue: 'runq.p99>20ms', 'd>2s comm=java'", 3 },
	{ "on-limit", KEY_ON_LIMIT, "N", 0, "save at most N traces of --on per hour, 1 to 1000 (default 6)", 3 },
	{ "output", 'o', "FILE", 0, "file that key w saves (default: systop-HOST-TIME.pb in this folder); --on and key e save beside it, or beside the file of -w; with --duration and no other output, record to FILE as -w does", 3 },
	{ "args", KEY_ARGS, 0, 0, "save the arguments of processes in traces, too: they may contain passwords", 3 },
	{ "redact", KEY_REDACT, 0, 0, "leave arguments out of all exports, and replace the names of threads, cgroups and files with hashes", 3 },
	{ "log", KEY_LOG, "FILE", 0, "append messages that arrive while the screen is open, and crash reports, to FILE", 3 },
	{ "verbose", 'v', "FILE", 0, "like --log, plus the steps of the start and all messages of libbpf and the verifier", 3 },
	{ 0, 0, 0, 0, "Without a screen:", GROUP_EXPORTERS },
	{ "at", KEY_AT, "TIME", 0, "when -w begins: @HH:MM:SS, +SEC from now, or /SEC: when the clock next reaches a multiple of SEC", 4 },
	{ "iterations", 'n', "N", 0, "end after N intervals; -b SEC N is -b -d SEC -n N", 4 },
	{ "all", KEY_ALL, 0, 0, "with -b and --json: include threads that did nothing", 4 },
	{ "schema", KEY_SCHEMA, 0, 0, "print the JSON schema of --json and exit", 4 },
	{ 0, 0, 0, 0, "Looks:", 5 },
	{ "ascii", KEY_ASCII, 0, 0, "draw with ASCII only", 5 },
	{ "color", KEY_COLOR, "WHEN", 0, "auto, always or never (default auto; NO_COLOR is respected)", 5 },
	{ "full-names", KEY_FULL_NAMES, 0, 0, "show the full names of C++ and Rust functions, with all arguments", 5 },
	{ "theme", KEY_THEME, "NAME", 0, "default, light, mono, colour-blind, 16-colour, or a file", 5 },
	{ "mouse", KEY_MOUSE, 0, 0, "use the mouse (key m)", 5 },
	{ "print-config", KEY_PRINT_CONFIG, 0, 0, "print all settings as a config file and exit", 5 },
	{ 0, 0, 0, 0, "Information:", 6 },
	{ "check", KEY_CHECK, 0, 0, "check whether systop can run here, and exit; with --json as JSON, whose schema --check --schema prints", 6 },
	{ "list-cgroups", KEY_LIST_CGROUPS, 0, 0, "list the cgroups of every hierarchy and exit", 6 },
	{ "completions", KEY_COMPLETIONS, "SHELL", 0, "print the completions for bash, zsh or fish and exit", 6 },
	{ "version", 'V', 0, 0, "print version and libraries and exit", 6 },
	{ "help", 'h', 0, 0, "print this help and exit", 6 },
	{ "usage", KEY_USAGE, 0, 0, "print a short list of the options and exit", 6 },
	{ 0 }
};

int options_key(unsigned int place)
{
	const struct exporter *e = exporter_at(place);

	return e->letter ? e->letter : KEY_EXPORTERS + (int)place;
}

/* "cpu, runq or wall" */
void options_words(const struct exporter *e, char *buf, size_t size)
{
	*buf = '\0';
	for (int i = 0; e->word(i); i++)
		text_add(buf, size, "%s%s", !i ? "" : e->word(i + 1) ? ", " : " or ", e->word(i));
}

static const char *exporter_help(const struct exporter *e)
{
	char words[128], *help = NULL;

	if (!e->word)
		return e->help;
	options_words(e, words, sizeof(words));
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
			*to++ = (struct argp_option){ e->name, options_key(i), e->operand, 0, exporter_help(e), GROUP_EXPORTERS };
	}
	return table;
}

const struct exporter *options_exporter(const struct argp_option *row)
{
	const struct exporter *e;

	for (unsigned int i = 0; (e = exporter_at(i)); i++)
		if (row->key == options_key(i))
			return e;
	return NULL;
}
