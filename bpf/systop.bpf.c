/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All programs, compiled as one object: libbpf before 1.6 cannot link two objects that call the same kernel function
 * (view.bpf.h). */

/* First, so that a CPU's interrupt is known before a wakeup in it. */
#include "irq.bpf.c"

#include "sched.bpf.c"

#include "block.bpf.c"
#include "blocked.bpf.c"
#include "programs.bpf.c"
#include "recorder.bpf.c"
#include "sample.bpf.c"
#include "scope.bpf.c"
#include "seed.bpf.c"
#include "stack.bpf.c"
#include "unwind.bpf.c"
#include "usage.bpf.c"
#include "wait.bpf.c"
