/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_PRIORITY_H
#define SYSTOP_APP_PRIORITY_H

/*
 * systop is looked at when a host has too much to do: it and its helpers run before what they watch, and take little.
 *
 * priority_raise - before helpers are started. Who was started with a priority of its own (nice) keeps it, and so does
 * who may not. priority_restore - in a child that is not one of ours.
 */
void priority_raise(void);
void priority_restore(void);

#endif
