# SPDX-License-Identifier: GPL-2.0-or-later
"""While nobody reads its terminal or pipe, systop continues, ends when requested, and loses only whole frames."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(__file__))
from tmux import SYSTOP, Tap, Terminal, bpf_left, bpf_ids, ended, name_of, skip_reason  # noqa: E402
from harness import attached  # noqa: E402

END_S = 2  # longest time from a signal to the end of systop
LONG_S = 20  # limit for everything else, as a busy machine is slow
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def until(condition, what, seconds=LONG_S):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.02)


def full(fd):
    """Whether a writer blocks there for a while, as a reader may only be slow."""
    for _ in range(15):
        if select.select([], [fd], [], 0)[1]:
            return False
        time.sleep(0.02)
    return True


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        words = f.read().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


def rests(proc):
    """Whether systop waits in the kernel for events, and for nothing else."""
    with open(f"/proc/{proc.pid}/wchan") as f:
        return f.read()


def ends_by(proc, number, tell=None):
    """Ends systop with a signal; returns how many seconds that took."""
    began = time.monotonic()
    (tell or proc.send_signal)(number)
    try:
        proc.wait(END_S)
    except subprocess.TimeoutExpired:
        waits = rests(proc)
        proc.kill()
        proc.wait()
        raise AssertionError(f"{END_S} s after {number.name} it is still there, in {waits}") from None
    took = time.monotonic() - began
    assert proc.returncode == -number, f"it ended with {proc.returncode}, not by {number.name}"
    return took


class Pty:
    """systop on a terminal that is read only when read() is called."""

    def __init__(self, *args, width=200, height=50):
        self.master, self.slave = pty.openpty()
        self.size(width, height)
        self.saved = termios.tcgetattr(self.slave)
        self.proc = subprocess.Popen([SYSTOP, *args], stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                     start_new_session=True, env={**os.environ, "TERM": "xterm-256color"},
                                     preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.got = b""

    def size(self, width, height):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self, seconds):
        """Returns the output of this many seconds."""
        end = time.monotonic() + seconds
        text = b""
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                text += os.read(self.master, 65536)
        self.got += text
        return text

    def wait(self, pattern, what):
        """Reads until it appears; returns the output."""
        end = time.monotonic() + LONG_S
        text = b""
        while not re.search(pattern, text):
            assert time.monotonic() < end, f"no {what} on the terminal: {text[-2000:]!r}"
            assert self.proc.poll() is None, f"it ended with {self.proc.returncode}: {text[-2000:]!r}"
            text += self.read(0.1)
        return text

    def ends(self):
        """Reads until it has ended and left the alternate screen."""
        end = time.monotonic() + LONG_S
        text = b""
        while self.proc.poll() is None or b"\x1b[?1049l" not in text:
            assert time.monotonic() < end, f"no end: {text[-500:]!r}"
            text += self.read(0.1)

    def key(self, text):
        os.write(self.master, text)

    def blocking(self):
        return not fcntl.fcntl(self.slave, fcntl.F_GETFL) & os.O_NONBLOCK

    def close(self):
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.wait()
        os.close(self.master)
        os.close(self.slave)

    def __enter__(self):
        self.wait(rb"TID", "table")
        return self

    def __exit__(self, *exc):
        self.close()


def fill(t):
    """Fills the terminal until no more can be written, as nothing reads: each ^L draws the whole screen."""
    end = time.monotonic() + 2 * LONG_S
    while not full(t.slave):
        assert t.proc.poll() is None, f"it ended with {t.proc.returncode}"
        assert time.monotonic() < end, f"the terminal is not full: {unread(t.master)} bytes, systop in {rests(t.proc)}"
        for _ in range(10):
            t.key(b"\x0c")
            time.sleep(0.02)


def unread(fd):
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"1234"))[0]


def terminal_ends(number):
    before = bpf_ids()
    with Pty("-d", "0.1") as t:
        fill(t)
        took = ends_by(t.proc, number)
        assert t.blocking(), "the terminal was left with O_NONBLOCK"
        now = termios.tcgetattr(t.slave)
        assert now == t.saved, f"the terminal's settings are {now}, and were {t.saved}"
        assert not bpf_left(before, 10), bpf_left(before)
        return f"{took:.2f} s"


def terminal_quits():
    """Keys are still read."""
    with Pty("-d", "0.1") as t:
        fill(t)
        began = time.monotonic()
        t.key(b"q")
        until(lambda: ended(t.proc.pid), "the end after q", END_S)
        return f"{time.monotonic() - began:.2f} s"


def terminal_comes_back():
    """Nothing is queued meanwhile; the output then has the size of that time, and the present contents; the health
    page counts the losses."""
    with Pty("-d", "0.1") as t:
        fill(t)
        ticks = cpu_ticks(t.proc.pid)
        time.sleep(1)
        t.size(120, 20)
        t.proc.send_signal(signal.SIGWINCH)
        time.sleep(1.5)
        spent = cpu_ticks(t.proc.pid) - ticks
        assert spent < 60, f"{spent} ticks of CPU in 2.5 s without a reader"
        assert full(t.slave), "the terminal is read by somebody"
        t.wait(rb"LIVE", "screen")
        t.size(160, 100)
        t.proc.send_signal(signal.SIGWINCH)
        t.wait(rb"quit", "last line of the new size")
        t.key(b"!")
        text = t.wait(rb"[1-9][0-9]* frames dropped", "dropped frames on the health page")
        assert t.blocking(), "O_NONBLOCK is set for the terminal"
        t.key(b"qq")
        t.ends()
        assert t.proc.returncode == 0, t.proc.returncode
        return re.search(rb"[0-9]+ frames dropped", text).group().decode()


def words(t):
    """The screen without digits, as the numbers of an idle CPU change."""
    return [re.sub(r"\d", "0", line) for line in t.lines()[4:]]


def screen_comes_back():
    """The terminal stops while frames are being sent, and continues: the screen is as if redrawn."""
    with Terminal(200, 50) as t:
        pid = t.start("-d", "0.1")
        server = int(t.tmux("display", "-p", "#{pid}"))
        tty = os.open(f"/proc/{pid}/fd/1", os.O_RDWR | os.O_NOCTTY)
        os.kill(server, signal.SIGSTOP)
        try:
            until(lambda: full(tty), "a full terminal", 4 * LONG_S)
            time.sleep(1.2)
        finally:
            os.kill(server, signal.SIGCONT)
            os.close(tty)
        t.wait(r"^systop .*LIVE")
        t.keys("Space")
        t.wait(r"^systop .*PAUSED")
        time.sleep(1.5)  # arguments of processes that were born last still come
        came = words(t)
        t.keys("C-l")
        time.sleep(0.5)
        anew = words(t)
        assert came == anew, "the screen is not as if drawn anew:\n" + "\n".join(
            f"{a}\n{b}" for a, b in zip(came, anew) if a != b)
        t.keys("q")


def terminal_stopped():
    """Output that the terminal's own flow control stops (Ctrl-S), and Ctrl-Z meanwhile."""
    with Pty("-d", "0.1") as t:
        termios.tcflow(t.slave, termios.TCOOFF)
        time.sleep(1)
        t.read(0.2)
        t.proc.send_signal(signal.SIGTSTP)
        until(lambda: state(t.proc.pid) == "T", "the stop")
        now = termios.tcgetattr(t.slave)
        assert now == t.saved, f"stopped with the terminal's settings {now}, and they were {t.saved}"
        t.proc.send_signal(signal.SIGCONT)
        termios.tcflow(t.slave, termios.TCOON)
        t.wait(rb"LIVE", "screen after Ctrl-Q and fg")
        termios.tcflow(t.slave, termios.TCOOFF)
        time.sleep(0.5)
        return f"{ends_by(t.proc, signal.SIGTERM):.2f} s"


