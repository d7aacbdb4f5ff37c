# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes read and written: as many as in /proc/PID/io, of threads and processes, also of those that ended, whatever way
they were written; while a thread runs, no more than a refresh behind."""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import DISK, GUEST, Systop, begin, load_path, wait_for  # noqa: E402

NAMES = ("read_bytes", "write_bytes")
MIB = 1 << 20
INTERVAL = "1" if GUEST else "0.5"


def start(*args):
    return subprocess.Popen([load_path("io"), *map(str, args)], stdout=subprocess.PIPE, text=True)


def counts(of):
    return tuple(of[name] for name in NAMES)


def shown(lines, number, key="tgid"):
    rows = [row for line in lines for row in line["threads"] if row[key] == number]
    return tuple(sum(row[name] for row in rows) for name in NAMES)


def until(systop, lines, boottime_ns):
    """Reads lines up to the second one that ends after that."""
    while lines[-1]["boottime_ns"] < boottime_ns:
        lines.append(systop.line())
    lines.append(systop.line())


def whole(*args):
    """(lines, what the load printed) of a load from its birth to its end."""
    with Systop("-d", INTERVAL) as systop:
        lines = [systop.line()]
        load = start(*args)
        said = [json.loads(line) for line in load.stdout]
        assert load.wait() == 0, f"the load ended with {load.returncode}"
        until(systop, lines, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
    return lines, [one for one in said if "threads" in one]


def ended(kind, folder, written, read):
    """Four threads that end: each, and all together, as the kernel counted them, to the byte."""
    lines, (truth,) = whole(kind, folder, 8, 4, 3, 50)
    assert counts(truth)[0] >= read * 4 * 3 * 8 * MIB and counts(truth)[1] >= written * 4 * 3 * 8 * MIB, truth
    assert shown(lines, truth["pid"]) == counts(truth), f"{shown(lines, truth['pid'])}, the kernel says {counts(truth)}"
    for one in truth["threads"]:
        assert shown(lines, one["tid"], "tid") == counts(one), f"{shown(lines, one['tid'], 'tid')}, the kernel says {one}"
    host = sum(row["write_bytes"] for line in lines for row in line["cgroups"] if row["path"] == "/")
    assert host >= counts(truth)[1], f"the root cgroup wrote {host}, one process of it {counts(truth)[1]}"
    return f"{counts(truth)[0] / MIB:.1f} MiB read, {counts(truth)[1] / MIB:.1f} MiB written"


def asleep(folder):
    """A thread that writes for a moment and then sleeps: all of it is there at the next refresh, however the end of the
    writing falls between the reading of counts and of slots."""
    rounds = 8 if GUEST else 30
    with Systop("-d", "0.1") as systop:
        lines = [systop.line()]
        load = start("buffered", folder, 1, 1, rounds, 130)
        pid = json.loads(load.stdout.readline())["pid"]
        for _ in range(rounds):
            said = json.loads(load.stdout.readline())
            until(systop, lines, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
            at_least = said["write_bytes"]
            assert shown(lines, pid)[1] >= at_least, f"{shown(lines, pid)[1]} written, the kernel said {at_least} before"
        load.wait()
        load.stdout.close()
    return f"{rounds} rounds"


def busy(folder):
    """A thread that never leaves its CPU has between what it had 100 ms before the refresh ended, and 100 ms after."""
    with Systop("-d", INTERVAL) as systop:
        lines = [systop.line()]
        load = start("busy", folder, 10 if GUEST else 5)
        while load.poll() is None and len(lines) < 100:
            lines.append(systop.line())
        seen = json.loads(load.stdout.read().splitlines()[-1])["seen"][1:]
        load.stdout.close()
    checked, sum_ = 0, 0
    # The counts are read a moment before or after the refresh's end, later if systop has to wait for a CPU.
    slack = (200 if GUEST else 100) * 1_000_000
    for line in lines:
        sum_ += shown([line], load.pid)[1]
        at = line["boottime_ns"]
        if not seen[0][0] + slack < at < seen[-1][0] - slack:
            continue
        low = max(n for t, n in seen if t <= at - slack)
        high = min(n for t, n in seen if t >= at + slack)
        assert low <= sum_ <= high, f"{sum_} written, it had {low} before and {high} after"
        checked += 1
    assert checked >= 5, f"{checked} refreshes only"
    return f"{checked} refreshes, {seen[-1][1] / MIB:.0f} MiB"


def forks(folder):
    """Children that end within a refresh each have their own; their parent, to which the kernel adds them once it has
    waited for them, has none of it."""
    lines, truths = whole("forks", "buffered", folder, 2, 20)
    parent = truths.pop()
    # The kernel's count of the parent: those of the children, and what the parent itself made dirty: a block of the folder, now and
    # then.
    theirs = sum(counts(truth)[1] for truth in truths)
    assert len(truths) == 20 and theirs >= 20 * 2 * MIB and counts(parent)[1] >= theirs, (len(truths), theirs, parent)
    for truth in truths:
        assert shown(lines, truth["pid"]) == counts(truth), f"{shown(lines, truth['pid'])}, the kernel says {truth}"
    assert shown(lines, parent["pid"])[1] < MIB, f"the parent has {shown(lines, parent['pid'])}"


def execs(folder):
    """After exec the process still has what it wrote before."""
    lines, truths = whole("exec", "direct", folder, 2, 5)
    assert len(truths) == 5 and counts(truths[-1])[1] >= 10 * MIB, truths
    pid = truths[-1]["pid"]
    assert shown(lines, pid) == counts(truths[-1]), f"{shown(lines, pid)}, the kernel says {truths[-1]}"


def written(pid):
    with open(f"/proc/{pid}/io", encoding="ascii") as f:
        return int(dict(line.split(": ") for line in f)["write_bytes"])


def before(folder):
    """What a thread wrote before systop started does not count."""
    load = start("buffered", folder, 16, 1, 5, 60000)
    pid = json.loads(load.stdout.readline())["pid"]
    wait_for(lambda: written(pid) >= 16 * MIB, 30, "it has not written")
    with Systop("-d", "0.5", "-n", "4") as systop:
        lines = systop.rest()
    assert len(lines) == 4, f"{len(lines)} refreshes"
    load.kill()
    load.wait()
    load.stdout.close()
    assert shown(lines, pid)[1] == 0, f"{shown(lines, pid)} in its sleep"


FOLDER = object()
ON_DISK = (
    ("buffered writes count when memory gets dirty", ended, "buffered", FOLDER, 1, 0),
    ("direct writes", ended, "direct", FOLDER, 1, 0),
    ("writes to mapped files", ended, "mmap", FOLDER, 1, 0),
    ("direct reads", ended, "read", FOLDER, 1, 1),
    ("a thread that sleeps again at once", asleep, FOLDER),
    ("a thread that keeps its CPU", busy, FOLDER),
    ("children have their own", forks, FOLDER),
    ("exec keeps the counts", execs, FOLDER),
    ("what was written before the start", before, FOLDER),
)


def main():
    tap = begin()
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="io-") as folder:  # the load's own pages come from the disk once
        start("buffered", folder, 1, 1, 1, 1).communicate()
    for name, function, *args in ON_DISK:
        if not DISK:
            tap.skip(name, "no disk")
            continue
        with tempfile.TemporaryDirectory(dir=DISK, prefix="io-") as folder:
            tap.case(name, function, *[folder if arg is FOLDER else arg for arg in args])
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="io-") as folder:
        tap.case("a file system in memory: what the kernel says, to the byte", ended, "buffered", folder, 0, 0)
    tap.done()


main()
