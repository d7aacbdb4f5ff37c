/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What W makes from any existing config file, and the helper that writes it, with any requests. */
#include "helpers.h"
#include "words.h"

#include "util/path.h"

#include <stdio.h>
#include <stdlib.h>

#define config_print config_print_here
#define config_put config_put_here
#define config_run config_run_here
#define config_write config_write_here
#define config_write_work config_write_work_here
#define path_resolve(path, uid, flags, p) no_file(path, p)
static int no_file(const char *path, struct path *p);
#include "../../src/app/config_write.c"
#undef path_resolve

/* Finds no path: the helper would write to it. */
static int no_file(const char *path, struct path *p)
{
	fuzz_check(strlen(path) < PATH_MAX, "a path of %zu bytes", strlen(path));
	p->folder = -1;
	return -ENOENT;
}

/* The result can be read, and has the same settings. */
void fuzz_save(const uint8_t *bytes, size_t size)
{
	struct settings s, again;
	struct writing w = { .settings = &s };
	FILE *old;
	char *text;
	size_t len;

	if (!fuzz_read_config(&s, bytes, size))
		return;
	old = fmemopen((void *)bytes, size, "r");
	w.to = open_memstream(&text, &len);
	fuzz_check(old && w.to, "no memory");
	put_all(&w, old);
	fclose(old);
	fuzz_check(!fclose(w.to), "no memory");
	fuzz_check(fuzz_read_config(&again, text, len), "what was written is not read");
	fuzz_check_equal(&s, &again);
	free(text);
}

/* The first bytes are the lengths of the message and of its path. */
void fuzz_writer(const uint8_t *bytes, size_t size)
{
	static struct config_request r;
	struct feed f = { bytes, size };
	size_t len = feed_number(&f, 2);
	struct config_answer a;
	struct role_under_test role;
	int fd;

	feed_line(&f, r.path, sizeof(r.path));
	feed_copy(&f, r.text, sizeof(r.text));
	role_begin(&role);
	helper_send(role.ask, &r, len % sizeof(r) ? len % sizeof(r) : sizeof(r), -1);
	config_run_here(role.answer);
	if (helper_receive(role.ask, &a, sizeof(a), &fd) > 0)
		fuzz_check(fd < 0 && (a.err == -EINVAL || a.err == -ENOENT), "answer %d", a.err);
	close(role.ask);
	close(role.answer);
}
