/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes with command lines.
 * usage: commands burst PROGRAM RATE SECONDS   starts PROGRAM with other arguments each time: "burst NUMBER xxx", the last
 *                                              one of 0 to 299 bytes; for SECONDS, RATE a second or what the machine
 *                                              manages; prints {"made", "ns"} at the end
 *        commands title ARGUMENT...            prints {"pid"} and does what each line of its input says, then prints {"pid"},
 *                                              with that of a child: "title TEXT" over its arguments, padded with NULs;
 *                                              "full TEXT", padded with x to the last byte; "name NAME" of this thread;
 *                                              "thread NAME": of another one; "fork LINE": a child does it; "hide": its
 *                                              memory cannot be read
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "load.h"

#define PADDING 300

extern char **environ;

static void one(const char *program, long number)
{
	char text[32], padding[PADDING];
	char *arguments[] = { "burst", text, padding, NULL };
	pid_t child;

	snprintf(text, sizeof(text), "%ld", number);
	memset(padding, 'x', sizeof(padding));
	padding[number * 7 % PADDING] = '\0';
	child = vfork();
	if (!child) {
		execve(program, arguments, (char *[]){ NULL });
		_exit(1);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		exit(1);
}

static int burst(const char *program, double rate, double seconds)
{
	uint64_t began = now_ns();
	long made = 0, wanted = rate * seconds;

	while (made < wanted && now_ns() - began < seconds * SEC) {
		uint64_t due = began + made / rate * SEC, now = now_ns();

		if (due > now)
			sleep_ns(due - now);
		one(program, made++);
	}
	printf("{\"made\": %ld, \"ns\": %llu}\n", made, (unsigned long long)(now_ns() - began));
	return 0;
}

static __attribute__((noreturn)) void *named(void *name)
{
	prctl(PR_SET_NAME, name);
	for (;;)
		pause();
}

/* Does what a line requests. Returns a process to print. */
static pid_t do_it(char *line, char *from, char *to)
{
	char *text = line + strcspn(line, " ");
	pid_t child;

	line[strcspn(line, "\n")] = '\0';
	text += *text == ' ';
	if (!strncmp(line, "title ", 6) || !strncmp(line, "full ", 5)) {
		memset(from, *line == 't' ? '\0' : 'x', to - from);
		memcpy(from, text, strlen(text) < (size_t)(to - from) ? strlen(text) : (size_t)(to - from));
	} else if (!strncmp(line, "name ", 5)) {
		prctl(PR_SET_NAME, text);
	} else if (!strncmp(line, "thread ", 7)) {
		start_thread(named, strdup(text));
	} else if (!strcmp(line, "hide")) {
		from = (char *)((uintptr_t)from & -4096UL);
		mprotect(from, to - from, PROT_NONE);
	} else if (!strncmp(line, "fork", 4)) {
		child = fork();
		if (!child)
			prctl(PR_SET_PDEATHSIG, 9);
		if (!child && *text)
			do_it(text, from, to);
		while (!child)
			pause();
		return child;
	}
	return getpid();
}

/* On a stack of its own: "hide" takes the one that the arguments are on. */
static void *titles(void *arg)
{
	char **argv = arg, **last = argv, line[4096], *from = argv[0], *to;

	while (last[1])
		last++;
	to = *last + strlen(*last) + 1;
	printf("{\"pid\": %d}\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("{\"pid\": %d}\n", do_it(line, from, to));
		fflush(stdout);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "burst"))
		return burst(argv[2], atof(argv[3]), atof(argv[4]));
	if (argc < 2 || strcmp(argv[1], "title"))
		return 2;
	prctl(PR_SET_PDEATHSIG, 9);
	start_thread(titles, argv);
	for (;;)
		pause();
}
