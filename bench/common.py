# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the measurements: medians with confidence intervals, programs under test, terminals."""

import ctypes
import fcntl
import json
import math
import os
import platform
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.environ.get("SYSTOP_BUILD", os.path.join(TOP, "build"))
SYSTOP = os.environ.get("SYSTOP", os.path.join(BUILD, "systop"))
WORK = os.path.join(BUILD, "bench")

# Limits. One is missed only if the whole 95 % interval is above it.
TRACEFS = "/sys/kernel/tracing"

LIMITS = {
    "pipe_ratio": 1.12,
    "pipe_multiple": 3.2,
    "messaging_multiple": 8,
    "pgbench_percent": 2.0,
    "pgbench_sample_us": 12,
    "refresh_ms_50000": 4,
    "refresh_ms_50000_all": 6,
    "own_percent_1000": 0.5,
    "key_ms_50000": 30,
    "flame_ms_20000": 20,
    "symbolise_ms_10000": 500,
    "loop_ms": 20,
    "sample_us_15": 4,
    "sample_us_65": 8,
    "table_ms_mib": 3,
    "recorder": 0.03,
    "dump_s_4m": 1,
    "dump_mib": 64,
    "dump_bytes": 12,
    "dump_bytes_other": 24,
    "dump_loop_ms": 50,
    "heatmap_ms": 5,
    "irq_pair_ns": 150,
    "irq_percent": 4,
    "exec_ns": 500,
    "startup_ms": 300,
    "bytes_80x24": 1000,
    "bytes_200x50": 2500,
}


class CannotRun(Exception):
    """A program that is missing or does not work here; its text is the reason."""


def die(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def need_root():
    if os.geteuid() != 0:
        die("needs root: tracing programs are loaded")


def note(text):
    print(text, file=sys.stderr, flush=True)


def find(program):
    """The path of a program, also outside a user's PATH; None if it is not there."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/share/bpftrace/tools"
    return shutil.which(program, path=path)


def need(program, package):
    path = find(program)
    if not path:
        raise CannotRun(f"{program} is not installed (Debian: {package})")
    return path


def need_systop():
    if not os.access(SYSTOP, os.X_OK):
        raise CannotRun(f"no {SYSTOP}: run scripts/build")
    return SYSTOP


# --- Numbers


class Tracefs:
    """Mounts the tracing file system, which the peers look for, while this is open."""

    def __enter__(self):
        self.mounted = False
        if not os.path.isdir(f"{TRACEFS}/events"):
            argv = ["mount", "-t", "tracefs", "tracefs", TRACEFS]
            self.mounted = subprocess.run(argv, capture_output=True, check=False).returncode == 0
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", TRACEFS], capture_output=True, check=False)


class Estimate:
    """The median of a list of measurements, and a 95 % interval for the true one.

    The interval's ends are order statistics, so that no distribution is assumed. With fewer than 6 values no such
    interval exists, and the whole range stands for it.
    """

    def __init__(self, values):
        self.values = sorted(values)
        n = len(self.values)
        self.median = statistics.median(self.values)
        rank, below = 0, 0.0  # below: probability that the median is under the rank-th value
        while rank < n // 2:
            below += math.comb(n, rank) / 2**n
            if 2 * below > 0.05:
                break
            rank += 1
        rank = max(rank, 1)
        self.low = self.values[rank - 1]
        self.high = self.values[n - rank]

    def text(self, digits):
        return f"{self.median:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"

    def verdict(self, limit):
        if self.low > limit:
            return "missed"
        return "kept" if self.median <= limit else "kept, by its interval"


def table(title, header, rows):
    """Prints a Markdown table, first column left, others right, columns aligned."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [header] + cells) for i in range(len(header))]

    def line(row):
        fit = [row[0].ljust(widths[0])]
        fit += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        return "| " + " | ".join(fit) + " |"

    rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    print(f"\n{title}\n")
    print(line(header))
    print("| " + " | ".join(rule) + " |")
    for row in cells:
        print(line(row))
    print(flush=True)


def machine():
    """One line about the origin of the numbers."""
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for text in f:
            if text.startswith("model name"):
                model = text.split(":", 1)[1].strip()
                break
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        guest = ", virtual machine" if " hypervisor " in f.read().replace("\n", " ") else ""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{model}, {os.cpu_count()} CPUs{guest}, {memory:.0f} GiB, Linux {platform.release()}"


# --- Kernel settings


class Settings:
    """Kernel settings raised for a measurement and restored after it."""

    def __init__(self):
        self.before = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for path, value in self.before.items():
            self._write(path, value)

    @staticmethod
    def _write(path, value):
        with open(path, "w", encoding="utf-8") as f:
            f.write(str(value))

    def write(self, name, value):
        path = "/proc/sys/" + name.replace(".", "/")
        with open(path, encoding="utf-8") as f:
            now = f.read().strip()
        if now != str(value):
            self.before.setdefault(path, now)
            self._write(path, value)

    def at_least(self, name, value):
        path = "/proc/sys/" + name.replace(".", "/")
        with open(path, encoding="utf-8") as f:
            if int(f.read()) < value:
                self.write(name, value)


def program_ids(pid):
    """The ids of the BPF programs behind the file descriptors of @pid."""
    ids = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as f:
                ids |= {int(line.split()[1]) for line in f if line.startswith("prog_id:")}
    except OSError:
        pass
    return ids


BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}
BPF_ENABLE_STATS = 32


