# SPDX-License-Identifier: GPL-2.0-or-later
"""Saved traces, as read by protoc, against what is known of the load and against the refreshes."""

import concurrent.futures
import itertools
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import (DISK, GUEST, MS, SEC, SYSTOP, Cgroup, Load, attached, begin, descendants, had_cpu, load_path,  # noqa: E402
                     name_of, wait_for)
from protoc import OUTSIDER, SAMPLES, SLICES, SOURCE, Trace, one, packets  # noqa: E402

PIPE = """
import os, sys
a, b = os.pipe(), os.pipe()
child = os.fork()
mine, other = (a[0], b[1]) if child else (b[0], a[1])
if child:
    print(os.getpid(), child, flush=True)
    os.write(b[1], b"x")
while os.read(mine, 1):
    os.write(other, b"x")
"""

NAPS = """
import os, time
a, b = os.pipe()
child = os.fork()
os.sched_setaffinity(0, {0 if child else os.cpu_count() - 1})
if child:
    print(os.getpid(), child, flush=True)
while child:
    time.sleep(0.01)
    os.write(b, b"x")
while os.read(a, 1):
    pass
"""


def record(*args, seconds=2, command=()):
    """The trace of this many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        subprocess.run([SYSTOP, "-w", path, "--duration", str(seconds), *args, *command], check=True,
                       stderr=subprocess.DEVNULL)
        return Trace(path)


def json_and_traces(path, ticks, at, interval="1"):
    """The refreshes of a systop --json that saves a trace after some of them: [trace path]."""
    lines, paths = [], []
    with subprocess.Popen([SYSTOP, "--json", "--all", "-d", interval, "-n", str(ticks), "-o", path],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as systop:
        for line in systop.stdout:
            lines.append(json.loads(line))
            if os.path.exists(path):
                paths.append(f"{path}.{len(paths)}")
                os.rename(path, paths[-1])
                if len(paths) == len(at):
                    systop.terminate()
            if len(lines) in at:
                systop.send_signal(signal.SIGUSR1)
    if os.path.exists(path):
        paths.append(path)
    return lines, paths


def sums():
    """Between two refreshes each thread ran for the time in its slot."""
    with tempfile.TemporaryDirectory() as folder:
        with Load(load_path("burn"), "block", "30") as block, Load(load_path("burn"), "cpu", "30") as cpu:
            ours = [load.truth()["tid"] for load in (block, cpu)]
            ticks, paths = json_and_traces(os.path.join(folder, "trace"), 7, [4])
        trace = Trace(paths[0])
    begin_ns, end_ns = ticks[1]["boottime_ns"], ticks[3]["boottime_ns"]
    spent = trace.running(begin_ns, end_ns)
    slots = {}
    for tick in ticks[2:4]:
        for thread in tick["threads"]:
            slots[thread["tid"]] = slots.get(thread["tid"], 0) + had_cpu(thread)
    allowed = (end_ns - begin_ns) / (100 if GUEST else 1000) # a refresh takes a moment: threads run on
    off = {tid: (spent.get(tid, 0), ns) for tid, ns in slots.items() if abs(spent.get(tid, 0) - ns) > allowed}
    # A switch that the kernel did not report leaves the times of leaving and coming unrecorded: the kernel's sums
    # correct the slots later, but not the recording.
    gaps = ticks[3]["repaired"]["gap"] - ticks[1]["repaired"]["gap"]
    assert len(off) <= 2 * gaps and len(off) <= len(slots) / 20, f"{gaps} gaps, {off}"
    assert all(tid in spent for tid in ours), spent
    _, twice = trace.runs()
    assert twice <= 2 * ticks[3]["repaired"]["gap"], f"{twice} times on two CPUs at once"
    return f"{len(slots)} threads, {sum(slots.values()) / MS:.0f} ms, {gaps} gaps, {len(off)} threads off"


def inside():
    """Nothing is outside the window, no number is used before it is defined, T is where all CPUs begin, and no
    thread was on a CPU and blocked then."""
    with Load(load_path("burn"), "cpu", "20"):
        trace = record("-F", "499", seconds=2)
    start = {cpu.complete_from for cpu in trace.cpus.values()}
    assert len(start) == 1 and len(trace.cpus) == os.cpu_count(), start
    start = start.pop()
    times = [t for cpu in trace.cpus.values() for t, *_ in cpu.switches + cpu.wakings]
    times += [t for t, *_ in trace.events] + [t for t, _ in trace.samples]
    end = max(t for t, e in trace.slices if "dump end" in (one(e, "name"), trace.strings.get(one(e, "name_iid"))))
    assert start <= min(times) and max(times) <= end, (start, min(times), max(times), end)
    assert end - start > 1.8 * SEC, end - start
    for cpu in trace.cpus.values():
        later = [t for t, *_ in cpu.switches[1:] + cpu.wakings]
        assert cpu.switches[0][0] == start and min(later, default=start + 1) > start, (cpu.switches[0], start, min(later))
    defined = set()
    for packet in trace.packets:
        for data in packet.get("interned_data", []) if one(packet, "trusted_packet_sequence_id") == SAMPLES else []:
            defined |= {one(c, "iid") for c in data.get("callstacks", [])}
        for sample in packet.get("perf_sample", []):
            iid = one(sample, "callstack_iid")
            assert iid is None or iid in defined, iid
    blocked = [one(p, "generic_kernel_task_state_event", "tid") for p in trace.packets if "generic_kernel_task_state_event" in p]
    running = [cpu.switches[0][2] for cpu in trace.cpus.values()]
    assert len(set(blocked)) == len(blocked) and not set(running) & set(blocked), (running, blocked)
    return f"{len(times)} events in {(end - start) / MS:.0f} ms, {len(blocked)} threads blocked at T"


def interrupts():
    """Interrupts and softirqs are pairs that nest on their CPU. Their number and times between two refreshes are those of the
    refreshes, without what is nested."""
    with tempfile.TemporaryDirectory() as folder:
        # A fifth of a CPU makes 10,000 datagrams in the interval, and a trace that is read in a second.
        with Load("env", "LOAD_PERCENT=20", load_path("udp"), "30"):
            ticks, paths = json_and_traces(os.path.join(folder, "trace"), 4, [3], "0.5")
        trace = Trace(paths[0])
    begin_ns, end_ns = ticks[1]["boottime_ns"], ticks[2]["boottime_ns"]
    kinds = {"softirq_entry": "soft", "softirq_exit": "soft", "irq_handler_entry": "hard", "irq_handler_exit": "hard"}
    opened, spans = {}, {}
    for t, cpu, kind, event in sorted((e for e in trace.events if e[2] in kinds), key=lambda e: e[0]):
        stack = opened.setdefault((cpu, kinds[kind]), [])
        which = one(event, "vec" if kinds[kind] == "soft" else "irq") or 0
        if kind.endswith("entry"):
            stack.append((which, one(event, "name"), t))
        else:
            assert stack and stack[-1][0] == which, f"{kind} {which} at {t} on CPU {cpu}, open: {stack}"
            _, name, began = stack.pop()
            spans.setdefault(cpu, []).append([began, t, name or which, t - began])
    for cpu, of_cpu in spans.items():  # of both kinds
        around = []
        for span in sorted(of_cpu, key=lambda span: (span[0], -span[1])):
            began, end = span[:2]
            while around and around[-1][1] <= began:
                around.pop()
            assert not around or end <= around[-1][1], f"{began} to {end} on CPU {cpu} is not inside of {around[-1]}"
            if around:
                around[-1][3] -= end - began
            around.append(span)
    counted = {i["name"]: i for i in ticks[2]["irqs"]}
    assert counted["NET_RX"]["count"] > 1000, counted
    text = []
    # NET_RX is vector 3. A refresh reads the CPUs in sequence, in up to a ms.
    for name, which in ("NET_RX", 3), ("LOC", "LOC"):
        irq, edge = counted[name], 5 * MS
        near = [(end, ns, cpu) for cpu, of_cpu in spans.items() for _, end, name_, ns in of_cpu
                if name_ == which and begin_ns - edge < end <= end_ns + edge]
        within = [(ns, cpu) for end, ns, cpu in near if begin_ns + edge < end <= end_ns - edge]
        ours = sorted(ns for end, ns, _ in near if begin_ns < end <= end_ns)
        least, most, off = max(within)[0], max(ns for _, ns, _ in near), abs(len(ours) - irq["count"])
        below, above = (ours[len(ours) * part // 1000].bit_length() for part in (985, 995))
        text.append(f"{name} {len(ours)}, {sum(ours)} ns, up to {ours[-1]}, p99 from {1 << below - 1} to {1 << above}: {irq}")
        assert off <= 0.01 * irq["count"] + 20, text
        assert len({cpu for _, cpu in within}) <= irq["cpus"] <= len({cpu for *_, cpu in near}), text
        assert abs(sum(ours) - irq["ns"]) <= 0.005 * irq["ns"] + (off + 2) * most, text
        assert 0.99 * least <= irq["max_ns"] <= 1.01 * most and 1 << below - 1 <= irq["p99_ns"] <= 1 << above, text
    return "; ".join(text)


def frames_of(trace, sequence):
    """{iid: [function names], outermost first}"""
    names, frames, stacks = {}, {}, {}
    for packet in trace.packets:
        if one(packet, "trusted_packet_sequence_id") != sequence:
            continue
        for data in packet.get("interned_data", []):
            names.update({one(n, "iid"): one(n, "str") for n in data.get("function_names", [])})
            frames.update({one(f, "iid"): one(f, "function_name_id") for f in data.get("frames", [])})
            stacks.update({one(c, "iid"): c["frame_ids"] for c in data.get("callstacks", [])})
    return {iid: [names.get(frames.get(f), "?") for f in ids] for iid, ids in stacks.items()}


def stacks():
    """Samples have the stacks of the flamegraph, in the same shares."""
    with Load(load_path("burn"), "cpu", "20") as load:
        tid = load.truth()["tid"]
        trace = record("-p", str(tid), "-F", "997" if GUEST else "1997", seconds=5 if GUEST else 4)
    named = frames_of(trace, SAMPLES)
    ours = [named.get(one(s, "callstack_iid"), []) for _, s in trace.samples if one(s, "tid") == tid]
    assert len(ours) > (50 if GUEST else 1000), len(ours)
    shares = {f: 100 * sum(f in stack for stack in ours) / len(ours) for f in ("main", "alpha", "beta", "gamma_")}
    for function, share in (("main", 100), ("alpha", 50), ("beta", 30), ("gamma_", 20)):
        assert abs(shares[function] - share) <= 4, shares
    pids = {one(s, "pid") for _, s in trace.samples if one(s, "tid") == tid}
    assert pids == {tid}, pids
    modes = [one(s, "cpu_mode") for _, s in trace.samples if one(s, "tid") == tid]
    assert modes.count("MODE_USER") > len(modes) / 2 and set(modes) <= {"MODE_USER", "MODE_KERNEL"}, set(modes)
    return f"{len(ours)} samples, {shares}"


def cut():
    """A stack of which callers were not found begins with a mark: each of these programs runs before its tables are made."""
    with tempfile.TemporaryDirectory() as folder:
        run = "; ".join(f"cp {load_path('chains')} {folder}/{i}; timeout 0.1 {folder}/{i} deep >/dev/null" for i in range(5))
        trace = record("-F", "1997", seconds=30, command=("--", "sh", "-c", f"{run}; :"))
    named = frames_of(trace, SAMPLES)
    ours = [named[iid] for iid in (one(s, "callstack_iid") for _, s in trace.samples) if iid and "work" in named[iid]]
    begin_with = {stack[0] for stack in ours}
    assert "[truncated]" in begin_with and begin_with <= {"_start", "[truncated]"}, begin_with
    assert not any("[truncated]" in stack[1:] for stack in ours), ours
    return f"{sum(stack[0] != '_start' for stack in ours)} of {len(ours)} stacks"


def ranges_of(text):
    """{function: (its beginning, that of the next one)}, of nm or /proc/kallsyms."""
    found = [(int(at, 16), name) for at, kind, name, *_ in map(str.split, text.splitlines()) if kind in "tT"]
    ends = dict(itertools.pairwise([*sorted({at for at, _ in found}), 1 << 64]))
    return {name: (at, ends[at]) for at, name in found}


def places():
    """The address of a frame is where its file, or the kernel, has its function, also if that is not the offset in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a-program-whose-name-has-more-than-forty-eight-bytes-in-all")
        subprocess.run(["cc", "-g", "-O2", "-no-pie", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-D_GNU_SOURCE=", "-o", path, os.path.join(SOURCE, "tests/load/burn.c")], check=True)
        functions = ranges_of(subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True,
                                             check=True).stdout)
        with Load(path, "block", "60") as load:
            trace = record("-p", str(load.pid), seconds=3)
    with open("/proc/kallsyms", encoding="ascii") as f:
        kernel = ranges_of("".join(line for line in f if "[" not in line))
    paths, names, files, frames = {}, {}, {}, []
    for packet in trace.packets:
        for data in packet.get("interned_data", []) if one(packet, "trusted_packet_sequence_id") == SLICES else []:
            paths.update({one(p, "iid"): one(p, "str") for p in data.get("mapping_paths", [])})
            names.update({one(n, "iid"): one(n, "str") for n in data.get("function_names", [])})
            files.update({one(m, "iid"): one(m, "path_string_ids") for m in data.get("mappings", [])})
            frames += data.get("frames", [])
    seen = set()
    for frame in frames:
        file, name = paths[files[one(frame, "mapping_id")]], names[one(frame, "function_name_id")]
        at = one(frame, "rel_pc")
        if name not in {path: functions, "[kernel.kallsyms]": kernel}.get(file, {}):
            continue
        first, end = (functions if file == path else kernel)[name]
        assert first <= at <= end, (file, name, hex(at), hex(first), hex(end))
        seen.add((file, name))
    assert (path, "main") in seen and any(file != path for file, _ in seen), (seen, set(paths.values()))
    return f"{len(seen)} functions"


def blocks():
    """Blocks are slices, with their stack and their exact time. Those that wait for a disk are marked so."""
    write = 'while :; do dd if=/dev/zero of="$0" bs=4096 count=200 oflag=direct; done'
    with tempfile.NamedTemporaryFile(dir=DISK) as file, Load("sh", "-c", write if DISK else "sleep 60", file.name) as writer, \
            Load(load_path("burn"), "block", "20") as load:
        tid = load.truth()["tid"]
        trace = record("-p", f"{tid},{writer.pid}", seconds=4)
    named = frames_of(trace, SLICES)
    thread = {one(p, "track_descriptor", "uuid") for p in trace.packets
              if one(p, "track_descriptor", "thread", "tid") == tid}
    tracks = {one(p, "track_descriptor", "uuid") for p in trace.packets
              if one(p, "track_descriptor", "parent_uuid") in thread}
    ours = [s for s in trace.slices if one(s[1], "track_uuid") in tracks]
    # Each begin with its end: one at a time on a thread's track.
    in_d = [end - begin for (begin, e), (end, _) in zip(ours, ours[1:])
            if "kernel_clone" in named.get(one(e, "callstack_iid"), []) and
            trace.strings[one(e, "name_iid")].startswith("D")]
    weights = sorted(ns / MS for ns in in_d)
    assert len(in_d) > (2 if GUEST else 20), ours
    assert states_left(trace, tid).count(2) >= len(in_d) - 1, states_left(trace, tid)
    assert GUEST or 39 <= weights[len(weights) // 2] <= 45, weights
    reasons = [r for _, _, kind, r in trace.events if kind == "sched_blocked_reason" and one(r, "pid") == tid]
    assert len(reasons) >= len(in_d), (len(reasons), len(in_d))
    of_disk = [r for _, _, kind, r in trace.events if kind == "sched_blocked_reason" and one(r, "io_wait")]
    assert bool(of_disk) == bool(DISK) and not any(one(r, "pid") == tid for r in of_disk), of_disk[:3]
    return f"{len(in_d)} blocks of {weights[len(weights) // 2]:.1f} ms in D"


def running_at(cpu, t):
    found = None
    for at, _, tid in cpu.switches:
        if at > t:
            break
        found = tid
    return found


def wakers():
    """A pipe's reader is woken by its writer, a sleeper by the timer."""
    with Load(sys.executable, "-c", PIPE) as load:
        parent, child = map(int, load.proc.stdout.readline().split())
        trace = record(seconds=1)
    right = wrong = 0
    for cpu in trace.cpus.values():
        for t, tid, flags in cpu.wakings[:4000]:
            if tid in (parent, child) and not flags:
                who = running_at(cpu, t)
                right += who == parent + child - tid
                wrong += who != parent + child - tid
    assert right > 100 and wrong <= right / 100, (right, wrong)
    with Load(sys.executable, "-c", NAPS) as load:
        tid, other = map(int, load.proc.stdout.readline().split())
        trace = record(seconds=1)
    flags = [f for cpu in trace.cpus.values() for _, who, f in cpu.wakings if who == tid]
    assert len(flags) > 20 and sum(bool(f & 0x18) for f in flags) > 0.95 * len(flags), flags
    targets = {target for cpu in trace.cpus.values() for _, who, target in cpu.targets if who == other}
    assert targets == {os.cpu_count() - 1}, targets
    asleep = states_left(trace, tid).count(1)
    assert asleep >= 0.9 * len(flags), (asleep, len(flags))
    return f"{right} right, {wrong} not; {len(flags)} naps ended by an interrupt"


def states_left(trace, tid):
    """The states that a thread left its CPUs with, as the tracepoint has them."""
    return [after[1] for cpu in trace.cpus.values() for before, after in itertools.pairwise(cpu.switches) if before[2] == tid]


def scope():
    """Threads out of scope have no names, but the chain of switches is complete: their time does not count for others."""
    with Load(load_path("burn"), "cpu", "20") as load:
        tid = load.truth()["tid"]
        trace = record("-p", str(tid), seconds=2)
    assert trace.attributes()["systop.scope"] != "all", trace.attributes()
    seen = {t for cpu in trace.cpus.values() for _, _, t in cpu.switches}
    assert tid in seen and all(t in (0, tid) or t >= OUTSIDER for t in seen), seen
    runs, twice = trace.runs()
    assert set(runs) == {tid} and twice <= 2, runs
    left = states_left(trace, tid)  # R+, which is 0x100, only if it was preempted within the kernel
    assert left.count(0) >= 0.5 * len(left), left
    return f"{sum(b - a for a, b in runs[tid]) / MS:.0f} ms in scope"


def lives():
    """Processes that start and end in the window do so in the trace, and have their names from when they got them."""
    script = "printf renamed > /proc/$$/comm; sleep 0.5; for i in 1 2 3; do sleep 0.2; done; sleep 0.3"
    trace = record(seconds=2, command=["--", "sh", "-c", script])
    born = {one(f, "pid") for _, _, kind, f in trace.events if kind == "task_newtask"}
    freed = {one(f, "pid") for _, _, kind, f in trace.events if kind == "sched_process_free"}
    assert len(born & freed) >= 3, (born, freed)
    names = {one(t, "tid"): one(t, "name") for p in trace.packets for tree in p.get("process_tree", [])
             for t in tree.get("threads", [])}
    sleeps = {tid for tid in born & freed if names.get(tid) == "sleep"}
    assert len(sleeps) >= 3 and sleeps <= {one(f, "pid") for _, _, kind, f in trace.events if kind == "sched_process_exec"}, names
    renames = {one(f, "newcomm") for _, _, kind, f in trace.events if kind == "task_rename"}
    assert "renamed" in renames, renames
    processes = [f for _, _, kind, f in trace.events if kind == "task_newtask" and names.get(one(f, "pid")) == "sleep"]
    assert not any((one(f, "clone_flags") or 0) & 0x10000 for f in processes), processes  # CLONE_THREAD
    return f"{len(born)} born, {len(freed)} ended"


def who():
    """With --args a process has its command line, and always its parent, its user and its pid in its own PID namespace."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        with subprocess.Popen([SYSTOP, "-w", path, "--args", "-d", "60"], stderr=subprocess.DEVNULL) as systop:
            wait_for(lambda: "systop-symbols" in [name_of(p) for p in descendants(systop.pid)], 30, "it does not record")
            with Load("unshare", "--pid", "--fork", "--kill-child", "sh", "-c", "sleep 30.25; true"):
                time.sleep(0.5)
                systop.send_signal(signal.SIGINT)  # before the first refresh
                systop.wait()
        trace = Trace(path)
    processes = [p for packet in trace.packets for tree in packet.get("process_tree", [])
                 for p in tree.get("processes", [])]
    inner = [p for p in processes if p.get("cmdline") == ["sleep", "30.25"]]
    outer = [p for p in processes if p.get("cmdline") == ["sh", "-c", "sleep 30.25; true"]]
    assert len(inner) == 1 and len(outer) == 1, processes
    assert outer[0]["nspid"] == [1] and inner[0]["nspid"] == [2], (outer, inner)
    assert one(inner[0], "ppid") == one(outer[0], "pid") and one(inner[0], "uid") == 0, inner
    kernel = [p for p in processes if one(p, "is_kthread")]
    assert kernel and all(one(p, "cmdline_is_comm") for p in kernel), kernel


def overlap():
    """Two traces, some refreshes apart, agree about the time that both cover."""
    with tempfile.TemporaryDirectory() as folder:
        with Load(load_path("burn"), "block", "30"):
            _, paths = json_and_traces(os.path.join(folder, "trace"), 13, [3, 10], "0.5")
        first, second = (Trace(path) for path in paths)
    compared = 0
    for number, cpu in first.cpus.items():
        begin_ns = max(cpu.complete_from, second.cpus[number].complete_from)
        end_ns = cpu.switches[-1][0]
        both = [[s for s in c.switches if begin_ns < s[0] <= end_ns] for c in (cpu, second.cpus[number])]
        assert both[0] == both[1], f"CPU {number}: {len(both[0])} switches, {len(both[1])}"
        compared += len(both[0])
    assert compared > 100, f"{compared} switches in the time that both hold"
    return f"{compared} switches"


def two_at_the_end():
    """A recording is copied from the rings before later events overwrite it, also while another trace waits for its reader."""
    with tempfile.TemporaryDirectory() as folder:
        path, fifo = os.path.join(folder, "trace"), os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        with Load(sys.executable, "-c", PIPE), \
             subprocess.Popen([SYSTOP, "-w", path, "--duration", "1", "--window-mem", str(os.cpu_count() << 22), "-o", fifo],
                              stderr=subprocess.PIPE, text=True) as systop:
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            wait_for(lambda: "systop-symbols" in [name_of(p) for p in descendants(systop.pid)], 30, "it does not record")
            time.sleep(0.1)
            systop.send_signal(signal.SIGUSR1)
            time.sleep(2.5)
            select.select([reader], [], [], 30)  # before there is a writer, a read would end at once
            os.set_blocking(reader, True)
            while os.read(reader, 1 << 20):
                pass
            os.close(reader)
            _, said = systop.communicate()
    assert said.count(" saved ") == 2 and " 1.0 s, " in said.splitlines()[1], said


def slow_reader():
    """A recording that is not copied, as one of more than 32 MiB into a pipe, stays in the rings until it is read."""
    def no_copy():
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.cpu_count() << 20, os.cpu_count() << 20))

    reader, writer = os.pipe()
    with Load(sys.executable, "-c", PIPE), \
         subprocess.Popen([SYSTOP, "-w", "-", "--duration", "0.5", "--window-mem", str(os.cpu_count() << 21)], stdout=writer,
                          stderr=subprocess.PIPE, text=True, preexec_fn=no_copy) as systop:
        os.close(writer)
        select.select([reader], [], [], 30)
        time.sleep(2)
        while os.read(reader, 1 << 20):
            pass
        os.close(reader)
        _, said = systop.communicate()
    assert " 0.5 s, " in said and " 0 lost, " in said, said
    return said.strip()


def killed_at(moments):
    """Kills systop at each of these moments; returns how many files there were, all of them complete. A moment is a
    fraction of the time from the start of a save to its end, by the length of the last one that was not killed, as that
    depends on the load."""
    whole = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        began = time.monotonic()
        subprocess.run([SYSTOP, "-w", path, "--duration", "0.1", "-p", str(os.getpid())], check=True,
                       stderr=subprocess.DEVNULL)
        alone = time.monotonic() - began
        os.unlink(path)
        for i, moment in enumerate(moments):
            began = time.monotonic()
            with subprocess.Popen([SYSTOP, "-w", path, "--duration", "0.1", "-p", str(os.getpid())],
                                  stderr=subprocess.DEVNULL) as systop:
                try:
                    systop.wait(alone * moment)
                    alone = time.monotonic() - began
                except subprocess.TimeoutExpired:
                    systop.kill()
            assert systop.returncode <= 0, systop.returncode
            if i % 10 == 9:
                time.sleep(0.3)
            files = os.listdir(folder)
            assert files in ([], ["trace"]) if systop.returncode else files == ["trace"], (systop.returncode, files)
            if files:
                assert any("clock_snapshot" in p for p in packets(path)[-2:]), "it is cut"
                os.unlink(path)
                whole += 1
    return whole


def killed():
    """Whenever systop is killed, there is no file or a complete one."""
    tries = 10 if GUEST else 16
    moments = [0.5 + 0.75 * (7 * i % tries) / tries for i in range(tries)]  # each time another one, all of them evenly
    parts = [moments] if GUEST else [moments[::2], moments[1::2]]
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        whole = sum(pool.map(killed_at, parts))
    assert 0 < whole < tries, f"{whole} whole ones of {tries}"
    return f"{whole} whole ones of {tries}"


def aligned():
    """--at: the requested seconds, by the clock."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        subprocess.run([SYSTOP, "-w", path, "--duration", "1", "--at", "/2"], check=True, stderr=subprocess.DEVNULL)
        trace = Trace(path)
    clocks = [{one(c, "clock_id"): one(c, "timestamp") for c in p["clock_snapshot"][0]["clocks"]}
              for p in trace.packets if "clock_snapshot" in p]
    walls = [c[1] for c in clocks if 1 in c]
    began, ended = min(walls), max(walls)
    slack = 100 * MS  # there may be no CPU for it at once
    assert began % (2 * SEC) < slack or began % (2 * SEC) > 2 * SEC - slack, began
    assert abs(ended - began - SEC) < slack, ended - began


def check_name(path, tid, name):
    """A thread that runs in the trace has this name there."""
    trace = Trace(path)
    ran = sum(t == tid for cpu in trace.cpus.values() for _, _, t in cpu.switches)
    names = {one(t, "name") for p in trace.packets for tree in p.get("process_tree", []) for t in tree.get("threads", [])
             if one(t, "tid") == tid}
    assert ran and names == {name}, (path, ran, names)


def ended_early():
    """A thread that ended soon after the beginning of a long recording has its name, and also in a trace that w saves when
    no refresh is remembered that shows the thread."""
    with tempfile.TemporaryDirectory() as folder:
        path, saved = os.path.join(folder, "recorded"), os.path.join(folder, "saved")
        program = shutil.copy(load_path("burn"), os.path.join(folder, "ended_early"))
        with Cgroup(f"systop-early-{os.getpid()}") as cgroup, Load(program, "cpu", "60") as load, \
             subprocess.Popen([SYSTOP, "--json", "-d", "0.1", "-o", saved, "-c", f"/{cgroup.name}"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as past, \
             subprocess.Popen([SYSTOP, "-w", path, "--duration", "16", "-d", "0.1", "-c", f"/{cgroup.name}"],
                              stderr=subprocess.DEVNULL) as systop:
            load.truth()
            cgroup.add(load.pid)
            for pid in past.pid, systop.pid:
                attached(pid)
            time.sleep(1)
            load.end()  # more refreshes follow than the 120 that are remembered
            assert systop.wait() == 0
            past.send_signal(signal.SIGUSR1)
            end = time.monotonic() + 30
            while not os.path.exists(saved) and time.monotonic() < end:
                time.sleep(0.05)
            past.terminate()
        for trace in path, saved:
            check_name(trace, load.pid, "ended_early")


def triggered():
    """--on: when a thread has been in D for long enough, the window is saved, once, in the folder of -o."""
    with Cgroup(f"systop-on-{os.getpid()}") as cgroup, tempfile.TemporaryDirectory() as folder, \
         subprocess.Popen([load_path("vfork_d"), "30000"], stdout=subprocess.DEVNULL, start_new_session=True,
                          preexec_fn=lambda: cgroup.add(os.getpid())) as load:
        try:
            done = subprocess.run([os.path.abspath(SYSTOP), "--json", "-d", "0.5", "-n", "8", "-c", f"/{cgroup.name}", "--on",
                                   "d>2s comm=vfork_d", "-o", f"{folder}/requested"], capture_output=True, text=True, check=True)
        finally:
            os.killpg(load.pid, signal.SIGKILL)
        files = os.listdir(folder)
        assert len(files) == 1 and files[0].endswith("Z.pb"), files
        reason = Trace(os.path.join(folder, files[0])).attributes()["systop.reason"]
    assert reason.startswith(f"d>2s comm=vfork_d: vfork_d {load.pid} in /{cgroup.name}"), reason
    assert reason in done.stderr, done.stderr


def umount(folder):
    """The helper that wrote there ends a moment after systop."""
    end = time.monotonic() + 10
    while subprocess.run(["umount", folder], check=time.monotonic() > end, capture_output=True).returncode:
        time.sleep(0.05)


def refused():
    """A full disk, a missing folder: reported, with status 1, and nothing is left."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([SYSTOP, "-w", f"{folder}/none/trace", "--duration", "0.1"], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 1 and "No such file" in done.stderr, done
        gone = os.path.join(folder, "gone")
        os.mkdir(gone)
        with subprocess.Popen([os.path.abspath(SYSTOP), "-w", "trace", "--duration", "1"], cwd=gone, text=True,
                              stderr=subprocess.PIPE) as systop:
            os.rmdir(gone)
            assert "No such file" in (said := systop.stderr.read()), said
        assert systop.returncode == 1, systop.returncode
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", folder], check=True)
        try:
            done = subprocess.run([SYSTOP, "-w", f"{folder}/trace", "--duration", "1"], capture_output=True,
                                  text=True, check=False)
            assert done.returncode == 1 and "No space" in done.stderr, done
            assert not os.listdir(folder), os.listdir(folder)
        finally:
            umount(folder)
    done = subprocess.run([SYSTOP, "--on", "nosuch>5"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "nosuch" in done.stderr, done
    done = subprocess.run([SYSTOP, "-w", "-", "--duration", "0.3"], capture_output=True, check=True)
    assert done.stdout[:1] == b"\n" and b"saved" in done.stderr, done.stderr


def main():
    tap = begin()
    if not shutil.which("protoc"):
        tap.skip("traces", "install protobuf-compiler")
        tap.done()
        return
    tap.case("running times are those of the slots", sums)
    if os.uname().machine == "x86_64":
        tap.case("interrupts", interrupts)
    else:
        tap.skip("interrupts", "the timer is a line here, not a vector of its own")
    tap.together([
        ("a thread that ended early", ended_early),  # it takes the longest
        ("killed at any moment", killed),
        ("nothing is outside of the window", inside),
        ("blocks have their stacks", blocks),
        ("frames are where their functions are", places),
        ("a stack that is cut", cut),
        ("wakers", wakers),
        ("a scope", scope),
        ("lives", lives),
        ("who they are", who),
        ("--at", aligned),
        ("--on", triggered),
        ("refused", refused),
        ("two at the end", two_at_the_end),
        ("a slow reader of standard output", slow_reader),
    ], 3)
    tap.case("samples have their stacks", stacks)  # its load needs a CPU
    tap.case("two traces of one time", overlap)
    tap.done()


main()
