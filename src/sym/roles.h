/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ROLES_H
#define SYSTOP_SYM_ROLES_H

/* What the helper processes do: helper/helper.h starts them, helper/proto.h says how they talk. */

/* open_run - opens other processes' files, one at a time. */
void open_run(int socket);

/* symbols_run - tells the names of addresses, from files that are handed to it. */
void symbols_run(int socket);

#endif
