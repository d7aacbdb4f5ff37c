# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks on the screen: what woke a thread, where it is blocked, where its time goes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import load_path, name_of  # noqa: E402
from tmux import Tap, Terminal, skip_reason  # noqa: E402

PIPE = """
import os, time
r, w = os.pipe()
if os.fork():
    os.write(1, b'%d\\n' % os.getpid())
    while os.read(r, 1):
        pass
while True:
    time.sleep(0.01)
    os.write(w, b'x')
"""

TIMER = """
import ctypes, os
libc = ctypes.CDLL(None)
fd = libc.timerfd_create(1, 0)
libc.timerfd_settime(fd, 0, (ctypes.c_long * 4)(0, 10000000, 0, 10000000), None)
os.write(1, b'%d\\n' % os.getpid())
while True:
    os.read(fd, 8)
"""


class Load:
    """A program in a session of its own; keeps its first line, if it prints one."""

    def __init__(self, *command):
        self.proc = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.line = self.proc.stdout.readline() if command[0] != "sleep" else ""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.killpg(self.proc.pid, signal.SIGKILL)
        self.proc.wait()
        self.proc.stdout.close()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(p) for p in f.read().split()]


def detail_of(t, pid):
    """Opens the detail of a process's only thread, and scrolls to its end."""
    t.start("-p", str(pid), "-d", "0.5")
    t.wait(rf"^> +{pid} ")
    t.keys("Enter")
    t.wait("RUNQUEUE WAITS")
    t.wait("IN 0.5s")
    t.keys("G")


def pipe_pair():
    """The reader of a pipe is woken by its writer."""
    with Load(sys.executable, "-c", PIPE) as load, Terminal(100, 60) as t:
        writer = children(int(load.line))[0]
        detail_of(t, int(load.line))
        share = t.wait(rf"([\d.]+)% .*: (thread|python\S*) {writer}$").group(1)
        assert float(share) > 95, share


def timer_beside_spinner():
    """A sleeper is woken by the timer, not by the thread that the timer interrupted."""
    with Load("taskset", "-c", "0", load_path("spin"), "60"), \
            Load("taskset", "-c", "0", sys.executable, "-c", TIMER) as load, Terminal(100, 60) as t:
        detail_of(t, int(load.line))
        share = t.wait(r"([\d.]+)% .*: timer$").group(1)
        assert float(share) > 90, share


def blocked_before_start():
    """A thread that was in D before the start is listed at once, with its age by the kernel; its function follows without another
    refresh, and its stack on Enter."""
    began = time.monotonic()
    with subprocess.Popen([load_path("vfork_d"), "60000"], stdout=subprocess.DEVNULL,
                          start_new_session=True) as load, Terminal(100, 30) as t:
        try:
            time.sleep(2)
            t.start("-d", "60", "--view", "d-state")
            row = rf"^> +{load.pid} +([\d.]+)(m?s) .*vfork_d +kernel_clone$"
            age = float(t.wait(row).group(1))
            assert 1.4 < age < time.monotonic() - began, f"{age} s"
            t.wait(r"\(kernel_clone\) \(__(x64|arm64)_sys_")
            t.keys("d", "C-u", "1", "Enter")
            t.wait(rf"^> +{load.pid} +[4-9]\.\ds")
            t.keys("Enter")
            t.wait(r"\[D-state\]")
            t.wait(r"^\(kernel_clone +\)")
        finally:
            os.killpg(load.pid, signal.SIGKILL)


def shares():
    """The functions of a known load, as a tree, a table and a sandwich; zoom, search, and back."""
    # The screen is high enough for all functions: on some CPUs the load spends a third of its time reading its clock, and then the
    # kernel's functions come before its own in the table.
    with Load(load_path("burn"), "cpu", "60") as load, Terminal(120, 80) as t:
        pid = json.loads(load.line)["tid"]
        t.start("-p", str(pid), "-F", "1997")
        t.wait(rf"^> +{pid} ")
        t.keys("f")
        t.wait(r"^\[main +\]")
        t.wait(r"\[alpha +\]\[beta +\]\[gamma_ +\]")
        t.wait("at 1997 Hz")
        t.wait(r"[2-9]\d\d\d samples")
        t.keys("t")
        t.wait(r"SELF .*FUNCTION")
        share = t.wait(r"^ +\S+ +([\d.]+)% +\S+ +([\d.]+)% .*\[work\]").group(2)
        assert float(share) > 90, share
        alpha = t.wait(r"^ +\S+ +[\d.]+% +\S+ +([\d.]+)% .*\[alpha\]").group(1)
        assert abs(float(alpha) - 50) < 6, alpha
        t.type("/alpha")
        t.keys("Enter", "Escape", "Enter")
        t.wait(r"^\[main +\]\n\[alpha +\]\n\[work")
        t.wait(r"^source +burn\.c:\d+")
        t.keys("BSpace")
        t.wait(r"\[alpha +\]\[beta +\]\[gamma_ +\]")
        t.type("/alpha")
        t.keys("Enter", "Enter")
        t.wait(r"^\[alpha +\]\n\[work")
        t.keys("r")
        t.wait(r"\[alpha +\]\[beta +\]\[gamma_ +\]")
        t.type("/beta")
        t.keys("Enter")
        found = t.wait(r"/beta: ([\d.]+)% of it").group(1)
        assert abs(float(found) - 30) < 6, found


