/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/fail.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/text.h"

/* One per process, like errno: a failure is recorded far below the code that can print it. */
static struct failure kept;
static bool kept_open; /* why and fix belong to it */
static int last_err;   /* of fail(), kept or not */

int fail(int err, enum exit_status status, const char *fmt, ...)
{
	va_list args;

	last_err = err;
	kept_open = kept.status == EXIT_STATUS_OK;
	if (!kept_open)
		return err;
	kept.status = status;
	va_start(args, fmt);
	text_set(&kept.what, fmt, args);
	va_end(args);
	return err;
}

void fail_why(const char *fmt, ...)
{
	va_list args;

	if (!kept_open)
		return;
	va_start(args, fmt);
	text_set(&kept.why, fmt, args);
	va_end(args);
}

int fail_fix(const char *fmt, ...)
{
	va_list args;

	if (!kept_open)
		return last_err;
	va_start(args, fmt);
	text_set(&kept.fix, fmt, args);
	va_end(args);
	return last_err;
}

enum exit_status failure_take(struct failure *f)
{
	*f = kept;
	kept = (struct failure){ EXIT_STATUS_OK };
	kept_open = false;
	return f->status;
}

void failure_fini(struct failure *f)
{
	free(f->what);
	free(f->why);
	free(f->fix);
}

enum exit_status failure_print(FILE *to)
{
	struct failure f;
	enum exit_status status = failure_take(&f);

	if (status != EXIT_STATUS_OK)
		fprintf(to, "systop: %s\n", f.what ? f.what : "out of memory");
	if (f.why)
		fprintf(to, "  why: %s\n", f.why);
	if (f.fix)
		fprintf(to, "  fix: %s\n", f.fix);
	failure_fini(&f);
	return status;
}
