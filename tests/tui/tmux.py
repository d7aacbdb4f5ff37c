# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal to run systop in: tmux on a private socket, driven and read from here."""

import itertools
import os
import re
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import Tap, bpf_ids, bpf_left, ended, name_of  # noqa: E402, F401

SYSTOP = os.environ.get("SYSTOP", "build/systop")
WAIT_S = 10  # for anything to appear: a busy machine is slow, and a pass never waits for it


def skip_reason():
    if os.geteuid() != 0:
        return "not root"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "no BTF"
    return None


class Terminal:
    """A shell in a tmux window of the given size."""

    numbers = itertools.count(1)

    def __init__(self, width=80, height=24, env=None):
        self.socket = f"sy{os.getpid()}-{next(Terminal.numbers)}"
        shell = ["env", "PS1=$ ", "HISTFILE="] + [f"{k}={v}" for k, v in (env or {}).items()]
        self.tmux("new-session", "-d", "-x", str(width), "-y", str(height), "-s", "t",
                  " ".join(f"'{w}'" for w in shell) + " bash --norc --noprofile -i")
        self.tmux("set", "-g", "status", "off")
        self.tmux("set", "-g", "window-size", "manual")
        self.wait(r"^\$ ?$")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.socket, "-f", "/dev/null", *args],
                              capture_output=True, text=True, check=False).stdout

    def close(self):
        self.tmux("kill-server")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def screen(self, escapes=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if escapes else []), "-t", "t")

    def lines(self):
        return self.screen().split("\n")

    def keys(self, *keys):
        self.tmux("send-keys", "-t", "t", *keys)

    def type(self, text):
        self.tmux("send-keys", "-t", "t", "-l", text)

    def run(self, command):
        self.type(command)
        self.keys("Enter")

    def resize(self, width, height):
        self.tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))

    def wait(self, pattern, seconds=WAIT_S):
        """Waits until the screen matches; returns the match."""
        end = time.monotonic() + seconds
        while True:
            screen = self.screen().rstrip("\n")
            match = re.search(pattern, screen, re.MULTILINE)
            if match:
                return match
            if time.monotonic() > end:
                raise AssertionError(f"no {pattern!r} on the screen:\n{screen}")
            time.sleep(0.03)

    def shell_pid(self):
        return int(self.tmux("display", "-p", "-t", "t", "#{pane_pid}"))

    def systop_pid(self, seconds=WAIT_S):
        """The systop that runs in this terminal."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            shell = self.shell_pid()
            with open(f"/proc/{shell}/task/{shell}/children") as f:
                for pid in f.read().split():
                    with open(f"/proc/{pid}/comm") as comm:
                        if comm.read().startswith("systop"):
                            return int(pid)
            time.sleep(0.03)
        raise AssertionError("systop does not run")

    def start(self, *args):
        """Starts systop and waits for its first full screen."""
        self.run(" ".join([SYSTOP, *args]))
        self.wait(r"^ *.?TID|^.*PID S|CGROUP")
        return self.systop_pid()


def gone(pid, seconds):
    """Whether a process ends in time."""
    end = time.monotonic() + seconds
    while not ended(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return ended(pid)
