/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYSTOP_APP_CONFIG_FILE_H
#define SYSTOP_APP_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct settings;
struct theme_files;

/*
 * config_read - reads the config file: $SYSTOPRC, else $XDG_CONFIG_HOME/systop/systoprc (~/.config), else
 * /etc/systop/systoprc. A file is not read if its owner is neither root nor the invoker, or if others can write to it;
 * a broken file leaves @s unchanged. Within invoker_begin().
 * @notice: what was wrong, and where, without text from the file; "": nothing
 */
void config_read(struct settings *s, char *notice, size_t size);

/* config_parse - applies a file's settings. Returns 0, or the number of the first invalid line: then @s is
 * unchanged, and @why is the reason. */
int config_parse(struct settings *s, FILE *file, char *why, size_t size);

/* config_file - path of the user's file, which W writes; "": there is no place for it. config_read() finds it: later, the home
 * directory may be on a file system that does not answer. */
const char *config_file(void);

/* config_unused - whether config_read() found the user's file, or could not look for it, and did not use it: the settings must
 * not replace it, whatever it contains by now. */
bool config_unused(void);

/* config_home - the invoker's home directory. False: it is unknown, or does not fit. */
bool config_home(char *buf, size_t size);

/* config_themes - where the user's own themes are. */
void config_themes(struct theme_files *files);

#endif
