# SPDX-License-Identifier: GPL-2.0-or-later
"""However systop ends, it ends soon and leaves nothing, also beside a file system that does not answer; and it releases what others
use."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from fuse import Fuse  # noqa: E402
from harness import GUEST, SYSTOP, Load, begin, descendants, ended, load_path, name_of, wait_for  # noqa: E402

PATH = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
SLOW = 3 if GUEST else 1
os.environ["LOAD_PERCENT"] = "10"  # loads that need names


def descriptors(pid):
    """The targets of a process's descriptors; {}: it is gone, or has released them."""
    found = {}
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                found[fd] = os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                pass
    except OSError:
        pass
    return found


def bpf_of(pid):
    """The programs and links of a process: ("link", id)."""
    found = set()
    for fd in descriptors(pid):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as f:
                found |= set(re.findall(r"^(prog|link)_id:\s*(\d+)", f.read(), re.MULTILINE))
        except OSError:
            pass
    return found


def bpf_there(of):
    """Those of these programs and links that are still in the kernel."""
    there = set()
    for what in ("prog", "link"):
        out = subprocess.run(["bpftool", what, "show"], capture_output=True, text=True, check=True, env=PATH).stdout
        there |= {(what, i) for i in re.findall(r"^(\d+): ", out, re.MULTILINE)}
    return there & of


