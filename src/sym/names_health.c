/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The health page's lines about names: the helpers, and unreadable files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/health.h"
#include "sym/names_internal.h"
#include "util/text.h"

static void worker_health(const struct worker *w, const char *name, const char *what, struct health *h)
{
	if (w->off)
		health_add(h, "Helpers", name, HEALTH_OFF, "%d are stuck in the kernel: no more are started",
			   w->nr_stuck);
	else if (w->helper.socket < 0 && *helper_trouble())
		health_add(h, "Helpers", name, HEALTH_OFF, "ended, and cannot be restarted");
	else if (w->helper.socket < 0)
		health_add(h, "Helpers", name, HEALTH_OFF, "ended or did not answer (%" PRIu64
			   " times): restarting", w->failures);
	else if (w->failures)
		health_add(h, "Helpers", name, HEALTH_DEGRADED, "%s; replaced %" PRIu64 " times", what,
			   w->failures);
	else
		health_add(h, "Helpers", name, HEALTH_ON, "%s", what);
}

/* Files listed by name. */
#define NAMED_MAX 12

static const char *reason(int err)
{
	switch (-err) {
	case ETIME:
		return "reading it takes too long";
	case ETIMEDOUT:
		return "its file system does not answer";
	case EOWNERDEAD:
		return "a helper ended while reading it";
	case ENOMEM:
		return "reading it takes too much memory";
	case EFBIG:
		return "it is shorter than its headers claim";
	case E2BIG:
		return "it exceeds the limits for one file";
	case EBADMSG:
		return "it is broken";
	case ENOEXEC:
		return "not an ELF file of this machine";
	default:
		return strerror(-err);
	}
}

static void file_name(const struct file *f, char *buf, size_t size)
{
	const char *name = file_module(f);

	if (f->id & JIT_FILE)
		snprintf(buf, size, "[jit] of %u", f->event.tgid);
	else
		text_safe(buf, size, name, strlen(name));
}

/* Lists files that are not read, or not completely. A missing unwind table is reported, too, unless the file has no
 * .eh_frame, which is normal for many. */
static void bad_files_health(const struct names *n, struct health *h)
{
	char name[40];
	int named = 0;

	for (size_t i = 0; i < n->files.room && named < NAMED_MAX; i++) {
		const struct file *f = n->files.entries[i].value;
		int table = f && f->table_err != -ENOENT && f->table_err != f->err ? f->table_err : 0;

		if (!f || (!f->err && !table))
			continue;
		named++;
		file_name(f, name, sizeof(name));
		if (f->err)
			health_add(h, "Files", name, f->state == FILE_BAD ? HEALTH_OFF : HEALTH_DEGRADED, "%s",
				   reason(f->err));
		if (table)
			health_add(h, "Files", name, HEALTH_DEGRADED, "no unwind table: %s", reason(table));
	}
}

static void tables_health(const struct names *n, struct health *h)
{
	const struct file *f;
	size_t failed = 0;

	MAP_EACH (&n->files, f)
		failed += f->table_err != 0;
	health_add(h, "Helpers", "tables", failed ? HEALTH_DEGRADED : HEALTH_ON,
		   "%zu files have no unwind table, and are walked by frame pointers", failed);
}

/* Where debug information is looked for. */
static const char *const places[OPEN_FOUNDS] = {
	[OPEN_FOUND_HOST] = "/usr/lib/debug",
	[OPEN_FOUND_FOLDERS] = "a --symbol-dir or debuginfod's cache",
	[OPEN_FOUND_ROOT] = "/usr/lib/debug of a container",
};

void names_health(const struct names *n, struct health *h)
{
	size_t gone = 0, bad = 0, jits = 0, nr = 0;
	const struct file *f;

	worker_health(&n->open, "open", "opens the files that processes have mapped", h);
	worker_health(&n->symbols, "symbols", "reads names from them", h);
	for (int i = OPEN_FOUND_HOST; i < OPEN_FOUNDS; i++)
		if (places_pause(n, i))
			health_add(h, "Helpers", "folders", HEALTH_DEGRADED, "%s does not answer: skipped for now",
				   places[i]);
	MAP_EACH (&n->files, f) {
		if (f->id & JIT_FILE)
			jits++;
		else
			nr++;
		gone += f->state == FILE_GONE;
		bad += f->state == FILE_BAD;
	}
	health_add(h, "Helpers", "files", gone || bad ? HEALTH_DEGRADED : HEALTH_ON,
		   "%zu mapped files, %zu processes with a JIT compiler; %zu not opened, %zu unreadable", nr, jits,
		   gone, bad);
	bad_files_health(n, h);
	tables_health(n, h);
	if (n->kernel.state == FILE_GONE)
		health_add(h, "Kernel", "symbols", HEALTH_OFF, "kernel.kptr_restrict hides them, or CAP_SYSLOG was missing at the start");
	health_add(h, "Helpers", "names", n->frames.nr < FRAMES_MAX ? HEALTH_FACT : HEALTH_DEGRADED,
		   "%zu frames, %zu names pending", n->frames.nr, n->pending);
}
