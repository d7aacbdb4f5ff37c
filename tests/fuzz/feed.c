/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the targets. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/invoker.h"
#include "util/text.h"

void fuzz_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

void feed_copy(struct feed *f, void *to, size_t bytes)
{
	size_t there = bytes < f->left ? bytes : f->left;

	memcpy(to, f->at, there);
	memset((char *)to + there, 0, bytes - there);
	f->at += there;
	f->left -= there;
}

uint64_t feed_number(struct feed *f, size_t bytes)
{
	uint64_t v = 0;

	feed_copy(f, &v, bytes);
	return v;
}

void feed_line(struct feed *f, char *buf, size_t size)
{
	size_t len = 0, behind;

	while (len < f->left && f->at[len] && f->at[len] != '\n')
		len++;
	behind = len < f->left ? len + 1 : len;
	snprintf(buf, size, "%.*s", (int)len, (const char *)f->at);
	f->at += behind;
	f->left -= behind;
}

char *fuzz_text(const uint8_t *bytes, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_check(text, "no memory");
	memcpy(text, bytes, size);
	text[size] = '\0';
	return text;
}

int fuzz_fd(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	fuzz_check(fd >= 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size, "no file of memory: %m");
	return fd;
}

/* Creating a file and its pages takes longer than reading it: this one is reused. */
int fuzz_fd_again(const uint8_t *bytes, size_t size)
{
	static int kept = -1;
	int fd;

	if (kept < 0)
		kept = fuzz_fd(NULL, 0);
	fuzz_check(pwrite(kept, bytes, size, 0) == (ssize_t)size && !ftruncate(kept, size) && !lseek(kept, 0, SEEK_SET),
		   "no file of memory: %m");
	fd = fcntl(kept, F_DUPFD_CLOEXEC, 0);
	fuzz_check(fd >= 0, "no descriptor: %m");
	return fd;
}

int fuzz_fd_any(void)
{
	static int kept = -1;

	if (kept < 0)
		kept = fuzz_fd(NULL, 0);
	return kept;
}

/* Libraries are not instrumented. A new pair of adjacent characters in the output shows libFuzzer that an input
 * leads to a new result. */
#define OUTCOMES 4096
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t outcomes[OUTCOMES];

void fuzz_outcome(const char *text)
{
	uint8_t before = 0;

	for (; *text; before = *text++)
		outcomes[(before * 67 + (uint8_t)*text) % OUTCOMES] = 1;
}

/* The folder exists until the process ends. */
static char folder[] = "/dev/shm/systop-fuzz-XXXXXX";
static char path[64];

static void clean(void)
{
	unlink(path);
	rmdir(folder);
}

const char *fuzz_path(const uint8_t *bytes, size_t size)
{
	int fd;

	if (!*path) {
		fuzz_check(mkdtemp(folder), "no folder %s: %m", folder);
		fuzz_check(!invoker_find(), "who am I?");
		snprintf(path, sizeof(path), "%s/file", folder);
		atexit(clean);
	}
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	fuzz_check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "%s: %m", path);
	close(fd);
	return path;
}

void fuzz_safe(const char *text, const char *what)
{
	size_t len = strlen(text);
	char *again = malloc(4 * len + 1);

	fuzz_check(again, "no memory");
	text_safe(again, 4 * len + 1, text, len);
	fuzz_check(!strcmp(again, text), "%s is not fit for a terminal: %s", what, again);
	free(again);
}
