/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HOST_INFO_H
#define SYSTOP_HOST_INFO_H

struct collect;
struct host;
struct model;

/* host_info_init - what the screen asks of the rest (tui/host.h). @collect: borrowed, as are the
 * strings that are in @h already. */
void host_info_init(struct host *h, struct collect *collect);

#endif
