# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of frames: short and whole ones, kinds, and how to make a runtime write the names it keeps."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from tmux import Tap, Terminal, skip_reason  # noqa: E402

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import Load, load_path  # noqa: E402

WHOLE = "api::Queue<std::vector<std::pair<int, long>, std::allocator<std::pair<int, long> > > >::push(int const&)"
MANGLED = "_ZN3api5QueueISt6vectorISt4pairIilESaIS3_EEE4pushERKi"
PYTHON = "/usr/bin/python3"


def flame_of(t, pid, *args):
    t.start("-p", str(pid), "-F", "997", "-d", "0.3", *args)
    t.wait(rf"^> +{pid} ")
    t.keys("f")


def short_names():
    """A C++ name is short in the graph and the table, whole in the lines below, and found by any part of it; --full-names
    shows it all."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "burn")
        subprocess.run(["objcopy", "--redefine-sym", f"alpha={MANGLED}", load_path("burn"), path], check=True)
        with Load(path, "cpu", "60") as load:
            pid = load.truth()["tid"]
            with Terminal(150, 40) as t:
                flame_of(t, pid)
                t.wait(r"\[api::Queue<\.\.>::push +\]\[beta")
                t.wait("in ([4-9]|[1-9][0-9]) refreshes")  # the first one is too short for shares
                t.type("/allocator<std::pair")
                t.keys("Enter")
                found = t.wait(r"/allocator<std::pair: ([\d.]+)% of it").group(1)
                assert abs(float(found) - 50) < 8, found
                t.wait(rf"^name +{re.escape(WHOLE)}$")
                t.wait(r"^api::Queue<\.\.>::push  total")
                t.keys("t")
                t.type("/allocator<std::pair")
                t.keys("Enter")
                t.wait(r"% .*\[api::Queue<\.\.>::push\]$")
            with Terminal(150, 40) as t:
                flame_of(t, pid, "--full-names")
                t.wait(r"\[api::Queue<std::")
                t.keys("t")
                t.type("/Queue")
                t.keys("Enter")
                t.wait(rf"% .*\[{re.escape(WHOLE)}\]$")
                assert "<..>" not in t.screen(), t.screen()


def is_bold(t, name):
    """Whether a name is drawn so, as JIT code is in the default theme and user code is not."""
    screen = t.screen(escapes=True)
    return bool(re.search(rf"\x1b\[[\d;]*\b1m(\x1b\[\d+m)*{name}", screen))


def kinds():
    """JIT code has its brackets and its colour in the graph and the table."""
    with Load(load_path("jit"), "60") as load, Terminal(120, 40) as t:
        pid = load.truth()["tid"]
        try:
            flame_of(t, pid)
            t.wait(r"<JS:~count down +>")
            assert is_bold(t, r"<JS:~count") and not is_bold(t, r"\[main"), t.screen(escapes=True)
            t.keys("t")
            t.wait(r"<JS:~count down>$")
            t.wait(r"\[main\]$")
            t.keys("j", "j")
            t.wait(r"^(?!JS:)\S+  total ")
            assert is_bold(t, r"<JS:~count") and not is_bold(t, r"\[main"), t.screen(escapes=True)
            t.type("/count")
            t.keys("Enter")
            t.wait(r"^in +JIT")
        finally:
            os.unlink(f"/tmp/perf-{pid}.map")


def python():
    """A Python function has only frames of the interpreter; the lines below show how to make it write names."""
    version = subprocess.run([PYTHON, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True,
                             check=True).stdout.split()
    with Load(PYTHON, "-c", "while True: sum(range(1000))") as load, Terminal(120, 40) as t:
        flame_of(t, load.pid)
        t.wait(r"^\[main +\]|python|Py")
        t.keys("t")
        t.type("/Py")
        t.keys("Enter")
        asked = "3.12 and newer: start it with -X perf" if int(version[1]) >= 12 else "cannot name its functions before 3.12"
        t.wait(rf"^runtime +Python {version[0]}\.{version[1]}: {re.escape(asked)}")


def node(asked):
    """Node's JIT code has no names until it is started with an option for them."""
    args = ["--perf-basic-prof"] if asked else []
    with tempfile.TemporaryDirectory() as folder, Terminal(150, 50) as t, \
            Load("env", "-C", folder, f"HOME={folder}", "node", *args, "-e",
                 "function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s } for (;;) spin(1e6)") as load:
        try:
            flame_of(t, load.pid)
            t.keys("t")
            if asked:
                t.wait(r"<JS:.*spin")
                t.type("/spin")
                t.keys("Enter")
                t.wait(r"^JS:.*spin.* total")
                assert "runtime " not in t.screen(), t.screen()
            else:
                t.wait(r"<\[anon\]\+0x")
                t.type("/[anon]")
                t.keys("Enter")
                t.wait(r"^runtime +Node\.js: start it with --perf-basic-prof$")
        finally:
            if os.path.exists(f"/tmp/perf-{load.pid}.map"):
                os.unlink(f"/tmp/perf-{load.pid}.map")


def main():
    why = skip_reason()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tap = Tap()
    tap.case("C++ names are short, and whole where they are asked for", short_names)
    tap.case("kinds of frames", kinds)
    if os.path.exists(PYTHON):
        tap.case("how Python is asked for names", python)
    if shutil.which("node"):
        tap.case("how Node is asked for names", node, False)
        tap.case("Node's names", node, True)
    tap.done()


main()
