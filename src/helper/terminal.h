/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_TERMINAL_H
#define SYSTOP_HELPER_TERMINAL_H

#include <stdint.h>
#include <termios.h>

/* All that is needed to restore a terminal without knowing its type. */
struct terminal {
	struct termios before; /* its settings before systop changed them */
	struct termios ours;   /* and as systop left them */
	uint32_t len;
	char leave[256];       /* leaves the alternate screen, shows the cursor */
};

/* terminal_open - reopens @fd's terminal such that writing to it does not block. -1: it is none or cannot be opened. */
int terminal_open(int fd);

/* terminal_restore - restores its state before systop. Settings changed by others since are left alone. */
void terminal_restore(const struct terminal *t, int fd);

#endif
