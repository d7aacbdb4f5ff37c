/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/filter.h"

#include <stddef.h>

const struct filter_word filter_words[] = {
	{ "word", "the name or command line contains it, or the path of a cgroup; a number is also a tid or pid" },
	{ "cmd:api.jar", "the command line contains it, with blanks between arguments; with * or ?, a pattern for all of it" },
	{ "cg:api", "the cgroup's path contains it; with * or ?, a pattern for all of it" },
	{ "unit:ssh", "the systemd unit contains it; likewise container:web and pod:shop/api; ids match by their beginning" },
	{ "comm=sh,bash", "equals one of these; != equals none of them; also cg, user, state" },
	{ "user:www-data", "name or number of the user" },
	{ "state=D,R", "letter or name of the state at the end of the interval" },
	{ "is:kthread", "kernel threads; also is:exited, is:throttled" },
	{ "pid=1", "a number: tid, pid, ppid or threads, with = != > >= < <=" },
	{ "cpu>5", "any column: shares in % of the interval, or as a time" },
	{ "runq.p99>1ms", "waits as a time, with its unit: ns us ms s" },
	{ "wakeups>1K", "counts per second" },
	{ "rss>1G", "bytes; read and write: bytes per second" },
	{ "!term", "does not match the term" },
	{ NULL, NULL },
};
