/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_CRASH_H
#define SYSTOP_CRASH_H

/* crash_catch - a crash of our own leaves a usable terminal. */
void crash_catch(void);

#endif
