/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/complain.h"
#include "helper/helper.h"
#include "util/clock.h"
#include "util/fail.h"
#include "util/invoker.h"
#include "util/text.h"

/* Longest waits for the helper: to open the file, which the start needs, and to write what was sent. */
#define OPEN_MS 5000
#define SYNC_MS 400

enum log_what { LOG_OPEN, LOG_TEXT, LOG_SYNC };

struct log_message {
	uint32_t what;
	char text[4096]; /* only the used part is sent */
};

static struct helper helper = { .socket = -1 };

/* Text was lost, as there was no room in the socket. */
static bool dropped;

/* State of -v. */
static struct {
	bool on;
	int patience_ms; /* total wait allowed for room in the socket */
	uint64_t began;
} verbose;

/* --- The helper */

/* Checks an existing file before opening it: opening alone has effects on some. */
static int open_existing(const char *path)
{
	int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd = -1, err = 0;
	char self[64];
	struct stat st;

	if (place < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	if (fstat(place, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : S_ISLNK(st.st_mode) ? -ELOOP : -EINVAL;
	else if (st.st_uid && st.st_uid != invoker()->uid) /* anyone can make one in /tmp, and read what is written to it */
		err = -EPERM;
	else if ((fd = open(self, O_WRONLY | O_APPEND | O_CLOEXEC)) < 0)
		err = -errno;
	close(place);
	return err ? err : fd;
}

static int open_file(const char *path)
{
	int fd = open_existing(path);

	if (fd != -ENOENT)
		return fd;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

void log_run(int socket)
{
	static struct log_message m;
	const size_t head = offsetof(struct log_message, text);
	int32_t answer = 0;
	int fd = -1, got;

	signal(SIGXFSZ, SIG_IGN);
	while ((got = helper_receive(socket, &m, sizeof(m), NULL)) >= (int)head) {
		ssize_t bytes = got - head, put;

		if (m.what == LOG_OPEN && fd < 0) {
			m.text[bytes < (ssize_t)sizeof(m.text) ? bytes : (ssize_t)sizeof(m.text) - 1] = '\0';
			fd = open_file(m.text);
			answer = fd < 0 ? fd : 0;
		} else if (m.what == LOG_TEXT && fd >= 0 && (put = write(fd, m.text, bytes)) != bytes) {
			answer = put < 0 ? -errno : -ENOSPC; /* the next line may fit */
		}
		if (m.what != LOG_TEXT)
			helper_send(socket, &answer, sizeof(answer), -1);
	}
}

/* --- The main process */

static int send_message(uint32_t what, const char *text, size_t bytes)
{
	struct log_message m = { .what = what };
	int sent;

	if (bytes > sizeof(m.text))
		bytes = sizeof(m.text);
	memcpy(m.text, text, bytes);
	sent = helper_send(helper.socket, &m, offsetof(struct log_message, text) + bytes, -1);
	return sent < 0 ? sent : 0;
}

static int wait_for_answer(int milliseconds)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + milliseconds * 1000000ULL, now;
	struct pollfd p = { .fd = helper.socket, .events = POLLIN };
	int32_t answer = 0;
	int got;

	while ((now = clock_ns(CLOCK_MONOTONIC)) < until) {
		if (poll(&p, 1, (until - now) / 1000000 + 1) <= 0)
			continue;
		got = helper_receive(helper.socket, &answer, sizeof(answer), NULL);
		if (got == -EAGAIN)
			continue;
		if (got != sizeof(answer))
			return -EPIPE;
		return answer > 0 || answer < -4095 ? -EIO : answer;
	}
	return -ETIMEDOUT;
}

static const char *reason(int err)
{
	return err == -EISDIR  ? "it is a directory"
	       : err == -ELOOP ? "it is a link"
	       : err == -EPERM ? "it belongs to another user, or is immutable"
	       : err == -EINVAL ? "it is not a regular file"
				: strerror(-err);
}

int log_open(int role, const char *path, bool is_verbose)
{
	char safe[PATH_MAX + 256];
	int err;

	if (strlen(path) >= sizeof(((struct log_message *)NULL)->text))
		err = -ENAMETOOLONG;
	else
		err = helper_open(role, &helper);
	if (!err)
		err = send_message(LOG_OPEN, path, strlen(path));
	if (!err)
		err = wait_for_answer(OPEN_MS);
	if (!err) {
		verbose.on = is_verbose;
		verbose.patience_ms = SYNC_MS;
		verbose.began = clock_ns(CLOCK_MONOTONIC);
		return 0;
	}
	helper_kill(&helper);
	text_safe(safe, sizeof(safe), path, strlen(path));
	fail(err, EXIT_STATUS_USAGE, "cannot open the log %s: %s", safe, reason(err));
	fail_fix("give %s a regular file, or the name of a new one, that you can write to", is_verbose ? "-v" : "--log");
	return err;
}

void log_text(const char *text, size_t bytes)
{
	if (helper.socket >= 0 && send_message(LOG_TEXT, text, bytes))
		dropped = true;
}

void log_line(const char *fmt, ...)
{
	char text[2048], *end = text + sizeof(text) - 1;
	struct timespec now;
	va_list args;
	struct tm tm;
	size_t used;

	if (helper.socket < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	used = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ ", &tm);
	va_start(args, fmt);
	vsnprintf(text + used, end - text - used, fmt, args);
	va_end(args);
	strcat(text, "\n");
	log_text(text, strlen(text));
}

void log_step(const char *step)
{
	if (verbose.on)
		log_line("+%.1f ms: %s", (clock_ns(CLOCK_MONOTONIC) - verbose.began) / 1e6, step);
}

/* Whether there is room within the patience; if not, later lines do not wait at all. */
static bool wait_for_room(void)
{
	struct pollfd p = { .fd = helper.socket, .events = POLLOUT };

	if (verbose.patience_ms && poll(&p, 1, verbose.patience_ms) > 0)
		return true;
	verbose.patience_ms = 0;
	return false;
}

void log_detail(const char *text, size_t bytes)
{
	const size_t most = sizeof(((struct log_message *)NULL)->text);

	while (verbose.on && helper.socket >= 0 && bytes) {
		size_t part = bytes < most ? bytes : most;
		int err = send_message(LOG_TEXT, text, part);

		if (err == -EAGAIN && wait_for_room())
			continue;
		if (err) {
			dropped = true;
			return;
		}
		text += part;
		bytes -= part;
	}
}

void log_started(void)
{
	verbose.patience_ms = 0;
}

int log_sync(void)
{
	int err;

	if (helper.socket < 0)
		return 0;
	err = send_message(LOG_SYNC, "", 0);
	return err ? err : wait_for_answer(SYNC_MS);
}

void log_close(void)
{
	int err = log_sync();

	helper_leave(&helper);
	if (err == -EAGAIN || err == -ETIMEDOUT) /* a file system that is late may still take it */
		err = 0;
	if (err || dropped)
		complain("the log is incomplete: %s; fix: a file elsewhere", err ? strerror(-err) : "writing it took too long");
}
