/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_PRIORITY_H
#define SYSTOP_APP_PRIORITY_H

/*
 * systop is needed when a host is overloaded: it runs before what it watches, and uses little. Its helpers get no priority
 * (helper/starter.c).
 *
 * priority_raise - call it before helpers are started. Keeps a priority that systop was started with (nice), and the present
 * one if raising is not permitted.
 * priority_restore - in a child that is not one of systop's own.
 */
void priority_raise(void);
void priority_restore(void);

#endif
