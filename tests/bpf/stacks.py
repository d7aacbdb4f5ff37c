# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks against programs that spend known times in known functions."""

import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (GUEST, MS, SEC, SYSTOP, Systop, about, begin, descendants, ended, had_cpu, load_path,  # noqa: E402
                     name_of)


def burn(what, seconds, *args):
    """The load, and its tid. In a guest systop takes seconds to start."""
    seconds = seconds + 20 if GUEST else seconds
    load = subprocess.Popen([load_path("burn"), what, str(seconds), *map(str, args)], stdout=subprocess.PIPE, text=True)
    return load, json.loads(load.stdout.readline())["tid"]


def folded(kind, *args):
    """[(frames, weight)] of one block; frames[0] is the thread's name."""
    done = subprocess.run([SYSTOP, f"--folded={kind}", "-n", "1", *args], capture_output=True,
                          text=True, check=True)
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    assert lines, f"nothing was printed; {done.stderr}"
    return [(stack.split(";"), int(weight)) for stack, _, weight in lines]


def total(lines, *functions):
    """Weight of the stacks that contain all of these functions."""
    return sum(w for frames, w in lines if all(f in frames for f in functions))


def cpu_shares():
    """Shares of samples are shares of the time, within 3 percentage points; each stack is complete down to the
    innermost function."""
    hz, seconds = (997, 10) if GUEST else (4999, 3)
    load, tid = burn("cpu", 12)
    lines = folded("cpu", "-F", str(hz), "-d", str(seconds), "-p", str(tid))
    load.kill()
    load.wait()
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
    load, tid = burn("block", 7)
    time.sleep(0.5)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        in_d = pool.submit(folded, "d", "-d", "5", "-p", str(tid))
        in_sleep = pool.submit(folded, "sleep", "-d", "2", "-p", str(tid))
        lines, lines_asleep = in_d.result(), in_sleep.result()
    # The caller of a leaf without a frame of its own is not on the chain of frame pointers.
    d = total(lines, "main", "__vfork", "kernel_clone_[k]")
    all_d = total(lines)
    asleep = total(lines_asleep, "main", "clock_nanosleep", "hrtimer_nanosleep_[k]")
    all_asleep = total(lines_asleep)
    out = json.loads(load.communicate()[0].splitlines()[-1])
    rate = out["d_ns"] / (out["d_ns"] + out["sleep_ns"])
    about(all_d, 5 * SEC * (rate - 0.02) - 40 * MS, 5 * SEC * (rate + 0.02) + 40 * MS, "D")
    # The block that went on when systop began has no stack of its own.
    assert d >= 0.98 * all_d - 40 * MS, f"{d} of {all_d} ns in D have the stack of vfork()"
    assert asleep >= 0.98 * all_asleep - 60 * MS, f"{asleep} of {all_asleep} ns asleep have the stack of nanosleep()"
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
    load, tid = burn("block", 5)
    time.sleep(0.5)
    lines = folded("wall", "-d", "2", "-p", str(tid))
    load.kill()
    load.wait()
    threads = sum(w for frames, w in lines if frames[0] == "burn")
    # The children that vfork() makes have its name, and live 40 of 100 ms.
    about(threads, 2 * SEC, 3 * SEC, "time of all kinds")
    return f"{threads / MS:.1f} ms in 2 s, children included"


def distinct():
    """16,384 stacks: none is lost."""
    load, tid = burn("distinct", 8)
    done = subprocess.run([SYSTOP, "--json", "-F", "999" if GUEST else "9999", "-n", "1", "-d", "6", "-p", str(tid)],
                          capture_output=True, text=True, check=True)
    load.kill()
    load.wait()
    loss = json.loads(done.stdout)["loss"]
    lost = {k: v for k, v in loss.items() if k.startswith("stack_")}
    assert not any(lost.values()), lost


def without_stack(tick):
    """ns of running time."""
    cpu = tick["stacks"]["cpu"]
    return cpu["total_ns"] - cpu["stacks_ns"]


def full():
    """systop is stopped while each sample has a new deep stack, until no room is left: losses are counted, for
    samples exactly, and nothing is lost any more when it continues."""
    hz, interval = (999, 2) if GUEST else (2999, 1)
    load, tid = burn("distinct", 40, 120)
    with subprocess.Popen([SYSTOP, "--json", "-F", str(hz), "-n", "5", "-d", str(interval), "-p", str(tid)],
                          stdout=subprocess.PIPE, text=True) as systop:
        ticks = [json.loads(systop.stdout.readline())]
        systop.send_signal(signal.SIGSTOP)
        time.sleep(10)
        systop.send_signal(signal.SIGCONT)
        ticks += [json.loads(line) for line in systop.stdout]
    load.kill()
    load.wait()
    # Of the ticks after the first, which has the start in it.
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


