# SPDX-License-Identifier: GPL-2.0-or-later
"""The host is suspended to memory while systop runs: the time until it is woken belongs to no refresh and to no state."""

import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import MS, SEC, Load, Systop, allow_events, begin, load_path, sampled, states_of  # noqa: E402

ALARM = "/sys/class/rtc/rtc0/wakealarm"
STATE = "/sys/power/state"
KINDS = "/sys/power/mem_sleep"
ASLEEP_S = 8


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def can_suspend():
    """Whether the machine suspends to memory: with "s2idle" alone, CLOCK_MONOTONIC goes on."""
    try:
        with open(STATE) as f, open(KINDS) as kinds:
            return "mem" in f.read().split() and "deep" in kinds.read() and os.path.exists(ALARM)
    except OSError:
        return False


def suspend():
    write(ALARM, f"+{ASLEEP_S}")
    write(STATE, "mem")


def suspended():
    """CLOCK_BOOTTIME less CLOCK_MONOTONIC, ns."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def refreshes():
    """Threads that run, wait and sleep meanwhile; no refresh and no state is longer than the time the host was awake."""
    allow_events()
    loads = [Load(load_path("spin"), "user", "600", "2"), Load("sleep", "600")]
    before = suspended()
    with Systop("--all", "-d", "1") as systop:
        lines = [systop.line() for _ in range(3)]
        sleeper = threading.Thread(target=suspend)
        sleeper.start()
        while len(lines) < 30 and lines[-1]["boottime_ns"] - lines[2]["boottime_ns"] < (ASLEEP_S + 8) * SEC:
            lines.append(systop.line())
        sleeper.join()
    for load in loads:
        load.end()
    slept = suspended() - before
    assert slept > 2 * SEC, f"it slept {slept} ns"
    out = [b["boottime_ns"] - b["interval_ns"] - a["boottime_ns"] for a, b in zip(lines, lines[1:])]
    assert abs(sum(out) - slept) < 20 * MS and max(out) > slept - 20 * MS, f"suspended for {slept} ns, between refreshes {out}"
    awake = sum(line["interval_ns"] for line in lines)
    alive = {}  # summed over all refreshes: what could not be read in one is in the next one
    for line in lines:
        for t in line["threads"]:
            assert abs(states_of(t) - t["alive_ns"]) <= 1000, f"states of {t['comm']} are {states_of(t)} ns of {t['alive_ns']}"
            alive[t["tid"], t["comm"]] = alive.get((t["tid"], t["comm"]), 0) + t["alive_ns"]
            assert (t["runq_max_ns"] or 0) < slept, f"{t['comm']} waited {t['runq_max_ns']} ns"
        for c in line["cpus"]:
            ns = c["run_ns"] + c["idle_ns"] + (c["steal_ns"] or 0)
            assert ns <= line["interval_ns"] + 1000, f"CPU {c['cpu']} has {ns} ns of {line['interval_ns']}"
    longest = max(alive, key=alive.get)
    assert alive[longest] <= awake + 1000, f"{longest} lived {alive[longest]} ns of {awake}"
    shares = [sampled(line, loads[0].pid) for line in lines]
    assert min(shares[1:3] + shares[-3:]) > 0.8, f"sampled shares of the running time: {shares}"
    return f"suspended for {slept / SEC:.2f} s, {len(lines)} refreshes, sampled {shares}"


def main():
    tap = begin()
    if can_suspend() and os.environ.get("SYSTOP_TEST_GUEST"):
        tap.case("suspended to memory", refreshes)
    else:
        tap.skip("suspended to memory", "in a guest that can be woken only")
    tap.done()


main()
