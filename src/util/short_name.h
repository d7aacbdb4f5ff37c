/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_SHORT_NAME_H
#define SYSTOP_UTIL_SHORT_NAME_H

#include <stddef.h>

/*
 * short_name - a demangled C++ or Rust name for reading: without the list of parameters and what follows it except @plt,
 * [clone ...] and Rust's hash; long template arguments, and long parameters of lambdas, become "..".
 * @out, @size: result, always NUL-terminated, never longer than @name, cut at @size
 * @name: raw bytes. A name that is not understood, as its brackets do not match or it is of another language, stays as
 * it is. Linear in its length, in constant memory.
 * Returns the length of the result.
 */
size_t short_name(char *out, size_t size, const char *name);

#endif
