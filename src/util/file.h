/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_UTIL_FILE_H
#define SYSTOP_UTIL_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

/* file_write - writes all @bytes at offset @at. 0 or -errno. */
int file_write(int fd, uint64_t at, const void *from, size_t bytes);

/*
 * Small files, such as the kernel's. @path: a format; a symbolic link is not followed.
 * file_text - reads a file with one read() of up to @size - 1 bytes, and adds a NUL. Returns the bytes, 0 if it cannot be read.
 * file_line - reads its first line, without the newline; "" if it cannot be read. file_open - opens it for reading; NULL with
 * errno.
 */
size_t file_text(char *text, size_t size, const char *path, ...) __attribute__((format(printf, 3, 4)));
void file_line(char *line, size_t size, const char *path, ...) __attribute__((format(printf, 3, 4)));
FILE *file_open(const char *path, ...) __attribute__((format(printf, 1, 2)));

/* file_close - closes a descriptor, unless it is -1, and sets it to -1; errno stays. */
void file_close(int *fd);

/* file_readable - whether an open ring, socket or pidfd has something to read now; a pidfd does if its process has ended. */
bool file_readable(int fd);

/* file_stream - an open file as a stream, from its beginning. @fd stays the caller's: fclose() closes a duplicate.
 * @mode: as for fopen(), but nothing is truncated. NULL with errno. */
FILE *file_stream(int fd, const char *mode);

/* file_flush - flushes a stream. 0, or -errno if not everything was written. */
int file_flush(FILE *to);

/* file_gets - like fgets(), but cuts a line that does not fit, skips its rest and ends it with a newline, as newer versions of
 * inih read on until they find one. @cut: set to whether the line was cut. */
char *file_gets(char *buf, int size, FILE *f, bool *cut);

/* file_seal - makes a memfd (MFD_ALLOW_SEALING) immutable for everyone. 0 or -errno. file_sealed - whether it is a
 * sealed memfd: reading it cannot block, and its size cannot change. */
int file_seal(int fd);
bool file_sealed(int fd);

/* Looking at a file opens it with O_PATH, which a device or a FIFO does not notice. */
#define FILE_LOOK (O_PATH | O_CLOEXEC)

/* file_look_in - looks at @path below an open folder. @flags: more of open(); @resolve: RESOLVE_* of openat2(), which say where
 * symbolic links and mounts may lead. Links of /proc are not followed. Returns a descriptor, or -1 with errno. file_look_below
 * - the same below the folder @root. */
int file_look_in(int folder, const char *path, uint64_t flags, uint64_t resolve);
int file_look_below(const char *root, const char *path, uint64_t flags, uint64_t resolve);

/* file_is - whether @fd is the regular file with these properties. @st: set to the result of fstat(). */
bool file_is(int fd, uint64_t inode, uint64_t size, uint64_t mtime_s, struct stat *st);

/* file_is_overlay - whether @fd is on an overlay, which reports its own device for files of its layers, and may report its own
 * inode numbers. */
bool file_is_overlay(int fd);

/* file_open_seen - opens the regular file behind @seen, a descriptor of FILE_LOOK, for reading, and closes @seen. Returns -1
 * with errno; ENOENT: it is no regular file. */
int file_open_seen(int seen);

#endif
