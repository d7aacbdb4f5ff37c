/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "crash.h"

#include <signal.h>
#include <stddef.h>

#include "tui/tui.h"

static void on_crash(int signal_number)
{
	tui_emergency_restore();
	raise(signal_number); /* the default action: SA_RESETHAND */
}

void crash_catch(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	static char stack[16384]; /* its own: the crash may have been for want of stack */
	struct sigaction sa = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_ONSTACK };
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&ss, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
}
