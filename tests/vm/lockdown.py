# SPDX-License-Identifier: GPL-2.0-or-later
"""With lockdown "confidentiality", which lasts until the guest ends: no program may read kernel memory, so there are
no stacks, and everything else works. Prints TAP."""

import json
import os
import subprocess
import sys

SYSTOP = os.environ.get("SYSTOP", "build/systop")
LOCKDOWN = "/sys/kernel/security/lockdown"


def run(*args):
    return subprocess.run([SYSTOP, *args], capture_output=True, text=True, check=True).stdout


def shows_threads():
    tick = json.loads(run("--json", "--all", "-n", "1", "-d", "1"))
    own = [t for t in tick["threads"] if t["tgid"] == os.getpid()]
    return len(tick["threads"]) > 20 and own and own[0]["sleep_ns"] > 0


def has_no_stacks():
    lines = run("--folded=wall", "-n", "1", "-d", "1").splitlines()
    return lines and all(";[no stack] " in line for line in lines)


def says_so():
    return "confidentiality: no stacks" in run("--check")


def main():
    if not os.environ.get("SYSTOP_TEST_GUEST") or not os.path.exists(LOCKDOWN):
        print("1..0 # SKIP runs only in a guest of tests/vm/run, whose kernel has lockdown")
        return 0
    with open(LOCKDOWN, "w", encoding="ascii") as f:
        f.write("confidentiality")
    tests = (shows_threads, has_no_stacks, says_so)
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        try:
            good = test()
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            print(f"# {error} {getattr(error, 'stderr', '')}")
            good = False
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {test.__name__.replace('_', ' ')}", flush=True)
    return 1 if failed else 0


sys.exit(main())
