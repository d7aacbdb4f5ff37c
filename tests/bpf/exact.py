# SPDX-License-Identifier: GPL-2.0-or-later
"""systop's numbers against the kernel's own, per thread, over five seconds of load.

The load is stopped before systop's first and before its last refresh, and /proc is read while it
stands: then both sides saw exactly the same switches.
"""

import os
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (GUEST, MS, SEC, STATES, Load, Systop, begin, descendants, load_path,  # noqa: E402
                     steal_ns, thread_numbers)

SECONDS = 5
STEAL_UNIT = 10 * MS


def measure(load):
    """(the kernel's growth per thread, systop's sums per thread, loss, steal, all lines)"""
    time.sleep(1)
    load.signal(signal.SIGSTOP)
    time.sleep(0.3)
    # A guest is slow to start systop and to read /proc: more lines than needed, and only as many.
    with Systop("--all", "-d", "1") as systop:
        first = systop.line()
        before = thread_numbers(descendants(load.pid))
        steal = steal_ns()
        load.signal(signal.SIGCONT)
        time.sleep(SECONDS)
        pids = descendants(load.pid)
        load.signal(signal.SIGSTOP)
        time.sleep(0.3)
        after = thread_numbers(pids)
        steal = steal_ns() - steal
        stood = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        lines = []
        while not lines or lines[-1]["boottime_ns"] - lines[-1]["interval_ns"] < stood:
            lines.append(systop.line())
    kernel = {tid: {key: after[tid][key] - before[tid][key]
                    for key in ("voluntary", "involuntary", "run_ns", "runq_ns")}
              for tid in before if tid in after}
    sums = {tid: dict.fromkeys(("switches_voluntary", "switches_involuntary", "run_ns", "irq_ns", "runq_ns"), 0)
            for tid in kernel}
    for line in lines:
        for thread in line["threads"]:
            if thread["tid"] in sums:
                for key in sums[thread["tid"]]:
                    sums[thread["tid"]][key] += thread[key]
    loss = {cause: lines[-1]["loss"][cause] - first["loss"][cause] for cause in first["loss"]}
    return kernel, sums, loss, steal, [first, *lines]


def running(kernel, sums):
    """
    systop's running times as the kernel counts them: it leaves the time in interrupts with the thread that they
    interrupt, unless it was built to measure it (IRQ_TIME_ACCOUNTING). Which one, all threads together tell.
    """
    said = sum(k["run_ns"] for k in kernel.values())
    alone = sum(s["run_ns"] for s in sums.values())
    both = alone + sum(s["irq_ns"] for s in sums.values())
    part = abs(both - said) < abs(alone - said)
    return {tid: s["run_ns"] + (s["irq_ns"] if part else 0) for tid, s in sums.items()}


def compare(*command):
    """
    Every thread that lived through: switches exactly, times within the stated tolerances.

    The kernel takes steal out of a thread's running time to the ns, /proc/stat tells it in units
    of 10 ms (measured: running was 5.4 ms long with no steal shown, and the scheduler's own sums,
    clock - clock_task, agree with /proc/stat over minutes). So what is too long by less than that
    unit, in all threads together, proves nothing: it is measured again.
    """
    for _ in range(3):
        text, too_long = compare_once(command)
        if not too_long:
            return text
    raise AssertionError(text)


def compare_once(command):
    """(the verdict as text, ns of running time that only steal below its unit could explain)"""
    with Load(*command) as load:
        kernel, sums, loss, steal, lines = measure(load)
    assert len(kernel) > 0, "no thread lived through the load"
    assert sum(k["voluntary"] for k in kernel.values()) > 0, "nothing happened"
    switches = sum(k["voluntary"] + k["involuntary"] for k in kernel.values())
    quiet = switches < 1000 * SECONDS
    ran = running(kernel, sums)
    wrong, long = [], []
    missed = too_long = 0
    for tid, k in kernel.items():
        s = sums[tid]
        of_thread = k["voluntary"] + k["involuntary"]
        missed += (abs(k["voluntary"] - s["switches_voluntary"]) +
                   abs(k["involuntary"] - s["switches_involuntary"]))
        if GUEST:
            continue
        slack = 0 if quiet else 10_000 * of_thread
        off = s["runq_ns"] - k["runq_ns"]
        # A wait that the kernel counts in a thread's sleep, and systop does not, is queue_stale.
        if off > 0.01 * k["runq_ns"] + slack or (
                -off > 0.01 * k["runq_ns"] + slack and not loss["queue_stale"]):
            wrong.append(f"{tid}: runqueue {s['runq_ns']} ns, the kernel says {k['runq_ns']}")
        off = ran[tid] - k["run_ns"]
        text = f"{tid}: running {ran[tid]} ns, the kernel says {k['run_ns']}"
        if -off > 0.01 * k["run_ns"] + slack:
            wrong.append(text)
        elif off > 0.01 * k["run_ns"] + slack + steal:
            too_long += off
            long.append(text)
    if missed > loss["gap"]:
        wrong.append(f"{missed} switches differ, {loss['gap']} are counted as lost")
    if too_long >= STEAL_UNIT:
        wrong += long
    assert not wrong, f"{len(wrong)} differ: " + "\n".join(wrong[:10])
    if long:
        return "\n".join(long), too_long
    run = sum(ran.values()), sum(k["run_ns"] for k in kernel.values())
    runq = sum(s["runq_ns"] for s in sums.values()), sum(k["runq_ns"] for k in kernel.values())
    add_up(lines)
    return (f"{len(kernel)} threads, {switches} switches, {missed} differ, running "
            f"{run[0] / max(run[1], 1):.4f}, runqueue {runq[0] / max(runq[1], 1):.4f} of the "
            f"kernel's, steal {steal / MS:.0f} ms, gaps {loss['gap']}"), 0


def add_up(lines):
    """A thread's states make up the time it was alive, a CPU's the interval."""
    for line in lines:
        for thread in line["threads"]:
            states = sum(thread[state] for state in STATES)
            off = abs(states - thread["alive_ns"])
            assert off <= 0.001 * thread["alive_ns"] + 1000, f"states {states} of {thread}"
        for cpu in line["cpus"]:
            wall = cpu["run_ns"] + cpu["idle_ns"]
            assert abs(wall - line["interval_ns"]) <= 0.005 * line["interval_ns"] + MS, (
                f"{cpu} of {line['interval_ns']}")


def main():
    tap = begin()
    loads = {
        "forks": (load_path("forks"), "processes", "500", "60"),
        "udp": (load_path("udp"), "60"),
        "signals on blocked threads": (load_path("sigstorm"), "60"),
        "quiet: a spinner": (load_path("spin"), "user", "60"),
        "quiet: sleepers moved between CPUs": (load_path("migrate"), "60", "1"),
    }
    if shutil.which("perf"):
        loads["messaging"] = ("perf", "bench", "sched", "messaging", "-g", "5", "-l", "1000000")
    elif not GUEST:
        tap.ok(False, "messaging", "perf is not installed")
    for name, command in loads.items():
        tap.case(name, compare, *command)
    tap.done()


main()
