/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_ROLES_H
#define SYSTOP_SYM_ROLES_H

/* The helper processes: helper/helper.h starts them, helper/proto.h defines their messages. */

/* open_run - opens other processes' files, one at a time. */
void open_run(int socket);

/* symbols_run - finds the names of addresses, in files that are handed to it. */
void symbols_run(int socket);

#endif
