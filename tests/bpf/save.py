# SPDX-License-Identifier: GPL-2.0-or-later
"""Destinations of traces: a file replaces only a file, and nothing is left behind.

No case needs more of the trace than that it is one; trace.py checks the contents.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import resource
import select
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import SYSTOP, begin, bpf_ids, bpf_left, descendants, name_of, wait_for  # noqa: E402

SYSTOP = os.path.abspath(SYSTOP)
WAIT = 30
FIRST = b"\n"  # a trace's first byte: field 1 of a message, length-delimited


def record(path, *args, seconds=0.2, **more):
    return subprocess.run([SYSTOP, "-w", path, "--duration", str(seconds), *args], capture_output=True, text=True,
                          check=False, timeout=120, stdin=subprocess.DEVNULL, **more)


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as name:
        yield name


@contextlib.contextmanager
def mounted(where, *options):
    subprocess.run(["mount", "-t", "tmpfs", *options, "none", where], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", where], check=True)


def loaded(systop):
    """Waits until the BPF programs of systop run."""
    return "systop-peek" in [name_of(p) for p in descendants(systop.pid)]


def partial_files(folder):
    return [f for f in os.listdir(folder) if f.startswith(".systop-")]


def is_trace(path):
    with open(path, "rb") as f:
        return f.read(1) == FIRST and os.path.getsize(path) > 1000


def refused(path, text, *command):
    """Rejected with status 2 before anything is loaded: much faster than the time that it would record."""
    before = os.lstat(path)
    began = time.monotonic()
    done = subprocess.run([SYSTOP, *(command or ("-w", path, "--duration", "60"))], capture_output=True, text=True,
                          check=False, timeout=50, stdin=subprocess.DEVNULL)
    took = time.monotonic() - began
    assert done.returncode == 2, (path, done)
    assert text in done.stderr and "  fix: " in done.stderr, done.stderr
    after = os.lstat(path)
    assert (before.st_mode, before.st_ino, before.st_mtime_ns) == (after.st_mode, after.st_ino, after.st_mtime_ns), path
    return took


# --- What it is


def null_device():
    with folder() as d:
        for path in (f"{d}/null", f"{d}/link"):
            if path.endswith("null"):
                os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            else:
                os.symlink("null", path)
            done = record(path)
            assert done.returncode == 0 and "saved" in done.stderr, done
        assert stat.S_ISCHR(os.lstat(f"{d}/null").st_mode), "it is replaced"
        assert os.path.islink(f"{d}/link"), "the link is replaced"
        assert sorted(os.listdir(d)) == ["link", "null"], os.listdir(d)
        os.mknod(f"{d}/full", 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        done = record(f"{d}/full")
        assert done.returncode == 1 and "No space left" in done.stderr, done
        with subprocess.Popen(["sleep", "2"]) as ends:
            done = record(f"{d}/full", "-p", str(ends.pid), seconds=60)
        assert done.returncode == 1 and "No space left" in done.stderr, done  # not only the exit status


def fifos():
    """Each reader has the whole trace; a reader can come late, and one that does not come blocks nothing."""
    with folder() as d:
        fifo = f"{d}/fifo"
        os.mkfifo(fifo)
        got = []

        def read():
            time.sleep(2.5)
            with open(fifo, "rb") as f:
                got.append(f.read())

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        done = record(fifo)
        reader.join(WAIT)
        assert done.returncode == 0, done
        assert got and got[0][:1] == FIRST and len(got[0]) > 1000, [len(g) for g in got]
        assert stat.S_ISFIFO(os.lstat(fifo).st_mode), "it is replaced"
        done = record(fifo)
        assert done.returncode == 1 and "this FIFO has no reader" in done.stderr, done
        with subprocess.Popen([SYSTOP, "-w", fifo, "--duration", "0.2"], stderr=subprocess.PIPE, text=True) as systop:
            # On a slow host the first signal may only end the recording.
            for _ in range(3):
                time.sleep(1.5)
                systop.send_signal(signal.SIGINT)
            began = time.monotonic()
            systop.wait(WAIT)
            took = time.monotonic() - began
        assert took < 5, f"{took:.1f} s after SIGINT"
        assert os.listdir(d) == ["fifo"], os.listdir(d)


def ends_while_saving():
    """After two signals systop does not wait for the trace that is being saved, into a FIFO that is open and not read. Meanwhile
    it does not save another one."""
    with folder() as d:
        fifo = f"{d}/fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        with subprocess.Popen([SYSTOP, "--json", "-d", "0.3", "-o", fifo], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as systop:
            wait_for(lambda: loaded(systop), WAIT, "no BPF")
            time.sleep(0.7)
            systop.send_signal(signal.SIGUSR1)
            wait_for(lambda: select.select([reader], [], [], 0)[0], WAIT, "no trace")
            systop.send_signal(signal.SIGUSR1)
            began = time.monotonic()
            while systop.poll() is None and time.monotonic() < began + WAIT:
                systop.send_signal(signal.SIGTERM)
                time.sleep(0.2)
            took = time.monotonic() - began
            systop.kill()
            said = systop.stderr.read()
        os.close(reader)
    assert systop.returncode == -signal.SIGTERM, systop.returncode
    assert took < 5, f"{took:.1f} s after the first SIGTERM"
    assert "systop: not saved: a save is already in progress\n" in said, said
    return f"{took:.1f} s"


def standard_output():
    """A link like /dev/stdout is the same as -: a pipe, or a file that is written in place. The link is the test's
    own, so that a systop that replaces it does no harm to the machine."""
    with folder() as d:
        link = f"{d}/stdout"
        os.symlink("/proc/self/fd/1", link)
        done = subprocess.run(f"{SYSTOP} -w {link} --duration 0.2 | cat >{d}/piped", shell=True,
                              capture_output=True, text=True, check=False, timeout=120)
        assert is_trace(f"{d}/piped"), done
        with open(f"{d}/file", "wb") as f:
            inode = os.fstat(f.fileno()).st_ino
            done = subprocess.run([SYSTOP, "-w", link, "--duration", "0.2"], stdout=f, stderr=subprocess.PIPE,
                                  check=False, timeout=120)
        assert done.returncode == 0 and is_trace(f"{d}/file"), done
        assert os.stat(f"{d}/file").st_ino == inode, "the file is replaced"
        assert os.path.islink(link), "the link is replaced"


def not_files():
    """A directory, a socket, a block device, and links to them: refused at once."""
    before = bpf_ids()
    with folder() as d:
        os.mkdir(f"{d}/directory")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(f"{d}/socket")
            os.mknod(f"{d}/block", 0o600 | stat.S_IFBLK, os.makedev(7, 99))
            os.symlink("block", f"{d}/link")
            refused(f"{d}/directory", "it is a directory")
            refused(f"{d}/socket", "not a file, FIFO or character device")
            refused(f"{d}/block", "not a file, FIFO or character device")
            refused(f"{d}/link", "not a file, FIFO or character device")
            refused(f"{d}/block", "not a file", "--json", "-n", "100", "-o", f"{d}/block")
            refused(f"{d}/directory", "it is a directory", "--json", "-n", "100", "-o", f"{d}/directory")
        assert sorted(os.listdir(d)) == ["block", "directory", "link", "socket"], os.listdir(d)
    assert not bpf_left(before), "BPF was loaded"


def later():
    """w: whatever is at the path of -o when the trace is saved."""
    with folder() as d:
        path = f"{d}/trace"
        with subprocess.Popen([SYSTOP, "--json", "-d", "0.3", "-o", path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as systop:
            said = []
            threading.Thread(target=lambda: said.extend(systop.stderr), daemon=True).start()
            wait_for(lambda: loaded(systop), WAIT, "no BPF")

            def save(text):
                said.clear()
                time.sleep(0.7)
                systop.send_signal(signal.SIGUSR1)
                try:
                    return wait_for(lambda: [line for line in said if text in line], WAIT, f"no {text!r}")[0]
                except AssertionError as e:
                    systop.kill()
                    raise AssertionError(f"{e}: {said}") from e

            save("saved ")
            assert is_trace(path), "not saved"
            os.unlink(path)
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            save("saved ")
            assert stat.S_ISCHR(os.lstat(path).st_mode), "a device is replaced"
            os.unlink(path)
            os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(7, 99))
            save("not a file, FIFO or character device")
            assert stat.S_ISBLK(os.lstat(path).st_mode), "a block device is replaced"
            os.unlink(path)
            with open(f"{d}/old", "w") as f:
                f.write("old")
            os.symlink("old", path)
            save("saved ")
            assert os.path.islink(path) and is_trace(f"{d}/old"), "the link is not followed"
            os.unlink(path)
            os.unlink(f"{d}/old")
            os.mkfifo(path)
            got = []
            threading.Thread(target=lambda: got.append(len(open(path, "rb").read())), daemon=True).start()
            save("saved ")
            assert wait_for(lambda: got, WAIT, "the FIFO does not end")[0] > 1000, got
            systop.terminate()
        assert os.listdir(d) == ["trace"], os.listdir(d)


def links():
    """A link that belongs to another user is not followed; a circle of the user's own is not taken for one."""
    with folder() as d:
        os.chmod(d, 0o777)
        with open(f"{d}/mine", "w") as f:
            f.write("mine")
        os.symlink("mine", f"{d}/link")
        os.lchown(f"{d}/link", 65534, 65534)
        os.mkdir(f"{d}/there")
        os.symlink("there", f"{d}/way")
        os.lchown(f"{d}/way", 65534, 65534)
        for path in (f"{d}/link", f"{d}/way/trace"):
            done = record(path)
            assert done.returncode == 1 and "a link to it belongs to another user" in done.stderr, done
        assert open(f"{d}/mine").read() == "mine" and not os.listdir(f"{d}/there"), os.listdir(f"{d}/there")
        os.symlink("circle", f"{d}/circle")
        done = record(f"{d}/circle")
        assert done.returncode == 1 and "its links lead in a circle" in done.stderr, done
        done = subprocess.run([SYSTOP, "--theme", f"{d}/circle"], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "another user" not in done.stderr and "Too many links" in done.stderr, done


# --- What goes wrong


def no_room():
    """Disk full: the size needed, and the room there is; the old file stays, and what standard output appends to."""
    with folder() as d, mounted(d, "-o", "size=16k"):
        with open(f"{d}/trace", "w") as f:
            f.write("old")
        done = record(f"{d}/trace", seconds=1.5)
        assert done.returncode == 1, done
        assert re.search(r"No space left on device \(need [\d.]+ ?\w+, [\d.]+ ?\w+ free\)", done.stderr), done.stderr
        assert "\n  fix: df -h" in done.stderr, done.stderr
        assert os.listdir(d) == ["trace"] and open(f"{d}/trace").read() == "old", os.listdir(d)
        with open(f"{d}/trace", "a") as f:
            done = subprocess.run([SYSTOP, "-w", "-", "--duration", "1.5"], stdout=f, stderr=subprocess.PIPE, text=True, check=False,
                                  timeout=120)
        assert done.returncode == 1 and "No space left on device (need " in done.stderr, done
        with open(f"{d}/trace", "rb") as f:
            assert f.read(4) == b"old" + FIRST, "what standard output appends to is gone"


def too_large():
    """ulimit -f: an ordinary error, for traces, profiles and refreshes."""
    def limit(size=20000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    with folder() as d:
        done = record(f"{d}/trace", seconds=1.5, preexec_fn=limit)
        assert done.returncode == 1 and "File too large" in done.stderr, done
        assert "ulimit -f" in done.stderr and not os.listdir(d), (done, os.listdir(d))
        for form in "--pprof", "--openmetrics":
            done = subprocess.run([SYSTOP, form, f"{d}/file", "--duration", "0.3"], preexec_fn=lambda: limit(200), capture_output=True,
                                  text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)
            assert done.returncode == 1 and "cannot write the output: File too large" in done.stderr, (form, done)
            assert "  fix: ulimit -f" in done.stderr and not os.listdir(d), (form, done, os.listdir(d))


def read_only():
    with folder() as d, mounted(d, "-o", "ro"):
        done = record(f"{d}/trace", seconds=60)
        assert done.returncode == 1 and "Read-only file system" in done.stderr, done
        assert "  fix: " in done.stderr, done.stderr


def others_file():
    """Somebody else's file in a folder like /tmp, which the helper that writes cannot replace, or FIFO, whose reader would get the
    trace, is refused before anything is recorded."""
    sudo = {**os.environ, "SUDO_UID": "3", "SUDO_GID": "3", "SUDO_USER": "sys"}
    for owner, folder_owner, env in ((1, 2, None), (0, 0, sudo)):
        with folder() as d:
            path = f"{d}/trace"
            with open(path, "w") as f:
                f.write("theirs")
            os.chown(path, owner, owner)
            os.chown(d, folder_owner, folder_owner)
            os.chmod(d, 0o1777)
            began = time.monotonic()
            done = record(path, seconds=8, env=env)
            with open(path) as f:
                assert f.read() == "theirs"
            assert time.monotonic() - began < 8, "found after the recording"
            text = f"cannot save {path}: it is another user's, or its folder takes no files\n  fix: cd "
            assert done.returncode == 1 and text in done.stderr, done
            os.unlink(path)
            os.mkfifo(path)
            os.chmod(path, 0o666)
            os.chown(path, owner or 1, owner or 1)
            reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            done = record(path, seconds=8, env=env)
            assert not os.read(reader, 1), "it is written to"
            os.close(reader)
            assert done.returncode == 1 and text in done.stderr, done


def long_refreshes():
    """A trace ends when it is asked for, not at the last refresh."""
    with folder() as d:
        with subprocess.Popen([SYSTOP, "-b", "-d", "4", "-n", "2", "--window-mem", "256M", "-o", f"{d}/trace"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as systop:
            systop.stdout.readline()
            time.sleep(1.5)
            systop.send_signal(signal.SIGUSR1)
            said = systop.communicate(timeout=100)[1]
        seconds = float(re.search(r"saved .*, ([0-9.]+) s,", said)[1])
        assert is_trace(f"{d}/trace") and 4.5 < seconds < 15, said
    return f"{seconds} s"


def no_new_files():
    """A file system in which no file can be made, whatever the mode of the folder, is refused before anything is recorded."""
    began = time.monotonic()
    for path in ("/proc/trace", "/sys/trace"):
        done = record(path, seconds=60)
        assert done.returncode == 1 and f"cannot save {path}: " in done.stderr and "  fix: cd " in done.stderr, done
    took = time.monotonic() - began
    assert took < 30, f"refused after {took:.1f} s"
    return f"{took:.2f} s"


def removed():
    """The directory is removed while it records."""
    with folder() as d:
        gone = f"{d}/gone"
        os.mkdir(gone)
        with subprocess.Popen([SYSTOP, "-w", "trace", "--duration", "3"], cwd=gone, stderr=subprocess.PIPE,
                              text=True) as systop:
            wait_for(lambda: loaded(systop), WAIT, "no BPF")
            os.rmdir(gone)
            said = systop.stderr.read()
        assert systop.returncode == 1 and "No such file" in said and "  fix: " in said, (systop.returncode, said)


def hostile_names():
    """A path cannot control a terminal, wherever it is printed."""
    with folder() as d:
        name = "\x1b[2Jred\ntwo\u202e\u00ad"
        done = record(f"{d}/{name}/trace")
        assert done.returncode == 1 and "\x1b" not in done.stderr and "\u202e" not in done.stderr, done
        done = record(f"{d}/{name}")
        assert "\\x1b[2Jred\\x0atwo" in done.stderr, done.stderr
        assert done.returncode == 0 and "\x1b" not in done.stderr and "\u00ad" not in done.stderr, done
        assert "saved " in done.stderr and os.listdir(d) == [name], (done, os.listdir(d))


# --- File systems without O_TMPFILE


class Argument(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def refuse(call, err, flag=None):
    """For a child: this system call fails, if its third argument has the flag."""
    lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    lib.seccomp_init.restype = ctypes.c_void_p
    lib.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
    lib.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint,
                                           ctypes.POINTER(Argument)]
    lib.seccomp_load.argtypes = [ctypes.c_void_p]
    masked, no_new_privs = 7, 3  # SCMP_CMP_MASKED_EQ, SCMP_FLTATR_CTL_NNP
    ctx = lib.seccomp_init(0x7FFF0000)  # SCMP_ACT_ALLOW
    lib.seccomp_attr_set(ctx, no_new_privs, 0)
    number = lib.seccomp_syscall_resolve_name(call)
    argument = Argument(2, masked, flag or 0, flag or 0)
    if lib.seccomp_rule_add_array(ctx, 0x00050000 | err, number, int(flag is not None), ctypes.byref(argument)) or \
            lib.seccomp_load(ctx):
        os._exit(99)


def without_tmpfile():
    """Runs as on a file system without unnamed files, by seccomp: such a file system cannot be mounted everywhere."""
    refuse(b"openat", errno.EOPNOTSUPP, os.O_TMPFILE)


def without_clone3():
    """clone3() fails, as in some containers."""
    refuse(b"clone3", errno.ENOSYS)


def in_a_container():
    with folder() as d:
        done = record(f"{d}/trace", preexec_fn=without_clone3)
        assert done.returncode == 0 and is_trace(f"{d}/trace"), done


def child_named(pid, name):
    for p in descendants(pid):
        if name_of(p) == name:
            return p
    return None


def kill_one(whom, d):
    """Kills systop while there is a partial file; returns what is left in the end."""
    path = f"{d}/trace"
    with subprocess.Popen([SYSTOP, "-w", path, "--duration", "0.5"], stderr=subprocess.PIPE, text=True,
                          preexec_fn=without_tmpfile) as systop:
        partial = wait_for(lambda: partial_files(d) or (systop.poll() is not None and ["it ended"]), WAIT, "no partial file")
        assert partial != ["it ended"], systop.stderr.read()
        writer = child_named(systop.pid, "systop-write")
        victim = {"main": systop.pid, "starter": child_named(systop.pid, "systop-starter"), "writer": writer}[whom]
        assert victim, f"no {whom}"
        os.kill(victim, signal.SIGKILL)
        systop.wait(WAIT)
        said = systop.stderr.read()
    wait_for(lambda: not partial_files(d), WAIT, lambda: f"{os.listdir(d)} after {whom}")
    left = os.listdir(d)
    assert left in ([], ["trace"]), left
    assert not left or is_trace(path), "it is cut"
    return f"{whom}: status {systop.returncode}, {'a whole file' if left else 'no file'}, {said.strip()[:80]}"


def killed():
    notes = []
    for whom in ("writer", "main", "starter"):
        with folder() as d:
            notes.append(kill_one(whom, d))
    return "; ".join(notes)


def whole_without_tmpfile():
    """The file appears when it is complete, over an old one, and leftovers of others do not matter."""
    with folder() as d:
        with open(f"{d}/trace", "w") as f:
            f.write("old")
        stale = {f".systop-{pid}.pb" for pid in range(2, 32768)}
        for name in stale:
            os.symlink("/nowhere", f"{d}/{name}")
        done = record(f"{d}/trace", preexec_fn=without_tmpfile)
        assert done.returncode == 0 and is_trace(f"{d}/trace"), done
        assert os.stat(f"{d}/trace").st_mode & 0o777 == 0o600, oct(os.stat(f"{d}/trace").st_mode)
        left = set(os.listdir(d)) - stale
        assert left == {"trace"}, left


def without_events():
    """Where perf events cannot be opened, a profile without samples is not one of an idle host: systop says so at the start."""
    done = subprocess.run([SYSTOP, "--folded=cpu", "-n", "1", "-d", "0.2"], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, preexec_fn=lambda: refuse(b"perf_event_open", errno.EACCES))
    assert done.returncode == 0 and not done.stdout, done
    assert "no samples: perf events cannot be opened: Permission denied; see systop --check" in done.stderr, done.stderr


def without_helpers():
    """Where no process can be started nothing has a name, and systop says why at the start."""
    done = subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.2"], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, preexec_fn=lambda: refuse(b"clone", errno.EAGAIN))
    assert done.returncode == 0 and "COMM" in done.stdout, done
    assert "no names and command lines" in done.stderr and os.strerror(errno.EAGAIN) in done.stderr, done.stderr


def without_bpf():
    """The capabilities are there, as --check finds, but the system call is forbidden: systop names the reason."""
    done = subprocess.run([SYSTOP, "-b", "-n", "1"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          preexec_fn=lambda: refuse(b"bpf", errno.EPERM))
    assert done.returncode == 4 and "refuses bpf()" in done.stderr and "a seccomp filter" in done.stderr, done


def without_poll():
    """poll() is forbidden: what can be written is, and if the reader of the rest is late, systop ends with a message."""
    def start(number, out):
        return subprocess.Popen([SYSTOP, "--json", "--all", "-n", str(number), "-d", "0.2"], stdout=out, stderr=subprocess.PIPE,
                                text=True, stdin=subprocess.DEVNULL, preexec_fn=lambda: refuse(b"poll", errno.EPERM))

    with start(2, subprocess.PIPE) as proc:
        try:
            out, err = proc.communicate(timeout=60)
        finally:
            proc.kill()
        assert proc.returncode == 0 and len(out.splitlines()) == 2, (proc.returncode, err)
    mine, its = os.pipe()
    fcntl.fcntl(its, fcntl.F_SETPIPE_SZ, 4096)
    with start(1, its) as proc:
        try:
            assert proc.wait(60) == 1, proc.returncode
        finally:
            proc.kill()
        assert "cannot wait for events: " + os.strerror(errno.EPERM) in (err := proc.stderr.read()), err
    os.close(mine)
    os.close(its)


def with_privileges():
    """A system call that gives up privileges is forbidden: systop does not run with them, and names the reason."""
    done = subprocess.run([SYSTOP, "-b", "-n", "1"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          preexec_fn=lambda: refuse(b"setgroups", errno.EPERM))
    assert done.returncode == 4 and not done.stdout and "cannot give up privileges" in done.stderr, done
    assert "\n  why: a seccomp filter " in done.stderr and "\n  fix: start it as root " in done.stderr, done


def names_taken(preexec):
    """systop makes a name that does not exist yet, as another systop can save in the same second."""
    with folder() as d:
        now = time.time()
        taken = [time.strftime(f"systop-{os.uname().nodename}-%Y%m%dT%H%M%SZ.pb", time.gmtime(now + i)) for i in range(WAIT)]
        for name in taken:
            with open(f"{d}/{name}", "w") as f:
                f.write("another's")
        for number in 2, 3:
            done = subprocess.run([SYSTOP, "-b", "-d", "0.2", "-n", "3", "--on", "tid>0", "-o", f"{d}/x"], capture_output=True,
                                  text=True, check=False, timeout=120, preexec_fn=preexec)
            new = set(os.listdir(d)) - set(taken)
            assert len(new) == number - 1 and all(is_trace(f"{d}/{name}") for name in new), (new, done)
            assert any(f"saved {d}/{name}: " in done.stderr for name in new), done
        assert all(name[:-5] + ".pb" in taken and name[-5:-3] in ("-2", "-3") for name in new), new
        for name in taken:
            with open(f"{d}/{name}") as f:
                assert f.read() == "another's", name


def beside():
    """Files of --on are beside that of the recording, wherever systop was started."""
    for option in "-o", "-w":
        with folder() as d, folder() as elsewhere:
            done = subprocess.run([os.path.abspath(SYSTOP), option, f"{d}/trace", "--duration", "1", "-d", "0.3", "--on",
                                   "tid>0"], capture_output=True, text=True, check=False, timeout=120, cwd=elsewhere)
            files = sorted(os.listdir(d))
            assert not done.returncode and len(files) == 2 and files[0].startswith("systop-") and files[1] == "trace", (files, done)
            assert all(is_trace(f"{d}/{name}") for name in files) and not os.listdir(elsewhere), os.listdir(elsewhere)


def both_at_once():
    """Another save continues when the recording ends, and both files are there."""
    with folder() as d:
        path = f"{d}/trace"
        with subprocess.Popen([SYSTOP, "-w", path, "--duration", "2", "-d", "0.5"], stdout=subprocess.DEVNULL, cwd=d,
                              stderr=subprocess.PIPE, text=True) as systop:
            wait_for(lambda: loaded(systop), WAIT, "no BPF")
            while systop.poll() is None:
                systop.send_signal(signal.SIGUSR1)
                time.sleep(0.05)
            said = systop.stderr.read()
        assert systop.returncode == 0 and is_trace(path), said
        others = set(os.listdir(d)) - {"trace"}
        assert others and all(is_trace(f"{d}/{name}") for name in others), said
        assert said.count("saved ") == len(others) + 1 and "cannot" not in said, said


def main():
    tap = begin()
    tap.case("a directory, a socket, a block device", not_files)  # it looks at all BPF programs of the host
    # Threads of this program must not hold locks while a child of it prepares a filter of system calls.
    tap.case("in a container that refuses clone3()", in_a_container)
    tap.case("no O_TMPFILE: whoever is killed", killed)
    tap.case("no O_TMPFILE: whole files only", whole_without_tmpfile)
    tap.case("no O_TMPFILE: names that are taken", names_taken, without_tmpfile)
    tap.together([
        ("FIFOs are written to", fifos),  # it takes the longest
        ("a trace between two refreshes", long_refreshes),
        ("what is at the path of -o later", later),
        ("a null device stays one", null_device),
        ("SIGTERM while a trace is being saved", ends_while_saving),
        ("/dev/stdout is standard output", standard_output),
        ("another save at the end of a recording", both_at_once),
        ("files of --on during a recording", beside),
        ("names that are taken", names_taken, None),
        ("links of somebody else", links),
        ("no room", no_room),
        ("ulimit -f", too_large),
        ("a read-only file system", read_only),
        ("a file system without new files", no_new_files),
        ("somebody else's file in a sticky folder", others_file),
        ("the directory is removed", removed),
        ("hostile names", hostile_names),
        ("no perf events", without_events),
        ("no helpers", without_helpers),
        ("bpf() is forbidden", without_bpf),
        ("privileges cannot be given up", with_privileges),
        ("poll() is forbidden", without_poll),
    ], 3)
    tap.done()


main()
