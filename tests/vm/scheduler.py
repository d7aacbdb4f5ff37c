# SPDX-License-Identifier: GPL-2.0-or-later
"""A scheduler of BPF programs (sched_ext) has all threads: systop's numbers hold under it, and while it comes and goes."""

import contextlib
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bpf"))
from exact import add_up, compare  # noqa: E402
from harness import SYSTOP, Load, Systop, about, begin, load_path  # noqa: E402

SCHEDULER = os.environ.get("SYSTOP_SCHEDULER")
STATE = "/sys/kernel/sched_ext/state"


def state():
    with open(STATE, encoding="utf-8") as f:
        return f.read().strip()


@contextlib.contextmanager
def scheduler():
    """All threads are scheduled by tests/scheduler."""
    with subprocess.Popen([SCHEDULER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as proc:
        assert proc.stdout.readline() == "scheduling\n", "tests/scheduler does not run"
        assert state() == "enabled", state()
        yield
        assert state() == "enabled", f"{state()}: the kernel took the threads back"
        proc.stdin.close()
    assert state() == "disabled", state()


def named():
    """--check names it while it runs, and says afterwards that there was one."""
    said = []
    with scheduler():
        said.append(subprocess.run([SYSTOP, "--check"], capture_output=True, text=True, check=False).stdout)
    said.append(subprocess.run([SYSTOP, "--check"], capture_output=True, text=True, check=False).stdout)
    for text, wanted in zip(said, (r"BPF programs \(sched_ext\): fifo; sleeps", r"the kernel's; BPF programs \(sched_ext\) were")):
        assert re.search(f"^scheduler +{wanted}", text, re.MULTILINE), text


def comes_and_goes():
    """States and CPUs add up in each refresh, nothing is lost, and no switch goes unseen."""
    with Load(load_path("udp"), "120"), Systop("--all", "-d", "1") as systop:
        lines = [systop.line() for _ in range(2)]
        for _ in range(2):
            with scheduler():
                lines += [systop.line() for _ in range(3)]
            lines += [systop.line() for _ in range(2)]
    add_up(lines)
    loss = {name: count - lines[0]["loss"][name] for name, count in lines[-1]["loss"].items()}
    assert not any(loss.values()), loss
    gaps = lines[-1]["repaired"]["gap"] - lines[0]["repaired"]["gap"]
    return f"{len(lines)} refreshes, {gaps} gaps repaired"


def shared():
    """Two spinners on one CPU: each of them runs or waits, and together they run all the time."""
    with scheduler(), Load("taskset", "2", load_path("spin"), "user", "60", "2") as load, Systop("--all", "-d", "2") as systop:
        time.sleep(1)
        systop.line()
        line = systop.line()
    wall = line["interval_ns"]
    mine = [t for t in line["threads"] if t["tgid"] == load.pid and t["run_ns"] + t["runq_ns"] > wall / 2]
    assert len(mine) == 2, [(t["comm"], t["run_ns"], t["runq_ns"]) for t in line["threads"] if t["tgid"] == load.pid]
    for t in mine:
        about(t["run_ns"] + t["runq_ns"] + t["irq_ns"] + (t["steal_ns"] or 0), wall, wall, "time of a spinner")
    about(sum(t["run_ns"] + t["irq_ns"] for t in mine), 0.9 * wall, wall, "time of both on the CPU")


def counted(program, *args):
    """Each switch of each thread of a load is counted."""
    with scheduler():
        return compare(load_path(program), *args)


def main():
    tap = begin()
    loads = {
        "forks": ("forks", "processes", "500", "60"),
        "udp": ("udp", "60"),
        "signals on blocked threads": ("sigstorm", "60"),
        "sleepers moved between CPUs": ("migrate", "60", "1"),
    }
    if not SCHEDULER or not os.path.exists(STATE):
        for name in ("it is named", "it comes and goes", "two on one CPU", *loads):
            tap.skip(name, "this kernel has no sched_ext" if SCHEDULER else "in a guest only")
        tap.done()
    tap.case("it is named", named)
    tap.case("it comes and goes", comes_and_goes)
    tap.case("two on one CPU", shared)
    for name, load in loads.items():
        tap.case(name, counted, *load)
    tap.done()


main()
