# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the tests of tests/bpf: TAP, systop --json, loads, the kernel's own numbers, cgroups.

The tests run against the real kernel and real loads. SYSTOP_TEST_GUEST=1: the machine is emulated and its clock
unstable, so that durations are checked coarsely; sums and counts are checked as always.
"""

import concurrent.futures
import contextlib
import glob
import json
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SYSTOP = os.environ.get("SYSTOP", "build/systop")
LOADS = os.environ.get("SYSTOP_LOAD", "build/tests/load")
GUEST = bool(os.environ.get("SYSTOP_TEST_GUEST"))
# A folder on a disk, None: there is none.
DISK = os.environ.get("SYSTOP_TEST_DISK") if GUEST else os.getcwd()
REALTIME = "PREEMPT_RT" in os.uname().version
MS = 1_000_000
SEC = 1_000_000_000

# Marks the processes of this test among others that run beside it.
os.environ.setdefault("SYSTOP_TEST", str(os.getpid()))

# Compilers that live for some ms, two at a time, started by a shell that lives on, in the folder given as its argument.
BUILD = ("i=0; while :; do for job in 1 2; do printf 'int f%d(int x) { return x * %d; }\\n' $i $i | "
         "cc -O2 -x c -c -o $0/$job.o - & i=$((i + 1)); done; wait; done")

# The environment in which bpftool is found.
BPFTOOL = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}

# A prefix for commands: their /proc hides processes that they may not trace.
HIDEPID = ("unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', "sh")

STATES = ("run_ns", "irq_ns", "steal_ns", "runq_ns", "d_ns", "sleep_ns", "stopped_ns")


leave_process = subprocess.Popen.__exit__


def leave_or_kill(proc, kind, *exc):
    """If a failed check leaves a with statement, kills its process instead of waiting for it."""
    if kind:
        proc.kill()
    return leave_process(proc, kind, *exc)


subprocess.Popen.__exit__ = leave_or_kill
# From tests/run, to a test that hangs: everything it has started ends.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))


class Late(AssertionError):
    """The machine was too slow, so the measurement has no meaning."""


def attempt(function, *args):
    """Runs a case, and once more (twice in a guest) if the machine was too slow."""
    for _ in range(2 if GUEST else 1):
        try:
            return function(*args)
        except Late as late:
            print(f"# {late}", flush=True)
    return function(*args)


def crowded(most=3):
    """Whether more wants to run than this times the CPUs. With 3, tests would wait for CPUs most of the time; see tests/run."""
    with open("/proc/stat") as f:
        running = next(int(line.split()[1]) for line in f if line.startswith("procs_running"))
    return running > most * os.cpu_count()


def chosen():
    """Numbers of the cases that run, for scripts/check: SYSTOP_CASES="tests/bpf/waits=4,6 ..." has those that failed at
    first. None: all."""
    program = os.path.abspath(sys.argv[0])
    for test, _, numbers in (word.partition("=") for word in os.environ.get("SYSTOP_CASES", "").split()):
        if program.endswith(f"/{test}.py"):
            return set(map(int, numbers.split(",")))
    return None


class Tap:
    """Counts the cases of a test program and prints them as TAP."""

    def __init__(self):
        self.nr = self.failed = 0
        self.chosen = chosen()

    def ok(self, passed, name, detail=""):
        self.nr += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.nr} - {name}", flush=True)
        for line in str(detail).splitlines() if detail and not passed else ():
            print(f"# {line}", flush=True)

    def case(self, name, function, *args):
        """Runs a case: an exception fails this case, not all; its result is printed."""
        if self.runs(self.nr + 1):
            self.report(name, attempt, function, *args)
        else:
            self.ok(True, name)

    def runs(self, nr):
        """Whether a case runs now; if not, it has passed."""
        return self.chosen is None or nr in self.chosen

    def report(self, name, function, *args):
        try:
            note = function(*args)
            self.ok(True, name)
            if note:
                print(f"# {note}", flush=True)
        except Exception as e:  # noqa: BLE001
            self.ok(False, name, f"{type(e).__name__}: {e}")

    def together(self, cases, at_once):
        """Runs cases, (name, function, argument...) each, some at once: cases that do not depend on what runs beside
        them. A guest and a busy host have too few CPUs for it."""
        started = []
        with concurrent.futures.ThreadPoolExecutor(1 if GUEST else at_once) as pool:
            for nr, (name, *call) in enumerate(cases, self.nr + 1):
                if not self.runs(nr):
                    started.append((name, None))
                    continue
                while running := sum(bool(case) and not case.done() for _, case in started):
                    if running < at_once and not GUEST and not crowded():
                        break
                    time.sleep(0.1)
                started.append((name, pool.submit(attempt, *call)))
                time.sleep(0.1)  # its load runs by then
            for name, case in started:
                if case:
                    self.report(name, case.result)
                else:
                    self.ok(True, name)

    def skip(self, name, why):
        self.nr += 1
        print(f"ok {self.nr} - {name} # SKIP {why}", flush=True)

    def done(self):
        print(f"1..{self.nr}", flush=True)
        sys.exit(bool(self.failed))


def begin():
    """A Tap; ends the program where these tests cannot run."""
    why = None
    if os.geteuid() != 0:
        why = "not root"
    elif not os.path.exists("/sys/kernel/btf/vmlinux"):
        why = "no BTF"
    if why:
        print(f"1..0 # SKIP {why}")
        sys.exit(0)
    return Tap()


def about(value, low, high, what):
    """The value lies within [low, high]; in a guest, within that +-30 % and 100 ms."""
    if GUEST:
        low, high = low * 0.7 - 100 * MS, high * 1.3 + 100 * MS
    assert low <= value <= high, f"{what} is {value / MS:.3f} ms, not {low / MS:.1f}..{high / MS:.1f}"


def wait_for(what, seconds, why, pause=0.01):
    """Polls until what() is true, and returns that. why: the text, or a function that makes it."""
    end = time.monotonic() + seconds
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < end, f"{why() if callable(why) else why}, after {seconds} s"
        time.sleep(pause)


def load_path(name):
    return os.path.join(LOADS, name)


def root_of(folder, *programs):
    """Makes a root directory of programs and the libraries that they need."""
    for program in programs:
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in (word for word in libraries.split() if word.startswith("/")):
            target = os.path.join(folder, path.lstrip("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(path, target)
        shutil.copy(program, folder)


def yielding():
    """For a load that takes only the CPU time which others leave."""
    os.nice(19)
    if os.path.exists("/proc/self/autogroup"):
        with open("/proc/self/autogroup", "w", encoding="ascii") as f:
            f.write("19")


def step_back(pid):
    """A session has its own share of the CPUs, and one with a load gets a third of what the session gets in which systop and
    the tests run: otherwise they would wait for loads of tests that run at the same time."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w") as f:
        f.write("5")


