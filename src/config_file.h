/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_CONFIG_FILE_H
#define SYSTOP_CONFIG_FILE_H

#include <stddef.h>
#include <stdio.h>

struct settings;

/*
 * config_read - the config file: $SYSTOPRC, else $XDG_CONFIG_HOME/systop/systoprc (~/.config), else
 * /etc/systop/systoprc. One that is not root's or ours, or that others can write to, is not read; a
 * broken one leaves @s as it was.
 * @notice: what was wrong, and where, without anything of the file's text; "": nothing
 */
void config_read(struct settings *s, char *notice, size_t size);

/*
 * config_write - writes the settings to the user's file (never to /etc), by a temporary file and
 * rename; lines it does not know stay. @said: where it is now, or why it is not.
 * Returns 0 or -errno.
 */
int config_write(const struct settings *s, char *said, size_t size);

/* config_print - all settings as a config file, with what they can be. */
void config_print(FILE *to, const struct settings *s);

/* config_themes - directory of the user's own themes beside the config file, "": none. */
void config_themes(char *buf, size_t size);

#endif
