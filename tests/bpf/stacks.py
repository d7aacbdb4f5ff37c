# SPDX-License-Identifier: GPL-2.0-or-later
"""Times of stacks, against programs that spend known times in known functions; and what is lost when there are too many."""

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (GUEST, MS, SEC, SYSTOP, Cgroup, Late, Load, about, begin, had_cpu, helper_of, load_path,  # noqa: E402
                     wait_for)


@contextlib.contextmanager
def burn(what, seconds, *args):
    """The load, and its tid, until it is left. In a guest systop takes seconds to start."""
    seconds = seconds + 20 if GUEST else seconds
    with subprocess.Popen([load_path("burn"), what, str(seconds), *map(str, args)], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as load:  # by sessions the scheduler shares out the CPUs
        try:
            yield load, json.loads(load.stdout.readline())["tid"]
        finally:
            load.kill()


def folded(kind, *args):
    """[(frames, weight)] of one block; frames[0] is the thread's name."""
    done = subprocess.run([SYSTOP, f"--folded={kind}", "-n", "1", *args], capture_output=True,
                          text=True, check=True)
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    assert lines, f"nothing was printed; {done.stderr}"
    return named(lines)


def named(lines):
    """[(frames, weight)] of such lines, if there are names in them: in an emulated guest they can be late."""
    if GUEST and all("+0x" in stack for stack, *_ in lines):
        raise Late("functions have no names yet")
    return [(stack.split(";"), int(weight)) for stack, _, weight in lines]


def total(lines, *functions):
    """Weight of the stacks that contain all of these functions."""
    return sum(w for frames, w in lines if all(f in frames for f in functions))


def others(lines, *functions):
    """The stacks that do not."""
    return [(";".join(frames), w) for frames, w in lines if not all(f in frames for f in functions)]


def cpu_shares():
    """Shares of samples are shares of the time, within 3 percentage points; each stack is complete down to the
    innermost function."""
    hz, seconds = (997, 10) if GUEST else (4999, 3)
    with burn("cpu", 12) as (_, tid):
        lines = folded("cpu", "-F", str(hz), "-d", str(seconds), "-p", str(tid))
    whole = total(lines)
    assert whole > (500 if GUEST else 5000), f"{whole} samples in {seconds} s at {hz} Hz"
    shares = {}
    for function, share in (("alpha", 50), ("beta", 30), ("gamma_", 20)):
        shares[function] = 100 * total(lines, "main", function) / whole
        assert abs(shares[function] - share) <= 3, shares
    return f"{whole} samples, {shares}"


def blocks():
    """Weights of D state and sleep are the time spent in them, within 2 %; kernel and user stack belong to the same
    block."""
    # A guest is too slow for the helpers of two at a time: names would be late.
    with burn("block", 40 if GUEST else 7) as (load, tid):
        time.sleep(0.5)
        with concurrent.futures.ThreadPoolExecutor(1 if GUEST else 2) as pool:
            in_d = pool.submit(folded, "d", "-d", "5", "-p", str(tid))
            in_sleep = pool.submit(folded, "sleep", "-d", "2", "-p", str(tid))
            lines, lines_asleep = in_d.result(), in_sleep.result()
        out = json.loads(load.communicate()[0].splitlines()[-1])
    # The caller of a leaf without a frame of its own is not on the chain of frame pointers.
    in_vfork, in_sleep = ("main", "__vfork", "kernel_clone_[k]"), ("main", "clock_nanosleep", "hrtimer_nanosleep_[k]")
    d = total(lines, *in_vfork)
    all_d = total(lines)
    asleep = total(lines_asleep, *in_sleep)
    all_asleep = total(lines_asleep)
    rate = out["d_ns"] / (out["d_ns"] + out["sleep_ns"])
    about(all_d, 5 * SEC * (rate - 0.02) - 40 * MS, 5 * SEC * (rate + 0.02) + 40 * MS, "D")
    # The block that went on when systop began has no stack of its own.
    assert d >= 0.98 * all_d - 40 * MS, f"{d} of {all_d} ns in D have the stack of vfork(), not {others(lines, *in_vfork)}"
    assert asleep >= 0.98 * all_asleep - 60 * MS, f"{asleep} of {all_asleep} ns asleep have the stack of nanosleep(), not " \
        f"{others(lines_asleep, *in_sleep)}"
    return f"D {d / MS:.0f} of {all_d / MS:.0f} ms, asleep {asleep / MS:.0f} of {all_asleep / MS:.0f} ms"


def locks(kind, function):
    """D state behind a lock weighs the time waited, and has the kernel's and the program's function."""
    with subprocess.Popen([load_path("lock_d"), kind, "30" if GUEST else "6"], stdout=subprocess.PIPE,
                          text=True) as load:
        tid = json.loads(load.stdout.readline())["tid"]
        time.sleep(0.5)
        lines = folded("d", "-d", "4", "-p", str(tid))
        out = json.loads(load.communicate()[0].splitlines()[-1])
    rate = out["d_ns"] / out["ns"]
    whole = total(lines)
    about(whole, 4 * SEC * (rate - 0.02), 4 * SEC * (rate + 0.02), "D")
    # The caller of a leaf without a frame of its own is not on the chain of frame pointers.
    known = sum(w for frames, w in lines if "main" in frames and any(function in f for f in frames))
    assert known >= 0.9 * whole, f"{known} of {whole} ns have the stack; {lines[:3]}"
    return f"{whole / MS:.0f} ms in 4 s, {100 * rate:.0f} % expected"


def wall():
    """All kinds together are the thread's lifetime."""
    with burn("block", 5) as (_, tid):
        time.sleep(0.5)
        lines = folded("wall", "-d", "2", "-p", str(tid))
    threads = sum(w for frames, w in lines if frames[0] == "burn")
    # The children that vfork() makes have its name, and live 40 of 100 ms.
    about(threads, 2 * SEC, 3 * SEC, "time of all kinds")
    return f"{threads / MS:.1f} ms in 2 s, children included"


def is_sampling(pid):
    """Whether systop has its samplers, which it opens last."""
    events, of = 0, f"/proc/{pid}/fd"
    for fd in os.listdir(of):
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            events += os.readlink(os.path.join(of, fd)) == "anon_inode:[perf_event]"
    return events >= os.cpu_count()


def watched(kind, scope, act):
    """As folded(), for one refresh; calls a function in its middle. Under emulation systop takes ten seconds to start."""
    half = 10 if GUEST else 2
    with subprocess.Popen([SYSTOP, f"--folded={kind}", "-n", "1", "-d", str(2 * half - 1), "-F", "499", *scope],
                          stdout=subprocess.PIPE, text=True) as systop:
        while systop.poll() is None and not is_sampling(systop.pid):
            time.sleep(0.05)
        time.sleep(half)
        act()
        lines = [line.rpartition(" ") for line in systop.communicate()[0].splitlines()]
    return named(lines)


def moved():
    """A thread leaves the cgroup shown: what it did before, and nothing else, is shown with its stacks."""
    with Cgroup(f"systop-left-{os.getpid()}") as cgroup, Load(load_path("spin"), "user", "60") as load:
        cgroup.add(load.pid)
        lines = watched("cpu", ["-c", f"/{cgroup.name}"], lambda: cgroup.put(cgroup.mount, load.pid))
    known, whole = total(lines, "main"), total(lines)
    # A guest has the tables of the file late.
    assert 60 < known and known > (0.8 if GUEST else 0.95) * whole, f"{known} of {whole} samples have a stack: {lines[:3]}"
    return f"{known} of {whole} samples"


def executed():
    """A thread that is not the leader executes a program, and so gets the leader's number: its stacks from before stay."""
    lines = folded("sleep", "-d", "10" if GUEST else "2.5", "--", "sh", "-c",
                   f"exec {load_path('exec_nonleader')} sleep 1 > /dev/null")
    asleep = total(lines, "clock_nanosleep")
    # Without the stacks from before exec(), it would be one second at most.
    assert asleep > 1.4 * SEC, f"{asleep / MS:.0f} of 1500 ms before exec() and 1000 after have their stack: {lines}"
    return f"{asleep / MS:.0f} ms"


def distinct():
    """16,384 stacks: none is lost."""
    with burn("distinct", 8) as (_, tid):
        done = subprocess.run([SYSTOP, "--json", "-F", "999" if GUEST else "9999", "-n", "1", "-d", "6", "-p", str(tid)],
                              capture_output=True, text=True, check=True)
    line = json.loads(done.stdout)
    samples = sum(t["samples"] for t in line["threads"])
    lost = {k: v for k, v in line["loss"].items() if k.startswith("stack_")}
    assert samples > (3000 if GUEST else 30000) and not any(lost.values()), (samples, lost)


def without_stack(tick):
    """ns of running time; each sample's part of it is a whole number of ns."""
    cpu = tick["stacks"]["cpu"]
    ns = cpu["total_ns"] - cpu["stacks_ns"]
    return ns if ns > sum(t["samples"] for t in tick["threads"]) else 0


def full():
    """systop is stopped while each sample has a new deep stack, until no room is left: losses are counted, for
    samples exactly, and nothing is lost any more when it continues."""
    hz, interval = (999, 2) if GUEST else (2999, 1)
    with burn("distinct", 40, 120) as (_, tid), \
            subprocess.Popen([SYSTOP, "--json", "-F", str(hz), "-n", "5", "-d", str(interval), "-p", str(tid)],
                             stdout=subprocess.PIPE, text=True) as systop:
        ticks = [json.loads(systop.stdout.readline())]
        systop.send_signal(signal.SIGSTOP)
        time.sleep(5)
        systop.send_signal(signal.SIGCONT)
        ticks += [json.loads(line) for line in systop.stdout]
    # Losses of the ticks after the first, which includes the start.
    samples = sum(t["samples"] for tick in ticks[1:] for t in tick["threads"])
    run = sum(had_cpu(t) for tick in ticks[1:] for t in tick["threads"]) / SEC
    lost = [ticks[-1]["loss"][k] - ticks[0]["loss"][k] for k in ("stack_full", "stack_events")]
    assert lost[0] > 0, f"it was never full: {samples} samples"
    expected = hz * run
    assert GUEST or abs(samples + lost[1] - expected) < expected / 50, (samples, lost, expected)
    assert any(without_stack(tick) for tick in ticks), ticks
    for kind in ("stack_full", "stack_events"):
        assert ticks[-1]["loss"][kind] == ticks[-2]["loss"][kind], (kind, ticks[-1]["loss"])
    assert not without_stack(ticks[-1]), ticks[-1]["stacks"]
    return f"{samples} samples, {lost[0]} without a stack; {lost[1]} more were lost"


def unread(loses):
    """Samples of more than a second come while names are waited for, which loses none, or while systop is stopped."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(burn("cpu", 60))
        systop = stack.enter_context(subprocess.Popen(
            [SYSTOP, "--folded", "cpu", "-F", "999" if GUEST else "9999", "-d", "0.3", "-n", "2", "--max-cpu", "1000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        helper = wait_for(lambda: helper_of(systop.pid, "systop-symbols"), 30, "no helper for names")
        pid = systop.pid if loses else helper
        os.kill(pid, signal.SIGSTOP)
        time.sleep(8 if GUEST and loses else 1.5)  # a helper that stops for longer is replaced
        ended = systop.poll() is not None
        os.kill(pid, signal.SIGCONT)
        said = systop.stderr.read()
    lost = re.search("^systop: lost since the start: .*[0-9] stack_events", said)
    assert not ended and bool(lost) == loses, (ended, said)


def main():
    tap = begin()
    tap.case("blocks have their stacks and exact weights", blocks)
    tap.together([
        ("shares of CPU time by function", cpu_shares),
        ("D state behind a pipe", locks, "pipe", "pipe_read_[k]"),
        ("D state behind an inode", locks, "inode", "write"),
        ("all kinds of time add up", wall),
        ("a thread that leaves the cgroup", moved),
        ("a thread that becomes the leader", executed),
    ], 3)
    tap.together([
        ("samples that are read while names are awaited", unread, False),
        ("samples that are lost", unread, True),
    ], 2)
    tap.case("16,384 distinct stacks", distinct)
    tap.case("a full dictionary", full)
    tap.done()


if __name__ == "__main__":
    main()
