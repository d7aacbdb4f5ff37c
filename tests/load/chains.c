/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains that are hard to walk, without frame pointers: each burns a CPU at its inner end.
 * usage: chains KIND [SECONDS=5]   prints {"tid", "descend": the function's offset in the file}; kinds: deep (15 frames), deeper
 * (65), deepest (1000), qsort, alloca, large (3 MiB), realigned, switched (to another stack), zeros (no frame, and the frame
 * pointer points to zeros), ucontext and coroutine (glibc's, and one like Boost's), tracked (like glibc's with IBT), signal,
 * trampoline (Python's), vdso, threads, mmap; sleep (naps of 50 ms at the inner end), block (asleep there all the time)
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "load.h"

#define NOINLINE __attribute__((noinline, noclone))

extern char __ehdr_start[]; /* the linker's: the beginning of the file in memory */

static volatile uint64_t sink;
static uint64_t end_ns;

static NOINLINE void work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}

static uint64_t nap_ns; /* at the inner end, instead of work; 0: none */

static NOINLINE int descend(int depth)
{
	int below = 0;

	if (depth)
		below = descend(depth - 1);
	else if (nap_ns)
		sleep_ns(nap_ns);
	else
		work();
	sink += depth;
	return below + 1;
}

static int compare(const void *a, const void *b)
{
	work();
	return *(const int *)a - *(const int *)b;
}

static NOINLINE void with_qsort(void)
{
	int values[] = { 5, 3, 9, 1, 7, 2 };

	qsort(values, 6, sizeof(values[0]), compare);
	sink += values[0];
}

static NOINLINE void with_alloca(int size)
{
	volatile char *memory = alloca(size);

	memory[0] = memory[size - 1] = 1;
	work();
	sink += memory[0];
}

/* Aligned to more than the ABI requires: the frame is found indirectly. */
static NOINLINE void with_alignment(int size)
{
	__attribute__((aligned(64))) volatile char here[64];
	volatile char *memory = alloca(size);

	here[0] = memory[0] = 1;
	work();
	sink += here[0] + memory[0];
}

#ifdef __x86_64__
/* Calls a function on another stack, in code that says of itself that it is a signal frame, as OCaml's runtime does. */
__asm__(".text\n"
	".type on_stack, @function\n"
	"on_stack:\n"
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"mov %rsi, %rsp\n"
	"call *%rdi\n"
	"mov %rbp, %rsp\n"
	"pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size on_stack, . - on_stack\n");
void on_stack(void (*run)(void), char *top);

/* Counts down, without unwind information, and with two zeros where a frame pointer would point to. */
__asm__(".type at_zeros, @function\n"
	"at_zeros:\n"
	"push %rbp\n"
	"push $0\n"
	"push $0\n"
	"mov %rsp, %rbp\n"
	"1: dec %rdi\n"
	"jne 1b\n"
	"add $16, %rsp\n"
	"pop %rbp\n"
	"ret\n"
	".size at_zeros, . - at_zeros\n");
void at_zeros(uint64_t n);
#else
static void at_zeros(uint64_t n)
{
	(void)n;
}

static void on_stack(void (*run)(void), char *top)
{
	(void)top;
	run();
}
#endif

static NOINLINE void with_stack(void)
{
	static _Alignas(64) char stack[65536];

	on_stack(work, stack + sizeof(stack));
	sink++;
}

static ucontext_t outside, inside;
static char coroutine_stack[64 << 10] __attribute__((aligned(16)));

static void in_context(void)
{
	for (;;) {
		for (int i = 0; i < 200; i++) /* arm64: glibc's swapcontext() has no unwind information for all of its code */
			descend(5);
		swapcontext(&inside, &outside);
	}
}

static NOINLINE void with_context(void)
{
	if (!inside.uc_stack.ss_sp) {
		getcontext(&inside);
		inside.uc_stack.ss_sp = coroutine_stack;
		inside.uc_stack.ss_size = sizeof(coroutine_stack);
		makecontext(&inside, in_context, 0);
	}
	swapcontext(&outside, &inside);
	sink++;
}

/* Where a coroutine of Boost.Context returns to, and one of a glibc that is built for indirect branch tracking: assembler code
 * without unwind information. */
extern char coroutine_end[], tracked_end[];
#ifdef __x86_64__
__asm__(".text\n.skip 32\ncoroutine_end:\n\txor %rdi, %rdi\n\tcall _exit@PLT\n\thlt\n"
	".skip 32\ntracked_end:\n\tendbr64\n\tmov %rbx, %rsp\n\tmov (%rsp), %rdi\n\thlt\n");
#else
__asm__(".text\n.skip 32\ncoroutine_end:\ntracked_end:\n\tmov x0, #0\n\tbl _exit\n");
#endif

static jmp_buf out_of_coroutine;

static __attribute__((used)) void in_coroutine(void)
{
	descend(5);
	longjmp(out_of_coroutine, 1);
}

static NOINLINE void with_coroutine(const char *end)
{
	char *top = coroutine_stack + sizeof(coroutine_stack);

	if (!setjmp(out_of_coroutine)) {
#ifdef __x86_64__
		__asm__ volatile("mov %0, %%rsp\n\tmov %1, %%rbp\n\tpush %%rbp\n\tjmp in_coroutine"
				 :: "a"(top), "d"(end) : "memory");
#else
		__asm__ volatile("mov sp, %0\n\tmov x30, %1\n\tmov x29, x30\n\tb in_coroutine"
				 :: "r"(top), "r"(end) : "memory", "x30");
#endif
		__builtin_unreachable();
	}
	sink++;
}

/* Calls through code in memory that has no frame pointer, like the trampolines of Python's -X perf. */
static NOINLINE void with_trampoline(void)
{
#ifdef __x86_64__
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08,       /* sub $8, %rsp */
		0xff, 0xd1,                   /* call *%rcx */
		0x48, 0x83, 0xc4, 0x08, 0xc3, /* add $8, %rsp; ret */
	};
	static void (*f)(void *, void *, void *, void (*)(void));
	void *memory;

	if (!f) {
		memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(memory, code, sizeof(code));
		mprotect(memory, 4096, PROT_READ | PROT_EXEC);
		memcpy(&f, &memory, sizeof(f));
	}
	f(NULL, NULL, NULL, work);
#else
	work();
#endif
	sink++;
}

static void on_signal(int number)
{
	work();
	sink += number;
}

static NOINLINE void with_signal(void)
{
	raise(SIGUSR1);
	sink++;
}

static NOINLINE void with_clock(void)
{
	for (int i = 0; i < 10000; i++)
		sink += now_ns();
}

static NOINLINE void with_mmap(void)
{
	void *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(memory, 65536);
	sink++;
}

static void *another(void *arg)
{
	while (now_ns() < end_ns)
		descend(5);
	return arg;
}

static void *remap(void *arg)
{
	while (now_ns() < end_ns)
		with_mmap();
	return arg;
}

static NOINLINE void once(const char *kind)
{
	if (!strcmp(kind, "deep"))
		descend(12);
	else if (!strcmp(kind, "deeper"))
		descend(62);
	else if (!strcmp(kind, "deepest"))
		descend(1000);
	else if (!strcmp(kind, "qsort"))
		with_qsort();
	else if (!strcmp(kind, "alloca"))
		with_alloca(100 + sink % 100);
	else if (!strcmp(kind, "large"))
		with_alloca((3 << 20) + sink % 100);
	else if (!strcmp(kind, "switched"))
		with_stack();
	else if (!strcmp(kind, "zeros"))
		at_zeros(1000000);
	else if (!strcmp(kind, "realigned"))
		with_alignment(100 + sink % 100);
	else if (!strcmp(kind, "ucontext"))
		with_context();
	else if (!strcmp(kind, "coroutine"))
		with_coroutine(coroutine_end);
	else if (!strcmp(kind, "tracked"))
		with_coroutine(tracked_end);
	else if (!strcmp(kind, "trampoline"))
		with_trampoline();
	else if (!strcmp(kind, "signal"))
		with_signal();
	else if (!strcmp(kind, "vdso"))
		with_clock();
	else
		descend(8);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "deep";

	end_ns = now_ns() + argument(argc, argv, 2, 5) * SEC;
	signal(SIGUSR1, on_signal);
	nap_ns = !strcmp(kind, "sleep") ? 50 * MS : !strcmp(kind, "block") ? 1000 * SEC : 0;
	for (int i = 0; i < 3 && !strcmp(kind, "threads"); i++)
		start_thread(another, NULL);
	if (!strcmp(kind, "mmap"))
		start_thread(remap, NULL);
	printf("{\"tid\": %d, \"descend\": %zu}\n", getpid(), (size_t)((char *)descend - __ehdr_start));
	fflush(stdout);
	while (now_ns() < end_ns)
		once(kind);
	return 0;
}
