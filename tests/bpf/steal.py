# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares stolen time with /proc/stat, for at least 10 s, and until some occurred."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from harness import MS, SEC, Load, Systop, begin, load_path, steal_ns, yielding  # noqa: E402

WINDOW_S = 10
WINDOWS_MAX = 2
TICK_NS = SEC // os.sysconf("SC_CLK_TCK")
ENOUGH_NS = 3 * TICK_NS


def is_guest():
    with open("/proc/cpuinfo") as f:
        return os.uname().machine != "x86_64" or any("hypervisor" in line.split() for line in f)


def stolen(line):
    """ns of all CPUs; that of the threads is a part of it."""
    cpus = [c["steal_ns"] for c in line["cpus"]]
    threads = [t["steal_ns"] for t in line["threads"]]
    assert (None in cpus) == (None in threads), f"known of CPUs and not of threads, or so: {cpus}"
    if None in cpus:
        return None
    off = sum(threads) - sum(cpus)
    assert off <= MS, f"threads lost {sum(threads)} ns, the CPUs {sum(cpus)}"
    return sum(cpus)


def windows(systop):
    """Stolen time in some windows, by systop and by the kernel."""
    for number in range(WINDOWS_MAX):
        before = steal_ns()
        lines = [systop.line() for _ in range(WINDOW_S)]
        yield lines, [stolen(line) for line in lines], steal_ns() - before


def steal():
    """In every window within two ticks of the kernel; if the kernel knows nothing, it is null or 0."""
    seen = kernel = 0
    text = []
    with Load(load_path("spin"), "user", "90", preexec=yielding), Load(load_path("spin"), "user", "90", preexec=yielding), \
            Systop("--all", "-d", "1") as systop:
        systop.line()
        for number, (lines, ours, theirs) in enumerate(windows(systop)):
            if None in ours:
                assert not theirs, f"/proc/stat has {theirs / MS} ms stolen, systop does not know of it"
                assert is_guest(), "steal is not known where there is no hypervisor"
                return "the hypervisor does not say"
            assert abs(sum(ours) - theirs) <= 2 * TICK_NS, (
                f"window {number}: {sum(ours) / MS:.1f} ms stolen, by /proc/stat {theirs / MS:.1f} ms")
            seen += sum(ours)
            kernel += theirs
            text.append(f"{sum(ours) / MS:.1f}/{theirs / MS:.0f}")
            for cpu in (cpu for line in lines for cpu in line["cpus"]):
                assert cpu["steal_ns"] >= 0 and cpu["run_ns"] >= 0 and cpu["idle_ns"] >= 0, cpu
            if kernel >= ENOUGH_NS:
                break
    assert seen or not steal_ns(), f"nothing was stolen in {len(text) * WINDOW_S} s of two spinners, {steal_ns() / MS} ms since the boot"
    return f"{seen / MS:.1f} ms, by /proc/stat {kernel / MS:.0f} ms; by window {' '.join(text)} ms"


def main():
    tap = begin()
    tap.case("as much as /proc/stat says", steal)
    tap.done()


main()
