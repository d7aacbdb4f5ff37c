# SPDX-License-Identifier: GPL-2.0-or-later
"""Large amounts of everything: cgroups, threads, forks, programs; CPUs that go offline, little memory, full maps. The
main loop never works for longer than 200 ms without a break, and losses are counted.

SYSTOP_PRESSURE=full: the sizes of a large host, for minutes. Otherwise smaller ones.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "tui"))
from harness import (GUEST, MS, SEC, SYSTOP, Cgroup, Load, Systop, begin, load_path, mount_of,  # noqa: E402
                     new_pages_ns, peak_bytes, rows_of, steal_ns, total)
from protoc import Trace  # noqa: E402
from tmux import Terminal  # noqa: E402

FULL = os.environ.get("SYSTOP_PRESSURE") == "full"
TURN_NS = 200 * MS


class Watched:
    """systop --json whose lines are read as they arrive."""

    def __init__(self, *args):
        self.stolen = steal_ns()
        self.systop = Systop(*args)
        self.lines = [self.systop.line()]
        self.peak = peak_bytes(self.systop.proc.pid)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in iter(self.systop.next, None):
            self.lines.append(line)

    def until(self, test, what, seconds=30):
        """The first line from now on that passes a test."""
        at, end = len(self.lines), time.monotonic() + seconds
        while time.monotonic() < end:
            for line in self.lines[at:]:
                at += 1
                if test(line):
                    return line
            assert self.systop.proc.poll() is None, "systop ended"
            time.sleep(0.05)
        raise AssertionError(f"not in {seconds} s: {what}; last: {self.lines[-1]['loss']}")

    def turn(self):
        """The longest turn of the main loop, without its waits for a CPU; time that the hypervisor took, for itself or for new
        pages, looks like work here."""
        work = max(line["self"]["turn_work_ns"] for line in self.lines)
        turn = max(line["self"]["turn_ns"] for line in self.lines)
        stolen, pages = steal_ns() - self.stolen, new_pages_ns(peak_bytes(self.systop.proc.pid) - self.peak)
        text = f"longest turn {turn / MS:.0f} ms, work of one {work / MS:.0f} ms"
        assert GUEST or work <= TURN_NS + stolen + pages, \
            f"{text}, {stolen / MS:.0f} ms stolen, {pages / MS:.0f} for new pages"
        return text

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.systop.proc.terminate()
        self.reader.join()
        self.systop.end()


@contextlib.contextmanager
def many_cgroups(number, each=100):
    """A tree of that many; yields directories in which others can be made."""
    top = os.path.join(mount_of("cgroup2"), f"systop-pressure-{os.getpid()}")
    folders = [os.path.join(top, f"pod{i}") for i in range(number // each)]
    os.mkdir(top)
    try:
        for folder in folders:
            os.mkdir(folder)
            for i in range(each - 1):
                os.mkdir(os.path.join(folder, f"c{i}"))
        yield folders
    finally:
        for folder, _, _ in os.walk(top, topdown=False):
            for _ in range(50):
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    time.sleep(0.05)


def short_life(folder, name):
    """A process in a cgroup of its own, seen there when it wakes up; both are gone then."""
    path = os.path.join(folder, name)
    os.mkdir(path)

    def enter():
        with open(os.path.join(path, "cgroup.procs"), "w") as f:
            f.write("0")

    subprocess.run(["sleep", "0.02"], check=True, preexec_fn=enter)
    for _ in range(100):
        try:
            os.rmdir(path)
            return
        except OSError:
            time.sleep(0.01)


def cgroup_names():
    """Cgroups that are gone before they could be looked up have names, and so has the parent."""
    with Cgroup(f"systop-names-{os.getpid()}") as cgroup, Watched("-d", "0.5") as systop:
        made = 30
        for i in range(made):
            inner = cgroup.child(f"pod{i}")
            short_life(inner, "app")
            os.rmdir(inner)
        last = f"/{cgroup.name}/pod{made - 1}/app"
        systop.until(lambda line: any(t["cgroup"] == last and t["exited"] for t in line["threads"]), last)
        met = {t["cgroup"] for line in systop.lines for t in line["threads"] if t["exited"]}
    wanted = {f"/{cgroup.name}/pod{i}/app" for i in range(made)}
    assert wanted <= met, f"{len(wanted & met)} of {made} have names; others: {[c for c in met if '?' in c][:5]}"
    paths = {c["path"] for c in systop.lines[-1]["cgroups"]}
    assert f"/{cgroup.name}/pod{made - 1}" in paths, "no row of the cgroup above"


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def screen_turn(screen):
    """The main loop's longest turn by the health page: (ms, ms of work)."""
    for _ in range(40):
        match = re.search(r"longest turn +([\d.]+) ms, in the last seconds; ([\d.]+) ms", screen.screen())
        if match:
            return float(match.group(1)), float(match.group(2))
        screen.keys("PageDown")
        time.sleep(0.2)
    raise AssertionError(f"no longest turn:\n{screen.screen()}")


