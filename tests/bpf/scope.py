# SPDX-License-Identifier: GPL-2.0-or-later
"""-c, -p, -t, -u and -- CMD: what is in scope, and what is not, now and later."""

import contextlib
import itertools
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (GUEST, MS, SYSTOP, Cgroup, Late, Load, Systop, about, begin, descendants, load_path,  # noqa: E402
                     mount_of, name_of, rows_of, states_of, systop_lines, take_slot, wait_for)

WAIT = 1.0 if GUEST else 0.3
INTERVAL = "1" if GUEST else "0.5"
SCOPE_MAX = 4096  # cgroups in scope, see scope.bpf.h


NUMBERS = itertools.count(10)
os.environ["LOAD_PERCENT"] = "10"  # scope does not depend on what they do


def own(name):
    """The name of a case's own cgroup. The number comes first, so that no part or pattern of the name matches another case's."""
    return name.format(f"{next(NUMBERS)}-{os.getpid()}")


def tids(line):
    return {t["tid"] for t in line["threads"] if not t["exited"]}


def spinner():
    load = Load(load_path("spin"), "user", "60")
    load.truth()
    return load


def selects(spec, name="systop-scope-{}", controller=None):
    """Each spec selects the contents of the cgroup, and not its neighbour."""
    with Cgroup(own(name), controller) as cgroup, spinner() as ours, \
            spinner() as neighbour:
        cgroup.add(ours.pid)
        for line in systop_lines("-c", spec(cgroup), "-d", INTERVAL, "-n", "2"):
            assert tids(line) == {ours.pid}, (tids(line), ours.pid, neighbour.pid)


def children():
    """A cgroup created after the start below the requested one is in scope."""
    with Cgroup(own("systop-scope-{}")) as cgroup, spinner() as ours, spinner() as other:
        with Systop("--all", "-c", f"/{cgroup.name}", "-d", INTERVAL) as systop:
            assert not (seen := tids(systop.line())), seen
            cgroup.put(cgroup.child("later"), ours.pid)
            systop.line()
            line = systop.line()
            assert tids(line) == {ours.pid}, (tids(line), other.pid)
            assert line["threads"][0]["cgroup"] == f"/{cgroup.name}/later", line["threads"]
            row = next(c for c in line["cgroups"] if c["path"] == f"/{cgroup.name}")
            assert row["threads"] == 1 and row["own"]["threads"] == 0, row


def others():
    """A cgroup out of scope has no numbers, unless one of its threads is in scope; JSON and OpenMetrics leave it out."""
    with Cgroup(own("systop-scope-{}")) as cgroup, Cgroup(own("systop-other-{}")) as other, spinner() as ours, \
            spinner() as neighbour:
        cgroup.add(ours.pid)
        other.add(neighbour.pid)
        cgroup.child("empty")
        args = ("-c", f"/{cgroup.name}", "-d", INTERVAL, "-n", "2")
        for line in systop_lines(*args):
            seen = {c["path"] for c in line["cgroups"]}
            assert seen == {"/", f"/{cgroup.name}", f"/{cgroup.name}/empty"}, seen
        for line in systop_lines(*args, "-p", str(ours.pid)):
            seen = {c["path"] for c in line["cgroups"]}
            assert seen == {"/", f"/{cgroup.name}"}, seen
        done = subprocess.run([SYSTOP, "--openmetrics=-", *args], capture_output=True, text=True, check=True)
        assert f'cgroup="/{cgroup.name}"' in done.stdout and other.name not in done.stdout, done.stdout


def moves():
    """A thread is moved in, out, and in again."""
    with Cgroup(own("systop-scope-{}")) as cgroup, spinner() as ours:
        with Systop("-c", f"/{cgroup.name}", "-d", INTERVAL) as systop:
            for inside in (False, True, False, True):
                if inside:
                    cgroup.add(ours.pid)
                else:
                    cgroup.put(cgroup.mount, ours.pid)
                systop.line()
                line = systop.line()
                assert tids(line) == ({ours.pid} if inside else set()), (inside, tids(line))


# A program with two threads that sleep all the time.
SLEEPERS = ("import threading,time\nt = threading.Thread(target=time.sleep, args=(100,))\nt.start()\n"
            "print('{\"tids\": [%d, %d]}' % (threading.get_native_id(), t.native_id), flush=True)\ntime.sleep(100)")


