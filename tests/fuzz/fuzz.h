/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_FUZZ_H
#define SYSTOP_TESTS_FUZZ_H

/*
 * Whatever systop reads that others wrote, fed with any bytes at all: by libFuzzer (scripts/fuzz), and, of the inputs
 * that are kept, by tests/fuzz/replay. A target returns, or the sanitizers, a limit or a check end the process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;   /* its corpus is tests/fuzz/corpus/NAME */
	size_t bytes;       /* inputs are no longer */
	void (*run)(const uint8_t *bytes, size_t size);
	const char *what;   /* what it reads */
};

/* All of them; ends with a row of zeros. fuzz_find - NULL: there is none of this name. */
extern const struct fuzz_target fuzz_targets[];
const struct fuzz_target *fuzz_find(const char *name);

/* fuzz_check - ends the process if something does not hold that holds for every input. */
#define fuzz_check(holds, ...)                                        \
	do {                                                          \
		if (!(holds))                                         \
			fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);   \
	} while (0)
void fuzz_fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));

/* An input, taken from its beginning; behind its end there are zeroes. */
struct feed {
	const uint8_t *at;
	size_t left;
};

void feed_copy(struct feed *f, void *to, size_t bytes);
uint64_t feed_number(struct feed *f, size_t bytes);

/* feed_line - up to the next newline or NUL; cut to fit. */
void feed_line(struct feed *f, char *buf, size_t size);

/* fuzz_text - these bytes with a NUL behind them, to be freed. */
char *fuzz_text(const uint8_t *bytes, size_t size);

/* fuzz_fd - a file of memory that holds these bytes, read from its beginning; close it. fuzz_fd_again - likewise, but
 * until the next call: it is the same file each time. fuzz_path - a file by that name with these bytes, of ours alone;
 * it is there until the next call. */
int fuzz_fd(const uint8_t *bytes, size_t size);
int fuzz_fd_again(const uint8_t *bytes, size_t size);
const char *fuzz_path(const uint8_t *bytes, size_t size);

/* fuzz_outcome - an input that leads to a text like this is worth to be kept. */
void fuzz_outcome(const char *text);

/* fuzz_safe - ends the process if a text is not fit for a terminal. */
void fuzz_safe(const char *text, const char *what);

/* fuzz_close_sockets - those that are in memory (kernel.c), as the end of a process does. */
void fuzz_close_sockets(void);

/* The clock that the code sees from fuzz_clock_begin() to fuzz_clock_end() stands, but for what passes by
 * fuzz_clock_pass(): of it and of any process's CPU time. */
void fuzz_clock_begin(void);
void fuzz_clock_pass(uint64_t ns, uint64_t cpu_ns);
void fuzz_clock_end(void);

/* The targets, a file each or a few. */
void fuzz_blocked(const uint8_t *bytes, size_t size);
void fuzz_cfi(const uint8_t *bytes, size_t size);
void fuzz_config(const uint8_t *bytes, size_t size);
void fuzz_debugdata(const uint8_t *bytes, size_t size);
void fuzz_demangle(const uint8_t *bytes, size_t size);
void fuzz_elf(const uint8_t *bytes, size_t size);
void fuzz_filter(const uint8_t *bytes, size_t size);
void fuzz_image(const uint8_t *bytes, size_t size);
void fuzz_kallsyms(const uint8_t *bytes, size_t size);
void fuzz_keys(const uint8_t *bytes, size_t size);
void fuzz_lines(const uint8_t *bytes, size_t size);
void fuzz_messages(const uint8_t *bytes, size_t size);
void fuzz_mounts(const uint8_t *bytes, size_t size);
void fuzz_names(const uint8_t *bytes, size_t size);
void fuzz_open(const uint8_t *bytes, size_t size);
void fuzz_peek(const uint8_t *bytes, size_t size);
void fuzz_perfmap(const uint8_t *bytes, size_t size);
void fuzz_rings(const uint8_t *bytes, size_t size);
void fuzz_save(const uint8_t *bytes, size_t size);
void fuzz_settings(const uint8_t *bytes, size_t size);
void fuzz_starter(const uint8_t *bytes, size_t size);
void fuzz_symbols(const uint8_t *bytes, size_t size);
void fuzz_table(const uint8_t *bytes, size_t size);
void fuzz_text_safe(const uint8_t *bytes, size_t size);
void fuzz_theme(const uint8_t *bytes, size_t size);
void fuzz_who(const uint8_t *bytes, size_t size);
void fuzz_write(const uint8_t *bytes, size_t size);
void fuzz_writer(const uint8_t *bytes, size_t size);

#endif
