# SPDX-License-Identifier: GPL-2.0-or-later
"""Interrupts: counts against the kernel's own, and the threads that lose their time."""

import collections
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import DISK, GUEST, MS, REALTIME, SEC, SYSTOP, Systop, begin, states_of  # noqa: E402

INTERVAL = 1 if GUEST else 0.5


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


def word(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def ipis():
    """{line: as /proc/interrupts lists it, "IPI0"} of interrupts from other CPUs, where they are lines."""
    of = {line: f"/sys/kernel/irq/{line}" for line in os.listdir("/sys/kernel/irq")}
    return {line: "IPI" + word(f"{path}/hwirq") for line, path in of.items() if word(f"{path}/actions") == "IPI"}


def devices():
    """{line: its last handler} of /proc/interrupts."""
    with open("/proc/interrupts", encoding="utf-8") as file:
        rows = [line.split() for line in file]
    return {words[0][:-1]: words[-1] for words in rows if words[0][:-1].isdigit()} | ipis()


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


def at_edge(systop, last, read):
    """(the lines from @last, without it, up to one, numbers read just before its refresh ends, and after)"""
    lines = [last]
    while True:
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        time.sleep(max(0, INTERVAL - (0.15 if GUEST else 0.03) - (now - lines[-1]["boottime_ns"]) / SEC))
        before = read()
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        lines.append(systop.line())
        if now + 2 * MS < lines[-1]["boottime_ns"]:  # else the refresh had ended before, however late the line came
            return lines[1:], before, read()


# On the virtual machines this was written on, BPF programs of tracepoints do not run while a thread of process 1 is
# current: a program that only counts sees none of 31 softirqs that ftrace records there in 15 s.
HIDDEN = {"soft": {"irq/softirq_entry": r"action=(\w+)"}, "hard": {"irq/irq_handler_entry": r"irq=(\d+)"},
          "vector": {"irq_vectors/local_timer_entry": "LOC", "irq_vectors/reschedule_entry": "RES",
                     "irq_vectors/call_function_entry": "CAL", "irq_vectors/call_function_single_entry": "CAL",
                     "irq_vectors/irq_work_entry": "IWI"}}


class Hidden:
    """Counts the interrupts of process 1's threads, by an instance of ftrace: {name: count}, empty without ftrace."""

    def __init__(self, kind):
        self.events = HIDDEN[kind]
        self.counts = collections.Counter()

    def put(self, path, text):
        with open(os.path.join(self.instance, path), "w", encoding="ascii") as file:
            file.write(text)

    def __enter__(self):
        self.instance = None
        self.mount = tempfile.mkdtemp()
        if subprocess.run(["mount", "-t", "tracefs", "none", self.mount], capture_output=True, check=False).returncode:
            os.rmdir(self.mount)
            return self
        self.instance = os.path.join(self.mount, "instances", f"test{os.getpid()}")
        os.mkdir(self.instance)
        one = " || ".join(f"common_pid == {tid}" for tid in os.listdir("/proc/1/task"))
        for event in self.events:
            if os.path.exists(os.path.join(self.instance, "events", event)):
                self.put(f"events/{event}/filter", one)
                self.put(f"events/{event}/enable", "1")
        return self

    def __exit__(self, *exc):
        if not self.instance:
            return
        self.put("tracing_on", "0")
        with open(os.path.join(self.instance, "trace"), encoding="utf-8", errors="replace") as file:
            for line in file:
                for event, name in self.events.items():
                    if f" {os.path.basename(event)}: " in line:
                        found = re.search(name, line)
                        self.counts[found.group(1) if found and found.groups() else name] += 1
        os.rmdir(self.instance)
        subprocess.run(["umount", self.mount], check=False)
        os.rmdir(self.mount)


def compare(read, kind, names, load):
    """
    What systop counts for some sources while a load runs, beside the kernel's counts in the same time: {name:
    (least, ours, most)}. The difference is limited to what happened between the two readings around a refresh's
    end, and what process 1 hides.
    """
    with Hidden(kind) as hidden:
        found = compare_all(read, kind, names, load)
    return {name: (least - hidden.counts[name], ours, most) for name, (least, ours, most) in found.items()}


def compare_all(read, kind, names, load):
    with Systop("-d", str(INTERVAL)) as systop:
        systop.line()
        _, before, after = at_edge(systop, systop.line(), read)
        with load():
            lines = [systop.line() for _ in range(3)]
        more, end_before, end_after = at_edge(systop, lines[-1], read)
    lines += more
    named, known = {i["name"]: i["device"] for t in lines for i in t["irqs"] if i["name"].isdigit()}, devices()
    assert all(known.get(line) == device for line, device in named.items()), (named, known)
    in_softirqs = [line["stacks"]["irq"] for line in lines if kind == "soft" and not REALTIME]
    assert not in_softirqs or any(stacks["stacks_ns"] for stacks in in_softirqs), in_softirqs
    found = {}
    for name in names:
        ours = sum(i["count"] for t in lines for i in t["irqs"]
                   if i["kind"] == kind and name == (i["device"] if i["device"].startswith("IPI") else i["name"]))
        found[name] = (end_before[name] - after[name], ours, end_after[name] - before[name])
    return found


# Linux 6.18 in the virtual machine this was written on sometimes does not run a CPU's BPF programs for about 0.5 ms: a
# program that only adds 1 to a number misses 1 to 9 of 2,000 interrupts of a disk in 16 of 200 runs, with nothing else
# running; perf stat misses none. The kernel counts no misses. So one of a few tries has to be right.
TRIES = 4


def exact(read, kind, names, load):
    """The first compare() in which everything is right; the others may miss next to nothing."""
    for _ in range(TRIES):
        found = compare(read, kind, names, load)
        wrong = {name: f for name, f in found.items() if not f[0] <= f[1] <= f[2]}
        if not wrong:
            return found, ", ".join(f"{n} {ours} ({least} to {most})" for n, (least, ours, most) in found.items() if most)
        for name, (least, ours, most) in wrong.items():
            assert least - max(10, least / 100) <= ours <= most, (name, least, ours, most)
    raise AssertionError(f"not right in any of {TRIES} tries: {wrong}")


def soft():
    """Softirqs, as /proc/softirqs counts them."""
    found, text = exact(softirqs, "soft", ["NET_RX", "TIMER", "SCHED", "RCU"], Echo)
    assert found["NET_RX"][1] > (100 if GUEST else 10000), found
    return text


def vectors():
    """The CPU's own vectors, as /proc/interrupts counts them, where the kernel has tracepoints for them."""
    known = interrupts()
    found, text = exact(interrupts, "vector", [name for name in ("LOC", "RES", "CAL", "IWI") if name in known], Echo)
    assert found["LOC"][1] > 0, found
    return text


def lines_of_cpus():
    """The CPU's timer, and interrupts from other CPUs, where they are lines (arm64)."""
    timer, = [line for line, handler in devices().items() if handler in ("arch_timer", "riscv-timer")]
    found, text = exact(interrupts, "hard", [timer, *ipis().values()], Echo)
    assert found[timer][1] > 0 and sum(found[name][1] for name in ipis().values()) > 0, found
    return text


class Writes:
    """Writes to a disk, past the cache: each is an interrupt. On one CPU, as a disk can have a line for each."""

    count = 200 if GUEST else 2000

    def __enter__(self):
        with tempfile.NamedTemporaryFile(dir=DISK if GUEST else "/var/tmp") as file:
            subprocess.run(["dd", "if=/dev/zero", f"of={file.name}", "bs=4096", f"count={self.count}", "oflag=direct"],
                           check=True, capture_output=True,
                           preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))

    def __exit__(self, *exc):
        pass


