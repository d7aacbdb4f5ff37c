/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scene.h"

#include <errno.h>

#include "model/model.h"

/* Command lines of processes, as the kernel has them. */
static const struct {
	pid_t tgid;
	size_t len;
	const char *text;
} cmdlines[] = {
#define _(tgid, text) { tgid, sizeof(text) - 1, text }
	_(480, "kworker/u8:3+flush-259:0"),
	_(1000, "nginx: worker process\0\0\0"),
	_(2001, "/usr/lib/api/bin/api-server\0--listen\0" "0.0.0.0:8080\0--workers\0" "8\0--database\0postgres://db.internal/orders\0"
		"--log-format\0json\0--cache\0/var/cache/api\0--trace-endpoint\0http://collector.internal:4317\0"
		"--feature\0search,basket,checkout,recommendations\0"),
	_(3000, "postgres: api orders [local] COMMIT"),
	_(4000, "make\0-j8\0"),
	_(4001, "/usr/libexec/gcc/x86_64-linux-gnu/14/cc1plus\0-quiet\0-O2\0main.cc\0"),
	_(4002, "/usr/libexec/gcc/x86_64-linux-gnu/14/cc1\0-quiet\0-O2\0util.c\0"),
	_(5000, "/opt/\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e/\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\0\xe8\xb5\xb7\xe5\x8b\x95\0"),
	_(6666, "\x1b]0;owned\x07\0\x1b[2J\xff\0\xe2\x80\xae!\0"),
#undef _
};

void scene_cmdline(struct model *m, struct process *p)
{
	for (size_t i = 0; i < sizeof(cmdlines) / sizeof(cmdlines[0]); i++)
		if (cmdlines[i].tgid == p->tgid)
			scene_check(model_cmdline(m, p, cmdlines[i].text, cmdlines[i].len, false) ? 0 : -ENOMEM);
}
