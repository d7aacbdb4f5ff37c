# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that come and go: none is forgotten, none is counted twice."""

import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, MS, SEC, Load, Systop, begin, load_path, rows_of, states_of  # noqa: E402


def exited(lines, comm):
    return [t for line in lines for t in line["threads"] if t["exited"] and t["comm"] == comm]


def lost_of(line):
    return line["loss"]["no_slot"] + line["loss"]["no_storage"]


def watch_forks(kind, rate, seconds):
    """(truth, rows of the exited) of a load of short lives: all that arrive, and those of one more refresh, which
    must have none."""
    comm = f"lives-{os.getpid()}"  # other tests have such loads, too
    with tempfile.TemporaryDirectory() as folder, Systop("-d", "1") as systop:
        os.symlink(load_path("forks"), os.path.join(folder, comm))
        systop.line()
        with Load(os.path.join(folder, comm), kind, str(rate), str(seconds)) as load:
            truth = load.truth()
            end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            lines = [systop.line()]
            while lines[-1]["boottime_ns"] < end:
                lines.append(systop.line())
            for _ in range(4):
                complete = len(exited(lines, comm)) - 1 + lost_of(lines[-1]) >= truth["made"]
                lines.append(systop.line())
                if complete:
                    break
    return truth, exited(lines, comm), lines


def forks(kind, rate, seconds):
    truth, dead, lines = watch_forks(kind, rate, seconds)
    seen = len(dead) - 1  # the load itself ends too
    lost = lost_of(lines[-1])
    assert seen <= truth["made"], f"{seen} exits of {truth['made']}"
    assert seen + lost >= truth["made"], f"{seen} exits of {truth['made']}, {lost} lost"
    for t in dead:
        assert t["state"] == "dead", t
        assert states_of(t) == t["alive_ns"], t
    alive = sorted(t["alive_ns"] for t in dead)
    assert 0 < alive[len(alive) // 2] < 100 * MS, alive[len(alive) // 2]
    return (f"{seen} of {truth['made']} at {truth['made'] / truth['ns'] * SEC:.0f}/s, median life "
            f"{alive[len(alive) // 2] / MS:.3f} ms")


def sums_include_the_dead():
    """The process's time is its threads' time, including threads that died in the interval."""
    _, dead, lines = watch_forks("threads", 200 if GUEST else 1000, 3)
    for line in lines:
        total = sum(t["run_ns"] for t in line["threads"])
        root = next(c for c in line["cgroups"] if c["path"] == "/")
        assert root["run_ns"] == total, (root["run_ns"], total)
    assert len(dead) > 100, len(dead)


def dies_once():
    with Systop("--all", "-d", "1", "-n", "4") as systop:
        systop.line()
        with Load("sleep", "0.5") as load:
            pid = load.pid
            lines = systop.rest()
    rows = rows_of(lines, pid)
    # A refresh can come while the thread lives, and a busy host takes a while to start and to end it.
    assert [t["exited"] for t in rows] == [False] * (len(rows) - 1) + [True], rows
    assert 400 * MS < sum(t["alive_ns"] for t in rows) < (5 if GUEST else 2) * SEC, rows


def exec_nonleader():
    """A thread that is not the leader executes a program: it has the leader's number from then on."""
    with Systop("--all", *(("-d", "1", "-n", "8") if GUEST else ("-d", "0.5", "-n", "9"))) as systop:
        systop.line()
        with Load(load_path("exec_nonleader"), "sleep", "30") as load:
            truth = load.truth()
            lines = systop.rest()
    before = [t for t in rows_of(lines, truth["tid"]) if not t["exited"]]
    after = [t for t in rows_of(lines, truth["pid"]) if t["comm"] == "sleep"]
    assert before and before[0]["comm"] == "exec_nonleader", before
    assert len(after) >= 2, rows_of(lines, truth["pid"])
    for line in lines[-2:]:
        rows = [t for t in line["threads"] if t["tgid"] == truth["pid"]]
        assert [t["tid"] for t in rows] == [truth["pid"]], rows


def rename():
    """comm follows exec and rename, also by another thread while it sleeps. Its moves before the start do not count."""
    script = "import ctypes, os, signal, threading, time; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n" \
             "def rename():\n    with open(f'/proc/self/task/{os.getpid()}/comm', 'w') as f: f.write('third-name')\n" \
             "    print('{}', flush=True)\n" \
             "for n in range(50): os.sched_setaffinity(0, {n % os.cpu_count()})\n" \
             "ctypes.CDLL(None).prctl(15, b'first-name', 0, 0, 0); print('{}', flush=True)\n" \
             "signal.sigwait([signal.SIGUSR1]); ctypes.CDLL(None).prctl(15, b'second-name', 0, 0, 0)\n" \
             "threading.Timer(1.2, rename).start(); time.sleep(60)"
    with Load(sys.executable, "-c", script) as load:
        load.truth()
        with Systop("--all", "-p", str(load.pid), "-d", "1" if GUEST else "0.5") as systop:
            lines = [systop.line()]
            os.kill(load.pid, signal.SIGUSR1)
            load.truth()
            end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            while lines[-1]["boottime_ns"] < end:
                lines.append(systop.line())
    names = [rows_of([line], load.pid)[0]["comm"] for line in lines]
    assert names[0] == "first-name" and "second-name" in names and names[-1] == "third-name", names
    moves = [row["migrations"] for row in rows_of(lines, load.pid)]
    assert sum(moves) < 25, moves


ORPHANS = """
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
read, write = os.pipe()
parent = os.fork()
if not parent:
    child = os.fork()
    if not child:
        time.sleep(100)
    os.write(write, b"%d" % child)
    signal.pause()
child = int(os.read(read, 20))
print('{"parent": %d, "child": %d}' % (parent, child), flush=True)
os.waitpid(parent, 0)
time.sleep(100)
"""


def orphan():
    """A sleeping process belongs to its new parent within two refreshes after its own has ended."""
    with Load(sys.executable, "-c", ORPHANS) as load:
        truth = load.truth()
        with Systop("--all", "-d", "1", "--filter", f"ppid={truth['parent']}") as systop, \
                Systop("--all", "-d", "1", "--filter", f"ppid={load.pid}") as after:
            systop.line()
            assert rows_of([systop.line()], truth["child"]), truth
            os.kill(truth["parent"], 15)
            for _ in range(3):
                lines = systop.line(), after.line()
            while lines[1]["boottime_ns"] < lines[0]["boottime_ns"]:
                lines = lines[0], after.line()
            assert not rows_of(lines[:1], truth["child"]), "still the old parent's"
            assert rows_of(lines[1:], truth["child"]), f"not the new parent's: {truth}, {load.pid}"


def main():
    tap = begin()
    if GUEST:
        tap.case("100 processes a second", forks, "processes", 100, 3)
    else:
        tap.case("5,000 processes a second for 10 s", forks, "processes", 5000, 10)
    tap.case("threads that live for a moment", forks, "threads", 100 if GUEST else 2000, 3)
    tap.case("sums include the dead", sums_include_the_dead)
    tap.together([
        ("a thread dies once", dies_once),
        ("exec by a thread that is not the leader", exec_nonleader),
        ("names", rename),
        ("a process whose parent ends", orphan),
    ], 4)
    tap.done()


main()
