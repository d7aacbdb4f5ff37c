/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_HASH_H
#define SYSTOP_UTIL_HASH_H

#include <stdint.h>

/* hash_text - 64 bits of a text for struct map, never 0 (FNV-1a). @seed: 0, or another text's hash. */
uint64_t hash_text(uint64_t seed, const char *text);

#endif
