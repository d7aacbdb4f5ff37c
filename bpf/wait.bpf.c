/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of wait.bpf.h. */

#include "wait.bpf.h"

const volatile __u64 wait_ns = WAIT_DEFAULT_NS, away_ns = AWAY_NS;
