# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts of many CPUs, simulated through /sys: systop's needs depend on the CPUs that are online, it follows new
ones, and it stays within the budgets of bench/README.md ("Large hosts")."""

import collections
import concurrent.futures
import contextlib
import functools
import os
import re
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, Systop, begin  # noqa: E402

CPU_FILES = "/sys/devices/system/cpu"
MIB = 1 << 20

RING_SECONDS = 3           # until 512 CPUs have a ring; more take longer
RINGS_BYTES = 1 << 30      # of all rings, unless --window-mem says otherwise
POSSIBLE_BYTES = 3 << 10   # of maps, for a CPU that is possible
ONLINE_BYTES = 768 << 10   # and for one that is online: 143 KiB of that for its part of a larger stack dictionary
SLOT_BYTES = 448           # of maps, for a slot of a thread: the power of two from twice the threads on
START_SECONDS = 2          # that a start takes longer, with room for 500,000 threads
RSS_NOISE = 16 * MIB       # between two runs: names of what happened to run
REFRESH_RATIO = 4          # of a refresh's CPU time, to that with this machine's CPUs
START_RATIO = 3            # of a start, to one at the same time with this machine's CPUs; 1,024 CPUs took 1.7 times as long


def script_in(folder, text):
    path = os.path.join(folder, "systop")
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


@contextlib.contextmanager
def host_with(files):
    """systop --json in a mount namespace in which files of this host have other contents, {path: text}. Returns a function that
    starts it, and the folder of these files."""
    with tempfile.TemporaryDirectory() as folder:
        places = {path: os.path.join(folder, os.path.basename(path)) for path in files}
        for path, text in files.items():
            with open(places[path], "w", encoding="utf-8") as f:
                f.write(text + "\n")
        binds = " && ".join(f"mount --bind {place} {path}" for path, place in places.items())
        script = script_in(folder, f'exec unshare -m sh -c \'{binds} && exec {SYSTOP} "$@"\' sh "$@"\n')
        yield lambda *args: Systop(*args, program=script), places


@contextlib.contextmanager
def host(possible, online):
    """The same with that many possible CPUs, and the list @online of those online. The path of that list comes
    second."""
    with host_with({f"{CPU_FILES}/possible": f"0-{possible - 1}", f"{CPU_FILES}/online": online}) as (start, places):
        yield start, places[f"{CPU_FILES}/online"]


def descriptors(pid):
    """fdinfo of each descriptor of a process, and the target of its link."""
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as f:
                yield dict(re.findall(r"^(\w+):\s*(\S+)", f.read(), re.M)), os.readlink(f"/proc/{pid}/fd/{fd}")


def arrays(pid):
    """Bytes of each map that looks like a recorder's ring."""
    return collections.Counter(int(i["value_size"]) * int(i["max_entries"]) for i, _ in descriptors(pid)
                               if i.get("map_type") == "2" and i.get("value_size") == "16")


@functools.cache
def arrays_without():
    with Systop("-d", "0.5", "--window", "0") as systop:
        systop.line()
        return arrays(systop.proc.pid)


def rings(pid):
    """Bytes of each of the recorder's rings: the maps that are missing without a recorder."""
    return list((arrays(pid) - arrays_without()).elements())


# Perf events of each CPU: what runs, major and minor page faults.
SAMPLERS = 3


def samplers(pid):
    """CPUs that are sampled."""
    return sum(link == "anon_inode:[perf_event]" for _, link in descriptors(pid)) / SAMPLERS


def wait_until(test, seconds, what):
    """The time it took."""
    began = time.monotonic()
    while not test():
        took = time.monotonic() - began
        assert took < seconds, f"not after {took:.1f} s: {what()}"
        time.sleep(0.02)
    return time.monotonic() - began


def all_rings(cpus):
    with host(cpus, f"0-{cpus - 1}") as (start, _), start("-d", "1") as systop:
        pid = systop.proc.pid
        wait_until(lambda: rings(pid), 30, lambda: "no ring at all")
        took = wait_until(lambda: len(rings(pid)) == cpus, RING_SECONDS * max(1, cpus / 512),
                          lambda: f"{len(rings(pid))} of {cpus} CPUs have a ring")
        total = sum(rings(pid))
        assert total <= RINGS_BYTES, f"the rings of {cpus} CPUs take {total / MIB:.0f} MiB"
        return f"{cpus} rings of {total / cpus / MIB:.2f} MiB each, all there {took:.1f} s after the first one"


def asked_for(cpus):
    """A request for more than the usual limit is granted."""
    with host(cpus, f"0-{cpus - 1}") as (start, _), start("-d", "1", "--window-mem", "1536M") as systop:
        wait_until(lambda: len(rings(systop.proc.pid)) == cpus, 10, lambda: f"{len(rings(systop.proc.pid))} rings")
        total = sum(rings(systop.proc.pid))
        assert total > RINGS_BYTES // 2, f"{total / MIB:.0f} MiB of 1,536"


