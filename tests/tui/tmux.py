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


def quoted(word):
    """As tmux reads it from a line."""
    return "'" + word.replace("'", "'\\''").replace("\n", "'\"\\n\"'") + "'"


class Terminal:
    """A shell in a tmux window of the given size. One client in control mode sends all commands: starting one for each would
    take more CPU than the screens that are waited for."""

    numbers = itertools.count(1)

    def __init__(self, width=80, height=24, env=None):
        self.socket = f"sy{os.getpid()}-{next(Terminal.numbers)}"
        shell = ["env", "PS1=$ ", "HISTFILE="] + [f"{k}={v}" for k, v in (env or {}).items()]
        tmux = ["tmux", "-u", "-L", self.socket, "-f", "/dev/null"]
        subprocess.run([*tmux, "new-session", "-d", "-x", str(width), "-y", str(height), "-s", "t",
                        " ".join(f"'{w}'" for w in shell) + " bash --norc --noprofile -i", ";",
                        "set", "-g", "status", "off", ";", "set", "-g", "window-size", "manual"], check=True)
        self.client = subprocess.Popen([*tmux, "-C", "attach", "-t", "t", "-f", "no-output,ignore-size"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.reply()  # to attach
        self.wait(r"^\$ ?$")

    def reply(self):
        """The output of one command, None: it failed, or the terminal is gone."""
        lines = iter(self.client.stdout.readline, b"")
        guard = next((line.removeprefix(b"%begin ") for line in lines if line.startswith(b"%begin ")), None)
        output = []
        for line in lines:
            if line == b"%end " + guard:
                return b"".join(output).decode(errors="replace")
            if line == b"%error " + guard:
                break
            output.append(line)
        return None

    def tmux(self, *args):
        """Runs commands, which are separated by ";". Returns the output of the last one."""
        words = [arg if arg == ";" else quoted(";" if arg == "\\;" else arg) for arg in args]
        try:
            self.client.stdin.write(" ".join(words).encode() + b"\n")
            self.client.stdin.flush()
        except BrokenPipeError:
            return ""
        output = ""
        for _ in range(1 + args.count(";")):
            output = self.reply()
            if output is None:
                return ""
        return output

    def close(self):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], stderr=subprocess.DEVNULL, check=False)
        self.client.communicate()

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
