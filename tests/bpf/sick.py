# SPDX-License-Identifier: GPL-2.0-or-later
"""Sick processes and sick helpers: they cost names and stacks, never the output or the host."""

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import HIDEPID, SYSTOP, begin, bpf_of, bpf_there, helper_of, load_path, wait_for  # noqa: E402

FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
SYS_PIDFD_OPEN, SYS_PIDFD_GETFD = 434, 438
os.environ["LOAD_PERCENT"] = "10"  # their functions have to have names
PATH = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}


def stat_of(pid):
    """State and parent of a process, None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
        return fields[0], int(fields[1])
    except OSError:
        return None


class Frozen:
    """An ext4 file system in a file, that can be frozen."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        self.mount = os.path.join(self.folder, "mount")
        image = os.path.join(self.folder, "image")
        os.mkdir(self.mount)
        with open(image, "wb") as f:
            f.truncate(32 << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True, env=PATH)
        subprocess.run(["mount", "-o", "loop", image, self.mount], check=True)
        with open(os.path.join(self.mount, "data"), "wb") as f:
            f.write(bytes(4096))
        os.sync()
        self.fd = os.open(self.mount, os.O_RDONLY)
        self.frozen = False
        self.patient = None
        return self

    def freeze(self):
        fcntl.ioctl(self.fd, FIFREEZE, 0)
        self.frozen = True

    def thaw(self):
        if self.frozen:
            fcntl.ioctl(self.fd, FITHAW, 0)
        self.frozen = False

    def __exit__(self, *exc):
        if self.patient:
            self.patient.kill()
        self.thaw()
        if self.patient:
            self.patient.wait()
        os.close(self.fd)
        # Another systop beside this test has read files of what runs there, and releases them within 30 s.
        wait_for(lambda: not subprocess.run(["umount", self.mount], capture_output=True, check=False).returncode, 40,
                 "the file system stays busy")
        shutil.rmtree(self.folder)