def cost(possible, online):
    """Maps in bytes, resident memory in bytes, ms of CPU that a refresh takes, and seconds until the first line."""
    began = time.monotonic()
    with host(possible, f"0-{online - 1}") as (start, _), start("-d", "0.25", "--window", "0", "-n", "8") as systop:
        systop.line()
        took = time.monotonic() - began
        lines = systop.rest()
    own = [line["self"] for line in lines]
    return own[-1]["bpf_bytes"], own[-1]["rss_bytes"], statistics.median(o["cpu_ns"] for o in own) / 1e6, took


def costs(*hosts):
    """The same for several hosts, (possible, online) each, at one time, so that other load on this machine slows all
    of them alike."""
    with concurrent.futures.ThreadPoolExecutor(len(hosts)) as pool:
        return list(pool.map(lambda host: cost(*host), hosts))


def memory(possible):
    """CPUs that are not online need next to nothing, and the others only what they use."""
    real = os.cpu_count()
    (maps, rss, refresh, first), *others = costs((real, real), (possible, real), (possible, possible))
    for online, (now_maps, now_rss, now_refresh, now_first) in zip((real, possible), others):
        most = possible * POSSIBLE_BYTES + (online - real) * ONLINE_BYTES
        text = f"{online} of {possible} CPUs: maps {now_maps / MIB:.1f} MiB, resident {now_rss / MIB:.0f}, a refresh " \
               f"{now_refresh:.2f} ms of CPU, the first after {now_first:.1f} s; {real} of {real}: {maps / MIB:.1f}, " \
               f"{rss / MIB:.0f}, {refresh:.2f}, {first:.1f}"
        print("#", text)
        assert now_maps <= maps + most, text
        assert now_rss <= rss + most + RSS_NOISE, text
        assert now_refresh <= REFRESH_RATIO * refresh, text
        assert now_first <= START_RATIO * first, text


def threads(number):
    """Room for twice the present threads: its cost while unused. The cost of use is in tests/unit/many."""
    costs = []
    for there in (100, number):
        began = time.monotonic()
        with host_with({"/proc/loadavg": f"0.00 0.00 0.00 1/{there} 1"}) as (start, _), start("-d", "0.25", "--window", "0", "-n", "8") as systop:
            systop.line()
            took = time.monotonic() - began
            lines = systop.rest()
        own = [line["self"] for line in lines]
        costs.append((own[-1]["bpf_bytes"], own[-1]["rss_bytes"], statistics.median(o["cpu_ns"] for o in own) / 1e6, took))
    (maps, rss, refresh, first), (now_maps, now_rss, now_refresh, now_first) = costs
    text = f"for {number} threads: maps {now_maps / MIB:.0f} MiB, resident {now_rss / MIB:.0f}, a refresh {now_refresh:.2f} ms of " \
           f"CPU, the first after {now_first:.1f} s; for 100: {maps / MIB:.0f}, {rss / MIB:.0f}, {refresh:.2f}, {first:.1f}"
    most = SLOT_BYTES * (1 << (2 * number - 1).bit_length())
    assert now_maps <= maps + most, text
    assert now_rss <= rss + most + RSS_NOISE, text  # most maps are in its memory, too
    assert now_refresh <= REFRESH_RATIO * refresh, text
    assert now_first <= first + START_SECONDS, text
    return text


def comes_later():
    """A CPU that comes online gets a ring and a sampler."""
    with host(64, "0") as (start, online), start("-d", "0.5") as systop:
        pid = systop.proc.pid
        systop.line()
        assert (len(rings(pid)), samplers(pid)) == (1, 1), f"one CPU is online: {len(rings(pid))} rings, {samplers(pid)} samplers"
        with open(online, "w", encoding="utf-8") as f:
            f.write("0-1\n")
        wait_until(lambda: len(rings(pid)) == 2 and samplers(pid) == 2, 5,
                   lambda: f"{len(rings(pid))} rings, {samplers(pid)} samplers on two CPUs")


def few_descriptors():
    """The soft limit of open files does not limit systop."""
    with tempfile.TemporaryDirectory() as folder:
        with Systop("-d", "0.5", program=script_in(folder, f'ulimit -S -n 88\nexec {SYSTOP} "$@"\n')) as systop:
            systop.line()
            nr, wanted = samplers(systop.proc.pid), os.cpu_count()
            assert nr == wanted, f"{nr} of {wanted} CPUs are sampled"


def main():
    tap = begin()
    arrays_without()
    for cpus in (64, 512, 1024):
        tap.case(f"{cpus} CPUs: rings within {RING_SECONDS} s and 1 GiB", all_rings, cpus)
    tap.case("more memory for rings is there when it is asked for", asked_for, 512)
    for cpus in (64, 512, 1024):
        tap.case(f"{cpus} CPUs: memory", memory, cpus)
    tap.case("500,000 threads: memory and start", threads, 500000)
    tap.together([
        ("a CPU that comes later", comes_later),
        ("a low soft limit of open files", few_descriptors),
    ], 2)
    tap.done()


if __name__ == "__main__":
    main()
