#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Compares a trace as read by protoc, which knows only names and numbers of fields, with trace.textproto. --write
# rewrites that.
trace=${SYSTOP_GOLDEN:-build/tests/golden}/trace
should=${srcdir:-.}/tests/golden/trace.textproto

decoded() {
	"$trace" | protoc --decode=perfetto.protos.Trace --proto_path="${srcdir:-.}/src/export/perfetto" perfetto.proto
}

if ! command -v protoc >/dev/null; then
	echo "1..0 # SKIP install protobuf-compiler"
	exit
fi
if [ "$1" = --write ]; then
	decoded >"$should"
	exit
fi
echo 1..1
if differences=$(decoded 2>&1 | diff "$should" -); then
	echo "ok 1 - trace"
else
	echo "not ok 1 - trace"
	echo "$differences" | sed 's/^/# /'
fi
