# SPDX-License-Identifier: GPL-2.0-or-later
"""What ran instead of a thread that waited for a CPU, and what woke it."""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (GUEST, MS, REALTIME, Cgroup, Load, Systop, about, begin, had_cpu, limited, load_path, rows_of,  # noqa: E402
                     systop_lines, total)


def behind(lines, tid):
    """{(kind, tid, cgroup): ns} of what a thread waited for."""
    sums = {}
    for row in rows_of(lines, tid):
        for wait in row["waited_behind"]:
            key = (wait["kind"], wait["tid"], wait["cgroup"])
            sums[key] = sums.get(key, 0) + wait["ns"]
    return sums


def of_thread(sums, tid):
    return sum(ns for (kind, by, _), ns in sums.items() if kind == "thread" and by == tid)


def run(*command):
    """(the load's output at its end, systop's lines meanwhile)"""
    with Systop("-d", "1" if GUEST else "0.5") as systop:
        first = systop.line()
        with Load(*command) as load:
            truth = load.truth()
        end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        lines = [first]
        while lines[-1]["boottime_ns"] < end:
            lines.append(systop.line())
    return truth, lines


def fifo_hog():
    """A real-time thread has the CPU for 200 ms, and longer if the CPU itself is halted at its end: its victim
    waited behind it for that time, and behind nothing else."""
    truth, lines = run(load_path("fifo_hog"), "200")
    sums = behind(lines, truth["victim"])
    named = of_thread(sums, truth["hog"])
    about(named, truth["held_ns"] - MS, truth["held_ns"] + MS, f"the wait behind the hog, of {sums},")
    return f"{named / MS:.3f} ms of {truth['held_ns'] / MS:.3f} ms"


def turns():
    """Six threads take turns, 30 ms each: all of the wait is explained, and each named thread had the CPU for its
    time."""
    truth, lines = run(load_path("turns"), "6", "30")
    sums = behind(lines, truth["victim"])
    hogs = {tid: of_thread(sums, tid) for tid in truth["hogs"]}
    several = sum(ns for (kind, _, _), ns in sums.items() if kind == "several")
    assert sum(hogs.values()) + several >= 178 * MS, sums
    for tid, ns in hogs.items():
        assert ns < MS or GUEST or 29 * MS <= ns <= 31 * MS, (tid, truth, sums)  # less: on their way to their turns
    # No thread is named for less than an eighth of the wait: everything takes longer on an emulated CPU.
    assert sum(1 for ns in hogs.values() if ns > MS) >= (1 if GUEST else 3), (truth, sums)
    return f"named: {sum(hogs.values()) / MS:.1f} ms, several: {several / MS:.1f} ms"


def turns_that_ended():
    """A thread that had the CPU and ended during the wait is not mistaken for the next one in its slot."""
    with Load("taskset", "-c", "0", load_path("forks"), "processes", "500", "60"):
        truth, lines = run(load_path("turns"), "4", "200", "1", "0")
    waits = [wait for row in rows_of(lines, truth["victim"]) for wait in row["waited_behind"]]
    assert sum(wait["ns"] for wait in waits) >= 795 * MS, waits
    # The others are on another CPU, where the victim was only until it was pinned: 5 ms behind them on an emulated one.
    others = [wait for wait in waits if wait["comm"] == "forks" and wait["ns"] >= 100 * MS]
    assert not others, (truth, others)


def whole():
    """Two spinners on one CPU: the waits of either are behind the other one, and no longer than it waited."""
    with Load("taskset", "-c", "1", load_path("spin"), "user", "60") as one:
        with Load("taskset", "-c", "1", load_path("spin"), "user", "60") as two:
            tids = [one.truth()["tids"][0], two.truth()["tids"][0]]
            lines = systop_lines("-d", "1", "-n", "3")
    for tid, other in (tids, reversed(tids)):
        sums, waited = behind(lines, tid), total(lines, tid, "runq_ns")
        assert waited > 100 * MS, waited
        told = sum(ns for (kind, _, _), ns in sums.items() if kind != "wakeup")
        # Waits are reported at their end: up to a slice more or less than within the three seconds.
        slack = 100 * MS if GUEST else 20 * MS
        assert 0.97 * waited - slack <= told <= waited + slack, (told, waited, sums)
        # It holds the CPU during interrupts, too, which take an emulated one a seventh of its time.
        named, ran = of_thread(sums, other), sum(had_cpu(row) for row in rows_of(lines, other))
        assert 0.95 * ran - slack <= named <= 1.05 * ran + slack, (named, ran, sums)
    return f"{of_thread(behind(lines, tids[0]), tids[1]) / MS:.0f} of {total(lines, tids[0], 'runq_ns') / MS:.0f} ms"


