# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen at several sizes, and its keys."""

import ctypes
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from tmux import Tap, Terminal, skip_reason  # noqa: E402

HOST = os.uname().nodename


def cells(line):
    return len(line)


def size(width, height):
    with Terminal(width, height) as t:
        t.start()
        t.wait("^q quit")  # the last line: tmux may have read a part of the screen
        lines = t.lines()[:height]
        assert lines[0].startswith(f"systop {HOST} "), lines[0]
        assert "LIVE" in lines[0], lines[0]
        assert lines[1].startswith("CPU ") and " LOSS " in lines[1], lines[1]
        assert lines[2].startswith("MEM "), lines[2]
        assert lines[3].startswith("[1:Threads]"), lines[3]
        assert "TID" in lines[4] and "RUN%" in lines[4] and "COMM" in lines[4], lines[4]
        assert max(cells(line) for line in lines) <= width, lines
        assert "threads" in lines[height - 2] and "sort RUN%" in lines[height - 2], lines[-2]
        assert lines[height - 1].startswith("q quit"), lines[height - 1]


def writes_of(pid):
    """Number of writes that systop made since the start."""
    with open(f"/proc/{pid}/io", encoding="ascii") as f:
        return int(dict(line.split(": ") for line in f)["syscw"])


def writes():
    """systop collects a frame in memory and writes it to the terminal as a whole, not at each move of the cursor."""
    interval = 0.2
    with Terminal(120, 40) as t:
        pid = t.start("-d", str(interval))
        time.sleep(1)
        before, began = writes_of(pid), time.monotonic()
        time.sleep(10 * interval)
        each = (writes_of(pid) - before) * interval / (time.monotonic() - began)
    assert 0 < each < 6, f"{each:.1f} writes per refresh"
    return f"{each:.1f} writes per refresh"


def columns_by_width():
    with Terminal(80, 24) as t:
        t.start()
        title = t.lines()[4]
        for column in ("TIME of", "RUN%", "RUNQ%", "D%", "RSS", "COMMAND"):
            assert column in title, title
        assert "UNIT/POD" not in title, title
        t.resize(200, 50)
        t.wait("ICS/s")
        title = t.lines()[4]
        for column in ("UNIT/POD", "USR%", "SYS%", "THR%", "SLEEP%", "RQ-P50", "RQ-P99", "RQ-MAX", "VCS/s"):
            assert column in title, title
        t.resize(40, 10)
        t.wait(r"^ +TID S TIME")
        assert "UNIT/POD" not in t.lines()[4], t.lines()[4]


def too_small():
    with Terminal(80, 24) as t:
        t.start()
        t.resize(31, 8)
        t.wait("40x10 needed, have 31x8")
        assert t.lines()[0].startswith(f"systop {HOST}"), t.lines()[0]
        t.resize(80, 24)
        t.wait(r"\[1:Threads\]")
        t.wait("q quit")


def target_gone():
    """-p, and the process ends: the screen stays and reports it."""
    with Terminal(80, 24) as t, subprocess.Popen(["sleep", "3"]) as load:
        t.start("-p", str(load.pid))
        t.wait(f"sleep {load.pid} exited by ")
        t.keys("j")
        t.wait("0 of 0 threads")


def keys():
    with Terminal(80, 24) as t:
        t.start()
        t.keys("H")
        t.wait(r"PID S")
        t.keys("2")
        t.wait(r"\[2:Cgroups\]")
        t.wait("^ CGROUP ")
        # In the flamegraph and the heatmap Tab has another meaning.
        for key, view, shows in (("Tab", "3:Flame", "On-CPU"), ("4", "4:Latency", "log:"), ("5", "5:D-state", "D state"),
                                 ("Tab", "6:IRQ", "NET_RX|TIMER"), ("Tab", "7:System", "PRESSURE"),
                                 ("Tab", "8:Waits", "WHAT RAN INSTEAD")):
            t.keys(key)
            t.wait(rf"\[{view}\]")
            t.wait(shows)
        t.keys("Tab")
        t.wait(r"\[1:Threads\]")
        t.keys("H")
        t.wait(r"TID S")
        t.keys(">")
        t.wait(r"sort (?!RUN%)\S+")
        t.keys("P")
        t.wait("sort RUN% desc")
        t.keys("I")
        t.wait("sort RUN% asc")
        t.keys("N")
        t.wait("sort TID asc")
        t.keys("?")
        t.wait("^Keys here")
        t.keys("q")
        t.wait(r"TID\^? S")
        t.keys("G")
        t.keys("g")
        t.keys("q")
        t.wait(r"^\$ ?$")


