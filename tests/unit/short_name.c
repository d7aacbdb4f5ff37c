/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/short_name.h"

struct name_case {
	const char *in, *want; /* want NULL: as it is */
};

static void check(const struct name_case *cases, size_t nr)
{
	char out[512];

	for (size_t i = 0; i < nr; i++) {
		size_t len = short_name(out, sizeof(out), cases[i].in);

		assert_string_equal(out, cases[i].want ? cases[i].want : cases[i].in);
		assert_int_equal(len, strlen(out));
	}
}

TEST(short_name, drops_parameters)
{
	static const struct name_case cases[] = {
		{ "api::Queue::push(int const&)", "api::Queue::push" },
		{ "main()", "main" },
		{ "f() const const volatile const", "f" },
		{ "api::Queue::size() const", "api::Queue::size" },
		{ "api::Queue::take() &&", "api::Queue::take" },
		{ "api::Queue::peek() const volatile &", "api::Queue::peek" },
		{ "qsort_r(void*, unsigned long, unsigned long, int (*)(void const*, void const*, void*), void*)", "qsort_r" },
		{ "f(void (*)(int, char), int (&)[3])", "f" },
		{ "call(std::function<void (int)>)", "call" },
		{ "api::name[abi:cxx11](int)", "api::name[abi:cxx11]" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "a::(anonymous namespace)::T::f(a::(anonymous namespace)::T*)", "a::(anonymous namespace)::T::f" },
		{ "f(int)::counter", "f::counter" },
		{ "f(decltype ((((a)->b)<(3))) const&)", "f" },
		{ "int java.lang.StringLatin1.hashCode(byte[])", "int java.lang.StringLatin1.hashCode" },
		{ "~Queue()", "~Queue" },
		{ "api::Queue::push(int)@plt", "api::Queue::push@plt" },
		{ "api::Queue::size() const@plt", "api::Queue::size@plt" },
		{ "api::Queue::~Queue()", "api::Queue::~Queue" },
	};

	check(cases, ARRAY_SIZE(cases));
}

TEST(short_name, knows_operators)
{
	static const struct name_case cases[] = {
		{ "operator<(A const&, B const&)", "operator<" },
		{ "A::operator()(int) const", "A::operator()" },
		{ "A::operator()() const", "A::operator()" },
		{ "A::operator()", NULL },
		{ "A::operator[](unsigned long)", "A::operator[]" },
		{ "A::operator->() const", "A::operator->" },
		{ "A::operator->*(int A::*)", "A::operator->*" },
		{ "operator<=>(A const&, A const&)", "operator<=>" },
		{ "operator>(A, A)", "operator>" },
		{ "operator>>(std::istream&, A&)", "operator>>" },
		{ "A::operator>>=(int)", "A::operator>>=" },
		{ "A::operator==(A const&) const", "A::operator==" },
		{ "operator new(unsigned long)", "operator new" },
		{ "operator new[](unsigned long, std::align_val_t)", "operator new[]" },
		{ "operator delete(void*)", "operator delete" },
		{ "A::operator bool() const", "A::operator bool" },
		{ "A::operator char const*() const", "A::operator char const*" },
		{ "A::operator std::vector<int>() const", "A::operator std::vector<int>" },
		{ "operator\"\" _s(char const*, unsigned long)", "operator\"\" _s" },
		{ "A::operator--(int)", "A::operator--" },
		{ "A::operator,(int)", "A::operator," },
		{ "std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >("
		  "std::basic_ostream<char, std::char_traits<char> >&, char const*)",
		  "std::basic_ostream<..>& std::operator<< <..>" },
		{ "my_operator<int>(int)", "my_operator<int>" },
		{ "operators<long, unsigned long>::f()", "operators<..>::f" },
		{ "f<&(A::operator<(A const&))>(int)", "f<..>" },
	};

	check(cases, ARRAY_SIZE(cases));
}

