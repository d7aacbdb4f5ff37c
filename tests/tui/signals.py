# SPDX-License-Identifier: GPL-2.0-or-later
"""However systop ends, within a second the terminal is restored and no BPF program is left."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from tmux import SYSTOP, Tap, Terminal, bpf_ids, bpf_left, gone, skip_reason  # noqa: E402
from harness import bpf_of  # noqa: E402


def settings(t):
    """stty's settings of the terminal, read by its own shell."""
    t.run("clear; echo =$(stty -g | cksum)=")
    return t.wait(r"^=([0-9 ]+)=$").group(1)


def cursor_shown(t):
    return t.tmux("display", "-p", "-t", "t", "#{cursor_flag}").strip() == "1"


def alternate(t):
    return t.tmux("display", "-p", "-t", "t", "#{alternate_on}").strip() == "1"


def restored(t, was):
    t.wait(r"^\$ ?$")
    assert not alternate(t), "the alternate screen is still shown"
    assert cursor_shown(t), "the cursor is hidden"
    assert settings(t) == was, "the terminal's settings changed"


def ends(how):
    before = bpf_ids()
    with Terminal() as t:
        was = settings(t)
        pid = t.start()
        assert bpf_of(pid), "nothing was loaded"
        assert alternate(t) and not cursor_shown(t), t.screen()
        how(t, pid)
        assert gone(pid, 1), "still there after a second"
        restored(t, was)
        assert not bpf_left(before), bpf_left(before)


def by_signal(number):
    return lambda t, pid: os.kill(pid, number)


def by_key(key):
    return lambda t, pid: t.keys(key)


def exit_status():
    """q is success; a signal is reported as shells do."""
    for how, want in ((by_key("q"), 0), (by_key("C-c"), 0), (by_signal(signal.SIGTERM), 143),
                      (by_signal(signal.SIGINT), 130)):
        with Terminal() as t:
            how(t, t.start())
            t.wait(r"^\$ ?$")
            t.run("echo status=$?=")  # a line of its own: bash drops the rest of a line that ^C ended
            got = int(t.wait(r"status=(\d+)=").group(1))
            assert got == want, f"exit status {got}, not {want}"


def stops_and_goes_on():
    """Ctrl-Z returns the terminal to the shell, fg to the screen, also at another size."""
    before = bpf_ids()
    with Terminal() as t:
        was = settings(t)
        pid = t.start()
        for _ in range(3):
            t.keys("C-z")
            t.wait(r"Stopped")
            restored(t, was)
            t.resize(100, 30)
            t.run("fg")
            t.wait(r"\[1:Threads\]")
            t.wait(r"^systop .*LIVE")
            assert alternate(t) and not cursor_shown(t), t.screen()
            t.resize(80, 24)
        os.kill(pid, signal.SIGTSTP)
        t.wait(r"Stopped")
        restored(t, was)
        t.run("fg")
        t.wait(r"\[1:Threads\]")
        t.keys("q")
        assert gone(pid, 1), f"{pid} still runs"
        restored(t, was)
    assert not (left := bpf_left(before)), f"BPF programs {left} stay"


def terminated_while_stopped():
    before = bpf_ids()
    with Terminal() as t:
        was = settings(t)
        pid = t.start()
        t.keys("C-z")
        t.wait(r"Stopped")
        t.run("kill %1")
        t.run("fg")
        assert gone(pid, 1), f"{pid} still runs"
        restored(t, was)
    assert not (left := bpf_left(before)), f"BPF programs {left} stay"


def terminal_vanishes():
    before = bpf_ids()
    t = Terminal()
    pid = t.start()
    t.close()
    assert gone(pid, 1), "still there after its terminal went"
    assert not (left := bpf_left(before)), f"BPF programs {left} stay"


def wait_until(what, why, seconds=10):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, why()
        time.sleep(0.03)


def killed(stopped_before):
    """The starter restores the terminal, also if systop had given it to the shell before, and taken it back."""
    before = bpf_ids()
    with Terminal() as t:
        was = settings(t)
        pid = t.start()
        if stopped_before:
            t.keys("C-z")
            t.wait(r"Stopped")
            restored(t, was)
            t.run("fg")
            t.wait(r"\[1:Threads\]")
        os.kill(pid, signal.SIGKILL)
        assert gone(pid, 5), "still there after SIGKILL"
        wait_until(lambda: cursor_shown(t) and not alternate(t),
                   lambda: f"alternate screen: {alternate(t)}, cursor: {cursor_shown(t)}")
        t.keys("Enter")  # a faster shell has written its prompt to the other screen
        restored(t, was)
        assert not bpf_left(before), bpf_left(before)