def disk():
    """Every write to a disk has its interrupt."""
    lines = [name for name in interrupts() if name.isdigit()]
    found, text = exact(interrupts, "hard", lines, Writes)
    busiest = max(ours for _, ours, _ in found.values())
    assert Writes.count * 0.99 <= busiest, found
    return f"{Writes.count} writes: {busiest}; {text}"


def victims():
    """The sender of datagrams loses the time of the softirqs, and its states add up to its lifetime."""
    with Echo() as echo, Systop("-d", "1", "-p", str(os.getpid())) as systop:
        systop.line()
        ticks = [systop.line() for _ in range(3)]
    threads = [t for tick in ticks for t in tick["threads"] if t["tid"] == echo.thread.native_id]
    assert len(threads) == 3, threads
    stolen = sum(t["irq_ns"] for t in threads)
    network = sum(i["ns"] for t in ticks for i in t["irqs"] if i["name"] == "NET_RX")
    assert network > 0, threads
    # An emulated CPU spends as much time with its timer as with the network.
    most = sum(i["ns"] for t in ticks for i in t["irqs"]) if GUEST else 2 * network
    # Preemptible softirqs are a thread's own work: only raising them takes time from the victim.
    assert REALTIME or 0.8 * network <= stolen <= most, (stolen, network, most)
    for t in threads:
        assert abs(states_of(t) - t["alive_ns"]) <= t["alive_ns"] / 1000, t
    return f"{stolen / 3 / SEC * 100:.1f} % of it, NET_RX {network / 3 / SEC * 100:.1f} %"


def main():
    tap = begin()
    tap.case("softirqs are counted as the kernel does", soft)
    if os.uname().machine == "x86_64":
        tap.case("so are the CPU's own vectors", vectors)
    else:
        tap.case("so are the CPU's timer and interrupts from others", lines_of_cpus)
    if os.path.exists("/dev/vda") or DISK and os.path.exists("/dev/nvme0n1"):
        tap.case("a disk's interrupts", disk)
    else:
        tap.skip("a disk's interrupts", "no disk that has a line of its own")
    tap.case("who loses the time", victims)
    tap.done()


main()
