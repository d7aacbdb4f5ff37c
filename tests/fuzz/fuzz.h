/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_FUZZ_H
#define SYSTOP_TESTS_FUZZ_H

/*
 * Feeds any bytes to all code that reads foreign input: from libFuzzer (scripts/fuzz), and from the stored inputs
 * (tests/fuzz/replay). A target returns, or the sanitizers, a limit or a check end the process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;   /* its corpus is tests/fuzz/corpus/NAME */
	size_t bytes;       /* longest input */
	void (*run)(const uint8_t *bytes, size_t size);
	const char *what;   /* its input */
};

/* All targets; ends with a row of zeros.
 * fuzz_find - NULL: no such name. */
extern const struct fuzz_target fuzz_targets[];
const struct fuzz_target *fuzz_find(const char *name);

/* fuzz_check - ends the process if a condition that must hold for every input does not. */
#define fuzz_check(holds, ...)                                        \
	do {                                                          \
		if (!(holds))                                         \
			fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);   \
	} while (0)
void fuzz_fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));

/* An input, consumed from the start; zeroes follow its end. */
struct feed {
	const uint8_t *at;
	size_t left;
};

void feed_copy(struct feed *f, void *to, size_t bytes);
uint64_t feed_number(struct feed *f, size_t bytes);

/* feed_line - up to the next newline or NUL; cut to fit. */
void feed_line(struct feed *f, char *buf, size_t size);

/* fuzz_text - these bytes, NUL-terminated; the caller frees it. */
char *fuzz_text(const uint8_t *bytes, size_t size);

/* fuzz_fd - a file in memory that holds these bytes, positioned at the start; the caller closes it.
 * fuzz_fd_again - likewise, but valid until the next call, which reuses the file.
 * fuzz_fd_any - an empty file, for those who only have to close it: it stays open, a duplicate goes with a message.
 * fuzz_path - a file of this name with these bytes, in a private folder; it exists until the next call. */
int fuzz_fd(const uint8_t *bytes, size_t size);
int fuzz_fd_again(const uint8_t *bytes, size_t size);
int fuzz_fd_any(void);
const char *fuzz_path(const uint8_t *bytes, size_t size);

/* fuzz_outcome - marks an input that leads to a new text like this as worth keeping. */
void fuzz_outcome(const char *text);

/* fuzz_safe - ends the process if a text is not fit for a terminal. */
void fuzz_safe(const char *text, const char *what);

/* fuzz_close_sockets - closes the sockets in memory (kernel.c), like the end of a process. */
void fuzz_close_sockets(void);

/* From fuzz_clock_begin() to fuzz_clock_end() the code's clock stands still, except for fuzz_clock_pass(), which
 * advances it and the CPU time of all processes. */
void fuzz_clock_begin(void);
void fuzz_clock_pass(uint64_t ns, uint64_t cpu_ns);
void fuzz_clock_end(void);

/* The targets; each file has one or a few. */
void fuzz_blocked(const uint8_t *bytes, size_t size);
void fuzz_cfi(const uint8_t *bytes, size_t size);
void fuzz_config(const uint8_t *bytes, size_t size);
void fuzz_containers(const uint8_t *bytes, size_t size);
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
void fuzz_owner(const uint8_t *bytes, size_t size);
void fuzz_peek(const uint8_t *bytes, size_t size);
void fuzz_perfmap(const uint8_t *bytes, size_t size);
void fuzz_rings(const uint8_t *bytes, size_t size);
void fuzz_runtime(const uint8_t *bytes, size_t size);
void fuzz_save(const uint8_t *bytes, size_t size);
void fuzz_settings(const uint8_t *bytes, size_t size);
void fuzz_starter(const uint8_t *bytes, size_t size);
void fuzz_symbols(const uint8_t *bytes, size_t size);
void fuzz_table(const uint8_t *bytes, size_t size);
void fuzz_text_safe(const uint8_t *bytes, size_t size);
void fuzz_theme(const uint8_t *bytes, size_t size);
void fuzz_commands(const uint8_t *bytes, size_t size);
void fuzz_who(const uint8_t *bytes, size_t size);
void fuzz_write(const uint8_t *bytes, size_t size);
void fuzz_writer(const uint8_t *bytes, size_t size);

#endif
