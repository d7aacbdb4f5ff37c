/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SYM_LINES_H
#define SYSTOP_SYM_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * lines_find - what the code at an address (in the file's own address space) was compiled from:
 * "handler.rs:212", and a line more for each function that it was inlined into, innermost first.
 * @fd: a file with DWARF line numbers; whatever it holds
 * "": not known. It reads what it needs each time: for one frame at a time.
 */
void lines_find(int fd, uint64_t address, char *buf, size_t size);

#endif