def two_by_turns():
    """A thread of less weight waits behind two that take turns: each is charged its part, however long the wait."""
    spin = load_path("spin"), "user", "60"
    with Load("taskset", "-c", "1", *spin) as one, Load("taskset", "-c", "1", *spin) as two:
        with Load("taskset", "-c", "1", *spin) as low:
            hogs, tid = [x.truth()["tids"][0] for x in (one, two)], low.truth()["tids"][0]
            os.setpriority(os.PRIO_PROCESS, tid, 10)
            lines = systop_lines("-d", "1", "-n", "4")
    sums, waited = behind(lines, tid), total(lines, tid, "runq_ns")
    named = [of_thread(sums, hog) / waited for hog in hogs]
    ran = [total(lines, hog, "run_ns") / sum(line["interval_ns"] for line in lines) for hog in hogs]
    text = "{:.2f} and {:.2f} of {:.0f} ms, of the time they ran {:.2f} and {:.2f}".format(*named, waited / MS, *ran)
    assert waited > 1000 * MS and all(n > 0.85 * r for n, r in zip(named, ran)), (text, sums)
    return text


def pulled():
    """A thread that stood behind another one until an idle CPU took it was not woken."""
    truth, lines = run(load_path("pulled"))
    sums = behind(lines, truth["victim"])
    kinds = {kind: sum(ns for (k, _, _), ns in sums.items() if k == kind) for kind, _, _ in sums}
    assert sum(kinds.values()) > 600 * MS and kinds.get("wakeup", 0) < 20 * MS, kinds
    return ", ".join(f"{kind} {ns / MS:.0f} ms" for kind, ns in kinds.items())


def limit():
    """A wait caused by a CPU limit is charged to its cgroup, not to what ran."""
    with limited(f"systop-waits-{os.getpid()}") as cgroup:
        below = cgroup.child("below")
        with Load(load_path("spin"), "user", "30") as load:
            tid = load.truth()["tids"][0]
            Cgroup.put(below, load.pid)
            time.sleep(0.5)
            lines = systop_lines("-c", cgroup.shown, "-d", "1", "-n", "3")
    sums, throttled = behind(lines, tid), total(lines, tid, "throttled_ns")
    charged = sum(ns for (kind, _, path), ns in sums.items() if kind == "limit" and path == f"/{cgroup.name}")
    assert throttled > 100 * MS, throttled
    # A wait in progress at either end is charged as a whole, or not yet: 0.2 s where the kernel's timers come late, or others
    # want that CPU.
    longest = max(row["runq_max_ns"] for row in rows_of(lines, tid))
    assert abs(charged - throttled) <= max(100 * MS, longest), (charged, throttled, longest, sums)
    return f"{charged / MS:.0f} ms, throttled {throttled / MS:.0f} ms"


def wakers():
    """Two threads of a pipe wake each other: every wakeup is reported, with its waker."""
    with Load(load_path("pingpong"), "60") as load:
        tids = load.truth()["tids"]
        lines = systop_lines("-d", "1", "-n", "3")
    text = []
    for tid, other in (tids, reversed(tids)):
        told = [w for row in rows_of(lines, tid) for w in row["wakers"]]
        counted, wakeups = sum(w["count"] for w in told), total(lines, tid, "wakeups")
        right = sum(w["count"] for w in told if w["tid"] == other and w["kind"] == "thread" and w["comm"] == "pingpong")
        assert wakeups > (100 if GUEST else 10000), wakeups
        assert counted == wakeups, (counted, wakeups, told)
        assert right >= 0.99 * counted, told
        text.append(f"{right} of {wakeups}")
    return ", ".join(text)


