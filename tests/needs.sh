#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The requirements of the tests, one case each: a test that cannot run has not passed. Prints TAP.
nr=0
failed=0
need() { # name, how to install it, the command that succeeds if it is there
	what=$1
	from=$2
	shift 2
	nr=$((nr + 1))
	if "$@" >/dev/null 2>&1; then
		echo "ok $nr - $what"
	else
		failed=1
		echo "not ok $nr - $what"
		echo "# $* failed: install $from; scripts/check does it"
	fi
}
# Debian installs it outside a user's PATH.
PATH=$PATH:/usr/sbin:/sbin

need cmocka libcmocka-dev test -z "$WHY_NO_UNIT_TESTS"
need sanitizers "libasan and libubsan" test -n "$SYSTOP_SANITIZED"
need python3 python3 "$PYTHON3" --version
need jsonschema python3-jsonschema "$PYTHON3" -c "import jsonschema"
need prometheus-client python3-prometheus-client "$PYTHON3" -c "import prometheus_client"
need c++ g++ c++ --version
need go golang-go go version
need tmux tmux tmux -V
need perf linux-perf perf --version
need bpftool bpftool bpftool version
need protoc protobuf-compiler protoc --version
need nm binutils nm --version
need objcopy binutils objcopy --version
need addr2line binutils addr2line --version
need xz xz-utils xz --version
need zsh zsh zsh -c :
need fish fish fish -c :
need mandoc mandoc sh -c 'echo .Dd | mandoc'
need infocmp ncurses-bin infocmp -V
need taskset util-linux taskset --version
need setpriv util-linux setpriv --version
need unshare util-linux unshare --version
need nsenter util-linux nsenter --version
need systemd systemd /lib/systemd/systemd --version
need systemd-run systemd systemd-run --version
need prlimit util-linux prlimit --version
need ps procps ps --version
echo "1..$nr"
exit "$failed"
