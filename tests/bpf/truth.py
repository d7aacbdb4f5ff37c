# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests' own clock, tests/truth: times by the tracepoints' time and nothing else."""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, Late, descendants, had_cpu  # noqa: E402

STATE_NAMES = ("run_ns", "runq_ns", "d_ns", "sleep_ns")

TRUTH = os.environ.get("SYSTOP_TRUTH", "build/tests/truth/truth")


class Truth:
    """The independent clock."""

    def __init__(self):
        self.proc = subprocess.Popen([TRUTH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.proc.stdout.readline(), "tests/truth does not run"

    def read(self):
        self.proc.stdin.write("\n")
        self.proc.stdin.flush()
        return json.loads(self.proc.stdout.readline())

    def threads(self):
        """Its data of each thread, by number (tests/truth/truth.h)."""
        return {int(tid): t for tid, t in self.read()["threads"].items()}

    def cgroups(self):
        """Times of the threads of each cgroup (v2, by id), of those that have ended, too; each up to its last switch."""
        return {int(cgroup): times for cgroup, times in self.read()["cgroups"].items()}

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.stdin.close()
        self.proc.wait()
        self.proc.stdout.close()


def waits_in_d(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] == "D"
    except OSError:
        return False


def stop(*loads):
    """Stops loads, and returns when every switch caused by that is over. A child of vfork() that is stopped before its exec keeps
    its parent in D, whose block has no end then: the loads are continued, and stopped again."""
    for _ in range(20):
        for load in loads:
            load.signal(signal.SIGSTOP)
        time.sleep(3 if GUEST else 0.3)
        if not any(waits_in_d(pid) for load in loads for pid in descendants(load.pid)):
            return
        for load in loads:
            load.signal(signal.SIGCONT)
        time.sleep(0.05)
    raise Late("a thread of the loads is in D whenever they are stopped")


def ours_of(rows, key):
    """systop's sum of a state; the truth leaves time taken by interrupts with the thread that ran."""
    return sum(had_cpu(row) if key == "run_ns" else row[key] for row in rows)