class Statistics:
    """Switches on the kernel's run times of BPF programs while this is open. They cost ~55 ns per run."""

    def __init__(self):
        self.bpftool = need("bpftool", "bpftool")
        self.fd = -1

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        run_time = ctypes.c_uint32(0)
        number = BPF_SYSCALL.get(platform.machine(), -1)
        # The last descriptor switches them off, however this process ends.
        self.fd = libc.syscall(number, BPF_ENABLE_STATS, ctypes.byref(run_time), ctypes.sizeof(run_time))
        if self.fd < 0:
            raise CannotRun(f"statistics of BPF programs: {os.strerror(ctypes.get_errno())}")
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def read(self, program):
        """{id: (name, type, runs, ns)} of the BPF programs that @program has open and that ran."""
        own = set()
        for pid in tree(program.process.pid):
            own |= program_ids(pid)
        out = subprocess.run([self.bpftool, "-j", "prog", "show"], capture_output=True, check=True)
        return {
            p["id"]: (p.get("name", "?"), p["type"], p["run_cnt"], p["run_time_ns"])
            for p in json.loads(out.stdout)
            if "run_cnt" in p and p["id"] in own
        }

    @staticmethod
    def between(before, after):
        """{name: (type, runs, ns)} of the programs that ran between two readings."""
        result = {}
        for ident, (name, kind, runs, ns) in after.items():
            _, _, old_runs, old_ns = before.get(ident, (name, kind, 0, 0))
            if runs > old_runs:
                # The kernel truncates names: several programs can share one.
                _, same_runs, same_ns = result.get(name, (kind, 0, 0))
                result[name] = (kind, same_runs + runs - old_runs, same_ns + ns - old_ns)
        return result


# --- Programs under test


def tree(pid):
    """@pid and all its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as f:
                    parent = int(f.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry))
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        todo += children.get(one, [])
    return found


def cpu_ns(pids):
    """CPU time of the processes @pids, in all their living threads."""
    total = 0
    for pid in pids:
        try:
            for tid in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="utf-8") as f:
                    total += int(f.read().split()[0])
        except (OSError, IndexError):
            pass
    return total


def settle(pid, least=0, quiet=0.3, longest=30):
    """Waits until @pid and its children have finished their start: until they are idle, after @least s."""
    deadline = time.monotonic() + longest
    time.sleep(least)
    used = cpu_ns(tree(pid))
    while time.monotonic() < deadline:
        time.sleep(quiet)
        now = cpu_ns(tree(pid))
        if now - used < 0.03 * quiet * 1e9:
            return
        used = now


class Program:
    """A program that runs beside a load, ready on entry and gone on exit."""

    def __init__(self, argv, ready=None, env=None, least=0):
        self.argv = argv
        self.ready = ready
        self.env = env
        self.least = least
        self.process = None
        self.errors = None

    def __enter__(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if self.ready else subprocess.DEVNULL,
            stderr=self.errors,
            env=self.env,
            cwd=WORK,
            start_new_session=True,
        )
        if self.ready:
            self.process.stdout.readline()
        else:
            settle(self.process.pid, self.least)
        self.check()
        return self

    def check(self):
        if self.process.poll() is not None:
            self.errors.seek(0)
            lines = self.errors.read().decode(errors="replace").strip().splitlines()
            reason = lines[-1] if lines else f"status {self.process.returncode}"
            raise CannotRun(f"{os.path.basename(self.argv[0])}: {reason}")

    def cpu_ns(self):
        return cpu_ns(tree(self.process.pid))

    def __exit__(self, *_):
        # Killed: a peer's output at its end may take longer than the run.
        pids = tree(self.process.pid)
        if self.process.poll() is None:
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self.errors.close()


def build_empty():
    """Builds the empty programs in WORK; returns the loader's path."""
    os.makedirs(WORK, exist_ok=True)
    target = os.path.join(WORK, "empty")
    sources = [os.path.join(HERE, name) for name in ("empty.bpf.c", "empty.c")]
    if os.path.exists(target) and os.path.getmtime(target) > max(map(os.path.getmtime, sources)):
        return target
    clang = need("clang", "clang")
    bpftool = need("bpftool", "bpftool")
    compiler = need("gcc", "gcc")
    include = f"-I/usr/include/{platform.machine()}-linux-gnu"
    bpf = os.path.join(WORK, "empty.bpf.o")
    subprocess.run(
        [clang, "-target", "bpf", "-mcpu=v3", "-O2", "-g", include, "-c", sources[0], "-o", bpf],
        check=True,
    )
    with open(os.path.join(WORK, "empty.skel.h"), "wb") as f:
        subprocess.run([bpftool, "gen", "skeleton", bpf, "name", "empty_bpf"], stdout=f, check=True)
    subprocess.run(
        [compiler, "-O2", "-Wall", f"-I{WORK}", sources[1], "-o", target, "-lbpf", "-lelf", "-lz"],
        check=True,
    )
    return target


