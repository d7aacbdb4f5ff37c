/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_LINES_H
#define SYSTOP_SYM_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * lines_find - the source of the code at an address (in the file's own address space): "handler.rs:212", and one more
 * line for each function that it was inlined into, innermost first.
 * @fd: a file with DWARF line numbers, which may hold anything
 * "" if unknown. Reads what it needs at each call: meant for one frame at a time.
 */
void lines_find(int fd, uint64_t address, char *buf, size_t size);

#endif