def samples_in_json():
    """The weights of a thread's samples and stacks: all of its time, each ns once."""
    load, tid = burn("cpu", 8)
    done = subprocess.run([SYSTOP, "--json", "-F", "997", "-n", "2", "-d", "2", "-p", str(tid)],
                          capture_output=True, text=True, check=True)
    load.kill()
    load.wait()
    tick = json.loads(done.stdout.splitlines()[-1])
    thread = [t for t in tick["threads"] if t["tid"] == tid][0]
    # Those that found it interrupted are among them: emulated, that is a good part.
    expected = 997 * (thread["run_ns"] + thread["irq_ns"]) / SEC
    assert (0.1 if GUEST else 0.9) * expected <= thread["samples"] <= 1.05 * expected, (thread, expected)
    for kind, field in (("cpu", "run_ns"), ("runq", "runq_ns"), ("sleep", "sleep_ns"), ("d", "d_ns"), ("irq", "irq_ns")):
        spent = sum(t[field] for t in tick["threads"])
        stacks = tick["stacks"][kind]
        assert abs(stacks["total_ns"] - spent) <= spent / 1000, (kind, stacks, spent)
        assert stacks["stacks_ns"] <= stacks["total_ns"], (kind, stacks)
        for name in "unwound_ns", "functions_ns", "named_ns":
            assert (stacks[name] is None) == (not stacks["stacks_ns"]), (kind, stacks)
            assert (stacks[name] or 0) <= stacks["stacks_ns"], (kind, stacks)
        assert (stacks["unwound_ns"] or 0) + sum(stacks["cut"].values()) == stacks["stacks_ns"], (kind, stacks)
        assert (stacks["named_ns"] or 0) <= (stacks["functions_ns"] or 0), (kind, stacks)
    return f"{thread['samples']} samples in {thread['run_ns'] / MS:.0f} ms, stacks {tick['stacks']['cpu']}"


def two_numbers():
    """How far stacks are unwound is independent of how much of them is named, and both agree with the frames: for a
    program with symbols, and for the same program without any."""
    with tempfile.TemporaryDirectory() as folder:
        bare = shutil.copy(load_path("burn"), folder)
        subprocess.run(["strip", "--strip-all", bare], check=True)
        found = [quality_of(path) for path in (load_path("burn"), bare)]
    for (unwound, named), (least, most) in zip(found, ((70, 100), (0, 60))):
        assert unwound >= 98 and least <= named <= most, found
    return "unwound {:.1f} % named {:.1f} %; without symbols unwound {:.1f} % named {:.1f} %".format(*sum(found, ()))


def quality_of(path):
    """(unwound, named) in percent for a running program, by --json; the frames in --folded give the same."""
    options = ["-F", "997", "-d", "2"]
    with subprocess.Popen([path, "cpu", "40" if GUEST else "20"], stdout=subprocess.PIPE, text=True) as load:
        tid = json.loads(load.stdout.readline())["tid"]
        with Systop(*options, "-p", str(tid)) as systop:
            cpu = [systop.line() for _ in range(2 if GUEST else 3)][-1]["stacks"]["cpu"]
        lines = folded("cpu", *options, "-p", str(tid))
        load.kill()
    assert cpu["stacks_ns"] >= 0.98 * cpu["total_ns"] > 0, cpu
    weight = by_frames = 0
    for frames, samples in lines:
        frames = [f for f in frames[1:] if not f.startswith("[") and f != "~"]
        weight += samples if frames else 0
        by_frames += samples * sum("+0x" not in f and "`fn_" not in f for f in frames) / max(len(frames), 1)
    named = 100 * cpu["named_ns"] / cpu["stacks_ns"]
    assert abs(named - 100 * by_frames / weight) < 4, (named, by_frames, weight, lines)
    return 100 * cpu["unwound_ns"] / cpu["stacks_ns"], named


