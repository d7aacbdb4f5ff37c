# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory: RSS of processes is what the kernel finds in their page tables, within the error of its counters; how it grows, and
what makes it grow; what cgroups are charged for; what is not known."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from fuse import Fuse  # noqa: E402
from harness import DISK, GUEST, SYSTOP, Cgroup, Late, Systop, begin, load_path, mount_of, systop_lines  # noqa: E402

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")
CPUS = os.cpu_count()

# Each CPU keeps up to this many pages of a counter's changes to itself; there are three: anonymous, of files, shared.
ERROR = 3 * max(32, 2 * CPUS) * CPUS * PAGE


@contextlib.contextmanager
def loaded(*args):
    """A load that has its memory, and what it said."""
    load = subprocess.Popen([load_path("memory"), *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield load, json.loads(load.stdout.readline())
    finally:
        load.stdin.close()
        load.wait()
        load.stdout.close()


def in_page_tables(pid, name="Rss"):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return sum(int(line.split()[1]) << 10 for line in f if line.startswith(f"{name}:"))


def process(line, pid):
    rows = [row for row in line["processes"] if row["tgid"] == pid]
    assert len(rows) == 1, f"process {pid} has {len(rows)} rows"
    return rows[0]


def check(line, pid):
    row, truth = process(line, pid), in_page_tables(pid)
    assert abs(row["rss_bytes"] - truth) <= ERROR, f"RSS {row['rss_bytes']}, in page tables {truth}, the error is {ERROR}"
    assert row["swap_bytes"] is not None, row
    return truth


def have(*args):
    with loaded(*args) as (load, said):
        line = systop_lines("--all", "-d", "0.3", "-n", "1")[0]
        pids = [load.pid] + ([said["child"]] if said["child"] else [])
        truths = [check(line, pid) for pid in pids]
        threads = process(line, load.pid)["threads"]
    assert threads == (1 + int(args[2]) if args[0] == "threads" else 1), f"{threads} threads"
    wanted = 1 if args[0] == "exec" else int(args[-1] if args[0] == "file" else args[1])
    assert truths[0] >= wanted * MIB, f"the load has {truths[0]} bytes"
    return ", ".join(f"{truth / MIB:.1f} MiB" for truth in truths)


def grows():
    """A leak of 10 MB a second: in each refresh RSS is between what was touched before its end, and after."""
    load = subprocess.Popen([load_path("memory"), "leak", "10", "30" if GUEST else "6"], stdout=subprocess.PIPE, text=True)
    with load, Systop("-d", "1" if GUEST else "0.5") as systop:
        load.stdout.readline()
        lines = [systop.line() for _ in range(9)]
        said = json.loads(load.stdout.readline())
    # The sizes are read a moment after the refresh's end, later if systop has to wait for a CPU.
    seen, slack, checked = said["seen"][1:], (200 if GUEST else 100) * 1_000_000, 0
    first = None
    for line in lines:
        at, rss = line["boottime_ns"], process(line, load.pid)["rss_bytes"]
        if not seen[0][0] + slack < at < seen[-1][0] - slack:
            continue
        low = max(n for t, n in seen if t <= at - slack)
        high = min(n for t, n in seen if t >= at + slack)
        first = first or (rss, low, high)
        grown = rss - first[0]
        # Tolerance: a step of the kernel's counter at both ends.
        assert low - first[2] - ERROR <= grown <= high - first[1] + ERROR, (grown, low - first[2], high - first[1])
        checked += 1
    assert checked >= 5, f"{checked} refreshes only"
    return f"{checked} refreshes, {grown / MIB:.1f} MiB more"


def weights(*args, seconds=6):
    """Lines of the folded stacks of minor faults of a load, and their sum."""
    seconds = 20 if GUEST else seconds  # beside the load, the helper that looks for names has a part of an emulated CPU
    load = subprocess.Popen([load_path("memory"), *map(str, args)], stdout=subprocess.PIPE, text=True)
    json.loads(load.stdout.readline())
    done = subprocess.run([SYSTOP, "--folded=minflt", "-n", "1", "-d", str(seconds), "-p", str(load.pid)],
                          capture_output=True, text=True, check=True)
    load.kill()
    load.wait()
    load.stdout.close()
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    if GUEST and not any("main" in stack.split(";") for stack, *_ in lines):
        raise Late("the load's functions have no names yet")
    return [(set(stack.split(";")), int(weight)) for stack, _, weight in lines], sum(int(weight) for *_, weight in lines)


def share(lines, sum_, function):
    return sum(weight for stack, weight in lines if function in stack) / sum_


def leaks():
    """The function that leaks has its share of the minor faults. About 350 stacks are taken of 90,000 faults: a share of 75 %
    is off by less than four times 2.3 %."""
    lines, sum_ = weights("leak", *((10, 60) if GUEST else (50, 20)))
    assert sum_ > (10000 if GUEST else 60000), f"{sum_} faults"
    of_leak, of_use = share(lines, sum_, "leak_memory"), share(lines, sum_, "use_memory")
    assert abs(of_leak - 0.75) < 0.093 and abs(of_use - 0.25) < 0.093, (of_leak, of_use, lines)
    return f"{100 * of_leak:.1f} % of {sum_} faults in leak_memory, {100 * of_use:.1f} % in use_memory"


def loops(pages):
    """A loop that touches as many pages as there are faults between two stacks, or between two events: both halves of it
    have theirs."""
    lines, sum_ = weights("halves", 120 if GUEST else 20, pages, seconds=4)
    first, second = share(lines, sum_, "first_half"), share(lines, sum_, "second_half")
    # 4 standard deviations: one fault of about 248 has a stack, and on a slow host there are few. Of a half that is
    # overlooked there is next to nothing.
    near = min(max(0.25, 4 / (sum_ / 248) ** 0.5), 0.8)
    assert abs(first - second) < near and first + second > 0.9, (first, second, near, lines)
    return f"{100 * first:.1f} % and {100 * second:.1f} % of {sum_} faults"


@contextlib.contextmanager
def charging():
    """Cgroups of one path in the hierarchy with the memory controller and the shown one, and the file with the charge."""
    v2, v1 = mount_of("cgroup2"), mount_of("cgroup", "memory")
    with contextlib.ExitStack() as stack:
        name = f"systop-memory-{os.getpid()}"
        if v1:
            cgroups = [stack.enter_context(Cgroup(name, "memory"))]
            cgroups += [stack.enter_context(Cgroup(name))] if v2 else []
            file = os.path.join(cgroups[0].path, "memory.usage_in_bytes")
        else:
            with open(os.path.join(v2, "cgroup.subtree_control"), "w", encoding="ascii") as f:
                f.write("+memory")
            cgroups = [stack.enter_context(Cgroup(name))]
            file = os.path.join(cgroups[0].path, "memory.current")
        yield cgroups, file


def charged():
    """MEM of a cgroup is what the hierarchy with the memory controller has for the same path."""
    with charging() as (cgroups, file):
        name = cgroups[0].name
        load = subprocess.Popen([load_path("memory"), "anon", "64"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True, preexec_fn=lambda: [one.add(os.getpid()) for one in cgroups])
        with load:
            json.loads(load.stdout.readline())
            # Charges are read for a limited time, in which a guest's CPU can be another one's.
            *_, line = systop_lines("-c", name, "-d", "0.3", "-n", "5" if GUEST else "1")
            row, = [row for row in line["cgroups"] if row["path"].endswith(name)]
            with open(file, encoding="ascii") as f:
                truth = int(f.read())
            load.stdin.close()
            load.wait()
    # Each CPU charges 64 pages at a time.
    shown_ = row["memory_bytes"]
    assert shown_ >= 64 * MIB and abs(shown_ - truth) <= 64 * PAGE * CPUS, (shown_, truth)
    return f"{truth / MIB:.1f} MiB"


def made_again():
    """A cgroup that was removed has no memory, although there is another one in its place."""
    with charging() as (cgroups, _):
        name = cgroups[0].name
        with Systop("-d", "1" if GUEST else "0.3", "-c", name) as systop, contextlib.ExitStack() as stack:
            # They run already: on a slow machine the refresh in which both are listed would end before another has started. Each
            # begins again in its cgroup, which is charged for that.
            first, *others = [stack.enter_context(subprocess.Popen(["sh", "-c", "read line; exec sleep 600"], text=True,
                                                                   stdin=subprocess.PIPE)) for _ in range(5)]
            for load in (first, *others):
                stack.callback(load.kill)
            begin_in(cgroups, first)
            # In one of a few tries no refresh ends in between.
            for load in others:
                for _ in range(3):
                    systop.line()
                first.kill()
                first.wait()
                for one in cgroups:
                    remake(one.path)
                begin_in(cgroups, load)
                rows = [memory_of(systop.line(), name) for _ in range(6)]
                assert all(sum(bytes is not None for bytes in row) <= 1 for row in rows), rows
                assert rows[-1] and any(rows[-1]), rows
                if any(len(row) == 2 for row in rows):
                    return
                first = load
    raise AssertionError(f"both are never listed: {rows}")


def memory_of(line, name):
    return [row["memory_bytes"] for row in line["cgroups"] if row["path"].endswith(name)]


def begin_in(cgroups, load):
    for one in cgroups:
        one.add(load.pid)
    load.stdin.write("\n")
    load.stdin.flush()


def remake(path):
    while True:
        try:
            os.rmdir(path)
            break
        except OSError:
            time.sleep(0.01)
    os.mkdir(path)


def in_turn():
    """With more threads than are read in each refresh, a sleeping process whose file is cut by another one is shown without these
    pages after 10 s at most."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as f, loaded("file", f.name, "64") as (load, _):
        crowd = subprocess.Popen([load_path("threads"), "6000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        crowd.stdout.readline()
        try:
            with Systop("--all", "--filter", f"comm={os.path.basename(load_path('memory'))}", "-d", "1") as systop:
                assert process(systop.line(), load.pid)["rss_bytes"] >= 64 * MIB - ERROR
                os.truncate(f.name, 0)
                cut = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                while True:
                    line = systop.line()
                    took = (line["boottime_ns"] - cut) / 1e9
                    if process(line, load.pid)["rss_bytes"] < 32 * MIB:
                        break
                    assert took < 11, f"still {process(line, load.pid)['rss_bytes']} bytes after {took:.1f} s"
        finally:
            crowd.communicate()
    return f"after {took:.1f} s"


def hangs_in_its_exit():
    """A process that waits for a file system in its exit has freed its memory: it has none, not what it had."""
    code = f"import os, sys; kept = os.urandom({64 * MIB}); file = os.open(sys.argv[1], os.O_RDONLY); " \
           "print(flush=True); sys.stdin.read(); os._exit(0)"
    with Fuse(load_path("nothing")) as fuse, Systop("--all", "-d", "0.3") as systop, \
            subprocess.Popen([sys.executable, "-c", code, f"{fuse.mount}/nothing"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE) as load:
        try:
            load.stdout.readline()
            systop.skip()
            systop.line()
            assert process(systop.line(), load.pid)["rss_bytes"] >= 64 * MIB
            fuse.stop("FLUSH")
            load.stdin.close()
            fuse.held(10)
            end = time.monotonic() + 11
            while (row := process(systop.line(), load.pid))["rss_bytes"] is not None:
                assert time.monotonic() < end, f"still {row['rss_bytes']} bytes"
            assert row["swap_bytes"] is None, row
        finally:
            fuse.stop("none")
            load.kill()


def unknown():
    """Kernel threads have no memory of their own; threads and the host have no levels of their own anywhere."""
    line = systop_lines("--all", "-d", "0.2", "-n", "1")[0]
    kthreadd = process(line, 2)
    assert kthreadd["rss_bytes"] is None and kthreadd["swap_bytes"] is None, kthreadd
    assert process(line, os.getpid())["rss_bytes"] > MIB
    assert all("rss_bytes" not in row for row in line["threads"] + line["cgroups"])
    assert all("memory_bytes" in row and "memory_bytes" not in row["own"] for row in line["cgroups"])
    shown = subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.2", "-s", "rss"], capture_output=True, text=True,
                           check=True).stdout
    titles, *rows = shown.splitlines()[1:]
    at = titles.split().index("RSS")
    assert any(row.split()[at].endswith("M") for row in rows if row), shown


def host():
    line = systop_lines("-d", "0.2", "-n", "1")[0]
    with open("/proc/meminfo", encoding="ascii") as f:
        truth = {name: int(value.split()[0]) << 10 for name, value in (one.split(":") for one in f)}
    assert line["mem_total_bytes"] == truth["MemTotal"], line["mem_total_bytes"]
    assert line["swap_total_bytes"] == truth["SwapTotal"]
    assert abs(line["mem_available_bytes"] - truth["MemAvailable"]) < truth["MemTotal"] / 8
    with open("/proc/loadavg", encoding="ascii") as f:
        for shown, now in zip(line["load"], f.read().split(), strict=False):
            assert abs(shown - float(now)) < 1 + 0.2 * float(now), (line["load"], now)


def main():
    tap = begin()
    with tempfile.TemporaryDirectory(dir=DISK, prefix="memory-") as folder:
        tap.case("anonymous memory", have, "anon", 100)
        tap.case("memory of a file", have, "file", os.path.join(folder, "file"), 50)
        tap.case("shared memory", have, "shared", 50)
        tap.case("a file in memory", have, "file", f"/dev/shm/memory-{os.getpid()}", 50)
        tap.case("threads share it", have, "threads", 20, 10)
        tap.case("a child has its own", have, "fork", 40)
        tap.case("exec leaves it", have, "exec", 100)
    with contextlib.suppress(FileNotFoundError):  # the case that makes it may not be among those that run
        os.unlink(f"/dev/shm/memory-{os.getpid()}")
    tap.case("a leak grows as it does", grows)
    tap.case("the function that leaks has its share of the minor faults", leaks)
    for pages in 256, 248, 62:
        tap.case(f"no half of a loop of {pages} pages is overlooked", loops, pages)
    tap.case("a process that sleeps has its turn", in_turn)
    if mount_of("cgroup", "memory") or os.path.exists("/sys/fs/cgroup/memory.stat"):
        tap.case("what a cgroup is charged for", charged)
        tap.case("a cgroup that was removed and made again", made_again)
    else:
        tap.skip("what a cgroup is charged for", "no memory controller")
        tap.skip("a cgroup that was removed and made again", "no memory controller")
    if os.path.exists("/dev/fuse"):
        tap.case("a process that hangs in its exit has none", hangs_in_its_exit)
    else:
        tap.skip("a process that hangs in its exit has none", "no FUSE")
    tap.case("kernel threads have none", unknown)
    tap.case("memory and load of the host", host)
    tap.done()


main()
