/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "query/calltree.h"
#include "query/runtimes.h"
#include "sym/names.h"

TEST(runtimes, are_known_by_their_files)
{
	static const struct {
		const char *file, *name, *version, *hint; /* name NULL: none; hint: a part of it */
	} cases[] = {
		{ "python3.11", "Python", "3.11", "cannot" },
		{ "python2.7", "Python", "2.7", "cannot" },
		{ "python3.12", "Python", "3.12", "-X perf" },
		{ "python3.13t", "Python", "3.13", "-X perf" },
		{ "libpython3.9.so.1.0", "Python", "3.9", "cannot" },
		{ "libpython3.14.so.1.0", "Python", "3.14", "PYTHONPERFSUPPORT=1" },
		{ "libjvm.so", "JVM", "", "Compiler.perfmap" },
		{ "node", "Node.js", "", "--perf-basic-prof" },
		{ "libnode.so.108", "Node.js", "", "--perf-basic-prof" },
		{ "ruby3.1", "Ruby", "3.1", "cannot" },
		{ "ruby", "Ruby", "", "--yjit-perf" },
		{ "libruby-3.1.so.3.1.2", "Ruby", "3.1", "cannot" },
		{ "libruby.so.3.3.6", "Ruby", "3.3.6", "--yjit-perf" },
		{ "php8.2", "PHP", "8.2", "shared memory" },
		{ "php-fpm8.2", "PHP", "8.2", "shared memory" },
		{ "libphp8.2.so", "PHP", "8.2", "shared memory" },
		{ "luajit", "LuaJIT", "", "LUAJIT_USE_PERFTOOLS" },
		{ "luajit-2.1.0-beta3", "LuaJIT", "2.1.0", "LUAJIT_USE_PERFTOOLS" },
		{ "libluajit-5.1.so.2.1.0", "LuaJIT", "2.1.0", "LUAJIT_USE_PERFTOOLS" },
		{ "libcoreclr.so", ".NET", "", "DOTNET_PerfMapEnabled=1" },
		{ "beam.smp", "Erlang", "", "+JPperf true" },
		{ "", NULL },
		{ "python", NULL },
		{ "pythonista", NULL },
		{ "python.", NULL },
		{ "python.3", NULL },
		{ "xpython3.11", NULL },
		{ "node_exporter", NULL },
		{ "libnode.s", NULL },
		{ "libjvm.so.1", NULL },
		{ "rubyx", NULL },
		{ "phpmyadmin", NULL },
		{ "[kernel]", NULL },
	};

	FOR_EACH(c, cases) {
		char version[32];
		const struct runtime *r = runtime_of_file(c->file, version, sizeof(version));

		if (!c->name) {
			assert_null(r);
			assert_string_equal(version, "");
			continue;
		}
		assert_non_null(r);
		assert_string_equal(r->name, c->name);
		assert_string_equal(version, c->version);
		assert_non_null(strstr(r->hint, c->hint));
	}
}

TEST(runtimes, take_long_versions)
{
	char file[4096] = "python", version[8];

	memset(file + 6, '9', sizeof(file) - 7);
	assert_non_null(runtime_of_file(file, version, sizeof(version)));
	assert_string_equal(version, "9999999");
}

static struct symbol root = { "main", "app", SYMBOL_USER, true }, eval = { "eval", "python3.11", SYMBOL_USER, true },
		     vm = { "run", "libjvm.so", SYMBOL_USER, true }, unnamed = { "[anon]+0x1", "[anon]", SYMBOL_JIT, false },
		     jit = { "py::f", "[jit]", SYMBOL_JIT, true }, sys = { "read", "[kernel]", SYMBOL_KERNEL, true };

#define NODE(s, pid, up) { .symbol = (s), .at.tgid = (pid), .parent = (up), .total = 1 }

