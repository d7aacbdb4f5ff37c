# SPDX-License-Identifier: GPL-2.0-or-later
"""Without its starter process systop continues: it saves no traces, does not replace helpers that end, and reports
that. With it a helper that ended while it had nothing to do is replaced."""

import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from tmux import Tap, Terminal, ended, gone, skip_reason  # noqa: E402

FOOTER = r"no saving, no new helpers: see !"
WAIT_S = 30
TURN_MS = 400  # less than any wait for an answer, which ends after seconds; a busy machine adds time of its own


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
        return f.read().strip()


def starter_of(systop):
    return next(pid for pid in children(systop) if name_of(pid) == "systop-starter")


def goes_on(t):
    """systop goes on: the clock in the first line moves."""
    was = t.wait(r"^systop \S+ (\d\d:\d\d:\d\d) LIVE").group(1)
    end = time.monotonic() + WAIT_S
    while t.wait(r"^systop \S+ (\d\d:\d\d:\d\d) LIVE").group(1) == was:
        assert time.monotonic() < end, f"no refresh after {was}"
        time.sleep(0.1)


def health(t, pattern):
    """Opens the health page, returns its text, and closes it."""
    t.keys("!")
    t.wait(r"^Probes")
    found = find(t, pattern)
    t.keys("q")
    t.wait(r"\[1:Threads\]")
    return found


def find(t, pattern):
    """Pages down to it."""
    for _ in range(20):
        match = re.search(pattern, t.screen(), re.MULTILINE)
        if match:
            return match
        t.keys("PageDown")
        time.sleep(0.2)
    raise AssertionError(f"no {pattern!r} on the health page, which ends with\n{t.screen()}")


def is_told(t, why, save):
    t.wait(FOOTER, WAIT_S)
    health(t, rf"starter .*{why}")
    t.keys("w")
    t.wait(rf"cannot save.*{save}", WAIT_S)
    goes_on(t)
    turn = float(health(t, r"longest turn +([\d.]+) ms").group(1))
    assert turn < TURN_MS, f"a turn of the main loop took {turn} ms"


def stopped():
    """Waits until it continues."""
    with tempfile.TemporaryDirectory() as folder, Terminal(100, 60) as t:
        t.run(f"cd {folder}; clear")
        pid = t.start()
        starter = starter_of(pid)
        helpers = children(starter)
        os.kill(starter, signal.SIGSTOP)
        is_told(t, f"is stopped: kill -CONT {starter}", f"is stopped: kill -CONT {starter}")
        assert not any(ended(helper) for helper in helpers), [helper for helper in helpers if ended(helper)]
        os.kill(starter, signal.SIGCONT)
        end = time.monotonic() + WAIT_S
        while re.search(FOOTER, t.screen()):
            assert time.monotonic() < end, f"still said to be stopped:\n{t.screen()}"
            time.sleep(0.1)
        t.keys("w")
        t.wait(r"saved \S+\.pb", WAIT_S)
        assert len(glob.glob(f"{folder}/*.pb")) == 1, os.listdir(folder)
        t.keys("q")
        assert gone(pid, WAIT_S), "still there after q"


def killed():
    with Terminal(100, 60) as t:
        pid = t.start()
        starter = starter_of(pid)
        helpers = children(starter)
        os.kill(starter, signal.SIGKILL)
        is_told(t, "ended by signal 9", "ended by signal 9: start systop again")
        assert not any(ended(helper) for helper in helpers), [helper for helper in helpers if ended(helper)]
        t.keys("q")
        t.wait(r"^\$ ?$", WAIT_S)
        assert gone(pid, WAIT_S), "still there after q"
        assert all(gone(helper, WAIT_S) for helper in helpers), f"of {helpers} there are some left"


def refused():
    """A starter that may wait for nothing any more ends, instead of asking again and again, also without systop."""
    with Terminal(100, 60) as t:
        starter = starter_of(t.start())
        user = os.stat(f"/proc/{starter}/task").st_uid  # root needs CAP_SYS_RESOURCE for others' limits
        subprocess.run(["prlimit", "--pid", str(starter), "--nofile=0:0"], user=user, group=user, check=True)
        os.kill(next(pid for pid in children(starter) if name_of(pid) == "systop-open"), signal.SIGKILL)
        is_told(t, "ended", "start systop again")
        assert gone(starter, WAIT_S), "the starter goes on"


def idle_helper():
    """The helper that reads page tables has answered, and is killed: those of another process are still read."""
    with subprocess.Popen(["sleep", "60"]) as one, subprocess.Popen(["sleep", "60"]) as two, Terminal(100, 60) as t:
        try:
            starter = starter_of(t.start("-d", "0.3", "-p", f"{one.pid},{two.pid}", "--view", "threads"))
            t.keys("N", "g", "Enter")
            first = t.wait(r"^process +sleep, pid (\d+),").group(1)
            t.wait(r"\(PSS\)$")
            facts = next(pid for pid in children(starter) if name_of(pid) == "systop-facts")
            os.kill(facts, signal.SIGKILL)
            assert gone(facts, WAIT_S)
            t.keys("q")
            t.wait(r"\[1:Threads\]")
            t.keys("j", "Enter")
            t.wait(rf"^process +sleep, pid (?!{first},)")
            t.wait(r"\(PSS\)$")
        finally:
            one.kill()
            two.kill()


def main():
    if skip_reason():
        print(f"1..0 # SKIP {skip_reason()}")
        return
    tap = Tap()
    tap.case("the starter is stopped", stopped)
    tap.case("the starter is killed", killed)
    tap.case("an idle helper is killed", idle_helper)
    tap.case("the starter cannot wait", refused)
    tap.done()


main()
