/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_SHORT_NAME_H
#define SYSTOP_UTIL_SHORT_NAME_H

#include <stddef.h>

/*
 * short_name - shortens a demangled C++ or Rust name for reading: drops parameters and the qualifiers after them, " [clone
 * ...]" and Rust's hash; long template arguments, and long parameters of lambdas, become "..".
 * @out, @size: result, always NUL-terminated, never longer than @name, cut at @size
 * @name: raw bytes. A name that is not understood, as its brackets do not match or it is of another language, stays as it is.
 * Linear in its length, in constant memory.
 * Returns the length of the result.
 */
size_t short_name(char *out, size_t size, const char *name);

#endif