class Run:
    """systop --json; its lines are read as they arrive."""

    def __init__(self, *args):
        self.proc = subprocess.Popen([SYSTOP, "--json", "-d", "0.5", *args], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
        self.lines, self.named = 0, 0.0
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        """named: by CPU time, as in the JSON."""
        for line in self.proc.stdout:
            cpu = json.loads(line)["stacks"]["cpu"]
            self.named = (cpu["named_ns"] or 0) / max(cpu["total_ns"], 1)
            self.lines += 1

    def go_on(self, nr=2):
        """Waits for more lines."""
        until = self.lines + nr
        wait_for(lambda: self.lines >= until, 20 * SLOW, f"{nr} more lines did not come")

    def family(self):
        return {pid: name_of(pid) for pid in descendants(self.proc.pid)}

    def end(self, number=signal.SIGKILL):
        """Seconds until it was gone."""
        began = time.monotonic()
        self.proc.send_signal(number)
        self.proc.wait(60)
        took = time.monotonic() - began
        self.reader.join()
        return took

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
        self.reader.join()


def state_of(pid):
    """Where it is, for messages."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f, \
                open(f"/proc/{pid}/wchan", encoding="utf-8") as g:
            return f.read().rpartition(")")[2].split()[0], g.read()
    except OSError:
        return None


def is_held(pid):
    """Whether the kernel holds a process inside something: a process that was already ending is not in D there."""
    state = state_of(pid)
    return bool(state) and (state[0] == "D" or state[1] == "request_wait_answer")


def stays_held(pid):
    """The same, for half a second."""
    for _ in range(10):
        if not is_held(pid):
            return False
        time.sleep(0.05)
    return True


def sick(end, what):
    """A file system stops answering: systop continues, with names of others, and ends in time."""
    with Fuse(load_path("burn")) as fuse, Load(f"{fuse.mount}/burn", "cpu", "120") as ill:
        ill.truth()
        time.sleep(1)  # its pages are in memory then
        try:
            with Load(load_path("burn"), "cpu", "120") as well:
                well.truth()
                fuse.forget("burn")  # another systop may have read it
                fuse.stop(what)
                first = stopped_by(fuse, end)
                second = stopped_by(fuse, signal.SIGKILL)
        finally:
            fuse.stop("none")
        wait_for(lambda: all(ended(pid) for pid in first | second), 20 * SLOW, "helpers are left though it answers")


def stopped_by(fuse, number):
    """One run of systop beside a file system that does not answer; returns its processes."""
    with Run() as run:
        helpers = wait_for(lambda: {pid for pid in run.family() if stays_held(pid)}, 30 * SLOW,
                           "no helper is held")
        assert run.proc.pid not in helpers, "the main process is held"
        run.go_on()
        wait_for(lambda: run.named > 0.5, 20 * SLOW, "nothing has a name")
        family = run.family()
        main = descriptors(run.proc.pid)
        assert not any(fuse.mount in path for path in main.values()), main
        bpf = bpf_of(run.proc.pid)
        assert len(bpf) > 10, bpf
        took = run.end(number)
        if number != signal.SIGKILL:
            assert took < 2 * SLOW, f"gone {took:.2f} s after {number.name}"

    def left():
        return {pid: (name, state_of(pid)) for pid, name in family.items() if not ended(pid) and not is_held(pid)}

    wait_for(lambda: not left() and not bpf_there(bpf), 5 * SLOW, lambda: f"{left()}, {bpf_there(bpf)} are there")
    for pid in family:
        paths = descriptors(pid).values()
        assert not any(path.startswith("anon_inode:") and "bpf" in path for path in paths), (pid, family[pid], list(paths))
    return set(family)


def quit_by_key():
    """The same with q, on a terminal."""
    with Fuse(load_path("burn")) as fuse, Load(f"{fuse.mount}/burn", "cpu", "120") as ill:
        ill.truth()
        fuse.stop("all")
        pid, terminal = pty.fork()
        if not pid:
            os.execve(SYSTOP, [SYSTOP], {**os.environ, "TERM": "xterm", "LINES": "24", "COLUMNS": "80"})
        reader = threading.Thread(target=drain, args=(terminal,))
        reader.start()
        try:
            fuse.held(30)
            os.write(terminal, b"q")
            began = time.monotonic()
            wait_for(lambda: os.waitpid(pid, os.WNOHANG)[0], 30 * SLOW, "q does not end it")
            took = time.monotonic() - began
            pid = 0
        finally:
            if pid:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            reader.join(5)
            os.close(terminal)
            fuse.stop("none")
    assert took < 2 * SLOW, f"gone {took:.2f} s after q"


def interrupted():
    """A systop that waits for the names of a refresh before its output ends at once, too."""
    with Fuse(load_path("burn")) as fuse, Load(f"{fuse.mount}/burn", "cpu", "120") as ill:
        ill.truth()
        time.sleep(1)  # its pages are in memory then
        fuse.forget("burn")
        fuse.stop("READ")
        with subprocess.Popen([SYSTOP, "--folded=cpu", "-d", "0.5"], stdout=subprocess.DEVNULL) as systop:
            try:
                fuse.held(30)
                time.sleep(1)  # it waits for them then, 5 s long
                systop.send_signal(signal.SIGINT)
                began = time.monotonic()
                assert systop.wait(30) == -signal.SIGINT, systop.returncode
                took = time.monotonic() - began
            finally:
                systop.kill()
                fuse.stop("none")
    assert took < 2 * SLOW, f"gone {took:.2f} s after SIGINT"


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


# --- What others use


class Tmpfs:
    """A mount of its own."""

    def __enter__(self):
        self.path = tempfile.mkdtemp()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", self.path], check=True)
        return self

    def used(self):
        s = os.statvfs(self.path)
        return (s.f_blocks - s.f_bfree) * s.f_frsize

    def put(self, name, size):
        """A program of this size."""
        path = os.path.join(self.path, name)
        # Another process writes it: a process that we fork meanwhile would have the file open for writing, too, and the program
        # could not run.
        program = load_path("burn")
        subprocess.run(["sh", "-c", 'cp "$0" "$1" && head -c "$2" /dev/zero >>"$1" && chmod 755 "$1"', program, path,
                        str(size - os.path.getsize(program))], check=True)
        return path

    def umount(self):
        return not subprocess.run(["umount", self.path], capture_output=True, check=False).returncode

    def __exit__(self, *exc):
        subprocess.run(["umount", "-l", self.path], capture_output=True, check=False)
        os.rmdir(self.path)


def has_open(run, path):
    """Whether a process of systop has a file open."""
    return any(path in opened for pid in run.family() for opened in descriptors(pid).values())


def lets_go():
    """Within 30 s a deleted program's space is free, and a mount can be unmounted after its program has ended."""
    with Tmpfs() as space, Tmpfs() as other, Run() as run:
        gone = space.put("gone", 16 << 20)
        still = other.put("still", 1 << 20)
        with Load(gone, "cpu", "60") as first, Load(still, "cpu", "60") as second:
            first.truth()
            second.truth()
            wait_for(lambda: has_open(run, gone) and has_open(run, still), 30 * SLOW, "programs are not opened")
            run.go_on()
        os.unlink(gone)
        began = time.monotonic()
        wait_for(lambda: space.used() < 1 << 20, 30 * SLOW, "the space of a deleted program is not free")
        wait_for(other.umount, 30 * SLOW, "a mount whose program has ended is busy")
        took = time.monotonic() - began
    return f"after {took:.1f} s"


def few_descriptors():
    """At the limit of descriptors names may be missing, but rows and saves are complete."""
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        for i in range(60):
            path = os.path.join(folder, f"program{i}")
            with open(load_path("spin"), "rb") as f, open(path, "wb") as g:
                g.write(f.read() + b"%d" % i)
            os.chmod(path, 0o755)
            programs.append(path)
        trace = os.path.join(folder, "trace")
        script = "for p in %s/program*; do timeout -s KILL 0.1 $p user >/dev/null; done" % folder
        command = ["prlimit", f"--nofile={140 + 7 * os.cpu_count()}", SYSTOP] # as few as it starts with
        with subprocess.Popen(["sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as load:
            rows = subprocess.run([*command, "--json", "-d", "0.5", "-n", "8"], capture_output=True, text=True,
                                  check=False)
            saved = subprocess.run([*command, "-w", trace, "--duration", "2"], capture_output=True, text=True,
                                   check=False)
            os.killpg(load.pid, signal.SIGKILL)
        assert rows.returncode == 0 and len(rows.stdout.splitlines()) == 8, (rows.returncode, rows.stderr)
        assert saved.returncode == 0 and os.path.getsize(trace) > 1000, (saved.returncode, saved.stderr)


def too_few_descriptors():
    """With too few descriptors systop reports the remedy, and leaves no process."""
    reader, writer = os.pipe()
    done = subprocess.run(["prlimit", "--nofile=64", SYSTOP, "--json", "-n", "1"], capture_output=True, text=True,
                          check=False, pass_fds=(writer,))
    os.close(writer)
    assert done.returncode and not done.stdout, (done.returncode, done.stdout[:200])
    assert "ulimit -n 1024" in done.stderr, done.stderr
    assert select.select([reader], [], [], 20)[0], "a process of it is left"
    os.close(reader)


def main():
    tap = begin()
    for what, end in (("FLUSH", signal.SIGTERM), ("OPEN", signal.SIGINT), ("READ", signal.SIGHUP),
                      ("all", signal.SIGTERM)):
        tap.case(f"a file system that does not answer {what}: {end.name}, SIGKILL", sick, end, what)
    tap.case("a file system that does not answer: q", quit_by_key)
    tap.case("a file system that does not answer: SIGINT while an output waits for names", interrupted)
    tap.together([
        ("files are let go of", lets_go),
        ("few descriptors", few_descriptors),
        ("too few descriptors", too_few_descriptors),
    ], 2)
    tap.done()


main()
