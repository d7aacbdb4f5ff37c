# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines: as ps shows them, whatever processes do with them."""

import contextlib
import glob
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, SYSTOP, Cgroup, Load, Systop, begin, load_path, wait_for  # noqa: E402

os.environ["LOAD_PERCENT"] = "30"  # the loads only need samples
KEPT = 4096  # bytes of a command line
INTERVAL = "1" if GUEST else "0.5"


def process_of(line, pid):
    found = [p for p in line["processes"] if p["tgid"] == pid]
    assert len(found) < 2, found
    return found[0] if found else None


def arguments_of(pid):
    """The arguments that the kernel reports, as systop shows them."""
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return shown(f.read())


def shown(raw):
    """Arguments in JSON: bytes that are unfit for a terminal as \\xNN, without empty ones at the end."""
    safe = lambda arg: "".join(c if c.isprintable() else "".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape"))
                               for c in arg.decode("utf-8", "surrogateescape"))
    return [safe(arg) for arg in raw[:KEPT].rstrip(b"\0").split(b"\0")]


def ps_says(pid):
    return subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout.strip()


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return f.read().rpartition(")")[2].split()[0]


def wait_until(systop, pid, want, lines=8):
    """The line in which the process has these arguments."""
    last = None
    for _ in range(lines):
        line = systop.line()
        last = process_of(line, pid)
        if last and last["cmdline"] == want:
            return line
    raise AssertionError(f"{last}, not {want}")


