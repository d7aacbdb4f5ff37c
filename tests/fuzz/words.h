/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_TESTS_FUZZ_WORDS_H
#define SYSTOP_TESTS_FUZZ_WORDS_H

#include "fuzz.h"

#include "tui/input/settings.h"

/* fuzz_read_config - applies a config file of these bytes. Returns whether it was valid. */
bool fuzz_read_config(struct settings *s, const void *bytes, size_t size);

/* fuzz_check_equal - ends the process if the two differ. */
void fuzz_check_equal(const struct settings *a, const struct settings *b);

#endif
