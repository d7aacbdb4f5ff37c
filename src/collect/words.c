/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/words.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

#define LOG_BEGINS "-- BEGIN PROG LOAD LOG --\n"
#define LOG_ENDS "-- END PROG LOAD LOG --"

/* libbpf has a single print callback per process. */
static struct {
	words_fn *report;
	struct refusal refusal;
	bool verifier; /* the verifier's log has been received: later messages of libbpf are less useful */
} heard;

static void add_line(const char *line, size_t bytes)
{
	struct refusal *r = &heard.refusal;

	if (r->nr_lines == REFUSAL_LINES) {
		memmove(r->lines[0], r->lines[1], sizeof(r->lines) - sizeof(r->lines[0]));
		r->nr_lines--;
	}
	text_safe(r->lines[r->nr_lines++], sizeof(r->lines[0]), line, bytes);
}

/* Adds line by line, without the verifier's statistics, which do not explain a refusal. */
static void add_lines(const char *text, const char *end)
{
	while (text < end) {
		size_t bytes = strcspn(text, "\n");

		if (bytes > (size_t)(end - text))
			bytes = end - text;
		if (bytes && strncmp(text, "processed ", strlen("processed ")))
			add_line(text, bytes);
		text += bytes + 1;
	}
}

/* "prog 'sched_switch': ...", "map 'slots': ..." */
static void find_name(const char *text)
{
	static const struct {
		const char *begins, *kind, *refused;
	} things[] = {
		{ "prog '", "program", "load failed" },
		{ "map '", "map", "failed to create" },
	};

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]) && !*heard.refusal.what; i++) {
		size_t skip = strlen(things[i].begins);
		char name[32];

		if (strncmp(text, things[i].begins, skip) || !strstr(text, things[i].refused))
			continue;
		text_safe(name, sizeof(name), text + skip, strcspn(text + skip, "'"));
		snprintf(heard.refusal.what, sizeof(heard.refusal.what), "%s %s", things[i].kind, name);
	}
}

void words_add(bool warning, const char *text)
{
	const char *log = strstr(text, LOG_BEGINS), *end;

	if (heard.report)
		heard.report(text, strlen(text));
	if (!warning || heard.verifier)
		return;
	if (!strncmp(text, "libbpf: ", strlen("libbpf: ")))
		text += strlen("libbpf: ");
	if (log) {
		log += strlen(LOG_BEGINS);
		end = strstr(log, LOG_ENDS);
		heard.refusal.nr_lines = 0;
		heard.verifier = true;
		add_lines(log, end ? end : log + strlen(log));
		return;
	}
	find_name(text);
	add_lines(text, text + strlen(text));
}

static int on_words(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) < 0)
		return 0;
	words_add(level == LIBBPF_WARN, text);
	free(text);
	return 0;
}

void words_listen(words_fn *report)
{
	heard.report = report;
	libbpf_set_print(on_words);
}

void words_begin(void)
{
	heard.refusal = (struct refusal){ 0 };
	heard.verifier = false;
}

const struct refusal *words_refusal(void)
{
	return &heard.refusal;
}
