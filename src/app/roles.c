/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/roles.h"

#include "app/config_write.h"
#include "app/log.h"
#include "collect/commands.h"
#include "collect/facts.h"
#include "collect/peek.h"
#include "helper/proto.h"
#include "save/process_info.h"
#include "save/write.h"
#include "sym/roles.h"

/* clang-format off */
const struct helper_role processes[PROCESS_COUNT] = {
	/* Its capabilities are for attaching timers to CPUs that come online later, and for reading maps. */
	[PROCESS_MAIN] = {
		.name = "systop",
		.what = "collects, draws, prints",
		.user = USER_INVOKER,
		.caps = { CAP_BPF, CAP_PERFMON },
		.nr_caps = 2,
		.calls = CALLS_OPEN | CALLS_MEASURE | CALLS_SCREEN | CALLS_ASK,
	},
	/* Its own rights, including the reopening of the terminal, and the rights of all helpers. */
	[PROCESS_STARTER] = {
		.name = "systop-starter",
		.what = "starts and ends the others",
		.user = USER_NOBODY,
		.caps = { CAP_KILL, CAP_SETUID, CAP_SETGID, CAP_SETPCAP, CAP_DAC_OVERRIDE,
			  CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE },
		.nr_caps = 8,
		.calls = CALLS_START | CALLS_PARSE | CALLS_OPEN | CALLS_WRITE | CALLS_ITERATE,
	},
	/* Opens files of processes with these rights only: to follow /proc/PID/map_files. */
	[PROCESS_OPEN] = {
		.name = "systop-open",
		.what = "opens the files of processes, and those of container runtimes",
		.user = USER_NOBODY,
		.caps = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE },
		.nr_caps = 3,
		.calls = CALLS_OPEN,
		.files = 64,
		.run = open_run,
	},
	[PROCESS_SYMBOLS] = {
		.name = "systop-symbols",
		.what = "reads symbols, unwind tables and names of containers",
		.user = USER_NOBODY,
		.calls = CALLS_PARSE,
		.files = 256,
		.memory = 256UL << 20,
		.request_ms = SYMBOLS_CPU_MS,
		.run = symbols_run,
	},
	[PROCESS_PEEK] = {
		.name = "systop-peek",
		.what = "reads stacks of blocked threads",
		.user = USER_NOBODY,
		.calls = CALLS_ITERATE,
		.files = 16,
		.run = peek_run,
	},
	[PROCESS_COMMANDS] = {
		.name = "systop-commands",
		.what = "reads command lines",
		.user = USER_NOBODY,
		.caps = { CAP_SYS_PTRACE },
		.nr_caps = 1,
		.calls = CALLS_OPEN,
		.files = 16,
		.run = commands_run,
	},
	[PROCESS_FACTS] = {
		.name = "systop-facts",
		.what = "reads the page tables and the package of what the screen shows",
		.user = USER_NOBODY,
		.caps = { CAP_SYS_PTRACE },
		.nr_caps = 1,
		.calls = CALLS_OPEN,
		.files = 16,
		.run = facts_run,
	},
	[PROCESS_WRITE] = {
		.name = "systop-write",
		.what = "writes traces, and other files",
		.user = USER_WRITER,
		.calls = CALLS_OPEN | CALLS_WRITE,
		.files = 32,
		.finishes = true,
		.run = write_run,
	},
	[PROCESS_INFO] = {
		.name = "systop-info",
		.what = "reads further facts about processes for a trace",
		.user = USER_NOBODY,
		.caps = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH },
		.nr_caps = 2,
		.calls = CALLS_OPEN,
		.files = 16,
		.run = process_info_run,
	},
	[PROCESS_CONFIG] = {
		.name = "systop-config",
		.what = "writes the config file",
		.user = USER_WRITER,
		.calls = CALLS_OPEN | CALLS_WRITE,
		.files = 16,
		.finishes = true,
		.run = config_run,
	},
	[PROCESS_LOG] = {
		.name = "systop-log",
		.what = "writes the log",
		.user = USER_WRITER,
		.calls = CALLS_OPEN | CALLS_WRITE,
		.files = 16,
		.finishes = true,
		.run = log_run,
	},
};
/* clang-format on */
