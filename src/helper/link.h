/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_HELPER_LINK_H
#define SYSTOP_HELPER_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct worker;

/*
 * link_helpers - gives an open and a symbols helper a socket, by which the first hands files to the second: this process
 * opens none of them, as closing a file can take as long as its file system likes. @linked: ids of the helpers that have
 * one. Returns whether they have one.
 */
bool link_helpers(const struct worker *open, const struct worker *symbols, uint32_t linked[2]);

/* link_lost - whether a file with the answer @err was not taken, as the symbols helper has ended or its queue is full: it
 * has to be opened again. */
bool link_lost(const struct worker *symbols, const uint32_t linked[2], int err);

#endif
