#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests scripts/build with packages that are installed later: a real configure, with a package manager, a pkg-config and
# a make that are this test's. Prints TAP.
set -u

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
bin=$work/bin
hidden=$work/hidden # the packages that "are not installed"
mkdir "$tree" "$bin"
# The sources of this tree only: build/ may be inside it.
(cd "$srcdir" && tar -cf - --exclude=./build --exclude=./.git --exclude=./autom4te.cache .) | tar -xf - -C "$tree"
chmod -R u+w "$tree"

put() {
	cat >"$bin/$1"
	chmod +x "$bin/$1"
}
put dpkg-query <<E2
#!/bin/bash
$(command -v dpkg-query || echo false) "\$@" 2>/dev/null | grep -vFf "$hidden"
E2
put pkg-config <<E2
#!/bin/bash
for word; do
	case \$word in cmocka*) ! grep -q libcmocka-dev "$hidden" || exit 1 ;; esac
	[ ! -e "$work/old" ] || [ "\$word" != "libbpf >= 1.0" ] || exit 1
done
exec $(command -v pkg-config) "\$@"
E2
put apt-get <<E2
#!/bin/bash
echo "\$@" >>"$work/installed"
: >"$hidden"
E2
put make <<E2
#!/bin/bash
echo "\$@" >>"$work/made"
E2

nr=0
failed=0
ok() {
	nr=$((nr + 1))
	if eval "$2"; then
		echo "ok $nr - $1"
	else
		failed=1
		echo "not ok $nr - $1"
		tail -n 20 "$work/log" | sed 's/^/# /'
	fi
}

if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP not root: packages are not installed then"
	exit 0
elif ! command -v dpkg-query >/dev/null; then
	echo "1..0 # SKIP not a Debian: the packages of another system are not tried"
	exit 0
fi

build() {
	PATH=$bin:$PATH "$tree/scripts/build" "$@" >"$work/log" 2>&1
}

echo libcmocka-dev >"$hidden"
ok "the program is built without what only the tests need" \
	'build && grep -qF "S[\"HAVE_CMOCKA_TRUE\"]=\"#\"" "$tree/build/config.status" && [ ! -e "$work/installed" ]'
before=$(stat -c %Y.%s "$tree/build/config.log")
ok "an unchanged machine is not configured again" \
	'build && [ "$(stat -c %Y.%s "$tree/build/config.log")" = "$before" ]'
ok "what the tests need is installed" 'build --with-tests && grep -q libcmocka-dev "$work/installed"'
ok "and configure sees it" 'grep -qF "S[\"HAVE_CMOCKA_TRUE\"]=\"\"" "$tree/build/config.status"'
touch "$work/old"
rm -r "$tree/build"
ok "a library that is too old is not one that is missing" \
	'! build && grep -q "libbpf >= 1.0 is needed, and this system has [0-9.]*: it is too old" "$work/log"'
echo "1..$nr"
exit "$failed"