def crashed(name):
    """On a terminal without an alternate screen, the report of a crash does not begin amid the table, and no delays of the
    terminal's description are printed."""
    with Terminal(100, 30, {"TERM": name}) as t:
        was = settings(t)
        pid = t.start()
        os.kill(pid, signal.SIGSEGV)
        t.wait(r"^\$ ?$")
        assert "$<" not in t.screen(), t.screen()
        assert t.lines()[0].startswith("systop ") and " crashed: SIGSEGV" in t.lines()[0], t.screen()
        assert "[1:Threads]" not in t.screen(), t.screen()
        restored(t, was)


def killed_while_stopped():
    """A stopped systop that is killed leaves the terminal to the shell: what was typed stays, and nothing is added."""
    with Terminal() as t:
        was = settings(t)
        pid = t.start()
        t.keys("C-z")
        t.wait(r"Stopped")
        t.run("clear")
        t.wait(r"\A\$ ?\Z")
        t.type("echo half")
        t.wait(r"\A\$ echo half\Z")
        os.kill(pid, signal.SIGKILL)
        assert gone(pid, 5), "still there after SIGKILL"
        time.sleep(0.5)  # time in which it would appear
        t.type("+line")
        t.wait(r"\A\$ echo half[+]line\Z")
        t.keys("Enter")
        t.wait(r"^half[+]line$")
        t.run("clear")
        restored(t, was)


def starter_killed():
    """Without the starter systop itself restores what it can."""
    with Terminal() as t:
        was = settings(t)
        pid = t.start()
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            starter = int(f.read().split()[0])
        os.kill(starter, signal.SIGKILL)
        t.wait("see !", 20)
        assert alternate(t) and not cursor_shown(t), "the screen is not systop's any more"
        t.keys("q")
        assert gone(pid, 5), "still there after q"
        restored(t, was)


def batch(*args):
    """Without a screen, a signal ends systop like any program; so does the loss of its reader."""
    before = bpf_ids()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([SYSTOP, *args, "-d", "0.5"], stdout=subprocess.PIPE) as proc:
            proc.stdout.readline()
            proc.send_signal(number)
            began = time.monotonic()
            proc.stdout.read()
            assert proc.wait(2) == -number, proc.returncode
            assert (took := time.monotonic() - began) < 1, f"{took:.2f} s"
    with subprocess.Popen([SYSTOP, *args, "-d", "0.2"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as proc:
        proc.stdout.readline()
        proc.stdout.close()
        assert proc.wait(3) == -signal.SIGPIPE, proc.returncode
        assert not (said := proc.stderr.read()), said
    assert not (left := bpf_left(before)), f"BPF programs {left} stay"


def no_trace():
    """The message about SIGUSR1 is drawn, not written over the screen."""
    with Terminal() as t:
        os.kill(t.start("--window", "0"), signal.SIGUSR1)
        t.wait("^not saved: --window is 0")


def nohup():
    """SIGHUP is ignored if it was at the start."""
    with subprocess.Popen(["nohup", SYSTOP, "--json", "-d", "0.5"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as proc:
        proc.stdout.readline()
        for _ in range(2):
            proc.send_signal(signal.SIGHUP)
            proc.stdout.readline()
        assert proc.stdout.readline(), "it ended"
        proc.terminate()
        proc.stdout.read()
        assert proc.wait(2) == -signal.SIGTERM, proc.returncode


def main():
    if skip_reason():
        print(f"1..0 # SKIP {skip_reason()}")
        return
    tap = Tap()
    tap.case("q", ends, by_key("q"))
    tap.case("Ctrl-C", ends, by_key("C-c"))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        tap.case(number.name, ends, by_signal(number))
    tap.case("exit status", exit_status)
    tap.case("Ctrl-Z and fg", stops_and_goes_on)
    tap.case("terminated while stopped", terminated_while_stopped)
    tap.case("the terminal vanishes", terminal_vanishes)
    tap.case("SIGKILL", killed, False)
    tap.case("SIGKILL after Ctrl-Z and fg", killed, True)
    tap.case("SIGKILL after Ctrl-Z", killed_while_stopped)
    for name in ("vt100", "linux"):
        tap.case(f"a crash under TERM={name}", crashed, name)
    tap.case("SIGKILL of the starter", starter_killed)
    tap.case("signals in -b", batch, "-b")
    tap.case("signals in --json", batch, "--json")
    tap.case("SIGUSR1 while nothing is recorded", no_trace)
    tap.case("nohup", nohup)
    tap.done()


main()