def wakers_by_turns():
    """Two threads on different CPUs alternately wake a third one: every wakeup is reported once, with the right
    waker."""
    row = 100
    with Load(load_path("two_wakers"), "60", str(row)) as load:
        truth = load.truth()
        lines = systop_lines("-d", "0.1", "-n", "30")
    told = [w for r in rows_of(lines, truth["sleeper"]) for w in r["wakers"]]
    counted, wakeups = sum(w["count"] for w in told), total(lines, truth["sleeper"], "wakeups")
    by = {tid: sum(w["count"] for w in told if w["tid"] == tid) for tid in truth["wakers"]}
    assert wakeups > (100 if GUEST else 10000), wakeups
    # A row that ends while the slots are read is reported one refresh later.
    assert abs(counted - wakeups) <= row + 0.001 * wakeups, (counted, wakeups, by)
    assert sum(by.values()) >= 0.99 * counted and min(by.values()) > 0.25 * counted, (by, counted)
    return f"{counted} of {wakeups}"


def woken_by_timer():
    """A nap ends by the timer's interrupt, whichever thread it interrupts."""
    with Load(sys.executable, "-c", "import time\nwhile True: time.sleep(0.01)") as load:
        lines = systop_lines("-p", str(load.pid), "-d", "0.5", "-n", "2")
    told = [w for row in rows_of(lines, load.pid) for w in row["wakers"]]
    by = {kind: sum(w["count"] for w in told if w["kind"] == kind) for kind in {w["kind"] for w in told}}
    # If the timer's vector cannot be traced, the softirq, or a line, is seen.
    assert by and sum(by.get(k, 0) for k in ("timer", "softirq", "irq", "ipi")) >= 0.9 * sum(by.values()), by
    return str(by)


def woken_by_preempter():
    """A thread that preempts another one in a softirq wakes as a thread, and by its own softirqs: not by that
    softirq."""
    with Load(load_path("interrupts_softirq")) as load:
        truth = load.truth()
        lines = systop_lines("-p", str(load.pid), "-d", "1", "-n", "4")
    text = []
    for who, right in (("sleeper", lambda w: w["kind"] == "thread" and w["tid"] == truth["waker"]),
                       ("receiver", lambda w: w["kind"] == "softirq" and w["comm"] == "softirq NET_RX"),
                       ("other", lambda w: w["kind"] == "softirq" and w["comm"] == "softirq NET_RX")):
        told = [w for row in rows_of(lines, truth[who]) for w in row["wakers"]]
        counted, found = sum(w["count"] for w in told), sum(w["count"] for w in told if right(w))
        others = {f"{w['kind']} {w['comm']} {w['tid']}" for w in told if not right(w)}
        assert counted > (50 if GUEST else 500), (who, counted)
        assert found >= 0.99 * counted, (who, found, counted, others, truth)
        text.append(f"{who}: {found} of {counted}")
    return ", ".join(text)


def main():
    tap = begin()
    if REALTIME:
        tap.skip("a SCHED_FIFO thread that held the CPU is named", "a nap ends in a thread here, which waits for the hog")
    else:
        tap.case("a SCHED_FIFO thread that held the CPU is named", fifo_hog)
    if REALTIME:
        tap.skip("several in turns", "a nap ends in a thread here, which waits for whose turn it is")
        tap.skip("turns that ended meanwhile", "a nap ends in a thread here, which waits for whose turn it is")
    else:
        tap.case("several in turns", turns)
        tap.case("turns that ended meanwhile", turns_that_ended)
    tap.case("all of a wait is told", whole)
    tap.case("two by turns", two_by_turns)
    if os.cpu_count() > 1:
        tap.case("an idle CPU takes over what waits", pulled)
    # The reported numbers are compared with the counts of the same thread, whatever else runs. Most wakeups belong to
    # the first and the last one, which are not adjacent.
    tap.together([
        ("two that wake it by turns", wakers_by_turns),
        ("a CPU limit", limit),
        ("the timer wakes a sleeper", woken_by_timer),
        ("who wakes the threads of a pipe", wakers),
    ], 2)
    tap.case("who preempts a softirq wakes as itself", woken_by_preempter)
    tap.done()


main()
