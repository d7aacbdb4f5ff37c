/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_SAVE_IMAGE_H
#define SYSTOP_SAVE_IMAGE_H

struct save_options;
struct tick;

/* save_image - all that the one who writes a trace needs beside the recorder's rings (export/image.h), up to the end of
 * the newest refresh @t. @reason: why it is saved, "": somebody wanted it. A file without a name: its fd, or -errno. */
int save_image(const struct save_options *o, const struct tick *t, const char *reason);

#endif
