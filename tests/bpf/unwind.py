# SPDX-License-Identifier: GPL-2.0-or-later
"""Share of the time whose user stacks reach their root, for programs without frame pointers."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, SEC, SYSTOP, Systop, begin, descendants, helper_of, load_path, root_of, step_back  # noqa: E402

SECONDS = "300" if GUEST else "60"  # longer than the test takes
HZ = 997 if GUEST else 1997

PYTHON = """
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
while True:
    fib(15); json.loads(json.dumps(list(range(2000)))); sorted(str(i) for i in range(2000))
    re.sub(r'(a|b)+c', 'x', 'ababac' * 100)
"""
BASH = "f() { if [ $1 -gt 0 ]; then f $(($1 - 1)); fi; }; while :; do f 12; done"
LOOP = "while :; do ls / >/dev/null; echo x | sed s/x/y/ >/dev/null; grep -c root /etc/passwd >/dev/null; done"
NODE = """
const zlib = require('zlib'), c = require('crypto');
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
for (;;) { fib(20); zlib.deflateSync(Buffer.alloc(20000, 'abc')); c.createHash('sha256').update('x'.repeat(9999)).digest() }
"""
CXX = """
#include <algorithm>
#include <stdexcept>
#include <vector>
static __attribute__((noinline)) void thrower(int i) { if (i % 3) throw std::runtime_error("x"); }
int main() {
	for (;;) {
		std::vector<int> v(1000);
		for (int i = 0; i < 1000; i++) v[i] = (i * 7919) % 1000;
		std::sort(v.begin(), v.end());
		for (int i = 0; i < 100; i++) try { thrower(i); } catch (std::exception &) { v[0]++; }
	}
}
"""

HANDLER = """
#include <signal.h>
static volatile int n;
static __attribute__((noreturn)) void forever(void) { for (;;) n++; }
static void on_signal(int number) { n = number; forever(); }
int main(void) { signal(SIGUSR1, on_signal); return raise(SIGUSR1); }
"""


def share_of(tick, kind):
    """For an interval: (percent, text); 0 percent if there are too few samples or stacks."""
    stacks = tick["stacks"][kind]
    samples = sum(t["samples"] for t in tick["threads"])
    run = sum(t["run_ns"] for t in tick["threads"]) / SEC
    if kind == "cpu" and samples <= (50 if GUEST else max(50, 0.5 * HZ * run)):
        return 0, f"only {samples} samples in {run:.3f} s"
    known = 100 * stacks["stacks_ns"] / max(stacks["total_ns"], 1)
    # The nap in which systop found a thread has no stack.
    if known < (95 if kind == "cpu" else 80):
        return 0, f"only {known:.2f} % of the time has stacks"
    found = 100 * stacks["unwound_ns"] / stacks["stacks_ns"]
    return found, f"{found:.2f} % of {samples} samples"


def reaches(least, command, interval=0.5, looks=(1, 3, 7, 15, 25), kind="cpu", **options):
    """Checks the stacks of a process, in the interval in which its tables have arrived: usually the first one; the last one
    counts."""
    if GUEST:
        interval, looks = 3, (1,)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                          **options) as load:
        step_back(load.pid)
        try:
            time.sleep(0.7)
            assert load.poll() is None, f"{command[0]} ended"
            # Processes that are forked from now on are in scope, too; those that a shell has forked may be gone by then.
            pids = [load.pid] + ([] if command[0] == "bash" else descendants(load.pid)[1:])
            with Systop("-F", str(HZ), "-d", str(interval), "-p", ",".join(str(p) for p in pids)) as systop:
                ticks = []
                for look in looks:
                    while len(ticks) <= look:
                        ticks.append(systop.line())
                    found, text = share_of(ticks[look], kind)
                    if found >= least:
                        break
        finally:
            os.killpg(load.pid, signal.SIGKILL)
    assert found >= least, f"{text}, not {least} %"
    return text


def asleep():
    """The same for the time asleep: each nap is a block of its own."""
    return reaches(99, [load_path("chains"), "sleep", SECONDS], kind="sleep")


def blocked(late=False):
    """A thread that was blocked before the start, and remains blocked. @late: its tables arrive seconds after its stack was
    read."""
    with subprocess.Popen([load_path("chains"), "block"], stdout=subprocess.DEVNULL) as load:
        time.sleep(0.5)
        try:
            # The stacks of the first process request the tables.
            with subprocess.Popen([SYSTOP, "--folded=sleep", "-d", "1", "-n", "30", "-p", str(load.pid)],
                                  stdout=subprocess.PIPE, text=True) as systop:
                while late and not (helper := helper_of(systop.pid, "systop-symbols")):
                    assert systop.poll() is None, "systop ended"
                    time.sleep(0.01)
                if late:
                    os.kill(helper, signal.SIGSTOP)  # another helper takes its place after a while
                lines = []
                for line in systop.stdout:
                    lines.append(line)
                    assert not late or len(lines) > 1 or ";descend;descend;" not in line, f"it was not late: {line}"
                    if ";descend;descend;" in line and "[truncated]" not in line and ";main;" in line:
                        systop.terminate()
                        return
        finally:
            load.kill()
    raise AssertionError("".join(lines))


def shows(kind, frames):
    """Nine out of ten stacks have these frames, which follow each other."""
    with subprocess.Popen([load_path("chains"), kind, SECONDS], stdout=subprocess.DEVNULL) as load:
        for _ in range(3):  # the tables may not have arrived yet
            out = subprocess.run([SYSTOP, "--folded=cpu", "-n", "2", "-d", "6" if GUEST else "2", "-F", "499", "-p",
                                  str(load.pid)], capture_output=True, text=True, check=True).stdout
            lines = [line.rpartition(" ") for line in out.splitlines()]
            whole = sum(int(weight) for _, _, weight in lines)
            right = sum(int(weight) for stack, _, weight in lines if frames in stack)
            if whole > 20 and right >= 0.9 * whole:
                break
        load.kill()
    assert whole > 20 and right >= 0.9 * whole, f"{right} of {whole}: {out[:600]}"
    return f"{right} of {whole}"


def chains(kind):
    # A sample in the trampoline itself, which has no unwind information, is cut: 0.01 %, but up to 0.23 % in guests of qemu.
    least = 99.5 if GUEST and kind == "trampoline" else 99.9
    return reaches(least, [load_path("chains"), kind, SECONDS])


def append(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)  # open() would seek, which tracefs refuses
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def uretprobe():
    """Each of 13 calls of a function returns to a trampoline, and most time goes into probes, which execute the function's first
    instruction elsewhere."""
    group = f"systop_test_{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as tracing:
        chains_copy = shutil.copy(load_path("chains"), folder)  # a probe is in all processes of a file
        with subprocess.Popen([chains_copy, "deep", "0"], stdout=subprocess.PIPE) as load:
            at = json.load(load.stdout)["descend"]
        subprocess.run(["mount", "-t", "tracefs", "none", tracing], check=True)
        events, enable = os.path.join(tracing, "uprobe_events"), os.path.join(tracing, "events", group, "enable")
        try:
            append(events, f"r:{group}/descend {chains_copy}:{at:#x}")
            try:
                append(enable, "1")
                # Cut are samples after the kernel changed a return address and before it noted the earlier one, and in the
                # trampoline after it forgot that.
                return reaches(90, [chains_copy, "deep", SECONDS])
            finally:
                append(enable, "0")
                append(events, f"-:{group}/descend")
        finally:
            subprocess.run(["umount", tracing], check=True)


def shell(least, script):
    return reaches(least, ["bash", "-c", script])


def compiled(least, source, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program")
        subprocess.run(["c++", "-x", "c++", "-O2", "-o", path, "-", *flags], input=source, text=True, check=True)
        return reaches(least, [path])


def trampoline():
    """The function to which a signal's handler returns has its own name, though nothing has called it. So has one that ends with
    a call: that returns to where the next function begins."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "handler")
        subprocess.run(["cc", "-x", "c", "-static", "-o", path, "-"], input=HANDLER, text=True, check=True)
        with subprocess.Popen([path]) as load:
            try:
                for _ in range(3):  # the table may not have arrived yet
                    out = subprocess.run([SYSTOP, "--folded=cpu", "-n", "1", "-d", "1", "-F", "499", "-p", str(load.pid)],
                                         capture_output=True, text=True, check=True).stdout
                    if ";main;raise;" in out and ";__restore_rt;on_signal;forever" in out:
                        return
            finally:
                load.kill()
    raise AssertionError(out)