def sleepers():
    load = Load(sys.executable, "-c", SLEEPERS)
    return load, load.truth()["tids"]


def cgroups_of(line, tid):
    return {t["cgroup"] for t in line["threads"] if t["tid"] == tid}


def arrives(systop, cgroup, tids):
    """The first line that has threads in a cgroup, and the previous one; two refreshes are allowed for that."""
    last = None
    for _ in range(3):
        line = systop.line()
        if all(cgroup in cgroups_of(line, tid) for tid in tids):
            return line, last
        last = line
    raise AssertionError(f"not in {cgroup} after 3 s: {[(tid, cgroups_of(line, tid)) for tid in tids]}")


def check_split(line, tid, places, began, moved):
    """In the refresh of its move a thread has a row in each of the two cgroups, with its part of the time. @moved: bounds for the
    time of the move: the kernel waits for a grace period of RCU first, 0.4 s on a busy machine."""
    rows = {t["cgroup"]: t for t in line["threads"] if t["tid"] == tid}
    assert set(rows) == set(places), (tid, list(rows), places)
    for row in rows.values():
        assert not row["exited"] and states_of(row) == row["alive_ns"], row
    parts = [rows[place]["alive_ns"] for place in places]
    assert abs(sum(parts) - line["interval_ns"]) <= (200 if GUEST else 20) * MS, (parts, line["interval_ns"])
    slack = (500 if GUEST else 50) * MS
    assert moved[0] - began - slack <= parts[0] <= moved[1] - began + slack, (parts, [at - began for at in moved])
    return f"{parts[0] / MS:.0f} and {parts[1] / MS:.0f} ms"


def moved_asleep(controller, one_thread):
    """Sleeping threads, and one that always has a CPU, are in the new cgroup within two refreshes."""
    name = f"systop-moved-{os.getpid()}"
    load, tids = sleepers()
    # Where only the v1 hierarchy had cgroups, systop would show that one.
    with Cgroup(f"{name}-v2"), Cgroup(name, controller) as cgroup, load, spinner() as busy:
        places = [cgroup.child("from"), cgroup.child("to")]
        file = "cgroup.procs"
        if one_thread:
            file = "tasks" if controller else "cgroup.threads"
            cgroup.add(load.pid)
            for place in () if controller else places:
                with open(os.path.join(place, "cgroup.type"), "w") as f:
                    f.write("threaded")
            moving = [tids[1]]
        else:
            moving = [*tids, busy.pid]

        def move(place):
            for pid in [tids[1]] if one_thread else [load.pid, busy.pid]:
                with open(os.path.join(place, file), "w") as f:
                    f.write(str(pid))

        move(places[0])
        key = "cpu_cgroup" if controller else "cgroup"
        paths = [f"{controller}:/{name}/{sub}" if controller else f"/{name}/{sub}" for sub in ("from", "to")]
        # If the limits have another hierarchy than the shown one, the scope does not change.
        scope = ["-p", f"{load.pid},{busy.pid}"] if controller else ["-c", f"/{name}"]
        with Systop("--all", "-d", "1", *scope) as systop:
            line = systop.line()
            line = systop.line()
            time.sleep(0.4)
            moved = [time.clock_gettime_ns(time.CLOCK_BOOTTIME)]
            move(places[1])
            moved.append(time.clock_gettime_ns(time.CLOCK_BOOTTIME))
            lines = [line, systop.line()]
            while lines[-2]["boottime_ns"] < moved[1]:
                lines.append(systop.line())
        for line in lines:
            for thread in line["threads"]:
                thread["cgroup"] = thread[key]
        text = []
        for tid in moving:
            began, line = next(((a["boottime_ns"], b) for a, b in itertools.pairwise(lines)
                                if paths[1] in cgroups_of(b, tid)), (0, lines[-1]))
            text.append(check_split(line, tid, paths, began, moved))
            assert cgroups_of(lines[-1], tid) == {paths[1]}, (tid, cgroups_of(lines[-1], tid))
        for tid in set(tids) - set(moving):
            assert paths[1] not in cgroups_of(lines[-1], tid), (tid, moving, cgroups_of(lines[-1], tid))
    return ", ".join(text)


