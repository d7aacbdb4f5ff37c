# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares systop's numbers with an independent clock, per thread, over seconds of load.

The clock is tests/truth: BPF programs of the tests' own that add up times of wakeups and switches, by the time at which
their tracepoints run. The kernel's own sums cannot serve: their clock is not read again after a preempting wakeup. Only
its counts of switches can.

The load is stopped before systop's first and last refresh, so that both sides see exactly the same switches.
"""

import os
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (BUILD, GUEST, MS, SEC, Load, Systop, begin, descendants, load_path,  # noqa: E402
                     states_of, thread_numbers)
from truth import STATE_NAMES, Truth, ours_of, stop  # noqa: E402

LOAD_S = 3

# The two sides read the clock one after the other at each event. Where the machine is emulated, and its host busy, they differed
# by up to 10 us an event.
EMULATED_NS = 20000


def measure(load):
    """(kernel's counts, truth, systop's rows) by thread, and all lines; intervals are the time between the stops"""
    with Truth() as truth:
        time.sleep(1 if GUEST else 0.5)
        stop(load)
        with Systop("--all", "-d", "0.5") as systop:
            first = systop.line()
            counts_before, before = thread_numbers(descendants(load.pid)), truth.threads()
            load.signal(signal.SIGCONT)
            time.sleep(LOAD_S)
            pids = descendants(load.pid)
            stop(load)
            counts_after, after = thread_numbers(pids), truth.threads()
            stood = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            lines = []
            while not lines or lines[-1]["boottime_ns"] - lines[-1]["interval_ns"] < stood:
                lines.append(systop.line())
    counts = {tid: {key: counts_after[tid][key] - n[key] for key in ("voluntary", "involuntary")}
              for tid, n in counts_before.items() if tid in counts_after}
    sums = {}
    for tid in counts:
        t, b = after.get(tid), before.get(tid)
        if t and b:
            sums[tid] = {key: t[key] - b[key] for key in (*STATE_NAMES, "switches", "waits", "wakings", "missed", "unknown_ns")}
            sums[tid] |= {key: t[key] for key in ("longest_ns", "buckets")}
    rows = {tid: [t for line in lines for t in line["threads"] if t["tid"] == tid] for tid in counts}
    return counts, sums, rows, [first, *lines]


def bucket(ns):
    """The bucket of tests/truth for a wait."""
    return max(0, (int(ns) >> 10).bit_length() - 1)


def bucket_at(buckets, share):
    """The first bucket up to which this share of the waits has been counted."""
    wanted = share * sum(buckets)
    for number, count in enumerate(buckets):
        wanted -= count
        if wanted <= 0:
            return number
    return len(buckets) - 1


def differences(tid, t, rows):
    """Values of systop that are wrong for a thread: counts must be exact, times within 1 % of the interval, and, except in a
    guest, quantiles within one bucket. The truth does not know what a thread did between two events of which it missed
    one."""
    limit = 0.01 * LOAD_S * SEC + t["unknown_ns"]
    if GUEST:
        limit += EMULATED_NS * (t["switches"] + t["waits"] + t["wakings"])
    for key in STATE_NAMES:
        ours = ours_of(rows, key)
        if abs(ours - t[key]) > limit:
            yield f"{tid}: {key} {ours / MS:.3f} ms, it was {t[key] / MS:.3f}"
    wakeups = sum(row["wakeups"] for row in rows)
    if wakeups != t["wakings"]:
        yield f"{tid}: {wakeups} wakeups of {t['wakings']}"
    if GUEST or t["waits"] < 100:
        return  # quantiles of a few threads belong to the last one
    longest = max(row["runq_max_ns"] for row in rows)
    if abs(bucket(longest) - bucket(t["longest_ns"])) > 1:
        yield f"{tid}: longest wait {longest} ns, it was {t['longest_ns']}"
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        # For the whole load it lies between those of its refreshes.
        ours = [bucket(row[f"runq_{name}_ns"]) for row in rows if row[f"runq_{name}_ns"] is not None]
        there = bucket_at(t["buckets"], share)
        if not min(ours) - 1 <= there <= max(ours) + 1:
            yield f"{tid}: {name} of waits in 2^{ours} us, it was in 2^{there}"


def compare(*command):
    """
    Every thread that lived throughout. Sometimes a CPU of the virtual machine this was written on runs no BPF
    programs for about 0.5 ms, at different times for the two sides: one of three tries has to be right.
    """
    for _ in range(3):
        wrong, text = compare_once(command)
        if not wrong:
            return text
    raise AssertionError(f"{len(wrong)} differ: " + "\n".join([*wrong[:10], text]))


def compare_once(command):
    with Load(*command) as load:
        counts, sums, rows, lines = measure(load)
    assert counts, "no thread lived through the load"
    switches = sum(k["voluntary"] + k["involuntary"] for k in counts.values())
    assert sum(k["voluntary"] for k in counts.values()) > 0, "nothing happened"
    gaps = lines[-1]["repaired"]["gap"] - lines[0]["repaired"]["gap"]
    wrong = []
    missed = 0
    compared = 0
    for tid, k in counts.items():
        for kind, count in k.items():
            missed += abs(count - sum(row[f"switches_{kind}"] for row in rows[tid]))
        if tid in sums:
            wrong += differences(tid, sums[tid], rows[tid])
            compared += 1
    assert compared == len(counts), f"{compared} of {len(counts)} threads are known to tests/truth"
    if missed > gaps:
        wrong.append(f"{missed} switches differ, {gaps} are counted as gaps")
    add_up(lines)
    parts = [f"{key[:-3]} {sum(ours_of(rows[tid], key) for tid in sums) / total:.4f}"
             for key in STATE_NAMES if (total := sum(t[key] for t in sums.values()))]
    unseen = sum(t["missed"] for t in sums.values())
    return wrong, (f"{len(counts)} threads, {switches} switches, {missed} differ, of the truth: {', '.join(parts)}; "
                   f"it missed {unseen}, {sum(t['unknown_ns'] for t in sums.values()) / MS:.1f} ms, gaps {gaps}")


def add_up(lines):
    """A thread's states make up its lifetime, a CPU's the interval."""
    for line in lines:
        for thread in line["threads"]:
            states = states_of(thread)
            off = abs(states - thread["alive_ns"])
            assert off <= 0.001 * thread["alive_ns"] + 1000, f"states {states} of {thread}"
            if thread["runq_p99_ns"] is not None:
                assert thread["runq_p99_ns"] <= thread["runq_max_ns"], f"p99 above the maximum: {thread}"
        for cpu in line["cpus"]:
            wall = cpu["run_ns"] + cpu["idle_ns"] + (cpu["steal_ns"] or 0)
            assert abs(wall - line["interval_ns"]) <= 0.005 * line["interval_ns"] + MS, (
                f"{cpu} of {line['interval_ns']}")


def main():
    tap = begin()
    loads = {
        "forks": (load_path("forks"), "processes", "500", "60"),
        "udp": (load_path("udp"), "60"),
        "signals on blocked threads": (load_path("sigstorm"), "60"),
        "a long system call, and who waits for it": (load_path("poller"), "60"),
        "quiet: a spinner": (load_path("spin"), "user", "60"),
        "quiet: sleepers moved between CPUs": (load_path("migrate"), "60", "1"),
    }
    if shutil.which("perf"):
        loads["messaging"] = ("perf", "bench", "sched", "messaging", "-g", "5", "-l", "1000000")
    elif not GUEST:
        tap.ok(False, "messaging", "perf is not installed")
    with tempfile.TemporaryDirectory() as folder:
        if not GUEST:
            loads["a parallel build"] = ("sh", "-c", BUILD, folder)
        # The truth holds beside others, too.
        tap.together([(name, compare, *command) for name, command in loads.items() if "quiet" not in name], 2)
        for name in loads:
            if "quiet" in name:
                tap.case(name, compare, *loads[name])
    tap.done()


if __name__ == "__main__":
    main()
