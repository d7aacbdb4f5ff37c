# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of the stacks is unwound and named, and what happens to them when the target or a helper ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, MS, SEC, SYSTOP, Load, Systop, begin, descendants, ended, helper_of, load_path, name_of  # noqa: E402
from stacks import burn, folded, total  # noqa: E402

os.environ["LOAD_PERCENT"] = "40"  # this test measures no times


def samples_in_json():
    """The weights of a thread's samples and stacks: all of its time, each ns once."""
    with burn("cpu", 8) as (_, tid):
        done = subprocess.run([SYSTOP, "--json", "-F", "997", "-n", "2", "-d", "2", "-p", str(tid)],
                              capture_output=True, text=True, check=True)
    tick = json.loads(done.stdout.splitlines()[-1])
    thread = [t for t in tick["threads"] if t["tid"] == tid][0]
    # Samples that found it interrupted are among them, which are a good part on an emulated CPU.
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
    with subprocess.Popen([path, "cpu", "40" if GUEST else "20"], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as load:
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
    with burn("cpu", 3) as (_, tid):
        began = time.monotonic()
        lines = folded("cpu", "-d", "60", "-p", str(tid))
        took = time.monotonic() - began
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
            # find, and are shown as file and offset. In a guest so are libc and busybox.
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


def gone_files():
    """No refresh waits for programs whose files cannot be found again, as the programs have ended and their mount is gone."""
    # The file systems of a mount namespace go with its last process.
    script = (f"mount -t tmpfs none /mnt; i=0; while [ $i -lt 400 ]; do cp {load_path('burn')} /mnt/gone$i; /mnt/gone$i cpu 0 >&2; "
              "rm /mnt/gone$i; i=$((i+1)); done")
    seconds = 3
    with subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as loop, tempfile.TemporaryDirectory() as d:
        try:
            began = time.monotonic()
            subprocess.run([SYSTOP, "--pprof", f"{d}/profile", "-F", "999", "-d", "0.5", "--duration", str(seconds)], check=True,
                           stderr=subprocess.DEVNULL)
            took = time.monotonic() - began
        finally:
            os.killpg(loop.pid, signal.SIGKILL)
    assert took < seconds + (60 if GUEST else 4), f"{took:.1f} s instead of {seconds}"
    return f"{took:.1f} s instead of {seconds}"


def helpers_die():
    """A killed helper costs nothing: it is restarted; all end with systop."""
    seconds = 10 if GUEST else 2
    with burn("cpu", 8) as (_, tid), \
            subprocess.Popen([SYSTOP, "--folded=cpu", "-d", str(seconds), "-n", "2", "-p", str(tid)],
                             stdout=subprocess.PIPE, text=True) as systop:
        killed, started = [], set()
        end = time.monotonic() + 1.5 * seconds + (15 if GUEST else 0)  # systop takes that long to start in a guest
        while time.monotonic() < end and len(killed) < 2:
            started |= set(descendants(systop.pid))
            for name in ("systop-symbols", "systop-open"):
                pid = helper_of(systop.pid, name)
                if pid and pid not in killed:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
            time.sleep(0.2)
        out, _ = systop.communicate()
    assert systop.returncode == 0 and len(killed) >= 2, (systop.returncode, killed)
    assert ";alpha;" in out, out[:500]
    time.sleep(0.3)
    left = {p: name_of(p) for p in started if (name_of(p) or "").startswith("systop") and not ended(p)}
    assert not left, f"still there: {left}"


def many_blocked():
    """More threads in D than two requests have room for: the others come later, not never."""
    with Load(load_path("vfork_d"), "60000", "2600") as load:
        time.sleep(1.5)
        lines = folded("d", "-d", "1", "-n", "4", "-p", str(load.pid))
    whole, missing = total(lines), total(lines, "[no stack]")
    assert whole > 9000 * SEC and missing < 0.1 * whole, f"{missing / SEC:.0f} of {whole / SEC:.0f} s without a stack"
    return f"{missing / SEC:.0f} of {whole / SEC:.0f} s without a stack"


def frequent_blocks():
    """Of nearly 50 D states and as many sleeps a second all have whole stacks: reporting one does not keep the next one from
    being taken, and the other kind does not either."""
    with Load(load_path("burn"), "block", "60", "20") as load:
        done = subprocess.run([SYSTOP, "--json", "-d", "1", "-n", "4", "-t", str(load.pid)],
                              capture_output=True, text=True, check=True)
    ticks = [json.loads(line)["stacks"] for line in done.stdout.splitlines()[1:]]
    shares = []
    for kind in "d", "sleep":
        whole, unwound = (sum(t[kind][name] or 0 for t in ticks) for name in ("total_ns", "unwound_ns"))
        assert whole > SEC / 2, (kind, ticks)
        shares.append(100 * unwound / whole)
    text = "D state {:.0f} %, sleep {:.0f} % of the time with whole stacks".format(*shares)
    assert min(shares) > 80, text
    return text


def cut_kernel_stacks():
    """Kernel stacks as long as kernel.perf_event_max_stack count as cut: those of blocks that ended, and of blocks that last."""
    with tempfile.NamedTemporaryFile("w") as f, Load(load_path("burn"), "block", "60", "20") as load, Load("sleep", "60") as sleep:
        f.write("2\n")
        f.flush()
        command = ["unshare", "-m", "sh", "-c", f'mount --bind {f.name} /proc/sys/kernel/perf_event_max_stack && exec "$@"', "sh",
                   SYSTOP, "-d", "1", "-n", "2"]
        done = subprocess.run([*command, "--json", "-t", str(load.pid)], capture_output=True, text=True, check=True)
        lasting = subprocess.run([*command, "--folded=sleep", "-p", str(sleep.pid)], capture_output=True, text=True, check=True)
    ended = json.loads(done.stdout.splitlines()[-1])["stacks"]["d"]
    assert ended["cut"]["too_deep_ns"] > 0.8 * ended["stacks_ns"] > 0, ended
    assert ";[truncated];" in lasting.stdout, lasting.stdout


def main():
    tap = begin()
    tap.together([
        ("samples in --json", samples_in_json),
        ("unwound and named are two numbers", two_numbers),
        ("no samples, no numbers", no_samples),
        ("the end of the target", target_ends),
        ("helpers that are killed", helpers_die),
    ], 3)
    tap.case("processes that live 20 ms", short_lives)
    tap.case("processes whose files are gone", gone_files)
    tap.case("frequent blocks", frequent_blocks)
    tap.case("kernel stacks that the kernel cuts", cut_kernel_stacks)
    if not GUEST:
        tap.case("more blocked threads than are read at once", many_blocked)
    tap.done()


main()