def moved_twice():
    """A thread that is moved twice in a refresh has a row in all three cgroups, with the time that it was there."""
    with Cgroup(own("systop-twice-{}")) as cgroup, spinner() as ours:
        places = [cgroup.child(name) for name in "abc"]
        at = []

        def move(place):
            with open(os.path.join(place, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write(str(ours.pid))
            at.append(time.clock_gettime_ns(time.CLOCK_BOOTTIME))

        move(places[0])
        with Systop("-c", f"/{cgroup.name}", "-d", "4") as systop:
            began = systop.line()["boottime_ns"]
            for place in places[1:]:
                time.sleep(1)
                move(place)
            line = systop.line()
    if at[-1] > line["boottime_ns"]:
        raise Late(f"moved {at[-1] - line['boottime_ns']} ns after the refresh")
    rows = {t["cgroup"]: t for t in line["threads"] if t["tid"] == ours.pid}
    assert set(rows) == {f"/{cgroup.name}/{name}" for name in "abc"}, rows
    bounds = [began, *at[1:], line["boottime_ns"]]
    for (place, row), (since, until) in zip(sorted(rows.items()), itertools.pairwise(bounds)):
        about(row["alive_ns"], until - since - 500 * MS, until - since + 500 * MS, f"the time in {place}")
    for (_, before), (place, row) in itertools.pairwise(sorted(rows.items())):
        ran = row["cpu_time_ns"] - before["cpu_time_ns"]
        about(ran, row["run_ns"] * 0.8 - 50 * MS, row["run_ns"] * 1.2 + 50 * MS, f"the CPU time added in {place}")


def moved_before_waking():
    """What a thread does after its move counts in the new cgroup, also if it wakes up before systop looks for moved threads."""
    with Cgroup(own("systop-wakes-{}")) as cgroup:
        old, new = (cgroup.child(name) for name in ("old", "new"))
        there = 0
        with Systop("-c", f"/{cgroup.name}", "-d", "0.5") as systop:
            lines = [systop.line()]
            for _ in range(6):
                with subprocess.Popen(["sleep", "0.1"], preexec_fn=lambda: Cgroup.put(old, 0)) as sleeper:
                    time.sleep(0.01)
                    Cgroup.put(new, sleeper.pid)
                    there -= (moved := time.clock_gettime_ns(time.CLOCK_BOOTTIME))
                    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
                    there += (ended := time.clock_gettime_ns(time.CLOCK_BOOTTIME))
            while lines[-1]["boottime_ns"] < ended:
                lines.append(systop.line())
    if there < 300 * MS:
        raise Late(f"the last one was moved {(ended - moved) / MS:.0f} ms before its end")
    rows = [t for line in lines for t in line["threads"] if t["cgroup"] == f"/{cgroup.name}/new"]
    about(sum(t["alive_ns"] for t in rows), 0.9 * there, 1.1 * there + 100 * MS, "the time in the new cgroup")


def asleep_in_and_out():
    """Sleeping threads come into scope and leave it with their cgroup; their earlier time is not shown."""
    load, sleeping = sleepers()
    with Cgroup(own("systop-scope-{}")) as cgroup, load:
        with Systop("--all", "-c", f"/{cgroup.name}", "-d", "1") as systop:
            assert not tids(systop.line())
            cgroup.add(load.pid)
            line, _ = arrives(systop, f"/{cgroup.name}", sleeping)
            for tid in sleeping:
                alive = [t["alive_ns"] for t in line["threads"] if t["tid"] == tid]
                assert len(alive) == 1 and alive[0] < line["interval_ns"], (alive, line["interval_ns"])
            cgroup.put(cgroup.mount, load.pid)
            systop.line()
            assert not (seen := tids(systop.line())), seen


def late(systop, cgroup, pid):
    """The first line in which a sleeping process has a new slot, and its rows: the old slot, which was taken away, stays, too."""
    take_slot(systop.proc.pid, pid)
    cgroup.add(pid)
    for _ in range(4):
        line = systop.line()
        rows = rows_of([line], pid)
        if len(rows) == 2:
            return line, rows
    raise AssertionError(f"no other slot: {rows}")


def late_slot():
    """A sleeping thread that gets a slot late is shown from then on."""
    with Cgroup(own("systop-scope-{}")) as cgroup, Load("sleep", "60") as ours, Systop("--all", "-d", "0.5") as systop:
        for _ in range(4):
            assert len(rows_of([systop.line()], ours.pid)) == 1
        line, rows = late(systop, cgroup, ours.pid)
        assert all(row["alive_ns"] <= line["interval_ns"] and not row["minor_faults"] for row in rows), rows


def many_moves():
    """More processes at once than are checked one by one."""
    with Cgroup(own("systop-scope-{}")) as cgroup, contextlib.ExitStack() as stack:
        loads = [stack.enter_context(Load("sleep", "60")) for _ in range(100)]
        with Systop("--all", "-c", f"/{cgroup.name}", "-d", "1") as systop:
            systop.line()
            for load in loads:
                cgroup.add(load.pid)
            arrives(systop, f"/{cgroup.name}", [load.pid for load in loads])


def glob_later():
    """A cgroup that a glob matches only later."""
    name = f"systop-glob-{os.getpid()}"
    with Cgroup(f"{name}-a") as first, spinner() as ours, Load("sleep", "60") as sleeper:
        first.add(ours.pid)
        with Systop("--all", "-c", f"{name}-?", "-d", INTERVAL) as systop:
            assert (seen := tids(systop.line())) == {ours.pid}, seen
            with Cgroup(f"{name}-b") as second:
                second.add(sleeper.pid)
                systop.line()
                systop.line()
                assert (seen := tids(systop.line())) == {ours.pid, sleeper.pid}, seen
                second.put(second.mount, sleeper.pid)


def glob_stays():
    """A glob stays in the hierarchy that it first matched in, though an earlier one has a match later."""
    name = f"systop-stay-{os.getpid()}"
    with Cgroup(f"{name}-a", "cpu") as first, spinner() as ours, spinner() as neighbour:
        first.add(ours.pid)
        with Systop("--all", "-c", f"{name}-?", "-d", INTERVAL) as systop:
            assert (seen := tids(systop.line())) == {ours.pid}, seen
            with Cgroup(f"{name}-b") as second, Cgroup(f"{name}-c", "cpu") as third:
                second.add(ours.pid)
                third.add(neighbour.pid)
                systop.line()
                systop.line()
                assert (seen := tids(systop.line())) == {ours.pid, neighbour.pid}, seen


def blkio():
    """The kernel calls this controller io."""
    with Cgroup(f"systop-blkio-{os.getpid()}", "blkio") as cgroup, spinner() as ours:
        cgroup.add(ours.pid)
        with Systop("--all", "-c", f"blkio:/{cgroup.name}", "-d", INTERVAL) as systop:
            assert (seen := tids(systop.line())) == {ours.pid}, seen


def many_hierarchies():
    """The BPF programs look at four hierarchies."""
    controllers = [c for c in ("cpu", "memory", "pids", "freezer", "devices", "blkio") if mount_of("cgroup", c)]
    distinct = {mount_of("cgroup", c): c for c in controllers}
    args = [arg for c in distinct.values() for arg in ("-c", f"{c}:/")]
    done = subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.2", *args], capture_output=True, text=True, check=False)
    if len(distinct) <= 4:
        assert done.returncode == 0, done
    else:
        assert done.returncode == 2 and "more than 4 hierarchies" in done.stderr and "  fix: " in done.stderr, done
    return f"{len(distinct)} hierarchies: status {done.returncode}"


def no_room():
    """More cgroups that a glob matches later than there is room for: those are counted as lost."""
    with Cgroup(f"systop-many-{os.getpid()}") as above, spinner() as ours:
        above.put(above.child("first"), ours.pid)
        with Systop("--all", "-c", f"/{above.name}/*", "-d", INTERVAL) as systop:
            line = systop.line()
            assert tids(line) == {ours.pid} and not line["loss"]["scope"], (tids(line), line["loss"])
            for number in range(SCOPE_MAX + 1):
                above.child(str(number))
            end = time.monotonic() + 10
            while line["loss"]["scope"] < 2 and time.monotonic() < end:
                line = systop.line()
            assert line["loss"]["scope"] == 2, line["loss"]


def made_again(controller):
    """A service that restarts: its cgroup is removed, and made again."""
    name = f"systop-again-{controller}-{os.getpid()}"
    spec = f"{controller}:/{name}" if controller else f"/{name}"
    with Cgroup(name, controller) as cgroup, Load("sleep", "60") as first, Load("sleep", "60") as second:
        cgroup.add(first.pid)
        with Systop("--all", "-c", spec, "-d", INTERVAL) as systop:
            assert (seen := tids(systop.line())) == {first.pid}, seen
            cgroup.put(cgroup.mount, first.pid)
            os.rmdir(cgroup.path)
            systop.line()
            systop.line()
            os.mkdir(cgroup.path)
            cgroup.add(second.pid)
            arrives(systop, f"/{name}", [second.pid])
            cgroup.put(cgroup.mount, second.pid)
            systop.proc.terminate()
            said = systop.proc.stderr.read().decode()
    assert said == (f"systop: cgroup {spec} is gone; it is shown again when it is back\n"
                    f"systop: cgroup {spec} is back\n"), said


def pids():
    """-p: all threads of a process, and what it forks from then on, even if a child gets its slot late; nothing else."""
    script = ("import os,signal,threading,time\n"
              "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
              "if not os.fork(): os.execvp('sleep', ['sleep', '60'])\n"
              "print('{}', flush=True)\nsignal.sigwait([signal.SIGUSR1])\n"
              "threading.Thread(target=time.sleep, args=(60,)).start()\n"
              "p = os.fork()\nif not p: os.execvp('sleep', ['sleep', '60'])\n"
              "print('{\"child\": %d}' % p, flush=True)\ntime.sleep(60)")
    with Cgroup(own("systop-scope-{}")) as cgroup, Load(sys.executable, "-c", script) as load, spinner() as other:
        load.truth()
        with Systop("--all", "-p", str(load.pid), "-d", INTERVAL) as systop:
            assert (seen := tids(systop.line())) == {load.pid}, seen
            os.kill(load.pid, signal.SIGUSR1)
            child = load.truth()["child"]
            systop.line()
            line = systop.line()
            if not GUEST:
                late(systop, cgroup, child)
    assert child in tids(line) and load.pid in tids(line), (child, tids(line))
    assert len(tids(line)) == 3, line["threads"]
    assert other.pid not in tids(line), tids(line)


def thread_number():
    """-p with the number of a thread means its process."""
    with Load(load_path("udp"), "20") as load:
        both = set(load.truth()["tids"])
        line = systop_lines("-p", str(max(both)), "-d", INTERVAL, "-n", "1")[0]
    assert tids(line) == both, (tids(line), both)


# A program with a thread that runs and makes another one each second, and one beside it.
THREADS = ("import threading,time\n"
           "def run(): exec('while 1: sum(range(100))')\n"
           "def make():\n"
           "    while 1: threading.Thread(target=time.sleep, args=(0.5,)).start(); time.sleep(0.1)\n"
           "all = [threading.Thread(target=f, daemon=True) for f in (make, run)]\nfor t in all: t.start()\n"
           "print('{\"tids\": [%d, %d]}' % tuple(t.native_id for t in all), flush=True)\ntime.sleep(60)")


def thread():
    """-t: these threads only, not what they create, beside the processes of -p."""
    with Load(sys.executable, "-c", THREADS) as load, spinner() as other:
        one, two = load.truth()["tids"]
        for args, wanted in ((("-t", str(one)), {one}), (("-t", f"{one},{two}"), {one, two}),
                             (("-t", str(one), "-t", str(load.pid)), {one, load.pid}),
                             (("-t", str(two), "-p", str(other.pid)), {two, other.pid})):
            for line in systop_lines("--all", *args, "-d", INTERVAL, "-n", "2"):
                seen = {t["tid"] for t in line["threads"]}
                assert seen == wanted, (args, seen, wanted)
        assert line["scope"] == f"pid {other.pid} thread {two}", line["scope"]


def thread_execs():
    """-t with a process's number: a thread that executes a program has that number from then on."""
    with Load(load_path("exec_nonleader"), "sleep", "60") as load:
        load.truth()
        load.signal(signal.SIGSTOP)  # it executes after systop's start
        seen = []
        with Systop("--all", "-t", str(load.pid), "-d", INTERVAL) as systop:
            while ["sleep"] not in seen:
                seen.append([t["comm"] for t in systop.line()["threads"]])
                load.signal(signal.SIGCONT)
                assert len(seen) < 40, seen
    assert seen[0] == ["exec_nonleader"], seen


def ends(tid, end):
    """-b with -t ends when the thread does."""
    with subprocess.Popen([SYSTOP, "-b", "-t", str(tid), "-d", "0.2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as systop:
        systop.stdout.readline()
        end()
        _, said = systop.communicate(timeout=60)
    assert systop.returncode == 5 and f" {tid} exited by " in said, (systop.returncode, said)


def thread_ends():
    """When the last thread of -t is gone, -b ends; also if its parent does not wait for it."""
    script = ("import signal,threading,time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
              "t = threading.Thread(target=signal.sigwait, args=([signal.SIGUSR1],))\nt.start()\n"
              "print('{\"tid\": %d}' % t.native_id, flush=True)\ntime.sleep(60)")
    with Load(sys.executable, "-c", script) as load:
        ends(load.truth()["tid"], lambda: load.signal(signal.SIGUSR1))
        assert load.proc.poll() is None
    with Load("sleep", "60") as load:
        ends(load.pid, lambda: load.signal(signal.SIGKILL))
    script = ("import ctypes,os,threading,time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
              "print('{\"tid\": %d}' % os.getpid(), flush=True)\n"  # exit(2) ends one thread
              "ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)")
    with Load(sys.executable, "-c", script) as load:
        load.truth()
        wait_for(lambda: ") Z " in pathlib.Path(f"/proc/{load.pid}/stat").read_text(), 10, "its first thread did not end")
        with Systop("-t", str(load.pid), "-d", INTERVAL, "-n", "3") as systop:
            lines = systop.rest()
            status = systop.proc.wait()
        assert status == 0 and len(lines) == 3, (status, len(lines))


def users():
    """-u: threads of the user, and of a process from when it becomes that user."""
    def become():
        os.setgid(65534)
        os.setuid(65534)
    with Load(load_path("spin"), "user", "60", preexec=become) as load, spinner() as other:
        time.sleep(WAIT)
        for user in ("nobody", "65534"):
            line = systop_lines("-u", user, "-d", INTERVAL, "-n", "1")[0]
            assert load.pid in tids(line) and other.pid not in tids(line), tids(line)
    script = ("import os,signal,time\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\nprint('{}', flush=True)\n"
              "signal.sigwait([signal.SIGUSR1])\nos.setuid(65534)\ntime.sleep(60)")
    with Load(sys.executable, "-c", script) as later, Systop("--all", "-u", "nobody", "-d", INTERVAL) as systop:
        later.truth()
        assert later.pid not in tids(systop.line())
        later.signal(signal.SIGUSR1)  # it becomes that user, and sleeps
        assert any(later.pid in tids(systop.line()) for _ in range(4))


def both_kinds():
    """Different kinds of scope intersect."""
    with Cgroup(own("systop-scope-{}")) as cgroup, spinner() as a, spinner() as b:
        cgroup.add(a.pid)
        line = systop_lines("-c", f"/{cgroup.name}", "-p", f"{a.pid},{b.pid}", "-d", INTERVAL, "-n", "1")[0]
        assert tids(line) == {a.pid}, tids(line)
        line = systop_lines("-p", str(a.pid), "-p", str(b.pid), "-d", INTERVAL, "-n", "1")[0]
        assert tids(line) == {a.pid, b.pid}, tids(line)


def command(shell, status):
    """-- CMD: shown from its first moment, and its exit status is ours."""
    with Systop("-d", INTERVAL, command=("sh", "-c", shell)) as systop:
        lines = systop.rest()
        got = systop.proc.wait()
    assert got == status, got
    comms = {t["comm"] for line in lines for t in line["threads"]}
    assert "sh" in comms and not comms - {"sh", "sleep", "true"}, comms


def command_limits():
    """The command's limit of open files is that of the shell, not systop's."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    less = min(soft, hard) // 2
    done = subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.2", "--", "sh", "-c", "ulimit -n >&2"], capture_output=True, text=True,
                          check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (less, hard)))
    assert str(less) in done.stderr.split(), done


def command_missing():
    done = subprocess.run([SYSTOP, "-b", "--", "/no/such/command"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 5 and "cannot run /no/such/command: No such file" in done.stderr, done


def command_interrupted(option):
    """Ctrl-C reaches the command, too: the recording is saved, but the exit status is that of the command, which did not
    succeed."""
    with tempfile.TemporaryDirectory() as d:
        with subprocess.Popen([SYSTOP, option, f"{d}/file", "--", "sleep", "60"], stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as systop:
            wait_for(lambda: "sleep" in [name_of(pid) for pid in descendants(systop.pid)], 30, "no command")
            time.sleep(WAIT)
            os.killpg(systop.pid, signal.SIGINT)
            said = systop.communicate(timeout=60)[1]
        assert systop.returncode == -signal.SIGINT and f"saved {d}/file: " in said, (systop.returncode, said)


def main():
    tap = begin()
    chosen = [
        ("-c with a v2 path", selects, lambda c: f"/{c.name}"),
        ("-c with a directory", selects, lambda c: c.path),
        ("-c with a glob", selects, lambda c: c.name[:-1] + "?"),
        ("-c with part of a name", selects, lambda c: c.name[3:]),
    ]
    if mount_of("cgroup", "cpu"):
        chosen += [
            ("-c with a v1 path", selects, lambda c: f"/{c.name}", "systop-v1-{}", "cpu"),
            ("-c with a v1 controller", selects, lambda c: f"cpu:/{c.name}", "systop-v1-{}", "cpu"),
            ("-c with a v1 directory", selects, lambda c: c.path, "systop-v1-{}", "cpu"),
            ("a v1 cgroup that is removed and made again", made_again, "cpu"),
            ("a glob that matches in another hierarchy later", glob_stays),
            ("cgroups of many hierarchies", many_hierarchies),
        ]
    if mount_of("cgroup", "blkio"):
        chosen.append(("-c with the controller blkio", blkio))
    if GUEST:
        tap.skip("a glob that matches more than there is room for", "4,097 cgroups make lines of 3 MB")
    else:
        tap.case("a glob that matches more than there is room for", no_room)
    # Scopes do not depend on each thread's share of a CPU.
    tap.together([
        *chosen,
        ("a child cgroup made later", children),
        ("cgroups without threads in scope", others),
        ("moving in and out", moves),
        ("a glob that matches later", glob_later),
        ("a cgroup that is removed and made again", made_again, None),
        ("-p", pids),
        ("-p with a thread's number", thread_number),
        ("-t", thread),
        ("-t, and another thread gets its number", thread_execs),
        ("-t, and it ends", thread_ends),
        ("-u", users),
        ("several of a kind add, different kinds narrow", both_kinds),
        ("-- CMD", command, "true; true; sleep 0.3; exit 0", 0),
        ("-- CMD that fails", command, "sleep 1.3; exit 3", 3),
        ("-- CMD that is killed", command, "sleep 0.2; kill -9 $$", 137),
        ("-- CMD that is not there", command_missing),
        ("-- CMD and its limits", command_limits),
        ("-w -- CMD and a signal", command_interrupted, "-w"),
        ("--pprof -- CMD and a signal", command_interrupted, "--pprof"),
    ], 3)
    tap.case("a process is moved in its sleep, another one while it runs", moved_asleep, None, False)
    tap.case("a thread is moved in its sleep", moved_asleep, None, True)
    tap.case("a process is moved twice in a refresh", moved_twice)
    if mount_of("cgroup", "cpu"):
        tap.case("a process is moved in its sleep, cgroup v1", moved_asleep, "cpu", False)
        tap.case("a thread is moved in its sleep, cgroup v1", moved_asleep, "cpu", True)
    tap.together([
        ("moving in and out asleep", asleep_in_and_out),
        ("moved before it wakes up", moved_before_waking),
        ("100 that are moved at once", many_moves),
        *([] if GUEST else [("a slot that comes late", late_slot)]),  # a guest has no bpftool
    ], 2)
    tap.done()


main()
