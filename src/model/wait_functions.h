/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_WAIT_FUNCTIONS_H
#define SYSTOP_MODEL_WAIT_FUNCTIONS_H

#include <stdbool.h>

/* wait_functions_has - whether a function of the kernel is one that every wait ends in, so that it does not tell why:
 * the one that called it does. */
bool wait_functions_has(const char *function);

#endif