def pause():
    with Terminal(80, 24) as t:
        t.start()
        t.wait("BUF [2-9]s")  # by then the command lines are there
        t.keys("Space")
        t.wait("PAUSED -[01]s")
        rows = t.lines()[5:20]
        t.wait("PAUSED -[23]", 6)
        assert t.lines()[5:20] == rows, "rows moved while paused"
        t.keys("Z")
        t.wait("LIVE 1s")


def selection_sticks():
    """The selected thread stays selected when the order is reversed."""
    with Terminal(80, 24) as t:
        t.start()
        t.keys("N")
        t.wait("sort TID asc")
        t.keys("g", "j", "j", "j")
        tid = t.wait(r"^ +TID.*\n +\d+ .*\n +\d+ .*\n +\d+ .*\n> +(\d+) ").group(1)
        t.keys("I")
        t.wait("sort TID desc")
        t.wait(rf"^> +{tid} ")
        time.sleep(1.5)  # a new refresh
        t.wait(rf"^> +{tid} ")


def ascii_only(env, *args):
    with Terminal(80, 24, env) as t:
        t.start(*args)
        t.wait("# user")
        screen = t.screen()
        assert screen.isascii(), [c for c in screen if not c.isascii()]


def typed_in_c():
    """Names are UTF-8 in any locale, and what is typed is found in them, though ASCII only is drawn."""
    name = "caf\u00e9 au lait"
    with subprocess.Popen(["sleep", "60"]) as other, \
            subprocess.Popen([sys.executable, "-c", f"import ctypes, time; ctypes.CDLL(None).prctl(15, {name.encode()!r}, 0, 0, 0); "
                              "time.sleep(60)"]) as named, Terminal(100, 24, {"LC_ALL": "C"}) as t:
        t.start("-p", f"{named.pid},{other.pid}")
        t.keys("/")
        t.type(name)
        t.wait(r"^/caf\? au lait")
        t.wait(r"of 2 threads  1 match")
        assert t.screen().isascii(), t.screen()
        for process in named, other:
            process.kill()


def no_color():
    with Terminal(80, 24, {"NO_COLOR": "1"}) as t:
        t.start()
        screen = t.screen(escapes=True)
        for color in ("[31", "[32", "[33", "[36", "[38;"):
            assert f"\033{color}" not in screen, repr(screen[:400])
    with Terminal(80, 24, {"NO_COLOR": "1"}) as t:
        t.start("--color=always")
        assert "\033[3" in t.screen(escapes=True), repr(t.screen(escapes=True))


def hostile_name():
    """A thread whose name holds escape sequences, a C1 byte and a bidi mark."""
    name = b"\x1b[2J\x9b1m\xe2\x80\xaeab"
    child = os.fork()
    if not child:
        ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            pass
        os._exit(0)
    try:
        with Terminal(120, 24) as t:
            t.start("-p", str(child))
            t.wait(r" \\x1b\[2J\\x9b1m\\xe2\\x80\\xaea")
            screen = t.screen().encode()
            for raw in (b"\x1b", b"\x9b1m", b"\xe2\x80\xae"):
                assert raw not in screen, raw
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def term(name, notice=None):
    with Terminal(80, 24, {"TERM": name}) as t:
        t.start()
        t.wait(r"\[1:Threads\]")
        if notice:
            t.wait(notice)
        t.keys("q")
        t.wait(r"^\$ ?$")


def refuses():
    with Terminal(80, 24, {"TERM": "dumb"}) as t:
        from tmux import SYSTOP
        t.run(f"{SYSTOP}; echo status=$?")
        t.wait("status=2")
        assert "use systop -b" in t.screen(), t.screen()
    done = subprocess.run([os.environ.get("SYSTOP", "build/systop")], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "use systop -b" in done.stderr, done


def main():
    why = skip_reason()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tap = Tap()
    # These cases measure, and the last one forks.
    tap.case("frames are written as a whole", writes)
    tap.case("pause freezes the view", pause)
    tap.case("a hostile name never reaches the terminal raw", hostile_name)
    tap.together([
        ("what -p asked for ends", target_gone),
        *((f"screen at {width}x{height}", size, width, height) for width, height in ((80, 24), (200, 50), (40, 10))),
        ("columns come and go with the width", columns_by_width),
        ("too small says so and comes back", too_small),
        ("keys", keys),
        ("the selection stays on its thread", selection_sticks),
        ("LC_ALL=C draws ASCII", ascii_only, {"LC_ALL": "C"}),
        ("what is typed with LC_ALL=C", typed_in_c),
        ("--ascii draws ASCII", ascii_only, {}, "--ascii"),
        ("NO_COLOR and --color", no_color),
        *((f"TERM={name}", term, name) for name in ("xterm-256color", "screen", "tmux-256color", "linux", "vt100", "vt220")),
        ("an unknown TERM falls back", term, "nosuchterm", "no terminfo for TERM=nosuchterm"),
        ("dumb and no terminal are refused", refuses),
    ], 3)
    tap.done()


main()