def fall_ill(frozen):
    """A process on the frozen file system whose address space is locked."""
    shutil.copy(load_path("sick"), frozen.mount)
    # pylint: disable=consider-using-with
    load = subprocess.Popen([f"{frozen.mount}/sick", f"{frozen.mount}/data", "60"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    frozen.patient = load
    json.loads(load.stdout.readline())
    frozen.freeze()
    load.stdin.write("\n")
    load.stdin.flush()
    wait_for(lambda: states_of(load.pid).count("D") >= 2, 10, "its threads are not in D")


def states_of(pid):
    return [stat_of(f"{pid}/task/{t}")[0] for t in os.listdir(f"/proc/{pid}/task")]


def killed_while_helpers_hang():
    """SIGKILL of systop while its helpers wait for a sick process leaves nothing in the kernel; a helper
    ends when it can."""
    with Frozen() as frozen:
        fall_ill(frozen)
        systop = subprocess.Popen([SYSTOP, "--folded=wall", "-d", "60", "-n", "1"], stdout=subprocess.DEVNULL)
        helpers = []
        try:
            def hangs():
                pid = helper_of(systop.pid, "systop-open")
                return pid if pid and stat_of(pid)[0] == "D" else None

            # systop tries for 0.2 s each time, at once and after pauses of 1, 2, 4, 8 and 16 s; on a busy machine the test misses
            # some.
            helpers.append(wait_for(hangs, 40, "the open helper does not hang"))
            had = bpf_of(systop.pid)
            assert len(had) > 10, f"only {had}"
        finally:
            os.kill(systop.pid, signal.SIGKILL)
            systop.wait()
        wait_for(lambda: not bpf_there() & had, 5, lambda: f"{sorted(bpf_there() & had)} are there")
    wait_for(lambda: not any(stat_of(pid) for pid in helpers), 5, "a helper is left when it could end")


def sick_process():
    """The output comes in time, with names of the others, while one process cannot be read; its threads have their
    kernel stacks."""
    with Frozen() as frozen:
        fall_ill(frozen)
        burn = subprocess.Popen([load_path("burn"), "cpu", "20"], stdout=subprocess.DEVNULL)
        began = time.monotonic()
        out = subprocess.run([SYSTOP, "--folded=wall", "-d", "4", "-n", "1"], capture_output=True, text=True,
                             check=True).stdout
        took = time.monotonic() - began
        burn.kill()
        burn.wait()
    assert took < 12, f"{took:.1f} s"
    assert any(line.startswith("burn;") and ";alpha;" in line for line in out.splitlines()), out[:500]
    stuck = [line for line in out.splitlines() if line.startswith("sick;")]
    assert any("ext4_page_mkwrite_[k]" in line for line in stuck), stuck


def command_lines():
    """A process whose command line cannot be read costs only that one: the others have theirs, refreshes come in time, and the main
    loop never waits."""
    with Frozen() as frozen:
        fall_ill(frozen)
        before = {int(pid) for pid in os.listdir("/proc") if pid.isdigit()}
        with subprocess.Popen([SYSTOP, "--json", "--all", "-d", "0.5"], stdout=subprocess.PIPE, text=True) as systop, \
                subprocess.Popen(["sleep", "4711"]) as other:
            try:
                def hangs():
                    pid = helper_of(systop.pid, "systop-commands")
                    return pid if pid and stat_of(pid) and stat_of(pid)[0] == "D" else None

                wait_for(hangs, 10, "the helper does not hang")
                lines = [json.loads(systop.stdout.readline()) for _ in range(16)]
                last, took = lines[-1], max(line["interval_ns"] for line in lines) / 1e9
                found = {p["tgid"]: p["cmdline"] for p in last["processes"]}
                assert found[other.pid] == ["sleep", "4711"], found[other.pid]
                assert found[frozen.patient.pid] is None, found[frozen.patient.pid]
                unknown = [pid for pid, cmdline in found.items() if cmdline is None and pid != frozen.patient.pid]
                # Kernel threads have no command line, and programs that other tests have just started may have none yet.
                unknown = [pid for pid in unknown if pid in before and os.path.exists(f"/proc/{pid}/exe") and stat_of(pid)[1] not in (0, 2)]
                assert not unknown, unknown
                assert took < 1.0, f"refreshes every 0.5 s took {took:.2f} s"
                assert last["self"]["turn_work_ns"] < 100e6, last["self"]
            finally:
                systop.kill()
                other.kill()


def ticks(systop, nr):
    """How long these refreshes took, by systop's own clock: this test may be late to read them."""
    return [json.loads(systop.stdout.readline())["interval_ns"] / 1e9 for _ in range(nr)]


def helper_that_stops(name):
    """A stopped helper is replaced; refreshes continue meanwhile."""
    with subprocess.Popen([SYSTOP, "--json", "-d", "0.5"], stdout=subprocess.PIPE, text=True) as systop, \
            subprocess.Popen([load_path("burn"), "cpu", "60"], stdout=subprocess.DEVNULL) as burn:
        try:
            ticks(systop, 2)
            pid = wait_for(lambda: helper_of(systop.pid, name), 5, f"no {name}")
            os.kill(pid, signal.SIGSTOP)
            took = ticks(systop, 12)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL) # a helper that had no request
        finally:
            systop.kill()
            burn.kill()
    assert max(took) < 1.0, f"refreshes every 0.5 s took {max(took):.2f} s"


def open_stops():
    helper_that_stops("systop-open")


def commands_stop():
    helper_that_stops("systop-commands")


def symbols_stops():
    helper_that_stops("systop-symbols")


def hidden_helper():
    """Where /proc hides helpers, one without an answer is given more time: it may wait for a CPU."""
    with subprocess.Popen([*HIDEPID, SYSTOP, "--json", "-d", "0.5"], stdout=subprocess.PIPE, text=True) as systop:
        try:
            ticks(systop, 1)
            pid = wait_for(lambda: helper_of(systop.pid, "systop-commands"), 5, "no systop-commands")
            os.kill(pid, signal.SIGSTOP)
            subprocess.run(["sleep", "0.1"], check=True)  # systop requests its command line
            ticks(systop, 4)
            assert stat_of(pid) and stat_of(pid)[0] == "T", "it was given up after its first deadline"
            os.kill(pid, signal.SIGCONT)
        finally:
            systop.kill()


def sockets_of(pid):
    """The descriptors of a helper's sockets: to systop, and to another helper."""
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # the helper has closed the file meanwhile
            if os.readlink(f"/proc/{pid}/fd/{fd}").startswith("socket:"):
                found.append(int(fd))
    assert found, "no socket"
    return found


def garbage(name):
    """A helper that sends random answers is replaced, and names arrive."""
    libc = ctypes.CDLL(None, use_errno=True)
    with subprocess.Popen([SYSTOP, "--folded=cpu", "-d", "4", "-n", "1"], stdout=subprocess.PIPE,
                          text=True) as systop, \
            subprocess.Popen([load_path("burn"), "cpu", "60"], stdout=subprocess.DEVNULL) as burn:
        pid = wait_for(lambda: helper_of(systop.pid, name), 10, f"no {name}")
        pidfd = libc.syscall(SYS_PIDFD_OPEN, pid, 0)
        for number in sockets_of(pid):
            fd = libc.syscall(SYS_PIDFD_GETFD, pidfd, number, 0)
            if fd < 0:
                continue  # it was replaced after the first one
            os.set_blocking(fd, False)
            try:
                for size in (1, 4, 60, 4096, 70000):
                    os.write(fd, os.urandom(size))
            except (BrokenPipeError, ConnectionResetError, BlockingIOError):
                pass  # the helper was replaced after the first answers
            os.close(fd)
        os.close(pidfd)
        out, _ = systop.communicate()
        burn.kill()
    assert systop.returncode == 0, systop.returncode
    assert stat_of(pid) is None, "the helper that talks garbage is still there"
    assert ";alpha;" in out, out[:500]


def open_talks_garbage():
    garbage("systop-open")


def symbols_talk_garbage():
    garbage("systop-symbols")


def main():
    tap = begin()
    tap.case("SIGKILL while helpers hang", killed_while_helpers_hang)
    tap.case("a process that cannot be looked into", sick_process)
    tap.case("a process whose command line cannot be read", command_lines)
    tap.case("helpers that /proc hides", hidden_helper)
    tap.together([
        ("the commands helper stops", commands_stop),
        ("the open helper stops", open_stops),
        ("the symbols helper stops", symbols_stops),
        ("the open helper talks garbage", open_talks_garbage),
        ("the symbols helper talks garbage", symbols_talk_garbage),
    ], 2)
    tap.done()


main()
