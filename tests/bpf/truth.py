# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests' own clock, tests/truth: times by the tracepoints' time and nothing else."""

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST  # noqa: E402

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
        """ns on a CPU of the threads of each cgroup (v2, by id), up to their last switches away from it."""
        return {int(cgroup): ns for cgroup, ns in self.read()["cgroups"].items()}

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.stdin.close()
        self.proc.wait()
        self.proc.stdout.close()


def stop(*loads):
    """Stops loads; every switch caused by that is over."""
    for load in loads:
        load.signal(signal.SIGSTOP)
    time.sleep(3 if GUEST else 0.3)