def watch_screen(pressure, *args):
    """A screen's longest turn under a pressure, and its CPU time: text."""
    with Terminal(160, 50) as screen:
        pid = screen.start(*args)
        stolen, used, began = steal_ns(), cpu_s(pid), time.monotonic()
        pressure()
        used, took = cpu_s(pid) - used, time.monotonic() - began
        screen.keys("!")
        turn, work = screen_turn(screen)
        stolen = steal_ns() - stolen
    text = f"longest turn {turn:.0f} ms, work of one {work:.0f} ms, {used / took * 1000:.0f} ms of CPU a second"
    assert GUEST or work * MS <= TURN_NS + stolen, f"{text}, {stolen / MS:.0f} ms stolen"
    return text, used / took


def cgroups(number, seconds):
    """Threads that come and go in cgroups that come and go, among many that stay."""
    made = 0

    def pressure():
        nonlocal made
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            short_life(folders[made % len(folders)], f"short{made}")
            made += 1
            time.sleep(0.05)

    with many_cgroups(number) as folders:
        text, cpu = watch_screen(pressure)
    assert made >= seconds, f"only {made} short ones in {seconds} s"
    assert cpu < 0.1, f"{cpu:.2f} CPUs: {text}"
    return f"{number} cgroups, {made / seconds:.0f} a second come and go: {text}"


def forks(rate, seconds):
    """Every one of many short processes is counted."""
    name = f"systop-forks-{os.getpid()}"
    with Cgroup(name) as cgroup, Watched("-d", "0.2") as systop, \
         Load(load_path("forks"), "processes", str(rate), str(seconds), preexec=lambda: cgroup.add(os.getpid())) as load:
        truth = load.truth()
        systop.until(lambda line: any(t["exited"] and t["tid"] == truth["pid"] for t in line["threads"]),
                     "the end of the load")
        time.sleep(0.5)
        text = systop.turn()
    seen = sum(t["exited"] and t["cgroup"] == f"/{name}" for line in systop.lines for t in line["threads"]) - 1
    loss = systop.lines[-1]["loss"]
    lost = loss["no_slot"] + loss["no_storage"] + loss["unlisted"]
    assert seen <= truth["made"] <= seen + lost, f"{seen} of {truth['made']}, {lost} lost"
    return f"{seen} of {truth['made']} at {truth['made'] / truth['ns'] * SEC:.0f} a second, {lost} lost; {text}"


