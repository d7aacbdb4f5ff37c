/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All programs. They are compiled as one: libbpf before 1.6 cannot link two that call the same function of the
 * kernel (view.bpf.h). */

/* First: in which interrupt a CPU is is known before somebody is woken there. */
#include "irq.bpf.c"

#include "sched.bpf.c"

#include "blocked.bpf.c"
#include "sample.bpf.c"
#include "seed.bpf.c"
