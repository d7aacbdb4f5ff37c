/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_SERVICES_H
#define SYSTOP_APP_SERVICES_H

struct systop;
struct tick;

/* services_init - fills in what the screen needs from other parts (tui/screen/host.h).
 * services_note - stores the state at this tick for the report of a crash. */
void services_init(struct systop *s);
void services_note(const struct systop *s, const struct tick *t);

#endif
