/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/runtimes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/calltree.h"
#include "sym/names.h"

/* Nodes that are searched for a file of a runtime: a process has few files, and a draw must not take long. */
#define SEARCH_MAX 4096

#define PYTHON "python%* libpython%*"
#define RUBY "ruby ruby% libruby-%* libruby.so.%"

const struct runtime runtimes[] = {
	{ "Python", PYTHON, "3.12", true, "3.12 and newer: start it with -X perf or PYTHONPERFSUPPORT=1" },
	{ "Python", PYTHON, "", true, "cannot name its functions before 3.12" },
	{ "JVM", "libjvm.so", "", false,
	  "17 and newer: jcmd PID Compiler.perfmap, again after more was compiled; "
	  "-XX:+PreserveFramePointer has whole stacks" },
	{ "Node.js", "node nodejs libnode.so*", "", false, "start it with --perf-basic-prof" },
	{ "Ruby", RUBY, "3.3", true, "3.3 and newer: start it with --yjit-perf, for what YJIT compiles" },
	{ "Ruby", RUBY, "", true, "cannot name its functions before 3.3" },
	{ "PHP", "php php% php-fpm php-fpm% php-cgi php-cgi% libphp.so libphp%*", "", true,
	  "cannot name its functions: its JIT compiler keeps code in shared memory; opcache.jit=disable has whole stacks" },
	{ "LuaJIT", "luajit luajit-%* libluajit-5.1.so.%", "", false, "needs a build with -DLUAJIT_USE_PERFTOOLS" },
	{ ".NET", "libcoreclr.so", "", false, "6 and newer: start it with DOTNET_PerfMapEnabled=1, 7 and newer with DOTNET_EnableWriteXorExecute=0, too" },
	{ "Erlang", "beam.smp", "", false, "OTP 24 and newer: start it with +JPperf true" },
	{ .name = NULL },
};

/* Length of the version at the start of @text: digits with dots between them. */
static size_t version_len(const char *text)
{
	size_t len = strspn(text, "0123456789.");

	while (len && text[len - 1] == '.')
		len--;
	return *text == '.' ? 0 : len;
}

/* Whether the whole name fits one pattern, which ends at a blank. */
static bool fits(const char *pattern, const char *file, char *version, size_t size)
{
	size_t len;

	for (*version = '\0'; *pattern && *pattern != ' '; pattern++) {
		if (*pattern == '*')
			return true;
		if (*pattern != '%') {
			if (*file++ != *pattern)
				return false;
			continue;
		}
		len = version_len(file);
		if (!len)
			return false;
		snprintf(version, size, "%.*s", (int)len, file);
		file += len;
	}
	return !*file;
}

static bool fits_any(const char *patterns, const char *file, char *version, size_t size)
{
	for (const char *p = patterns; *p; p += strspn(p, " ")) {
		if (fits(p, file, version, size))
			return true;
		p += strcspn(p, " ");
	}
	return false;
}

/* 3.12 as 3012. */
static unsigned long number_of(const char *version)
{
	char *end;
	unsigned long major = strtoul(version, &end, 10), minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return 1000 * (major % 1000000) + (minor < 999 ? minor : 999);
}

const struct runtime *runtime_of_file(const char *file, char *version, size_t size)
{
	for (const struct runtime *r = runtimes; r->name; r++)
		if (fits_any(r->files, file, version, size) && (!*version || number_of(version) >= number_of(r->since)))
			return r;
	*version = '\0';
	return NULL;
}

static const struct runtime *of_own_file(const struct calltree_node *n, char *version, size_t size)
{
	return n->symbol && n->symbol->kind == SYMBOL_USER ? runtime_of_file(n->symbol->module, version, size) : NULL;
}

/* The runtime of a function: that of the nearest file in its stack, or else in another stack of its process. NULL: none was
 * met. */
static const struct runtime *of_node(const struct calltree *f, const struct calltree_node *n, char *version, size_t size)
{
	const struct runtime *r = of_own_file(n, version, size);

	for (int at = n->parent; !r && at >= 0; at = f->nodes[at].parent)
		r = of_own_file(&f->nodes[at], version, size);
	for (size_t i = 0; !r && i < f->nr && i < SEARCH_MAX; i++)
		if (f->nodes[i].at.tgid == n->at.tgid)
			r = of_own_file(&f->nodes[i], version, size);
	return r;
}

/* Whether a function of that process has a name which its runtime gave. */
static bool has_names(const struct calltree *f, uint32_t tgid)
{
	for (size_t i = 0; i < f->nr; i++) {
		const struct calltree_node *n = &f->nodes[i];

		if (n->total && n->at.tgid == tgid && n->symbol && n->symbol->kind == SYMBOL_JIT && n->symbol->named)
			return true;
	}
	return false;
}

/* Whether it is code of a JIT compiler without a name. Erlang and PHP keep such code in shared memory: a file without a name. */
static bool is_compiled(const struct symbol *s)
{
	return !s->named && (s->kind == SYMBOL_JIT || (s->kind == SYMBOL_USER && !s->function && !strcmp(s->module, SYMBOL_NO_NAME)));
}

bool runtime_hint(const struct calltree *f, const struct calltree_node *n, char *buf, size_t size)
{
	const struct runtime *r = NULL;
	char version[32];

	if (!n->symbol)
		return false;
	if (is_compiled(n->symbol))
		r = of_node(f, n, version, sizeof(version));
	else if ((r = of_own_file(n, version, sizeof(version))) && (!r->interprets || has_names(f, n->at.tgid)))
		r = NULL;
	if (r)
		snprintf(buf, size, "%s%s%s: %s", r->name, *version ? " " : "", version, r->hint);
	return r;
}
