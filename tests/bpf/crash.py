# SPDX-License-Identifier: GPL-2.0-or-later
"""A crash of systop itself: the report on the restored terminal and in the log; and which files --log accepts."""

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tui"))
from harness import SYSTOP, begin, bpf_ids, bpf_left, helper_of, wait_for  # noqa: E402
from tmux import Terminal, gone  # noqa: E402

WAIT_S = 20
VERSION = os.environ.get("SYSTOP_VERSION", "")
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


def build_id():
    notes = subprocess.run(["readelf", "-n", SYSTOP], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return found.group(1) if found else "-"


def functions(report):
    """The functions that addr2line finds for systop's own frames, including inlined ones."""
    addresses = re.findall(r"^ *#\d+ systop (0x[0-9a-f]+)", report, re.MULTILINE)
    assert addresses, f"no frame of systop's own: {report}"
    done = subprocess.run(["addr2line", "-ife", SYSTOP, *addresses], capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[::2]


def check(report, number):
    for pattern in (rf"systop {re.escape(VERSION)}\S* crashed: {number.name}", rf"build-id: {build_id()}\b",
                    r"health: \d{4}-\d\d-\d\dT\S+Z: \d+ threads, \d+ cgroups, \d+ lost", r"#0 \S+ 0x[0-9a-f]+"):
        assert re.search(pattern, report), f"no {pattern!r} in {report}"
    found = functions(report)
    for name in ("loop_run", "main"):
        assert name in found, f"the stack is {found}, without {name}: {report}"


def in_batch(folder):
    """Each signal: the report on standard error and in the log, and the exit by that signal."""
    path = os.path.join(folder, "batch")
    for number in CRASHES:
        with subprocess.Popen([SYSTOP, "--json", "-d", "0.1", "--log", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as proc:
            proc.stdout.readline()
            proc.send_signal(number)
            _, said = proc.communicate(timeout=WAIT_S)
        assert proc.returncode == -number, f"it ended with {proc.returncode}, not by {number.name}"
        check(said, number)
    with open(path) as f:
        log = f.read()
    reports = re.split(r"(?=^systop \S+ crashed)", log, flags=re.MULTILINE)[1:]
    assert len(reports) == len(CRASHES), f"{len(reports)} reports in the log: {log}"
    for report, number in zip(reports, CRASHES):
        check(report, number)
    mode = os.stat(path)
    assert stat.S_IMODE(mode.st_mode) == 0o600, oct(mode.st_mode)


def on_a_terminal(folder):
    before = bpf_ids()
    path = os.path.join(folder, "screen")
    with Terminal(140, 40) as t:
        pid = t.start("--log", path)
        time.sleep(1.5)
        os.kill(pid, signal.SIGSEGV)
        assert gone(pid, WAIT_S), "it is still there"
        t.wait(r"systop \S+ crashed: SIGSEGV")
        t.wait(r"^\$ ?$")
        assert t.tmux("display", "-p", "-t", "t", "#{alternate_on}").strip() == "0", "the alternate screen is shown"
        assert t.tmux("display", "-p", "-t", "t", "#{cursor_flag}").strip() == "1", "the cursor is hidden"
        screen = t.screen()
    assert re.search(r"build-id: [0-9a-f]", screen) and "#0 " in screen, screen
    with open(path) as f:
        check(f.read(), signal.SIGSEGV)
    left = bpf_left(before, WAIT_S)
    assert not left, f"left: {left}"


def what_is_said(folder):
    """A failure and the messages at the end are in the log, too, after its old contents."""
    path = os.path.join(folder, "kept")
    with open(path, "w") as f:
        f.write("kept\n")
    with subprocess.Popen(["sleep", "1"]) as load:
        done = subprocess.run([SYSTOP, "--json", "-d", "0.1", "-p", str(load.pid), "--log", path], capture_output=True,
                              text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 5, f"{done.returncode}: {done.stderr}"
    with open(path) as f:
        log = f.read()
    assert log.startswith("kept\n") and done.stderr in log, f"{done.stderr!r} is not in {log!r}"


def refused(folder):
    """Only a regular file by its own name: otherwise exit status 2, and what is there stays unchanged."""
    regular = os.path.join(folder, "regular")
    with open(regular, "w"):
        pass
    places = {name: os.path.join(folder, name) for name in ("link", "fifo", "device", "dir", "none/log", "tmp/theirs")}
    os.symlink(regular, places["link"])
    os.mkfifo(places["fifo"])
    os.mknod(places["device"], stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.mkdir(places["dir"])
    os.mkdir(f"{folder}/tmp")
    os.chmod(f"{folder}/tmp", 0o1777)
    with open(places["tmp/theirs"], "w"):
        os.chmod(places["tmp/theirs"], 0o666)
        os.chown(places["tmp/theirs"], 1, 1)
    for name, path in places.items():
        done = subprocess.run([SYSTOP, "--json", "-n", "1", "--log", path], capture_output=True, text=True,
                              timeout=WAIT_S, check=False)
        assert done.returncode == 2, f"{name}: {done.returncode}: {done.stderr}"
        assert done.stderr.startswith(f"systop: cannot open the log {path}: ") and "fix: " in done.stderr, done.stderr
        assert not done.stdout, f"{name}: it printed {done.stdout[:200]}"
    assert os.path.islink(places["link"]) and not os.stat(regular).st_size, (os.lstat(places["link"]), os.stat(regular))
    assert not os.stat(places["tmp/theirs"]).st_size, "another user's file is written to"
    modes = os.stat(places["fifo"]).st_mode, os.stat(places["device"]).st_mode
    assert stat.S_ISFIFO(modes[0]) and stat.S_ISCHR(modes[1]), modes


def no_room(folder):
    """A full disk is reported at the end; systop goes on."""
    full = os.path.join(folder, "full")
    os.mkdir(full)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", full], check=True)
    try:
        done = subprocess.run([SYSTOP, "--json", "-d", "0.1", "-n", "1", "-v", f"{full}/log"], capture_output=True, text=True,
                              timeout=WAIT_S, check=False)
    finally:
        subprocess.run(["umount", "-l", full], check=True)
    assert done.returncode == 0 and done.stdout, done
    assert done.stderr == "systop: the log is incomplete: No space left on device; fix: a file elsewhere\n", done.stderr


def late(folder):
    """Lines are lost while the helper does not take them: reported at the end, also if it takes all later ones."""
    path = os.path.join(folder, "late")
    with subprocess.Popen([SYSTOP, "--json", "-d", "0.1", "-v", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as proc:
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path), WAIT_S, "no log", 0.001)
        helper = helper_of(proc.pid, "systop-log")
        os.kill(helper, signal.SIGSTOP)
        time.sleep(1)
        os.kill(helper, signal.SIGCONT)
        time.sleep(0.2)  # it takes all that is there
        proc.terminate()
        said = proc.stderr.read()
    assert "systop: the log is incomplete: writing it took too long; fix: a file elsewhere\n" in said, said


def as_the_invoker(folder):
    """Under sudo the file belongs to the user, and is only where the user may write."""
    env = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
    command = [SYSTOP, "--json", "-d", "0.1", "-n", "1", "--log"]
    path = os.path.join(folder, "his")
    done = subprocess.run([*command, path], capture_output=True, text=True, env=env, timeout=WAIT_S, check=False)
    assert done.returncode == 2 and "Permission denied" in done.stderr, f"{done.returncode}: {done.stderr}"
    assert not os.path.exists(path), f"{path} is there"
    os.chmod(folder, 0o777)
    done = subprocess.run([*command, path], capture_output=True, text=True, env=env, timeout=WAIT_S, check=False)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    s = os.stat(path)
    assert (s.st_uid, stat.S_IMODE(s.st_mode)) == (65534, 0o600), f"{s.st_uid} {s.st_mode:o}"


def main():
    tap = begin()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        tap.case("all fatal signals, to standard error and the log", in_batch, folder)
        tap.case("on the terminal as it was", on_a_terminal, folder)
        tap.case("what is said otherwise", what_is_said, folder)
        tap.case("no log but a regular file", refused, folder)
        tap.case("no room for the log", no_room, folder)
        tap.case("a log that is written too slowly", late, folder)
        tap.case("the log is the invoker's", as_the_invoker, folder)
    tap.done()


main()