class Title:
    """tests/load/commands title: it does what each line of its input requests."""

    def __init__(self, *args):
        self.proc = subprocess.Popen([load_path("commands"), "title", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     text=True, encoding="utf-8", errors="surrogateescape")
        self.pid = json.loads(self.proc.stdout.readline())["pid"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.kill()
        self.proc.wait()
        self.proc.stdin.close()
        self.proc.stdout.close()

    def tell(self, what):
        self.proc.stdin.write(what + "\n")
        self.proc.stdin.flush()
        return json.loads(self.proc.stdout.readline())["pid"]


# --- Short-lived programs

# --- Programs that live on

@contextlib.contextmanager
def running(*command, executable=None):
    proc = subprocess.Popen(command, executable=executable, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    try:
        yield proc.pid
    finally:
        proc.kill()
        proc.wait()


SCRIPT = "import time\n# \\ \"quotes\"\nwhile True: time.sleep(0.05)"
PROGRAMS = {
    "arguments with blanks": (sys.executable, "-c", "while True: __import__('time').sleep(0.05)", "3 00", "", "a b"),
    "a script of many lines": (sys.executable, "-c", SCRIPT, "x"),
    "escape sequences": (sys.executable, "-c", SCRIPT, "\x1b[2J\x1b]0;title\x07", "\r\n\t"),
    "bytes that are no text": (sys.executable.encode(), b"-c", SCRIPT.encode(), b"\xff\xfe\x80", "\u202eevil\u200b".encode()),
    "other alphabets": (sys.executable, "-c", SCRIPT, "\u65e5\u672c\u8a9e", "e\u0301"),
    "255 bytes": (sys.executable, "-c", SCRIPT, "x" * (255 - len(sys.executable) - len(SCRIPT) - 6)),
    "257 bytes": (sys.executable, "-c", SCRIPT, "x" * (257 - len(sys.executable) - len(SCRIPT) - 6)),
    "1,000 arguments": (sys.executable, "-c", SCRIPT, *(str(i) for i in range(1000))),
    "64 KiB": (sys.executable, "-c", SCRIPT, "y" * 65536),
}


def programs(before):
    """Programs that run before systop, or start while it runs, have the arguments that the kernel reports."""
    with contextlib.ExitStack() as stack:
        start = lambda: {name: stack.enter_context(running(*command)) for name, command in PROGRAMS.items()}
        pids = start() if before else None
        systop = stack.enter_context(Systop("-d", INTERVAL, "--all"))
        if not before:
            systop.line()
            pids = start()
        for name, pid in pids.items():
            line = wait_until(systop, pid, arguments_of(pid))
            raw = open(f"/proc/{pid}/cmdline", "rb").read()
            assert process_of(line, pid)["cmdline_cut"] == (len(raw) > KEPT), name
        if not GUEST:  # which has busybox's ps
            assert " ".join(arguments_of(pids["arguments with blanks"])) == ps_says(pids["arguments with blanks"])
    return f"{len(pids)} programs"


def empty():
    """A program without arguments gets an empty one from the kernel. Python's own execve() refuses an empty list."""
    script = ("import ctypes; none = (ctypes.c_char_p * 1)(None); "
              f"ctypes.CDLL(None).execve({os.fsencode(os.path.abspath(load_path('poller')))}, none, none)")
    with running(sys.executable, "-c", script) as pid, Systop("-d", INTERVAL, "--all") as systop:
        assert process_of(wait_until(systop, pid, []), pid)["comm"] == "poller"
        for _ in range(2):
            assert not process_of(systop.line(), pid)["cmdline"]


def slashes():
    with running("///", "block", "600", executable=load_path("burn")) as pid, Systop("-d", INTERVAL, "--all") as systop:
        wait_until(systop, pid, ["///", "block", "600"])


def titles():
    """A process that writes over its arguments shows that two seconds later."""
    with Title("x" * 200) as load, Systop("-d", INTERVAL, "--all") as systop:
        wait_until(systop, load.pid, [load_path("commands"), "title", "x" * 200])
        load.tell("title nginx: worker process")
        wait_until(systop, load.pid, ["nginx: worker process"])
        load.tell("full postgres: api orders [local] COMMIT ")
        line = wait_until(systop, load.pid, arguments_of(load.pid))
        assert process_of(line, load.pid)["cmdline"][0].startswith("postgres: api orders [local] COMMIT xxx")


def names():
    """Names that threads set stay beside the command line."""
    with Title("x") as load, Systop("-d", INTERVAL, "--all") as systop:
        load.tell("thread C2 Compiler")
        line = wait_until(systop, load.pid, [load_path("commands"), "title", "x"])
        assert "C2 Compiler" in {t["comm"] for t in line["threads"] if t["tgid"] == load.pid}, line


def forked():
    """A child has its parent's arguments at once, and its own title when it sets one."""
    with Title("x" * 50) as load, Systop("-d", INTERVAL, "--all") as systop:
        wait_until(systop, load.pid, [load_path("commands"), "title", "x" * 50])
        child = load.tell("fork")
        line = next((line for line in (systop.line() for _ in range(8)) if process_of(line, child)), None)
        assert line, f"{child} is not there"
        assert process_of(line, child)["cmdline"] == process_of(line, load.pid)["cmdline"], line["processes"]
        os.kill(child, 9)


def forked_and_renamed():
    """A child that gave itself a title before anything requested its command line shows the title a second later."""
    with Title("x" * 50) as load, Systop("-d", INTERVAL) as systop:
        systop.line()
        child = load.tell("fork title a child")
        end = time.monotonic() + (5 if GUEST else 2.5)
        while time.monotonic() < end:
            line = systop.line()
        os.kill(child, signal.SIGSTOP)  # the child is in another refresh, which shows what was read before
        os.kill(child, signal.SIGCONT)
        for _ in range(6):
            line = systop.line()
            if process_of(line, child):
                break
        shown = process_of(line, child)
        os.kill(child, signal.SIGKILL)
        assert shown and shown["cmdline"] == ["a child"], shown


def hidden():
    """A process whose arguments cannot be read keeps those that it was started with."""
    with Systop("-d", INTERVAL, "--all") as systop:
        systop.line()
        with Title("x" * 50) as load:
            # The first thread of the process uses the same pages until it rests.
            wait_for(lambda: state_of(load.pid) == "S", 10, lambda: f"it is in state {state_of(load.pid)}")
            load.tell("hide")
            wait_until(systop, load.pid, [load_path("commands"), "title", "x" * 50])
            for _ in range(6):
                line = systop.line()
            found = process_of(line, load.pid)
            assert found and found["cmdline"] == [load_path("commands"), "title", "x" * 50], (found, load.proc.poll())


def workers():
    """Kernel workers show what they work on; the kernel's other threads have no command line. Those that come or go
    meanwhile may not have been read."""
    with Systop("-d", INTERVAL, "--all") as systop:
        first, _, line = (systop.line() for _ in range(3))
    stay = {t["tid"] for t in first["threads"]} & {t["tid"] for t in line["threads"] if not t["exited"]}
    comms = {t["tid"]: t["comm"] for t in line["threads"] if t["tid"] in stay}
    found = {p["tgid"]: p["cmdline"] for p in line["processes"] if comms.get(p["tgid"], "").startswith("kworker/")}
    assert found and all(found.values()), found
    assert all(len(c) == 1 and c[0].startswith(comms[pid]) for pid, c in found.items()), found
    assert process_of(line, 2)["cmdline"] is None
    return f"{len(found)} workers"


def kernel_threads():
    for path in glob.glob("/proc/[0-9]*/comm"):
        with contextlib.suppress(OSError), open(path) as f:
            yield f.read()


def new_workers():
    """Workers that the kernel makes later: mounting ext4 makes one, for a work queue of its own."""
    with tempfile.TemporaryDirectory() as d, Systop("-d", INTERVAL, "--all") as systop:
        subprocess.run(f"truncate -s 4M {d}/image && mkfs.ext4 -q {d}/image && mkdir {d}/there", shell=True, check=True)
        old = {p["tgid"] for p in systop.line()["processes"]}
        subprocess.run(["mount", "-o", "loop", f"{d}/image", f"{d}/there"], check=True)
        try:
            lines = [systop.line() for _ in range(4)]
        finally:
            subprocess.run(["umount", f"{d}/there"], check=True)
    found = {p["tgid"]: p["cmdline"] for p in lines[-1]["processes"] if p["comm"].startswith("kworker/R-ext4")}
    new = {tgid: text for tgid, text in found.items() if tgid not in old}
    assert new and all(text and text[0].startswith("kworker/R-ext4") for text in new.values()), (new, found)


def filtered():
    with running("sleep", "4711.25") as pid, Systop("-d", INTERVAL, "--all", "--filter", "cmd:sleep*4711.25") as systop:
        for _ in range(3):
            line = systop.line()
        assert [t["tid"] for t in line["threads"]] == [pid], line["threads"]
        assert [p["tgid"] for p in line["processes"]] == [pid], line["processes"]


# --- What others may see

GROUP = f"s3cretgroup-{os.getpid()}"
SECRETS = (b"s3cretname", b"s3cretfolder", b"s3cretgroup", b"s3cretargument")


@contextlib.contextmanager
def secret():
    """A program whose name, path, cgroup and argument nobody should see, in a scope that names them, too. Its command line is
    longer than what is kept."""
    folder = tempfile.mkdtemp(prefix="s3cretfolder")
    group = Cgroup(f"[{GROUP}].service")
    program = os.path.join(folder, "s3cretname")
    shutil.copy(load_path("burn"), program)
    proc = subprocess.Popen([program, "cpu", "600", "-" * 2000, "s3cretargument", "-" * 3000], stdout=subprocess.DEVNULL)
    try:
        group.add(proc.pid)
        yield proc.pid
    finally:
        proc.kill()
        proc.wait()
        group.remove()
        shutil.rmtree(folder)


def exported(*args):
    """Everything that systop writes to a file, or to its output."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        args = [path if arg == "FILE" else arg for arg in args]
        scope = () if "--" in args else ("-c", GROUP)
        out = subprocess.run([SYSTOP, "-d", "0.5", *scope, *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=True).stdout
        if os.path.exists(path):
            with open(path, "rb") as f:
                out += f.read()
    return gzip.decompress(out) if out.startswith(b"\x1f\x8b") else out


EXPORTS = {
    "-b": ("-b", "-n", "2"),
    "--json": ("--json", "--all", "-n", "2"),
    "--folded": ("--folded=cpu", "-n", "1"),
    "--pprof": ("--pprof", "FILE", "-n", "1"),
    "--openmetrics": ("--openmetrics", "-", "-n", "2"),
    "-w": ("-w", "FILE", "--duration", "1"),
}


def redacted():
    with secret():
        for name, args in EXPORTS.items():
            plain = exported(*args)
            assert any(secret in plain for secret in SECRETS), f"{name} shows nothing at all"
            hidden = exported(*args, "--redact")
            found = [secret for secret in SECRETS if secret in hidden]
            assert len(hidden) > 100 and not found, f"{name} --redact shows {found}"
    return f"{len(EXPORTS)} kinds of exports"


def arguments():
    """A trace has arguments only with --args."""
    with secret():
        record = ("-w", "FILE", "--duration", "1", "--on", "cmd:s3cretargument")
        assert b"s3cretargument" not in exported(*record)
        trace = exported(*record, "--args")
        assert b"s3cretargument" in trace and b"\x1a\x02.." in trace, "it is cut, or without a mark"
        assert f" -d 0.5 -c {GROUP} -w ".encode() in trace, "systop's own are not there"
    # The same for a command that systop itself starts.
    for args, shown in ((), False), (("--args",), True):
        trace = exported("-w", "FILE", "--duration", "1", *args, "--", "sleep", "2.0471")
        assert (b"2.0471" in trace) == shown, args


def main():
    tap = begin()
    tap.together([
        ("programs that run have theirs", programs, True),
        ("programs that start have theirs", programs, False),
        ("none at all are none", empty),
        ("only slashes are a name, too", slashes),
        ("titles are read again", titles),
        ("threads keep their names", names),
        ("a child has its parent's", forked),
        ("a child that renamed itself has its own", forked_and_renamed),
        ("what cannot be read stays what it was", hidden),
        ("kernel workers say what they work on", workers),
        ("cmd: filters by them", filtered),
    ], 3)
    if GUEST or not shutil.which("mkfs.ext4") or not any(name.startswith("kworker/R-") for name in kernel_threads()):
        tap.skip("also those that are made later", "no mkfs.ext4, or a kernel whose mounts make no such worker")
    else:
        tap.case("also those that are made later", new_workers)
    tap.case("--redact hides names, paths and arguments in all exports", redacted)
    tap.case("traces have arguments only with --args", arguments)
    tap.done()


main()
