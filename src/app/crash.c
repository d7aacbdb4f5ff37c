/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/crash.h"

#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "app/log.h"
#include "tui/term/term.h"
#include "util/sink.h"
#include "util/text.h"

#define FRAMES_MOST 64
#define MODULES_MOST 64

/* Longest wait for a terminal that does not take the report. */
#define REPORT_MS 400

/* Everything that a report needs, prepared beforehand: the handler allocates and locks nothing. */
static struct {
	const char *version;
	char build_id[41];
	char program[PATH_MAX];
	struct module {
		uintptr_t base, from, to;
		char name[64];
	} modules[MODULES_MOST];
	int nr_modules;
	char notes[2][512];
	volatile sig_atomic_t note; /* index of the complete note */
	volatile sig_atomic_t crashing;
} known = { .version = "-", .build_id = "-", .program = "systop" };

/* --- The report: these run in the handler */

struct report {
	char text[8192];
	size_t bytes;
};

static void put(struct report *r, const char *s)
{
	while (*s && r->bytes < sizeof(r->text))
		r->text[r->bytes++] = *s++;
}

static void put_number(struct report *r, uintptr_t v, unsigned int base)
{
	char digits[24], *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do
		*--at = "0123456789abcdef"[v % base];
	while (v /= base);
	if (base == 16)
		put(r, "0x");
	put(r, at);
}

static void print_report(struct report *r)
{
	sink_write(STDERR_FILENO, r->text, r->bytes, REPORT_MS);
	for (size_t at = 0; at < r->bytes; at += 4096)
		log_text(r->text + at, r->bytes - at < 4096 ? r->bytes - at : 4096);
	r->bytes = 0;
}

static const char *signal_text(int signal_number)
{
	switch (signal_number) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGILL:
		return "SIGILL";
	case SIGFPE:
		return "SIGFPE";
	default:
		return "SIGABRT";
	}
}

static uintptr_t program_counter(const ucontext_t *c)
{
#if defined(__x86_64__)
	return c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return c->uc_mcontext.pc;
#else
	(void)c;
	return 0;
#endif
}

static const struct module *module_of(uintptr_t address)
{
	for (int i = 0; i < known.nr_modules; i++)
		if (address >= known.modules[i].from && address < known.modules[i].to)
			return &known.modules[i];
	return NULL;
}

/* Addresses as in the file, for addr2line. */
static void put_frame(struct report *r, int nr, uintptr_t address)
{
	const struct module *m = module_of(address);

	put(r, "  #");
	put_number(r, nr, 10);
	put(r, " ");
	put(r, m ? m->name : "?");
	put(r, " ");
	put_number(r, m ? address - m->base : address, 16);
	put(r, "\n");
}

static void put_backtrace(struct report *r, uintptr_t pc)
{
	void *frames[FRAMES_MOST];
	int nr = backtrace(frames, FRAMES_MOST), first = 0;

	/* The handler and the signal's trampoline precede the frame of the crash. */
	while (first < nr && (uintptr_t)frames[first] != pc)
		first++;
	if (first == nr) {
		put_frame(r, 0, pc);
		return;
	}
	for (int i = first; i < nr; i++) /* a return address is after the call */
		put_frame(r, i - first, (uintptr_t)frames[i] - (i > first));
}

static void on_crash(int signal_number, siginfo_t *info, void *context)
{
	static struct report r;

	if (known.crashing) /* a crash within the handler */
		_exit(128 + signal_number);
	known.crashing = 1;
	term_emergency();
	put(&r, "systop ");
	put(&r, known.version);
	put(&r, " crashed: ");
	put(&r, signal_text(signal_number));
	if (info->si_code > 0) {
		put(&r, " at address ");
		put_number(&r, (uintptr_t)info->si_addr, 16);
	} else if (info->si_pid != getpid()) {
		put(&r, " sent by process ");
		put_number(&r, info->si_pid, 10);
	}
	put(&r, "\n  build-id: ");
	put(&r, known.build_id);
	put(&r, "\n  health: ");
	put(&r, known.notes[known.note]);
	put(&r, "\n  backtrace, for addr2line -Cfipe ");
	put(&r, known.program);
	put(&r, ":\n");
	print_report(&r); /* walking a corrupted stack may crash */
	put_backtrace(&r, program_counter(context));
	print_report(&r);
	log_sync();
	raise(signal_number); /* SA_RESETHAND has restored the default action */
}

/* --- Preparations */

static void remember_build_id(const ElfW(Nhdr) *note, size_t bytes)
{
	const char *end = (const char *)note + bytes;

	while ((const char *)(note + 1) <= end) {
		const char *name = (const char *)(note + 1);
		const unsigned char *id = (const unsigned char *)name + (note->n_namesz + 3) / 4 * 4;

		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
			for (size_t i = 0; i < note->n_descsz && i < (sizeof(known.build_id) - 1) / 2; i++)
				snprintf(known.build_id + 2 * i, 3, "%02x", id[i]);
			return;
		}
		note = (const void *)(id + (note->n_descsz + 3) / 4 * 4);
	}
}

static int remember_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool program = !known.nr_modules;
	struct module *m = &known.modules[known.nr_modules];
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	(void)arg;
	if (known.nr_modules == MODULES_MOST)
		return 1;
	*m = (struct module){ .base = info->dlpi_addr, .from = UINTPTR_MAX };
	snprintf(m->name, sizeof(m->name), "%s", program ? "systop" : slash ? slash + 1 : info->dlpi_name);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_NOTE && program)
			remember_build_id((const void *)at, p->p_memsz);
		if (p->p_type != PT_LOAD)
			continue;
		m->from = at < m->from ? at : m->from;
		m->to = at + p->p_memsz > m->to ? at + p->p_memsz : m->to;
	}
	known.nr_modules++;
	return 0;
}

void crash_catch(const char *version)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	static char stack[65536]; /* a stack of its own: the crash may be a stack overflow */
	struct sigaction sa = { .sa_sigaction = on_crash, .sa_flags = SA_RESETHAND | SA_ONSTACK | SA_SIGINFO };
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	void *loads_unwinder[1];
	char program[PATH_MAX / 4];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program));

	if (n > 0)
		text_safe(known.program, sizeof(known.program), program, n);
	known.version = version;
	backtrace(loads_unwinder, 1);
	dl_iterate_phdr(remember_module, NULL);
	sigaltstack(&ss, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
}

void crash_note(const char *fmt, ...)
{
	int next = !known.note;
	va_list args;

	va_start(args, fmt);
	vsnprintf(known.notes[next], sizeof(known.notes[next]), fmt, args);
	va_end(args);
	known.note = next;
}
