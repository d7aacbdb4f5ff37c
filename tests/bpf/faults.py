# SPDX-License-Identifier: GPL-2.0-or-later
"""Page faults: for a process that has ended as many as the kernel counted, in whatever way its threads ended; for one that keeps
its CPU, at most a sample behind; and the functions in which they happen."""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import DISK, GUEST, SYSTOP, Late, Systop, begin, load_path  # noqa: E402

INTERVAL = "1" if GUEST else "0.5"
PAGES = 200  # of the file


def ended(load):
    """A child's (minor, major) faults, once it has ended."""
    _, status, used = os.wait4(load.pid, 0)
    load.returncode = os.waitstatus_to_exitcode(status)
    assert load.returncode == 0, f"the load ended with {load.returncode}"
    return used.ru_minflt, used.ru_majflt


def start(*args):
    return subprocess.Popen([load_path("faults"), *map(str, args)], stdout=subprocess.PIPE, text=True)


def counted(lines, pid):
    return tuple(sum(row[name] for line in lines for row in line["threads"] if row["tgid"] == pid)
                 for name in ("minor_faults", "major_faults"))


def whole(*args):
    """(lines, pid, faults by the kernel) of a load from its birth to its end."""
    with Systop("-d", INTERVAL) as systop:
        lines = [systop.line()]
        load = start(*args)
        truth = ended(load)
        load.stdout.close()
        over = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        while lines[-1]["boottime_ns"] < over:
            lines.append(systop.line())
        lines.append(systop.line())
    return lines, load.pid, truth


def exited():
    """A process whose threads have ended has exactly as many faults as the kernel counted."""
    lines, pid, truth = whole("threads", 5000)
    assert truth[0] > 20000, f"{truth[0]} minor faults only"
    assert counted(lines, pid) == truth, f"{counted(lines, pid)}, the kernel says {truth}"
    rows = [row for line in lines for row in line["threads"] if row["tgid"] == pid]
    assert len({row["tid"] for row in rows}) == 5, "not every thread has a row"
    host = sum(row["minor_faults"] for line in lines for row in line["cgroups"] if row["path"] == "/")
    assert host >= truth[0], f"the root cgroup has {host}, one process of it {truth[0]}"
    return f"{truth[0]} minor, {truth[1]} major"


def busy():
    """A thread that never leaves its CPU has its faults within 1 % in every refresh, and none is shown twice."""
    with Systop("-d", INTERVAL, "-F", "199") as systop:
        first = systop.line()
        load = start("busy", 40 if GUEST else 5)
        lines = []
        while load.poll() is None and len(lines) < 100:
            lines.append(systop.line())
        seen = json.loads(load.stdout.read().splitlines()[-1])["seen"][1:]
        load.stdout.close()
    assert lines, first
    shown, checked, worst = 0, 0, 0
    for line in lines:
        shown += counted([line], load.pid)[0]
        at = line["boottime_ns"]
        if not seen[100][0] < at < seen[-1][0]:
            continue
        there = max(n for t, n in seen if t <= at)
        # It makes 20 faults per ms; the count that it prints is up to 10 ms old, ours a sample.
        off = abs(shown - there)
        worst = max(worst, off)
        checked += 1
        assert off <= 0.01 * there + 20 * (10 + 10), f"{shown} after {(at - seen[0][0]) / 1e9:.1f} s, it has {there}"
    assert checked >= 5, f"{checked} refreshes only"
    return f"{checked} refreshes, {seen[-1][1]} faults, up to {worst} off"


def with_file(run):
    """A file on a disk, whose pages are not in memory."""
    with tempfile.NamedTemporaryFile(dir=DISK, prefix="faults-") as f:
        f.write(os.urandom(PAGES * os.sysconf("SC_PAGESIZE")))
        f.flush()
        os.fsync(f.fileno())
        return run(f.name)


def major(path):
    """Major faults, from a disk: as many as the kernel counts."""
    lines, pid, truth = whole("file", path, 3)
    assert truth[1] >= 3 * PAGES / 2, f"{truth[1]} major faults: are the file's pages in memory?"
    assert counted(lines, pid) == truth, f"{counted(lines, pid)}, the kernel says {truth}"
    weights = sum(line["stacks"]["majflt"]["total"] for line in lines)
    stacks = sum(line["stacks"]["majflt"]["stacks"] for line in lines)
    assert weights >= truth[1] and stacks >= 0.9 * truth[1], (weights, stacks, truth)
    return f"{truth[1]} major, {stacks} of {weights} have a stack"


def functions(path):
    """The stacks of faults show the function that touches the page."""
    load = start("file", path, 1000 if GUEST else 50)
    json.loads(load.stdout.readline())
    done = subprocess.run([SYSTOP, "--folded=majflt", "-n", "1", "-d", "10" if GUEST else "3", "-p", str(load.pid)],
                          capture_output=True, text=True, check=True)
    load.kill()
    load.wait()
    load.stdout.close()
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    if GUEST and not any("main" in stack.split(";") for stack, *_ in lines):
        raise Late("the load's functions have no names yet")
    all_ = sum(int(weight) for _, _, weight in lines)
    ours = sum(int(weight) for stack, _, weight in lines if {"main", "touch_file"} <= set(stack.split(";")))
    assert all_ > (20 if GUEST else 200), f"{all_} faults; {done.stdout} {done.stderr}"
    assert ours >= 0.95 * all_, f"{ours} of {all_} in touch_file:\n{done.stdout}"
    return f"{ours} of {all_}"


def main():
    tap = begin()
    tap.case("threads that ended count in full", exited)
    tap.case("a thread that keeps its CPU is a sample behind at most", busy)
    for name, function in (("major faults are the kernel's, and have stacks", major),
                           ("stacks of major faults name the function that touches the page", functions)):
        if DISK:
            tap.case(name, with_file, function)
        else:
            tap.skip(name, "no disk")
    tap.done()


main()