static bool hints(struct calltree_node *nodes, size_t nr, int at, const char *want)
{
	const struct calltree f = { .nodes = nodes, .nr = nr };
	char text[200] = "";

	return runtime_hint(&f, &nodes[at], text, sizeof(text)) && strstr(text, want) == text;
}

TEST(runtimes, are_those_of_the_stack_then_of_the_process)
{
	struct calltree_node nodes[] = {
		NODE(NULL, 0, -1),    NODE(&root, 7, 0),    NODE(&vm, 7, 1),      NODE(&unnamed, 7, 2), NODE(&eval, 7, 1),
		NODE(&unnamed, 7, 4), NODE(&unnamed, 7, 0), NODE(&unnamed, 8, 0), NODE(&sys, 7, 3),
	};

	assert_true(hints(nodes, ARRAY_SIZE(nodes), 3, "JVM: 17"));
	assert_true(hints(nodes, ARRAY_SIZE(nodes), 5, "Python 3.11: cannot"));
	assert_true(hints(nodes, ARRAY_SIZE(nodes), 6, "JVM: "));
	assert_false(hints(nodes, ARRAY_SIZE(nodes), 7, "")); /* another process */
	for (int named = 0; named < 3; named++)
		assert_false(hints(nodes, ARRAY_SIZE(nodes), named, ""));
	assert_false(hints(nodes, ARRAY_SIZE(nodes), 8, ""));
}

/* The code of Erlang's and PHP's JIT compilers is in a file without a name. */
TEST(runtimes, whose_code_is_in_shared_memory)
{
	static struct symbol beam = { "erts_schedule", "beam.smp", SYMBOL_USER, true },
			     code = { "[file]+0x398a53", "[file]", SYMBOL_USER, false },
			     other = { "libx.so+0x10", "libx.so", SYMBOL_USER, false };
	struct calltree_node nodes[] = {
		NODE(NULL, 0, -1), NODE(&code, 7, 0), NODE(&beam, 7, 0), NODE(&code, 8, 0), NODE(&other, 7, 0),
	};

	assert_true(hints(nodes, ARRAY_SIZE(nodes), 1, "Erlang: OTP 24 and newer: start it with +JPperf true"));
	assert_false(hints(nodes, ARRAY_SIZE(nodes), 3, "")); /* another process */
	assert_false(hints(nodes, ARRAY_SIZE(nodes), 4, ""));
}

TEST(runtimes, that_interpret_hint_until_they_give_names)
{
	struct calltree_node nodes[] = { NODE(NULL, 0, -1), NODE(&eval, 7, 0), NODE(&jit, 8, 1), NODE(&vm, 7, 0) };

	assert_true(hints(nodes, ARRAY_SIZE(nodes), 1, "Python 3.11: "));
	assert_false(hints(nodes, ARRAY_SIZE(nodes), 3, "")); /* it compiles */
	nodes[2].at.tgid = 7;
	assert_false(hints(nodes, ARRAY_SIZE(nodes), 1, ""));
	assert_false(hints(nodes, ARRAY_SIZE(nodes), 2, ""));
}

TEST(runtimes, are_in_a_table_without_gaps)
{
	int nr = 0;

	for (const struct runtime *r = runtimes; r->name; r++, nr++) {
		assert_true(*r->name && *r->files && *r->hint);
		/* A row that is never reached would follow one of any version. */
		assert_true(nr == 0 || strcmp(r[-1].name, r->name) || *r[-1].since);
	}
	assert_true(nr >= 8);
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(runtimes_are_known_by_their_files), cmocka_unit_test(runtimes_take_long_versions),
		  cmocka_unit_test(runtimes_are_those_of_the_stack_then_of_the_process),
		  cmocka_unit_test(runtimes_whose_code_is_in_shared_memory),
		  cmocka_unit_test(runtimes_that_interpret_hint_until_they_give_names),
		  cmocka_unit_test(runtimes_are_in_a_table_without_gaps));
}
