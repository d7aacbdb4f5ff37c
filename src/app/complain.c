/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/complain.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/log.h"
#include "util/sink.h"

#define READER_MS 400

void complain(const char *fmt, ...)
{
	char text[PATH_MAX + 512] = "systop: ";
	size_t bytes = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + bytes, sizeof(text) - bytes - 1, fmt, args);
	va_end(args);
	log_line("%s", text + bytes);
	strcat(text, "\n");
	sink_write(STDERR_FILENO, text, strlen(text), READER_MS);
}

enum exit_status complain_of_failure(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	enum exit_status status = failure_print(to ? to : stderr);

	if (to && !fclose(to) && bytes) {
		log_text(text, bytes);
		sink_write(STDERR_FILENO, text, bytes, READER_MS);
	}
	free(text);
	return status;
}
