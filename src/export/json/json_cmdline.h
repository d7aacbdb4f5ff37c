/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_EXPORT_JSON_JSON_CMDLINE_H
#define SYSTOP_EXPORT_JSON_JSON_CMDLINE_H

struct export;
struct json;
struct process;

/* json_cmdline - the properties of a process's command line. */
void json_cmdline(struct json *j, const struct process *p, const struct export *e);

#endif