def state(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()[0]


class Pipe:
    """systop with a pipe as its standard output, which is read later."""

    def __init__(self, *args):
        self.out, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        self.writer = writer
        self.proc = subprocess.Popen([SYSTOP, *args], stdout=writer, stderr=subprocess.PIPE, text=True)

    def stuck(self):
        until(lambda: full(self.writer), "the pipe is not full")

    def lines(self):
        """The rest, read to the end."""
        os.close(self.writer)
        self.writer = -1
        with os.fdopen(self.out, "rb") as f:
            self.out = -1
            return f.read()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.communicate()
        for fd in (self.out, self.writer):
            if fd >= 0:
                os.close(fd)


def pipe_ends(*args):
    """After each signal, the reader has everything except the pending line."""
    before = bpf_ids()
    took = []
    for number in SIGNALS:
        with Pipe(*args, "-d", "0.1") as p:
            p.stuck()
            took.append(ends_by(p.proc, number))
            said = p.proc.stderr.read()
            assert re.fullmatch(r"systop: [1-9]\d* refreshes? dropped: .*\n", said), f"it said {said!r}"
    assert not bpf_left(before, 10), bpf_left(before)
    return " ".join(f"{s:.2f} s" for s in took)


def json_loses_lines():
    """A late reader gets whole lines, in order, with the number of missing ones; their times advance."""
    with Pipe("--json", "-d", "0.1") as p:
        p.stuck()
        time.sleep(2)
        got = b""
        while got.count(b"\n") < 3:
            got += os.read(p.out, 65536)
        p.proc.send_signal(signal.SIGTERM)
        got += p.lines()
        p.proc.wait(LONG_S)
        said = p.proc.stderr.read()
    lines = [json.loads(line) for line in got.split(b"\n")[:-1]]
    assert got.endswith(b"\n"), f"the last line is cut: {got[-100:]!r}"
    dropped = [line["dropped_refreshes"] for line in lines]
    assert dropped == sorted(dropped) and dropped[0] == 0 and dropped[-1] > 5, f"dropped by line: {dropped}"
    for a, b in zip(lines, lines[1:]):
        missing = b["dropped_refreshes"] - a["dropped_refreshes"]
        gap = b["boottime_ns"] - a["boottime_ns"]
        assert bool(missing) == (gap > 1.5 * b["interval_ns"]), f"{missing} dropped in {gap} ns, of {b['interval_ns']} each"
    told = int(re.search(r"(\d+) refresh", said).group(1))
    assert told >= dropped[-1], f"it reported {told}, the last line {dropped[-1]}"
    return f"{len(lines)} lines, {told} dropped"


def line_is_read():
    """After a signal a reader that is slow, but reads, gets the rest of its line."""
    with Pipe("--json", "--all", "-d", "0.1") as p:
        first = b""
        while b"\n" not in first:
            first += os.read(p.out, 4096)
        p.stuck()
        p.proc.send_signal(signal.SIGTERM)
        os.close(p.writer)
        p.writer = -1
        began, got = time.monotonic(), first
        while part := os.read(p.out, 4096):
            got += part
            time.sleep(1.5 * 4096 / len(first))
        took = time.monotonic() - began
        p.proc.wait(LONG_S)
    assert got.endswith(b"\n"), f"the last line is cut: {got[-100:]!r}"
    assert took > 1, f"it was read in {took:.1f} s"
    return f"{took:.1f} s"


def end_waits(*args):
    """After -n the last refresh is not lost: a late reader gets all of it."""
    with Pipe(*args, "-d", "0.3", "-n", "1") as p:
        p.stuck()
        time.sleep(1)
        assert p.proc.poll() is None, f"it ended with {p.proc.returncode} before its output was read"
        got = p.lines()
        assert p.proc.wait(LONG_S) == 0, p.proc.returncode
        assert not (said := p.proc.stderr.read()), said
    assert got.endswith(b"\n") and len(got) > 4096, f"{len(got)} bytes, at their end {got[-80:]!r}"
    return f"{len(got)} bytes"


def writers():
    """The helpers that write traces."""
    return {int(pid) for pid in os.listdir("/proc") if pid.isdigit() and name_of(pid) == "systop-write"}


def trace_ends():
    """With -w -, a signal ends the recording, and also ends systop if nobody reads the result; so does a signal after the
    recording."""
    before = bpf_ids()
    took = []
    for number in SIGNALS:
        for duration in ("600", "0.5"):
            with Pipe("-w", "-", "--duration", duration, "--window-mem", "4M") as p:
                if duration == "600":
                    attached(p.proc.pid, LONG_S)
                    time.sleep(0.3)
                else:
                    p.stuck()
                began = time.monotonic()
                p.proc.send_signal(number)
                p.proc.wait(LONG_S)
                took.append(time.monotonic() - began)
                said = p.proc.stderr.read()
                assert took[-1] < (END_S + 2 if duration == "600" else END_S), f"{took[-1]:.2f} s after {number.name}: {said}"
                assert p.proc.returncode == 1, f"it ended with {p.proc.returncode}: {said}"
                assert said.startswith(("systop: cannot save standard output: ", "systop: not saved: cancelled")), said
                helpers = [pid for pid in writers() if pipe_of(pid, p.writer)]
                until(lambda: all(ended(pid) for pid in helpers), f"the end of {helpers}")
    left = bpf_left(before, 10)
    assert not left, left
    return " ".join(f"{s:.2f} s" for s in took)


def pipe_of(pid, fd):
    """Whether a process has the same pipe open."""
    pipe = os.fstat(fd).st_ino
    try:
        return any(os.stat(f"/proc/{pid}/fd/{n}").st_ino == pipe for n in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def main():
    if skip_reason():
        print(f"1..0 # SKIP {skip_reason()}")
        return
    tap = Tap()
    for number in SIGNALS:
        tap.case(f"{number.name} on a terminal that nobody reads", terminal_ends, number)
    tap.case("q on a terminal that nobody reads", terminal_quits)
    tap.case("a terminal that is read again", terminal_comes_back)
    tap.case("a screen that is read again", screen_comes_back)
    tap.case("Ctrl-S, Ctrl-Z, Ctrl-Q", terminal_stopped)
    for args in (["--json"], ["-b", "--all"], ["--folded", "sleep"]):
        tap.case(f"{' '.join(args)} into a pipe that nobody reads", pipe_ends, *args)
    tap.case("-w - into a pipe that nobody reads", trace_ends)
    tap.case("a late reader loses whole lines", json_loses_lines)
    tap.case("a signal while a line is being read", line_is_read)
    tap.case("the last refresh waits for its reader", end_waits, "--json")
    tap.done()


main()
