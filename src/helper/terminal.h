/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_TERMINAL_H
#define SYSTOP_HELPER_TERMINAL_H

#include <stdint.h>
#include <termios.h>

/* What a terminal is restored with by somebody who does not know the terminal. */
struct terminal {
	struct termios before; /* its settings before systop changed them, */
	struct termios ours;   /* and after that */
	uint32_t len;
	char leave[256];       /* leaves the alternate screen, shows the cursor */
};

/* terminal_open - @fd's terminal, in a way that writing to it waits for nobody. -1: it cannot be had. */
int terminal_open(int fd);

/* terminal_restore - as it was before systop. Settings that somebody changed since are left alone. */
void terminal_restore(const struct terminal *t, int fd);

#endif
