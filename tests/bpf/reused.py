# SPDX-License-Identifier: GPL-2.0-or-later
"""The pid of a helper that ended can be reused by any process: systop leaves that process alone. -p and -t do not
follow a number to another process either.

Needs a kernel that assigns a requested pid."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, Load, begin, name_of, wait_for  # noqa: E402

WAIT_S = 30
SAVES = 50


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except OSError:
        return []


def starter_of(systop):
    return [pid for pid in children(systop) if name_of(pid) == "systop-starter"]


def helpers(systop):
    """{pid: name} of the helpers that run now."""
    starter = starter_of(systop)
    return {pid: name_of(pid) for pid in children(starter[0])} if starter else {}


class Innocent:
    """A process with the pid of a helper that ended."""

    def __init__(self, number):
        wait_for(lambda: not os.path.exists(f"/proc/{number}"), WAIT_S,
                 lambda: f"{number} is still {name_of(number)}")
        for _ in range(100):
            with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as f:
                f.write(str(number - 1))
            self.pid = os.fork()
            if not self.pid:
                os.execlp("sleep", "sleep", "600")
            if self.pid == number:
                return
            self.end()
        raise AssertionError(f"no process with number {number} could be made, the last one was {self.pid}")

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def check(self, seconds):
        """It lives on for some time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            assert not found, f"process {self.pid}, which is not systop's, ended: {found}"
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()


class Run:
    """systop --json in a folder of its own; its output goes to a file there."""

    def __init__(self, *args):
        self.folder = tempfile.mkdtemp()
        with open(f"{self.folder}/out", "w", encoding="utf-8") as out, \
                open(f"{self.folder}/err", "w", encoding="utf-8") as err:
            self.proc = subprocess.Popen([os.path.abspath(SYSTOP), "--json", *args], stdout=out, stderr=err,
                                         cwd=self.folder)

    def text(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8") as f:
            return f.read()

    def lines(self):
        return self.text("out").count("\n")

    def wait_lines(self, more):
        want = self.lines() + more
        wait_for(lambda: self.lines() >= want or self.proc.poll() is not None, WAIT_S,
                 lambda: f"{self.lines()} lines, not {want}; errors: {self.text('err')}")
        assert self.proc.poll() is None, f"systop ended: {self.text('err')}"

    def helper(self, name):
        """The pid of a helper of this name, as soon as there is one."""
        def found():
            return [pid for pid, comm in helpers(self.proc.pid).items() if comm == name]
        return wait_for(found, WAIT_S, lambda: f"no {name} among {helpers(self.proc.pid)}", 0.001)[0]

    def ended_during_save(self):
        """The pid of systop-info, which reads the processes for a save and has ended when the rest is written; None:
        it ended before it could be seen."""
        starter = wait_for(lambda: starter_of(self.proc.pid), WAIT_S, "no starter")[0]
        write = self.helper("systop-write")
        while os.path.exists(f"/proc/{write}"):
            for pid in children(starter):
                if pid > write and name_of(pid) == "systop-info":
                    return pid
        return None

    def wait_saved(self):
        wait_for(lambda: "saved" in self.text("err"), WAIT_S, lambda: f"not saved: {self.text('err')}")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.kill()
        self.proc.wait()
        shutil.rmtree(self.folder)


def meets_innocent(systop):
    """A process gets the pid of a helper that ended in the save that is starting."""
    who = systop.ended_during_save()
    if not who:
        return False
    with Innocent(who) as innocent:
        systop.wait_saved()
        innocent.check(1)
    return True


def while_saving():
    with Run("-d", "1") as systop:
        systop.wait_lines(2)
        for _ in range(SAVES):
            os.kill(systop.proc.pid, signal.SIGUSR1)
            if meets_innocent(systop):
                return
            time.sleep(1)
    raise AssertionError(f"systop-info was not seen in {SAVES} saves")


def while_triggered():
    for _ in range(SAVES):
        with Run("-d", "1", "--on", "wake>=0") as systop:
            if meets_innocent(systop):
                return
    raise AssertionError(f"systop-info was not seen in {SAVES} saves")


def after_stop():
    """Helpers that end while systop is stopped are noticed when it continues."""
    with Run("-d", "0.5") as systop, contextlib.ExitStack() as stack:
        systop.wait_lines(2)
        ended = [systop.helper(name) for name in ("systop-open", "systop-symbols")]
        os.kill(systop.proc.pid, signal.SIGSTOP)
        innocents = []
        for pid in ended:
            os.kill(pid, signal.SIGKILL)
            innocents.append(stack.enter_context(Innocent(pid)))
        os.kill(systop.proc.pid, signal.SIGCONT)
        for name in ("systop-open", "systop-symbols"):
            systop.helper(name)  # others have replaced them
        systop.wait_lines(4)
        for innocent in innocents:
            innocent.check(0.5)


def out_of_scope(option):
    """A process with the number of one of -p, or -t, that ended is not in scope."""
    with Load("sleep", "600") as first, Load("sleep", "600") as second, \
            Run("--all", "-d", "0.5", option, f"{first.pid},{second.pid}") as systop:
        systop.wait_lines(1)
        first.end()
        systop.wait_lines(2)
        with Innocent(first.pid):
            systop.wait_lines(4)
        line = json.loads(systop.text("out").splitlines()[-1])
    assert [t["tid"] for t in line["threads"]] == [second.pid], (line["threads"], first.pid)


def main():
    if not os.path.exists("/proc/sys/kernel/ns_last_pid"):
        print("1..0 # SKIP a kernel that gives no numbers out on request")
        return
    tap = begin()
    tap.case("a helper ends during a save", while_saving)
    tap.case("a helper ends during a save by --on", while_triggered)
    tap.case("helpers end while systop is stopped", after_stop)
    tap.case("the number of a process of -p", out_of_scope, "-p")
    tap.case("the number of a thread of -t", out_of_scope, "-t")
    tap.done()


main()
