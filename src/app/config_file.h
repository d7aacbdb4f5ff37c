/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CONFIG_FILE_H
#define SYSTOP_APP_CONFIG_FILE_H

#include <stddef.h>
#include <stdio.h>

struct settings;
struct theme_files;

/*
 * config_read - the config file: $SYSTOPRC, else $XDG_CONFIG_HOME/systop/systoprc (~/.config), else
 * /etc/systop/systoprc. One that is not root's or the invoker's, or that others can write to, is not read; a
 * broken one leaves @s as it was. Within invoker_begin().
 * @notice: what was wrong, and where, without anything of the file's text; "": nothing
 */
void config_read(struct settings *s, char *notice, size_t size);

/* config_parse - sets what a file says. Returns 0, or the first line that is wrong: then @s is as it was, and @why says
 * what is wrong with it. */
int config_parse(struct settings *s, FILE *file, char *why, size_t size);

/* config_file - the user's file, which W writes; "": there is nowhere to put it. */
void config_file(char *buf, size_t size);

/* config_themes - where the user's own themes are. */
void config_themes(struct theme_files *files);

#endif