def programs(number):
    """Different programs, one after the other: each file is reported."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Watched("-d", "0.5") as systop:
        for i in range(number):
            path = os.path.join(folder, f"program{i}")
            shutil.copy("/bin/sleep", path)
            subprocess.run([path, "0.002"], check=True)
            os.unlink(path)
        took = time.monotonic() - began
        systop.until(lambda line: any(t["comm"] == f"program{number - 1}" for t in line["threads"]), "the last one")
        text = systop.turn()
    names = {t["comm"] for line in systop.lines for t in line["threads"] if t["exited"]}
    missing = [i for i in range(number) if f"program{i}" not in names]
    assert not missing, f"{len(missing)} are missing: {missing[:5]}"
    lost = systop.lines[-1]["loss"]["files"]
    assert not lost, f"{lost} files lost"
    return f"{number / took * 60:.0f} programs a minute, no file lost; {text}"


@contextlib.contextmanager
def restored(path):
    """Restores a setting of the whole machine, however this test ends: a process of its own does that."""
    with open(path) as f:
        before = f.read().strip()
    guard = subprocess.Popen(["sh", "-c", 'cat > /dev/null; echo "$1" > "$2"', "sh", before, path],
                             stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield int(before)
    finally:
        guard.stdin.close()
        guard.wait()


PID_MAX = "/proc/sys/kernel/pid_max"


@contextlib.contextmanager
def pid_max(number):
    """Raises the limits for that many more threads; changes nothing if there is room."""
    with restored(PID_MAX) as before:
        if before < number + 10000:
            with open(PID_MAX, "w") as f:
                f.write(str(number + 50000))
        yield


@contextlib.contextmanager
def many_threads(number, each=20000):
    """Sleeping threads in a few processes, which are returned."""
    with pid_max(number), contextlib.ExitStack() as stack:
        pids, left = [], number
        while left > 0:
            proc = subprocess.Popen([load_path("threads"), str(min(left, each))], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
            stack.callback(proc.wait)
            stack.callback(proc.stdin.close)
            made = json.loads(proc.stdout.readline())["threads"]
            assert made == min(left, each), f"{made} threads of {min(left, each)}"
            pids.append(proc.pid)
            left -= made
        yield pids


def threads(number):
    """Threads that exist at the start all have a slot."""
    def pressure():
        time.sleep(8 if FULL else 2.5)

    with many_threads(number):
        text, _ = watch_screen(pressure)
        with Watched("-d", "1") as systop:
            root = next(c for c in systop.lines[-1]["cgroups"] if c["path"] == "/")
            assert root["threads"] >= number, f"{root['threads']} of {number}"
            assert not systop.lines[-1]["loss"]["no_slot"], systop.lines[-1]["loss"]
    return f"{number} threads: {text}"


def ends_at_once(number):
    """Threads that all end in one refresh make one line, with all of them."""
    with Watched("-d", "2") as systop:
        with many_threads(number) as pids:
            systop.until(lambda line: True, "a refresh")
        seen = unlisted = 0
        for _ in range(10):
            line = systop.until(lambda line: True, "a refresh")
            seen = sum(t["exited"] and t["tgid"] in pids for line in systop.lines for t in line["threads"])
            unlisted = line["loss"]["unlisted"]
            if seen + unlisted >= number:
                break
        text = systop.turn()
    assert number <= seen + unlisted, f"{seen} of {number} threads were seen to end, {unlisted} are not listed"
    return f"{seen} threads: {text}"


def slots_full(number):
    """More threads than slots: each of their switches is counted as lost, and nothing else."""
    with Watched("-d", "1") as systop:
        before, began = systop.lines[-1]["loss"]["no_slot"], time.monotonic()
        with many_threads(number):
            systop.until(lambda line: line["loss"]["no_slot"] > before, "slots are lost")
            lines = [systop.until(lambda line: True, "a refresh") for _ in range(4)]
            took = time.monotonic() - began
            root = next(c for c in lines[-1]["cgroups"] if c["path"] == "/")
            with open("/proc/loadavg") as f:
                there = int(f.read().split("/")[1].split()[0])
            systop.systop.proc.terminate() # the threads that end make a line of 50 MB
    lost, without = lines[-1]["loss"]["no_slot"] - before, there - root["threads"]
    others = (lines[-1]["loss"]["no_slot"] - lines[1]["loss"]["no_slot"]) / 2 * took
    assert without > 0, f"{there} threads, {root['threads']} of them are known"
    # Each has been switched to once, a few again; further switches belong to others that started meanwhile.
    assert 0.98 * without <= lost <= 1.2 * without + 500 + 2 * others, \
        f"{without} threads without a slot, {lost} switches lost, of others about {others:.0f}"
    return f"{without} threads without a slot: {lost} switches counted as lost, of others about {others:.0f}"


def waits_full():
    """More alternating wakeups than can be reported: those that are reported and those that are counted as lost add up to all."""
    with Load(load_path("two_wakers"), "60", "1") as load:
        truth = load.truth()
        with Watched("-d", "0.5") as systop:
            before = systop.lines[-1]["loss"]["waits"]
            time.sleep(3)
            text = systop.turn()
    lines = systop.lines[1:]
    told = sum(w["count"] for r in rows_of(lines, truth["sleeper"]) for w in r["wakers"])
    wakeups, lost = total(lines, truth["sleeper"], "wakeups"), lines[-1]["loss"]["waits"] - before
    assert wakeups > (100 if GUEST else 10000), wakeups
    assert told <= wakeups * 1.001 + 10, f"{told} reported of {wakeups} wakeups"
    assert told + lost >= wakeups * 0.999 - 10, f"{told} reported and {lost} lost of {wakeups} wakeups"
    return f"{told} reported, {lost} lost, {wakeups} wakeups; {text}"


def hotplug():
    """A CPU that goes offline and comes back is still measured."""
    cpu = max(os.sched_getaffinity(0))
    path = f"/sys/devices/system/cpu/cpu{cpu}/online"

    def online(on):
        with open(path, "w") as f:
            f.write(on)

    with restored(path), Watched("-d", "0.2") as systop:
        for _ in range(3):
            online("0")
            systop.until(lambda line: cpu not in (c["cpu"] for c in line["cpus"] if c["run_ns"]), "nothing runs there")
            online("1")
            with Load(load_path("spin"), "30", preexec=lambda: os.sched_setaffinity(0, {cpu})):
                systop.until(lambda line: next(c for c in line["cpus"] if c["cpu"] == cpu)["run_ns"] >
                             line["interval_ns"] / 4, "something runs there")
        return systop.turn()


def limited(mib, *args, cwd=None):
    """Runs systop with this memory limit; returns (done, its maximum in MiB)."""
    controller = mount_of("cgroup", "memory")
    limit, most = (("memory.limit_in_bytes", "memory.max_usage_in_bytes") if controller else
                   ("memory.max", "memory.peak"))
    with Cgroup(f"systop-memory-{os.getpid()}-{mib}", "memory" if controller else None) as cgroup:
        cgroup.write(limit, str(mib << 20))
        done = subprocess.run([os.path.abspath(SYSTOP), *args], preexec_fn=lambda: cgroup.add(os.getpid()), capture_output=True,
                              text=True, check=False, timeout=120, cwd=cwd)
        with open(os.path.join(cgroup.path, most)) as f:
            return done, int(f.read()) >> 20


def memory_little():
    """With less memory than it needs, systop reports that and does not start."""
    done, _ = limited(64, "--json", "-d", "0.5", "-n", "2")
    assert done.returncode == 1 and not done.stdout, done
    assert done.stderr.startswith("systop: too little memory: 64 MiB\n"), done.stderr
    assert re.search(r"^  why: its cgroup's limit.*80 MiB", done.stderr, re.MULTILINE), done.stderr
    assert re.search(r"^  fix: ", done.stderr, re.MULTILINE), done.stderr


def memory_enough(mib):
    done, most = limited(mib, "--json", "-d", "0.5", "-n", "6")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 6, (done.returncode, done.stderr)
    return f"{most} of {mib} MiB"


def ring_without_memory():
    """Without memory for the rings of all CPUs, a recording does not start, and a trace of the window reports what it lacks."""
    cpus = os.sysconf("SC_NPROCESSORS_ONLN")
    if cpus == 1:
        return "one CPU has one ring"
    size = f"{cpus * 128}M"  # for all rings, of which one fits
    with tempfile.TemporaryDirectory() as folder:
        done, _ = limited(250, "-w", f"{folder}/trace", "--duration", "0.5", "--window-mem", size)
        assert done.returncode == 1 and not os.listdir(folder), (done, os.listdir(folder))
        assert done.stderr.startswith("systop: cannot record all CPUs: Cannot allocate memory\n"), done.stderr
        assert re.search(r"^  why: .*^  fix: systop --window-mem", done.stderr, re.MULTILINE | re.DOTALL), done.stderr
        done, _ = limited(251, "--json", "-d", "1", "-n", "1", "--window-mem", size, "--on", "tid>0", cwd=folder)
        said = "1 CPU was" if cpus == 2 else f"{cpus - 1} CPUs were"
        assert f"; {said} not recorded: Cannot allocate memory\n" in done.stderr, done.stderr
    return f"{cpus - 1} of {cpus} CPUs without one"


def recorded():
    """A trace of about a million events per second: the rings are copied before they wrap."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        with contextlib.ExitStack() as stack:
            for cpu in sorted(os.sched_getaffinity(0))[:2]:
                stack.enter_context(Load("taskset", "-c", str(cpu), "perf", "bench", "sched", "pipe", "-l", "100000000"))
            time.sleep(0.5)
            done = subprocess.run([SYSTOP, "-w", path, "--duration", "0.3", "--window-mem", "64M"], check=True,
                                  capture_output=True, text=True)
        trace = Trace(path)
    seconds, lost, gaps = (float(x) for x in re.search(r"([\d.]+) s, .* events, (\d+) lost, (\d+) gaps?",
                                                       done.stderr).groups())
    _, twice = trace.runs()
    events = sum(len(cpu.switches) + len(cpu.wakings) for cpu in trace.cpus.values())
    assert seconds == 0.3 and lost <= 2 and gaps <= events / 10000, done.stderr
    assert twice <= events / 10000, f"{twice} times on two CPUs at once"
    assert events > (1000 if GUEST else 50000), events  # a slow machine made 175,369 in 0.5 s
    return f"{events / seconds:.0f} a second, {lost:.0f} lost, {gaps:.0f} gaps"


