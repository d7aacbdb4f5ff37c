#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes ./configure from configure.ac; a release tarball contains it already.
set -e
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --force --install