def sort():
    with tempfile.TemporaryDirectory() as folder:
        return reaches(99, ["bash", "-c", "seq 300000 | shuf >lines; while :; do sort lines >/dev/null; done"], cwd=folder)


def git():
    with tempfile.TemporaryDirectory() as folder:
        script = ("git init -q . && seq 100000 >a && git add a && git -c user.name=x -c user.email=x@x commit -qm x && "
                  "while :; do git repack -adfq; git fsck --no-progress; git diff --stat HEAD; done")
        # The programs of this load come and go: what one of them does in its first ms weighs less in a longer interval.
        return reaches(99, ["bash", "-c", script], cwd=folder, interval=3, looks=(1, 2, 4))


def stripped():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "chains")
        shutil.copy(load_path("chains"), path)
        subprocess.run(["strip", "--strip-all", path], check=True)
        return reaches(99.9, [path, "deep", SECONDS])


def container():
    """A program in a chroot on a file system of its own, and in namespaces of its own."""
    with tempfile.TemporaryDirectory() as folder:
        root_of(folder, load_path("chains"))
        return reaches(99.9, ["unshare", "--mount", "--pid", "--fork", f"--root={folder}", "/chains", "deep",
                              SECONDS])


def full_tables():
    """More files than the tables have room for, one after the other: all are evicted, and those still in use get
    theirs again."""
    with tempfile.TemporaryDirectory() as folder:
        copies = [shutil.copy("/usr/bin/perl", os.path.join(folder, f"perl{i}")) for i in range(12)]
        busy = "while (1) { $x = join ',', sort map { $_ * 7919 % 1000 } 1..2000; $x =~ s/(1|2)+3//g }"
        script = "".join([*(f'timeout 1.2 {c} -e "$0"; ' for c in copies[1:-1]), f'exec {copies[-1]} -e "$0"'])
        with subprocess.Popen([copies[0], "-e", busy]) as first, \
                subprocess.Popen(["sh", "-c", script, busy], start_new_session=True) as others:
            step_back(others.pid)
            try:
                with Systop("-F", "997", "-d", "1.5", "--table-mem", "1", "-p", f"{first.pid},{others.pid}") as systop:
                    # The third interval of the last program: by then it has its table, or on a busy machine some later.
                    of_last = found = 0
                    while of_last < 3 or found < 99 and of_last < 6:
                        tick = systop.line()
                        samples = {t["comm"]: t["samples"] for t in tick["threads"] if t["samples"]}
                        of_last += "perl11" in samples
                        stacks = tick["stacks"]["cpu"]
                        found = 100 * (stacks["unwound_ns"] or 0) / max(stacks["stacks_ns"], 1)
            finally:
                first.kill()
                os.killpg(others.pid, signal.SIGKILL)
    assert sorted(samples) == ["perl0", "perl11"], samples
    assert found >= 99, f"{found:.2f} % of {samples}"
    return f"{found:.2f} % of {samples}"