class Load:
    """A load program, in a session of its own."""

    def __init__(self, *command, preexec=None):
        self.proc = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     text=True, preexec_fn=preexec, start_new_session=True)
        self.pid = self.proc.pid
        step_back(self.pid)

    def truth(self):
        """The JSON line it prints."""
        line = self.proc.stdout.readline()
        assert line, "the load printed nothing"
        return json.loads(line)

    def signal(self, number):
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def end(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.proc.wait()
        self.proc.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()


class Systop:
    """systop --json, line by line. It writes to a file in memory: systop drops lines if the reader of a pipe is late, and
    parsing one line can take longer than the next one waits."""

    def __init__(self, *args, command=(), program=SYSTOP):
        with tempfile.NamedTemporaryFile(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as out:
            self.out = open(out.name, "rb")
            self.proc = subprocess.Popen([program, "--json", *args, *(["--", *command] if command else [])],
                                         stdout=out, stderr=subprocess.PIPE)
        self.part = b""

    def read(self):
        """The next line as far as it has been written."""
        self.part += self.out.readline()
        text, self.part = (self.part, b"") if self.part.endswith(b"\n") else (b"", self.part)
        return text

    def skip(self):
        """Skips the lines that have been written."""
        while self.read():
            pass

    def next(self):
        """The next line, None: the end."""
        while True:
            ended = self.proc.poll() is not None
            text = self.read()
            if text:
                break
            if ended:
                return None
            time.sleep(0.005)
        line = json.loads(text)
        if line["dropped_refreshes"]:
            raise Late(f"{line['dropped_refreshes']} refreshes dropped: the machine writes too slowly")
        return line

    def line(self):
        line = self.next()
        assert line, f"systop ended: {self.proc.stderr.read().decode(errors='replace')}"
        return line

    def rest(self):
        """The lines up to the end of systop: at least one."""
        return [self.line(), *iter(self.next, None)]

    def end(self):
        if self.proc.poll() is None:
            self.proc.terminate()
        self.proc.wait()
        self.out.close()
        self.proc.stderr.close()
        return self.proc.returncode

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()


def systop_lines(*args, command=()):
    """All lines of a run that ends by itself."""
    with Systop(*args, command=command) as s:
        return s.rest()


def rows_of(lines, tid):
    """The rows of one thread, in order."""
    return [t for line in lines for t in line["threads"] if t["tid"] == tid]


def states_of(row):
    """ns of all states; if the kernel does not report stolen time, that is part of another state."""
    return sum(row[state] or 0 for state in STATES)


def had_cpu(row):
    """ns on the CPU, including what interrupts and the hypervisor took."""
    return row["run_ns"] + row["irq_ns"] + (row["steal_ns"] or 0)


def total(lines, tid, field):
    return sum(t[field] or 0 for t in rows_of(lines, tid))


def sampled(line, tgid, frequency=99):
    """The samples of a process in a line, divided by what there would be if each CPU that it ran on is sampled."""
    rows = [t for t in line["threads"] if t["tgid"] == tgid]
    return sum(t["samples"] for t in rows) / frequency / (sum(t["run_ns"] for t in rows) / SEC or 1)


def allow_events():
    """In guests: Debian's kernel.perf_event_paranoid, 3, refuses events that are opened after the start."""
    with open("/proc/sys/kernel/perf_event_paranoid", "w") as f:
        f.write("2")


def thread_numbers(pids):
    """The kernel's numbers of all threads of some processes: {tid: {...}}."""
    found = {}
    for pid in pids:
        for task in glob.glob(f"/proc/{pid}/task/*"):
            try:
                with open(f"{task}/status") as f:
                    status = dict(line.split(":", 1) for line in f if ":" in line)
                with open(f"{task}/schedstat") as f:
                    run, wait, _ = map(int, f.read().split())
            except (FileNotFoundError, ProcessLookupError):
                continue
            found[int(os.path.basename(task))] = {
                "comm": status["Name"].strip(),
                "voluntary": int(status["voluntary_ctxt_switches"]),
                "involuntary": int(status["nonvoluntary_ctxt_switches"]),
                "run_ns": run,
                "runq_ns": wait,
            }
    return found


def descendants(pid):
    """A process and everything below it."""
    pids = [pid]
    try:
        for task in glob.glob(f"/proc/{pid}/task/*/children"):
            with open(task) as f:
                for child in f.read().split():
                    pids += descendants(int(child))
    except (FileNotFoundError, ProcessLookupError):
        pass
    return pids


def name_of(pid):
    """A process's name, None: it is gone."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return None


def helper_of(pid, name):
    """The helper of this name of a systop, None: there is none."""
    return next((helper for helper in descendants(pid) if name_of(helper) == name), None)


def ended(pid):
    """Gone, or an unreaped zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def steal_ns():
    """Time the hypervisor took from this machine's CPUs, by /proc/stat."""
    with open("/proc/stat") as f:
        return int(f.readline().split()[8]) * SEC // os.sysconf("SC_CLK_TCK")


def peak_bytes(pid):
    """The most resident memory that a process ever had."""
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM"))


def new_pages_ns(size):
    """CPU time that the kernel takes for new pages of this total size. A page takes half a microsecond, but 25 under a hypervisor
    without nested paging."""
    fresh, page = mmap.mmap(-1, 8 << 20), mmap.PAGESIZE
    began = time.thread_time_ns()
    for at in range(0, len(fresh), page):
        fresh[at] = 1
    return (time.thread_time_ns() - began) * size // len(fresh)


def mount_of(kind, controller=None):
    """Where a cgroup hierarchy is mounted, None: nowhere."""
    with open("/proc/self/mountinfo") as f:
        for line in f:
            before, after = line.split(" - ")
            fs, _, options = after.split()[:3]
            if fs == kind and (not controller or controller in options.split(",")):
                return before.split()[4]
    return None


def cpu_controller():
    """Of the hierarchy with CPU limits, None: v2."""
    return "cpu" if mount_of("cgroup", "cpu") else None


class Cgroup:
    """A cgroup that is removed at the end, with those below it."""

    def __init__(self, name, controller=None):
        mount = mount_of("cgroup", controller) if controller else mount_of("cgroup2")
        assert mount, f"no cgroup hierarchy for {controller or 'v2'}"
        self.name = name
        self.shown = f"{controller}:/{name}" if controller else f"/{name}"  # as -c takes it
        self.path = os.path.join(mount, name)
        self.mount = mount
        os.mkdir(self.path)
        self.children = []

    def child(self, name):
        path = os.path.join(self.path, name)
        os.mkdir(path)
        self.children.append(path)
        return path

    @staticmethod
    def put(path, pid):
        with open(os.path.join(path, "cgroup.procs"), "w") as f:
            f.write(str(pid))

    def add(self, pid):
        self.put(self.path, pid)

    def write(self, name, text):
        with open(os.path.join(self.path, name), "w") as f:
            f.write(text)

    def remove(self):
        for path in reversed([self.path] + self.children):
            for _ in range(50):
                try:
                    os.rmdir(path)
                    break
                except FileNotFoundError:  # it is gone already
                    break
                except OSError as e:
                    why = e
                    self.empty(path)
            else:
                print(f"# {why}", flush=True)

    def empty(self, path):
        """Moves its processes to the root cgroup. Those of a threaded cgroup cannot be read."""
        with contextlib.suppress(OSError):
            with open(os.path.join(path, "cgroup.procs")) as f:
                for pid in f.read().split():
                    self.put(self.mount, pid)
        time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def limited(name):
    """A cgroup whose threads run for 20 ms of every 100 on one CPU."""
    cgroup = Cgroup(name, cpu_controller())
    try:
        if cpu_controller():
            cgroup.write("cpu.cfs_period_us", "100000")
            cgroup.write("cpu.cfs_quota_us", "20000")
        else:
            cgroup.write("../cgroup.subtree_control", "+cpu")
            cgroup.write("cpu.max", "20000 100000")
    except OSError:
        cgroup.remove()
        raise
    return cgroup


def bpf_of(pid):
    """The programs, maps and links that a process has: ("link", id)."""
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as f:
            found |= set(re.findall(r"^(prog|map|link)_id:\s*(\d+)", f.read(), re.MULTILINE))
    return found


def attached(pid, seconds=30):
    """Waits until the programs of a systop are attached."""
    wait_for(lambda: any(kind == "link" for kind, _ in bpf_of(pid)), seconds, f"{pid} has no link")


def bpf_there():
    """All programs, maps and links, of any owner."""
    there = set()
    for what in ("prog", "map", "link"):
        out = subprocess.run(["bpftool", what, "show"], capture_output=True, text=True, check=True,
                             env=BPFTOOL).stdout
        there |= {(what, i) for i in re.findall(r"^(\d+): ", out, re.MULTILINE)}
    return there


def bpf_ids():
    """Ids of all BPF programs there are."""
    done = subprocess.run(["bpftool", "prog", "show"], capture_output=True, text=True, check=True,
                          env=BPFTOOL)
    return set(re.findall(r"^(\d+): ", done.stdout, re.MULTILINE))


def held_by_others():
    """Ids of the programs that processes of other tests hold, directly or by a link."""
    held = set()
    mark = f"SYSTOP_TEST={os.environ['SYSTOP_TEST']}".encode()
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{folder}/environ", "rb") as f:
                if mark in f.read().split(b"\0"):
                    continue
            for fd in os.listdir(f"{folder}/fdinfo"):
                with open(f"{folder}/fdinfo/{fd}") as f:
                    held |= set(re.findall(r"^prog_id:\s+(\d+)", f.read(), re.MULTILINE))
        except OSError:
            continue
    return held


def map_of(pid, name):
    """The id of a systop's map."""
    ids = {int(i) for kind, i in bpf_of(pid) if kind == "map"}
    shown = subprocess.run(["bpftool", "-j", "map", "show"], capture_output=True, text=True, env=BPFTOOL, check=True)
    for one in json.loads(shown.stdout):
        if one["id"] in ids and one.get("name") == name:
            return str(one["id"])
    raise AssertionError(f"no map {name} is open in {pid}")


def cpu_slots(pid):
    """The per-CPU data of a systop's programs (bpf/slot.h), as from bpftool."""
    dump = subprocess.run(["bpftool", "-j", "map", "dump", "id", map_of(pid, "cpus")], capture_output=True, text=True,
                          env=BPFTOOL, check=True)
    return [cpu["formatted"]["value"] for cpu in json.loads(dump.stdout)]


def take_slot(systop, pid):
    """Takes the slot from the first thread of a process, as if all had been in use when it was born."""
    fd = os.pidfd_open(pid)
    subprocess.run(["bpftool", "map", "delete", "id", map_of(systop, "refs"), "key", *map(str, fd.to_bytes(4, sys.byteorder))],
                   pass_fds=[fd], env=BPFTOOL, check=True)
    os.close(fd)


def other_types(folder, name):
    """A command that runs systop with the kernel's types, in which `name` is renamed: as if it did not exist."""
    with open("/sys/kernel/btf/vmlinux", "rb") as f:
        types = f.read()
    old = b"\0" + name.encode() + b"\0"
    assert old in types, f"no {name} in the kernel's types"
    path = os.path.join(folder, "btf")
    with open(path, "wb") as f:
        f.write(types.replace(old, b"\0" + b"x" * len(name) + b"\0"))
    return ["unshare", "-m", "sh", "-c", f'mount --bind {path} /sys/kernel/btf/vmlinux && exec "$@"', "sh", SYSTOP]


def bpf_left(before, seconds=3.0):
    """The programs that remain for some seconds: not in `before`, and held by no other test."""
    end = time.monotonic() + seconds
    left = bpf_ids() - before
    looks = 0
    # A busy machine is slow, and programs of processes that are ending have no owner for a moment.
    while left and (looks < 5 or time.monotonic() < end):
        time.sleep(0.05)
        left &= bpf_ids() - held_by_others()
        looks += 1
    return left