TEST(short_name, collapses_long_arguments)
{
	static const struct name_case cases[] = {
		{ "std::vector<int>::push_back(int&&)", "std::vector<int>::push_back" },
		{ "std::vector<std::pair<int, std::string>, std::allocator<std::pair<int, std::string> > >::push_back(int&&)",
		  "std::vector<..>::push_back" },
		{ "std::map<std::string, int>::operator[](std::string&&)", "std::map<std::string, int>::operator[]" },
		{ "void std::__introsort_loop<__gnu_cxx::__normal_iterator<int*, std::vector<int> >, long>(int*, int*, long)",
		  "void std::__introsort_loop<..>" },
		{ "f<((1)<(2)), ((sizeof (int))>(3)), std::string>(int)", "f<..>" },
		{ "std::function<void (std::unique_ptr<Request>)>::operator()(std::unique_ptr<Request>) const",
		  "std::function<..>::operator()" },
		{ "A<(anonymous namespace)::T>::f()", "A<..>::f" },
		{ "T<&(f(int))>::g()", "T<&(f(int))>::g" },
	};

	check(cases, ARRAY_SIZE(cases));
}

TEST(short_name, keeps_lambdas)
{
	static const struct name_case cases[] = {
		{ "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()" },
		{ "run(int)::{lambda()#2}::operator()() const::{lambda(auto:1)#1}::_FUN",
		  "run::{lambda()#2}::operator()::{lambda(auto:1)#1}::_FUN" },
		{ "g()::{lambda(std::vector<int, std::allocator<int> > const&)#1}::operator()(int) const",
		  "g::{lambda(..)#1}::operator()" },
		{ "f(int)::{default arg#1}::{lambda()#1}::operator()() const", "f::{default arg#1}::{lambda()#1}::operator()" },
		{ "main::{unnamed type#1}::f()", "main::{unnamed type#1}::f" },
	};

	check(cases, ARRAY_SIZE(cases));
}

TEST(short_name, reads_rust)
{
	static const struct name_case cases[] = {
		{ "tokio::runtime::task::run::h9f3c2b7d88aa01e4", "tokio::runtime::task::run" },
		{ "tokio::runtime::task::run::h9f3c2b7d88aa01eX", NULL },
		{ "core::ops::function::FnOnce::call_once{{vtable.shim}}", NULL },
		{ "core::ops::function::FnOnce::call_once{{vtable.shim}}::h0123456789abcdef",
		  "core::ops::function::FnOnce::call_once{{vtable.shim}}" },
		{ "<T as Trait>::f", NULL },
		{ "<alloc::vec::Vec<T,A> as core::ops::drop::Drop>::drop", NULL },
		{ "<core::iter::adapters::map::Map<core::slice::iter::Iter<u8>,F> as core::iter::Iterator>::fold::"
		  "h0123456789abcdef",
		  "<core::iter::adapters::map::Map<..> as core::iter::Iterator>::fold" },
		{ "alloc::vec::<impl core::clone::Clone for alloc::vec::Vec<T>>::clone", NULL },
		{ "core::slice::<impl [T]>::len", NULL },
		{ "<[u8; 32] as core::fmt::Debug>::fmt", NULL },
		{ "<fn(u32) -> u32 as app::Call>::call", NULL },
		{ "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>", "core::ptr::drop_in_place<..>" },
		{ "std::rt::lang_start::<()>::{closure#0}", NULL },
		{ "std::rt::lang_start::<core::result::Result<(), E>>::{closure#0}", "std::rt::lang_start::<..>::{closure#0}" },
		{ "<<A as B>::C as D<core::option::Option<u8>>>::f", "<<A as B>::C as D<..>>::f" },
		{ "app::run::{{closure}}", NULL },
	};

	check(cases, ARRAY_SIZE(cases));
}

TEST(short_name, drops_clones)
{
	static const struct name_case cases[] = {
		{ "f(int) [clone .constprop.0]", "f" },
		{ "f(int) [clone .isra.0] [clone .cold]", "f" },
		{ "tokio::run::h0123456789abcdef [clone .llvm.1234]", "tokio::run" },
		{ "f [clone", NULL },
		{ " [clone .x]", NULL },
	};

	check(cases, ARRAY_SIZE(cases));
}