def cases():
    """(name, function, arguments), or (name, why it is skipped)"""
    if not GUEST:  # the longest case begins first
        yield "full tables", full_tables
    for kind in ("deep", "deeper", "deepest", "qsort", "alloca", "large", "realigned", "ucontext", "coroutine", "tracked", "signal",
                 "trampoline", "vdso", "threads", "mmap"):
        yield f"chains: {kind}", chains, kind
    if os.uname().machine == "x86_64":
        # A function is called on another stack by code whose unwind information marks it as a signal frame.
        yield "another stack", shows, "switched", ";main;once;with_stack;on_stack;"
        yield "zeros in place of a frame are no root", shows, "zeros", "chains;[truncated];at_zeros"
    yield "uretprobes", uretprobe
    yield "off-CPU: naps", asleep
    yield "off-CPU: blocked all the time", blocked
    yield "off-CPU: blocked all the time, and tables that are late", blocked, True
    if GUEST:  # a guest has hardly any other programs
        return
    yield ("the end of a signal", trampoline) if os.uname().machine == "x86_64" else ("the end of a signal", "another machine")
    yield "a stripped binary", stripped
    yield "a container", container
    yield "python3", reaches, 99, [sys.executable, "-c", PYTHON]
    yield "gzip", shell, 99, "while :; do head -c 1M /usr/bin/perl | gzip -9 >/dev/null; done"
    yield "xz", shell, 99, "while :; do head -c 1M /usr/bin/perl | xz -c >/dev/null; done"
    yield "sort", sort
    yield ("git", git) if shutil.which("git") else ("git", "not installed")
    yield "bash recursion", shell, 95, BASH
    yield "processes of a few ms", shell, 95, LOOP
    for command in ["node", "-e", NODE], ["openssl", "speed", "-seconds", "30", "sha256", "aes-128-cbc", "rsa2048"]:
        yield (command[0], reaches, 99, command) if shutil.which(command[0]) else (command[0], "not installed")
    for name, *flags in ("C++ exceptions",), ("a static binary", "-static"):
        yield (name, compiled, 99, CXX, *flags) if shutil.which("c++") else (name, "no c++")


def main():
    tap = begin()
    all_cases = list(cases())
    tap.together([case for case in all_cases if callable(case[1])], 3)
    for name, why in (case for case in all_cases if not callable(case[1])):
        tap.skip(name, why)
    tap.done()


if __name__ == "__main__":
    main()