def two_numbers():
    """The header, the detail and the flamegraph show how far stacks are unwound and how much of them is named: first for a program
    with symbols, then for the same one without."""
    with tempfile.TemporaryDirectory() as folder:
        bare = shutil.copy(load_path("burn"), folder)
        subprocess.run(["strip", "--strip-all", bare], check=True)
        for path, named in ((load_path("burn"), r"(?:100|9\d|8\d)%"), (bare, r"[1-5]?\d%")):
            with Load(path, "cpu", "60") as load, Terminal(120, 70) as t:
                pid = json.loads(load.line)["tid"]
                t.start("-p", str(pid), "-F", "499")
                t.wait(rf"^> +{pid} ")
                t.wait(rf"^MEM \d.*  STACKS unwound (?:100|9\d)% (?:functions|fn) (?:100|9\d)% named {named} +BUF \d+s")
                t.keys("Enter")
                t.wait(rf"^STACKS +of +unwound +functions +named +no stack$\n^On-CPU +\S+ +(?:100|9\d)% +(?:100|9\d)% +{named} +\d%$")
                t.keys("f")
                t.wait(rf"^\[On-CPU\].* Wall +unwound (?:100|9\d)% (?:functions|fn) (?:100|9\d)% named {named}( no stack \d%)?$")
    with Load("sleep", "60") as load, Terminal() as t:
        t.start("-p", str(load.proc.pid))
        t.wait(r"^MEM \d.*  STACKS unwound - (?:fn - )?named - +BUF")


def faster():
    """+ and - change the rate of samples, at once."""
    with Load(load_path("burn"), "cpu", "60") as load, Terminal(100, 30) as t:
        pid = json.loads(load.line)["tid"]
        t.start("-p", str(pid), "-F", "19")
        t.wait(rf"^> +{pid} ")
        t.keys("f")
        t.wait("at 19 Hz")
        t.keys("+", "+", "+", "+", "+")
        t.wait("997 samples a second")
        before = int(t.wait(r"self .* (\d+) samples").group(1))
        time.sleep(2)
        after = int(t.wait(r"self .* (\d+) samples").group(1))
        assert after - before > 700, f"{after - before} samples in 2 s"
        t.keys("-")
        t.wait("499 samples a second")


def ended():
    """The flamegraph of a thread that is gone keeps its name."""
    with Load(load_path("burn"), "cpu", "60") as load, Terminal(120, 30) as t:
        pid = json.loads(load.line)["tid"]
        t.start("-F", "499", "-d", "0.5", "--filter", "comm:burn")
        t.wait(rf"^> +{pid} ")
        t.keys("f")
        t.wait(rf"^\[burn {pid} +\]")
        t.wait(r"\[alpha +\]\[beta +\]")
        load.proc.kill()
        time.sleep(1.5)
        t.wait(rf"^\[burn {pid} +\]", 1)


def compared():
    """Changes since x."""
    with Load(load_path("burn"), "cpu", "60") as load, Terminal(120, 30) as t:
        pid = json.loads(load.line)["tid"]
        t.start("-p", str(pid), "-F", "499", "--filter", "comm:burn")
        t.wait(rf"^> +{pid} ")
        t.keys("f")
        t.wait(r"\[alpha +\]\[beta +\]")
        t.keys("X")
        t.wait("x first")
        t.keys("x")
        t.wait("to compare with")
        t.keys("X")
        t.wait("compared")
        assert not re.search(r"[+-]\d+\.\d (alpha|main)", t.screen()), t.screen()