def no_samples():
    """A program that sleeps all the time has no stacks of running time: their quality is unknown, which is not 0."""
    with subprocess.Popen(["sleep", "60"]) as load:
        done = subprocess.run([SYSTOP, "--json", "-n", "1", "-d", "1", "-p", str(load.pid)],
                              capture_output=True, text=True, check=True)
        load.kill()
    cpu = json.loads(done.stdout)["stacks"]["cpu"]
    assert cpu["stacks_ns"] == 0 and cpu["unwound_ns"] is None and cpu["named_ns"] is None, cpu


def target_ends():
    """--folded with -p prints the stacks when the process ends, and ends with success."""
    load, tid = burn("cpu", 3)
    began = time.monotonic()
    lines = folded("cpu", "-d", "60", "-p", str(tid))
    took = time.monotonic() - began
    load.wait()
    assert took < (60 if GUEST else 10), f"{took:.1f} s"
    assert total(lines, "main", "alpha") > 0, lines
    return f"after {took:.1f} s"


def short_lives():
    """For processes that live 20 ms, nearly all frames have names, and none is a bare address."""
    script = f"while :; do {load_path('burn')} cpu 0; done"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.DEVNULL,
                          start_new_session=True) as loop:
        try:
            time.sleep(0.5)
            lines = folded("cpu", "-F", "499", "-d", "5")
        finally:
            os.killpg(loop.pid, signal.SIGKILL)
    named = unnamed = 0
    without = {}
    for frames, weight in lines:
        if frames[0] != "burn":
            continue
        for frame in frames[1:]:
            # The dynamic loader and the shell are stripped: most of their functions have no name to
            # find, they are told as file and offset. In a guest so are libc and busybox.
            if frame.endswith("_[k]") or frame.startswith(("[", "ld-linux", "_dl_", "dash+0x")):
                continue
            if GUEST and frame.startswith(("libc.so.6+0x", "busybox+0x")):
                continue
            if "+0x" in frame:
                unnamed += weight
                module = frame.partition("+0x")[0]
                without[module] = without.get(module, 0) + weight
            else:
                named += weight
    assert named > (20 if GUEST else 300), f"{named} frames"
    assert named >= 0.95 * (named + unnamed), f"{named} of {named + unnamed} frames have names; {without}"
    return f"{named} of {named + unnamed} frames have names"


def helper_of(pid, name):
    for p in os.listdir("/proc"):
        try:
            with open(f"/proc/{p}/stat") as f:
                comm, _, rest = f.read().partition("(")[2].rpartition(")")
        except (OSError, IndexError):
            continue
        if comm != name:
            continue
        starter = int(rest.split()[1])
        with open(f"/proc/{starter}/stat") as f:
            if int(f.read().rpartition(")")[2].split()[1]) == pid:
                return int(p)
    return None


def helpers_die():
    """A killed helper costs nothing: it is restarted; all end with systop."""
    load, tid = burn("cpu", 8)
    seconds = 10 if GUEST else 2
    systop = subprocess.Popen([SYSTOP, "--folded=cpu", "-d", str(seconds), "-n", "2", "-p", str(tid)],
                              stdout=subprocess.PIPE, text=True)
    killed, started = [], set()
    end = time.monotonic() + 1.5 * seconds + (15 if GUEST else 0)  # there it takes so long to start
    while time.monotonic() < end and len(killed) < 2:
        started |= set(descendants(systop.pid))
        for name in ("systop-symbols", "systop-open"):
            pid = helper_of(systop.pid, name)
            if pid and pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
        time.sleep(0.2)
    out, _ = systop.communicate()
    load.wait()
    assert systop.returncode == 0 and len(killed) >= 2, (systop.returncode, killed)
    assert ";alpha;" in out, out[:500]
    time.sleep(0.3)
    left = {p: name_of(p) for p in started if (name_of(p) or "").startswith("systop") and not ended(p)}
    assert not left, f"still there: {left}"


def main():
    tap = begin()
    tap.case("blocks have their stacks and exact weights", blocks)
    tap.together([
        ("shares of CPU time by function", cpu_shares),
        ("D state behind a pipe", locks, "pipe", "pipe_read_[k]"),
        ("D state behind an inode", locks, "inode", "write"),
        ("all kinds of time add up", wall),
    ], 2)
    tap.case("16,384 distinct stacks", distinct)
    tap.case("a full dictionary", full)
    tap.together([
        ("samples in --json", samples_in_json),
        ("unwound and named are two numbers", two_numbers),
        ("no samples, no numbers", no_samples),
        ("the end of the target", target_ends),
        ("helpers that are killed", helpers_die),
    ], 3)
    tap.case("processes that live 20 ms", short_lives)
    tap.done()


main()
