/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_MODEL_WAIT_FUNCTIONS_H
#define SYSTOP_MODEL_WAIT_FUNCTIONS_H

#include <stdbool.h>

/* wait_functions_has - whether it is a kernel function that every wait ends in: only its caller shows the reason. */
bool wait_functions_has(const char *function);

#endif
