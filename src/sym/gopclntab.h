/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_GOPCLNTAB_H
#define SYSTOP_SYM_GOPCLNTAB_H

struct elf_file;
struct elf_progress;
struct symtab;

/*
 * gopclntab_read - adds the functions of a Go program to @t, from the table that its runtime makes stack traces from,
 * which stripping leaves. Knows the tables of Go 1.2, 1.16, 1.18 and 1.20 and later.
 * Returns 0, -EAGAIN: its time is up, call again, -ENOENT: there is none of these, or -errno, with what could be read:
 * -EBADMSG: broken.
 */
int gopclntab_read(const struct elf_file *f, struct symtab *t, struct elf_progress *p);

#endif