# Two functions with the same code, which change places and addresses in the other build. The program executes itself again and
# again, and so becomes the other build once that has replaced its file.
PARTS = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sink;
__attribute__((noinline, noclone)) void FIRST(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i * 3; }
__attribute__((noinline, noclone)) void SECOND(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i * 3; }
int main(int argc, char **argv)
{
	for (time_t end = time(NULL) + argc; time(NULL) < end; sink++) { alpha(3000000); beta(1000000); }
	return execv(argv[0], argv);
}
"""


def build_parts(path, first, second, stripped):
    """Replaces the program, as an update does."""
    flags = ["-O2", "-fno-toplevel-reorder", f"-DFIRST={first}", f"-DSECOND={second}", "-Wl,--build-id=sha1"]
    declared = "void alpha(unsigned long n);\nvoid beta(unsigned long n);\n"
    subprocess.run(["gcc", *flags, "-x", "c", "-o", f"{path}.new", "-"], input=declared + PARTS, text=True, check=True)
    out = subprocess.run(["nm", f"{path}.new"], capture_output=True, text=True, check=True).stdout
    if stripped:
        subprocess.run(["strip", "--strip-all", f"{path}.new"], check=True)
    os.rename(f"{path}.new", path)
    return {line.split()[2]: int(line.split()[0], 16) for line in out.splitlines() if len(line.split()) == 3}


def another_build(stripped):
    """A program is replaced after x: X reports it, and takes a function at the same address for another one. With symbols a
    function that has moved is the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "parts")
        before = build_parts(path, "alpha", "beta", stripped)
        with subprocess.Popen([path]) as load, Terminal(120, 30) as t:
            try:
                t.start("-p", str(load.pid), "-F", "1997", "-d", "0.5")
                t.wait(rf"^> +{load.pid} ")
                t.keys("f")
                t.wait(rf"parts`fn_{before['alpha']:x} +\]" if stripped else r"\[alpha +\]")
                time.sleep(2)
                t.keys("x")
                t.wait("to compare with")
                after = build_parts(path, "beta", "alpha", stripped)
                assert after["beta"] == before["alpha"] and after["alpha"] == before["beta"], (before, after)
                time.sleep(2)  # it executes itself every one to two seconds
                t.keys("X")
                t.wait("compared with another build of parts")
                if stripped:
                    t.wait(rf"\+\d+\.\d parts`fn_{after['alpha']:x} ")
                    # Beta is now where alpha was, and takes less time: it is new, too. The share of what ran between x and the
                    # change shrinks.
                    t.wait(rf"\+\d+\.\d parts`fn_{after['beta']:x} ")
                else:
                    time.sleep(2)
                    assert not re.search(r"[+-](\d\d|[5-9])\.\d (alpha|beta)", t.screen()), t.screen()
            finally:
                load.kill()


# Works in the kernel, until a signal makes it execute another program.
BECOMES = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: os.execv(sys.argv[1], [sys.argv[1], 'cpu', '60']))
print(os.getpid(), flush=True)
while True:
    os.stat('/')
"""


def read_again():
    """If a helper dies while it reads a file, the file is read once more: when memory runs out, the kernel kills helpers first."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(load_path("burn"), os.path.join(folder, "burncopy"))
        with Load(sys.executable, "-c", BECOMES, copy) as load, Terminal(120, 80) as t:
            pid = int(load.line)
            systop = t.start("-p", str(pid), "-F", "499")
            t.wait(rf"^> +{pid} ")
            t.keys("f")
            # The names of the kernel and of the load are known: only the new program is requested.
            t.wait(r"\(do_syscall_64")
            time.sleep(1.5)
            starter = [p for p in children(systop) if name_of(p) == "systop-starter"][0]
            helper = [p for p in children(starter) if name_of(p) == "systop-symbols"][0]
            os.kill(helper, signal.SIGSTOP)
            os.kill(pid, signal.SIGUSR1)
            t.wait(r"burncopy\+0x", 30)
            time.sleep(1.5)
            os.kill(helper, signal.SIGKILL)
            t.wait(r"\[alpha +\]", 30)
            t.keys("!")
            t.wait(r"symbols .*replaced 1 times", 30)
            t.keys("G")
            t.wait(r"^ +system calls ", 30)
            assert "a helper ended while reading it" not in t.screen(), t.screen()


def main():
    why = skip_reason()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tap = Tap()
    tap.case("a pipe pair names its peer", pipe_pair)
    tap.case("a sleeper beside a spinner names the timer", timer_beside_spinner)
    tap.case("blocked before the start", blocked_before_start)
    tap.case("tree, table, sandwich, search", shares)
    tap.case("unwound and named are two numbers", two_numbers)
    tap.case("samples more often", faster)
    tap.case("the flamegraph of a thread that is gone", ended)
    tap.case("compared with before", compared)
    # Each case shows its own process only.
    tap.together([
        ("another build", another_build, False),
        ("another build, stripped", another_build, True),
        ("a file whose reading a helper does not survive", read_again),
    ], 3)
    tap.done()


main()
