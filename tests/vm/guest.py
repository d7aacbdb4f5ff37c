# SPDX-License-Identifier: GPL-2.0-or-later
"""The assumptions of all other tests in a guest. Prints TAP."""

import os
import subprocess
import sys


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def has_btf():
    return os.path.getsize("/sys/kernel/btf/vmlinux") > 1_000_000


def has_two_cpus():
    return os.cpu_count() == 2


def has_cpu_controller():
    return "cpu" in read("/sys/fs/cgroup/cgroup.subtree_control").split()


def is_preempt_rt_if_named_so():
    return ("-rt-" in os.uname().release) == ("PREEMPT_RT" in os.uname().version)


def has_large_pages_if_named_so():
    """The flavours whose names end in -16k and -64k are of arm64."""
    size = os.uname().release.rpartition("-")[2]
    return os.sysconf("SC_PAGESIZE") == {"16k": 16384, "64k": 65536}.get(size, 4096)


def starts_programs():
    return subprocess.run(["true"], check=False).returncode == 0


def main():
    if not os.environ.get("SYSTOP_TEST_GUEST"):
        print("1..0 # SKIP runs only in a guest of tests/vm/run")
        return 0
    tests = (has_btf, has_two_cpus, has_cpu_controller, is_preempt_rt_if_named_so, has_large_pages_if_named_so,
             starts_programs)
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, test in enumerate(tests, 1):
        try:
            good = test()
        except OSError as error:
            print(f"# {error}")
            good = False
        failed += not good
        verdict = "ok" if good else "not ok"
        print(f"{verdict} {number} - {test.__name__.replace('_', ' ')}", flush=True)
    clock = read("/sys/devices/system/clocksource/clocksource0/current_clocksource").strip()
    print(f"# {os.uname().release}, clocksource {clock}")
    return 1 if failed else 0


sys.exit(main())