# --- Loads


class Threads:
    """tests/load/threads: that many sleeping threads, in as many processes."""

    def __init__(self, count, processes=1):
        self.count = count
        self.processes = processes
        self.settings = Settings()
        self.process = None

    def __enter__(self):
        program = os.path.join(BUILD, "tests", "load", "threads")
        if not os.access(program, os.X_OK):
            die(f"no {program}: run scripts/check, or make check TESTS= in {BUILD}")
        self.settings.at_least("kernel.pid_max", self.count + 32768)
        self.settings.at_least("kernel.threads-max", self.count + 32768)
        self.settings.at_least("vm.max_map_count", 2 * self.count + 65536)
        # It sleeps until its standard input ends, and prints how many threads it made.
        self.process = subprocess.Popen(
            [program, str(self.count), str(self.processes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        made = json.loads(self.process.stdout.readline() or '{"threads": 0}')["threads"]
        if made < self.count:
            self.__exit__()
            die(f"{program} made {made} of {self.count} threads")
        return self

    def __exit__(self, *_):
        self.process.communicate()
        self.settings.__exit__()


# --- Terminals


class Terminal:
    """A program on a pty of its own whose output is read, counted and discarded."""

    def __init__(self, argv, columns, rows, term="xterm-256color"):
        self.argv = argv
        self.size = struct.pack("HHHH", rows, columns, 0, 0)
        self.env = dict(os.environ, TERM=term, LC_ALL="C.UTF-8")
        for name in ("LINES", "COLUMNS"):
            self.env.pop(name, None)
        self.bytes = 0
        self.last = 0.0  # time.monotonic() of the last output
        self.bursts = []  # for each refresh, output without a pause of 100 ms: [bytes, cpu_ns]

    def __enter__(self):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, self.size)
            os.execvpe(self.argv[0], self.argv, self.env)
        self.pids = [self.pid]
        self.stopping = False
        self.tail = b""  # the end of its output
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def _read(self):
        while not self.stopping:
            if not select.select([self.master], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            now = time.monotonic()
            if now - self.last > 0.1:
                self.bursts.append([0, cpu_ns(self.pids)])
            self.last = now
            self.bursts[-1][0] += len(data)
            self.bytes += len(data)
            self.tail = (self.tail + data)[-65536:]

    def press(self, keys):
        """Seconds from the key to the end of its output; None: no output."""
        # Early in the pause between two refreshes: the output then is due to the key.
        count = len(self.bursts)
        while len(self.bursts) == count or time.monotonic() - self.last < 0.15:
            time.sleep(0.002)
            self.check()
        start = time.monotonic()
        os.write(self.master, keys)
        time.sleep(0.3)
        return self.last - start if self.last > start else None

    def check(self):
        if os.waitpid(self.pid, os.WNOHANG)[0]:
            self.pid = None
            raise CannotRun(f"{os.path.basename(self.argv[0])} ended")

    def measure(self, refreshes, warm_up, longest):
        """The refreshes after @warm_up refreshes, at most @refreshes, in @longest seconds.

        Returns (bytes and CPU seconds of each refresh, all bytes, wall seconds). A refresh's work precedes its
        output, so that the CPU time from one burst to the next is that of one refresh.
        """
        deadline = time.monotonic() + longest
        while len(self.bursts) < warm_up + 1 and time.monotonic() < deadline:
            time.sleep(0.05)
            self.check()
        self.pids = tree(self.pid)
        first = len(self.bursts)
        start, written = time.monotonic(), self.bytes
        while len(self.bursts) < first + refreshes + 1 and time.monotonic() < deadline:
            time.sleep(0.05)
            self.check()
        seconds, written = time.monotonic() - start, self.bytes - written
        bursts = self.bursts[first:]
        # Less than before: a helper has ended, and its time is not included any more.
        each = [(a[0], (b[1] - a[1]) / 1e9) for a, b in zip(bursts, bursts[1:]) if b[1] >= a[1]]
        if not each:
            raise CannotRun(f"{os.path.basename(self.argv[0])}: no two refreshes in {longest} s")
        return each, written, seconds

    def __exit__(self, *_):
        if self.pid:
            pids = tree(self.pid)
            os.kill(self.pid, signal.SIGTERM)
            if not self._ended(2):
                for pid in pids:
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                os.waitpid(self.pid, 0)
        self.stopping = True
        self.reader.join()
        os.close(self.master)

    def _ended(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return True
            time.sleep(0.02)
        return False
