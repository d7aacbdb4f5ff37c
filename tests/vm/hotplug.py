# SPDX-License-Identifier: GPL-2.0-or-later
"""A CPU goes offline and comes back while systop runs: no part of its offline time is shown, as idle or as anything
else."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import Load, Systop, allow_events, begin, load_path, sampled, states_of  # noqa: E402

CPU = 1
ONLINE = f"/sys/devices/system/cpu/cpu{CPU}/online"


def turn(on):
    with open(ONLINE, "w") as f:
        f.write(str(int(on)))


def hotplug():
    """In a refresh during which the CPU was always offline it has no row, and its own threads do not run."""
    with Systop("--all", "-d", "1") as systop:
        systop.line()
        turn(False)
        off = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        try:
            lines = [systop.line() for _ in range(5)]
        finally:
            turn(True)
            back = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        lines += [systop.line() for _ in range(3)]
    quiet = [line for line in lines
             if line["boottime_ns"] - line["interval_ns"] > off and line["boottime_ns"] < back]
    assert quiet, f"no refresh lies between {off} and {back}"
    for line in quiet:
        assert [c["cpu"] for c in line["cpus"]] == [0], f"CPUs {line['cpus']}"
        there = [t for t in line["threads"] if t["comm"].endswith(f"/{CPU}") and t["run_ns"]]
        assert not there, f"on a CPU that is offline run {[(t['comm'], t['run_ns']) for t in there]}"
    for line in lines:
        for t in line["threads"]:
            assert abs(states_of(t) - t["alive_ns"]) <= 1000, f"states of {t['comm']} are {states_of(t)} ns of {t['alive_ns']}"
        for c in line["cpus"]:
            ns = c["run_ns"] + c["idle_ns"] + (c["steal_ns"] or 0)
            assert ns <= line["interval_ns"], f"CPU {c['cpu']} has {ns} ns of {line['interval_ns']}"
    last = [c["run_ns"] + c["idle_ns"] + (c["steal_ns"] or 0) for c in lines[-1]["cpus"]]
    assert len(last) == 2 and all(ns == lines[-1]["interval_ns"] for ns in last), (
        f"CPUs that are back have {last} ns of {lines[-1]['interval_ns']}")
    return f"{len(quiet)} refreshes without CPU {CPU}"


def quickly():
    """A CPU that is back before systop can see that it was offline is sampled again, seconds later."""
    allow_events()
    with Load(load_path("spin"), "user", "600", "2") as load, Systop("--all", "-d", "1") as systop:
        before = [sampled(systop.line(), load.pid) for _ in range(4)]
        turn(False)
        turn(True)
        shares = [sampled(systop.line(), load.pid) for _ in range(10)]
    text = f"sampled shares of the running time: before {before}, then {shares}"
    assert min(before[1:]) > 0.8 and min(shares[-3:]) > 0.8, text
    return text


def main():
    tap = begin()
    if os.path.exists(ONLINE) and os.environ.get("SYSTOP_TEST_GUEST"):
        tap.case("a CPU goes offline and comes back", hotplug)
        tap.case("unseen", quickly)
    else:
        for name in "a CPU goes offline and comes back", "unseen":
            tap.skip(name, "in a guest with two CPUs only")
    tap.done()


main()
