# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts: counts against the kernel's own, and whom their time is taken from."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, SEC, SYSTOP, Systop, begin  # noqa: E402


def softirqs():
    """{vector: count of all CPUs} of /proc/softirqs."""
    with open("/proc/softirqs", encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    return {line.split(":")[0].strip(): sum(int(n) for n in line.split()[1:]) for line in lines}


def interrupts():
    """{name: count of all CPUs} of /proc/interrupts."""
    counts = {}
    with open("/proc/interrupts", encoding="utf-8") as file:
        cpus = len(file.readline().split())
        for line in file:
            name, rest = line.split(":", 1)
            counts[name.strip()] = sum(int(n) for n in rest.split()[:cpus] if n.isdigit())
    return counts


class Echo:
    """Datagrams to and fro over the loopback: each is a NET_RX softirq."""

    def __enter__(self):
        self.ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for end in self.ends:
            end.bind(("127.0.0.1", 0))
        self.running = True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        a, b = self.ends
        while self.running:
            a.sendto(b"x", b.getsockname())
            b.recv(10)

    def __exit__(self, *exc):
        self.running = False
        self.thread.join()
        for end in self.ends:
            end.close()


def grown(before, after):
    """By how much each grew, at least and at most: the kernel counts while it is read."""
    return {name: (after[0][name] - before[1][name], after[1][name] - before[0][name]) for name in before[0]}


def compare(read, kind, names):
    """What systop counts of some sources in 3 s, beside what the kernel does: {name: (least, ours, most)}"""
    with Systop("-d", "1") as systop:
        systop.line()
        ticks, before = [], (read(), read())
        # From the end of one refresh to the end of another: /proc is read as each line comes.
        first = systop.line()
        before = (read(), read())
        for _ in range(3):
            ticks.append(systop.line())
        after = (read(), read())
    assert first["irqs"], first
    between = grown(before, after)
    result = {}
    for name in names:
        ours = sum(i["count"] for t in ticks for i in t["irqs"] if i["name"] == name and i["kind"] == kind)
        result[name] = (between[name][0], ours, between[name][1])
    return result


def counts():
    """Softirqs, as /proc/softirqs counts them. A line comes some ms after its refresh: as much may differ."""
    with Echo():
        found = compare(softirqs, "soft", ["NET_RX", "TIMER", "SCHED", "RCU"])
    for name, (least, ours, most) in found.items():
        room = max(20, most * 0.02)
        assert least - room <= ours <= most + room, (name, least, ours, most)
    assert found["NET_RX"][1] > (100 if GUEST else 10000), found
    return ", ".join(f"{name} {ours} ({least} to {most})" for name, (least, ours, most) in found.items())


def disk():
    """Every write to a disk has its interrupt."""
    writes = 200 if GUEST else 2000
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file, Systop("-d", "1") as systop:
        systop.line()
        before = interrupts()
        subprocess.run(["dd", "if=/dev/zero", f"of={file.name}", "bs=4096", f"count={writes}", "oflag=direct"], check=True,
                       capture_output=True)
        after = interrupts()
        ticks = [systop.line() for _ in range(2)]
    lines = [name for name in after if name.isdigit() and after[name] - before[name] >= writes / 4]
    assert lines, "no line had that many interrupts"
    for name in lines:
        ours = sum(i["count"] for t in ticks for i in t["irqs"] if i["name"] == name and i["kind"] == "hard")
        kernel = after[name] - before[name]
        assert kernel * 0.99 <= ours <= kernel * 1.01 + 20, (name, ours, kernel)
    return ", ".join(f"{name}: {after[name] - before[name]}" for name in lines)


def victims():
    """The sender of datagrams loses what the softirqs take, and its states add up to the time it was there."""
    with Echo() as echo, Systop("-d", "1", "-p", str(os.getpid())) as systop:
        systop.line()
        ticks = [systop.line() for _ in range(3)]
    threads = [t for tick in ticks for t in tick["threads"] if t["tid"] == echo.thread.native_id]
    assert len(threads) == 3, threads
    stolen = sum(t["irq_ns"] for t in threads)
    network = sum(i["ns"] for t in ticks for i in t["irqs"] if i["name"] == "NET_RX")
    assert network > 0 and 0.8 * network <= stolen <= 2 * network, (stolen, network)
    for t in threads:
        states = sum(t[f"{s}_ns"] for s in ("run", "irq", "runq", "d", "sleep", "stopped"))
        assert abs(states - t["alive_ns"]) <= t["alive_ns"] / 1000, t
    return f"{stolen / 3 / SEC * 100:.1f} % of it, NET_RX {network / 3 / SEC * 100:.1f} %"


def main():
    tap = begin()
    tap.case("softirqs are counted as the kernel does", counts)
    if os.path.exists("/dev/vda") or os.path.exists("/dev/nvme0n1"):
        tap.case("a disk's interrupts", disk)
    else:
        tap.skip("a disk's interrupts", "no disk that has a line of its own")
    tap.case("who loses the time", victims)
    tap.done()


main()