def ring_that_wraps():
    """Under the highest load, with a ring so small that it wraps while it is read."""
    with tempfile.TemporaryDirectory() as folder, Load("perf", "bench", "sched", "messaging", "-l", "100000"):
        path = os.path.join(folder, "trace")
        time.sleep(0.3)
        subprocess.run([SYSTOP, "-w", path, "--duration", "2", "--window-mem", "4M"], check=True, stderr=subprocess.DEVNULL)
        trace = Trace(path)
    _, twice = trace.runs()
    switches = sum(len(cpu.switches) for cpu in trace.cpus.values())
    assert switches > (1000 if GUEST else 5000), switches  # a slow machine made 17,451 in 3 s
    assert twice <= switches / 10000, f"{twice} times on two CPUs at once"
    return f"{switches} switches, {sum(len(cpu.wakings) for cpu in trace.cpus.values())} wakings"


def main():
    tap = begin()
    tap.case("names of cgroups that come and go", cgroup_names)
    tap.case("many cgroups", cgroups, 30000 if FULL else 3000, 20 if FULL else 4)
    tap.case("a storm of forks", forks, 10000 if FULL else 300 if GUEST else 3000, 30 if FULL else 4)
    tap.case("a storm of programs", programs, 5000 if FULL else 30 if GUEST else 200)
    tap.case("many threads", threads, 100000 if FULL else 20000)
    tap.case("many threads end at once", ends_at_once, 60000 if FULL else 2000 if GUEST else 20000)
    if FULL:
        tap.case("slots full", slots_full, 80000)
    tap.case("more wakings than can be told", waits_full)
    if shutil.which("protoc"):
        tap.case("a million events a second", recorded)
        tap.case("a ring that wraps while it is read", ring_that_wraps)
    else:
        for name in ("a million events a second", "a ring that wraps while it is read"):
            tap.skip(name, "install protobuf-compiler")
    if os.access(f"/sys/devices/system/cpu/cpu{max(os.sched_getaffinity(0))}/online", os.W_OK):
        tap.case("CPU hotplug", hotplug)
    else:
        tap.skip("CPU hotplug", "no CPU can be taken away here")
    if mount_of("cgroup", "memory") or os.path.exists("/sys/fs/cgroup/memory.pressure"):
        tap.together([
            ("64 MiB are too little", memory_little),
            ("100 MiB", memory_enough, 100),
            ("128 MiB", memory_enough, 128),
        ], 2)
        tap.case("no memory for all rings", ring_without_memory)
    else:
        tap.skip("64, 100, 128 MiB, and too little for all rings", "no memory controller")
    tap.done()


main()