TEST(short_name, keeps_what_it_does_not_understand)
{
	static const struct name_case cases[] = {
		{ "", NULL },
		{ "read", NULL },
		{ "foo.constprop.0", NULL },
		{ "main.(*Server).Serve", NULL },
		{ "main.(*Stack[go.shape.int]).Push", NULL },
		{ "encoding/json.(*decodeState).object", NULL },
		{ "JS:~count down", NULL },
		{ "RegExp:(foo|bar)", NULL },
		{ "JS:*<anonymous> file:///srv/app.js:1:1", NULL },
		{ "py::<module>:/srv/app.py", NULL },
		{ "py::f:/srv/copy (1)/app.py", NULL },
		{ "libx(1).so+0x10", NULL },
		{ "void (*pick<int>(int))(char)", NULL },
		{ "std::vector<std::basic_string<char, std::char_tra", NULL },
		{ "f(int, ch", NULL },
		{ "f>g(int)", NULL },
		{ "f)(int)", NULL },
		{ "a]b", NULL },
		{ "(", NULL },
		{ ")", NULL },
		{ "operator", NULL },
		{ "operator<", NULL },
		{ "->", NULL },
		{ "()", NULL },
		{ "(int)", NULL },
	};
	char deep[300] = "f", out[400];

	check(cases, ARRAY_SIZE(cases));
	memset(deep + 1, '<', 140);
	memset(deep + 141, '>', 140);
	short_name(out, sizeof(out), deep);
	assert_string_equal(out, deep);
}

TEST(short_name, is_cut_to_fit)
{
	char out[8];

	memset(out, 'x', sizeof(out));
	assert_int_equal(short_name(out, 4, "abcdef(int)"), 3);
	assert_string_equal(out, "abc");
	assert_int_equal(out[4], 'x');
	assert_int_equal(short_name(out, 1, "abcdef"), 0);
	assert_string_equal(out, "");
	assert_int_equal(short_name(out, 0, "abcdef"), 0);
}

/* Parts in any order, in memory of just their length: reading or writing beyond it ends the test under valgrind and the
 * sanitizers, and a result that is not smaller shows here. */
TEST(short_name, takes_anything)
{
	static const char *const parts[] = {
		"<", ">", "(", ")", "[", "]", "{", "}", "operator", "::", "->", " as ", "impl ", " const", " [clone ", ".x]",
		"::h0123456789abcdef", "{lambda(", "a", "std::vector", ",", " ", "-", "\xff", "(anonymous namespace)", "<=>",
		"<<", "&", "\n", "[abi:",
	};
	uint32_t seed = 1;

	for (int round = 0; round < 200000; round++) {
		char made[512] = "", *name, *out;
		size_t len, size, used = 0;

		for (int nr = round % 24; nr >= 0; nr--) {
			seed = seed * 1664525 + 1013904223;
			used += snprintf(made + used, sizeof(made) - used, "%s", parts[(seed >> 8) % ARRAY_SIZE(parts)]);
		}
		name = strdup(made);
		size = 1 + seed % (used + 1);
		out = malloc(size);
		assert_non_null(name);
		assert_non_null(out);
		len = short_name(out, size, name);
		assert_true(len < size && len <= used && strlen(out) == len);
		free(name);
		free(out);
	}
}

int main(void)
{
	RUN_TESTS(cmocka_unit_test(short_name_drops_parameters), cmocka_unit_test(short_name_knows_operators),
		  cmocka_unit_test(short_name_collapses_long_arguments), cmocka_unit_test(short_name_keeps_lambdas),
		  cmocka_unit_test(short_name_reads_rust), cmocka_unit_test(short_name_drops_clones),
		  cmocka_unit_test(short_name_keeps_what_it_does_not_understand), cmocka_unit_test(short_name_is_cut_to_fit),
		  cmocka_unit_test(short_name_takes_anything));
}
