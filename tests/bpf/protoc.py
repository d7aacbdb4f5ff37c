# SPDX-License-Identifier: GPL-2.0-or-later
"""Perfetto traces as protoc reads them."""

import os
import subprocess

SOURCE = os.environ.get("srcdir", os.path.join(os.path.dirname(__file__), "..", ".."))
# Ids of clocks: the trace's, and a sequence's own.
BOOTTIME, OWN = 6, 64

# Sequences, each with ids and a clock of its own.
SLICES, SAMPLES = 2, 4

# Numbers of threads from here on stand for all that are not in the scope.
OUTSIDER = 0x400000

# Largest overlap of a thread's times on two CPUs that is no missing switch: the time of a switch that was not seen comes
# from the kernel's sums, whose clock is followed only approximately (clock_follow() in bpf/clock.bpf.h).
CLOCKS_DIFFER = 400000


def value_of(text):
    if text[0] == '"':
        return text[1:-1].encode().decode("unicode_escape").encode("latin1").decode(errors="replace")
    try:
        return float(text)
    except ValueError:
        return text


def message(lines):
    """{field: [values]} up to the closing brace."""
    fields = {}
    for line in lines:
        name, is_value, value = line.lstrip().partition(": ")
        if is_value:
            try:
                value = int(value)  # nearly all are, and there are millions
            except ValueError:
                value = value_of(value)
        elif name == "}":
            break
        else:
            name, value = name[:-2], message(lines)  # "name {"
        try:
            fields[name].append(value)
        except KeyError:
            fields[name] = [value]
    return fields


def packets(path):
    """All packets of a trace."""
    with open(path, "rb") as trace:
        done = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", "-I", os.path.join(SOURCE, "src/export/perfetto"),
                               "perfetto.proto"], stdin=trace, capture_output=True, check=True)
    return message(iter(done.stdout.decode().splitlines())).get("packet", [])


def one(fields, *path):
    """The only value at the end of a path, None if there is none."""
    for name in path:
        if fields is None or name not in fields:
            return None
        assert len(fields[name]) == 1, name
        fields = fields[name][0]
    return fields


class Cpu:
    """What one CPU did: switches [(t, state of the leaving thread, next tid)], wakings [(t, tid, flags)], their targets [(t,
    tid, CPU)]."""

    def __init__(self):
        self.switches = []
        self.wakings = []
        self.targets = []
        self.complete_from = None


class Trace:
    """A trace, taken apart."""

    def __init__(self, path):
        self.packets = packets(path)
        self.cpus = {}
        self.events = []  # (t, cpu, kind, fields), all except switches and wakings
        self.samples = []
        self.clocks = {}  # sequence: the start of its own clock, and its unit in ns
        self.units = {}
        self.slices = []
        self.strings = {}
        for p in self.packets:
            self.take(p)
        for cpu in self.cpus.values():
            cpu.switches.sort(key=lambda s: s[0])
            cpu.wakings.sort(key=lambda w: w[0])

    def time_of(self, packet):
        """A packet's time: that of a sample is relative to the previous one."""
        sequence = one(packet, "trusted_packet_sequence_id")
        if "timestamp_clock_id" in packet or sequence not in self.clocks:
            return one(packet, "timestamp")
        at = self.clocks[sequence] + one(packet, "timestamp") * self.units[sequence]
        if sequence == SAMPLES:
            self.clocks[sequence] = at
        return at

    def take(self, packet):
        for snapshot in packet.get("clock_snapshot", []):
            clocks = {one(c, "clock_id"): one(c, "timestamp") for c in snapshot["clocks"]}
            if OWN in clocks:
                sequence = one(packet, "trusted_packet_sequence_id")
                self.clocks[sequence] = clocks[BOOTTIME] - clocks[OWN]
                self.units[sequence] = max(one(c, "unit_multiplier_ns") or 1 for c in snapshot["clocks"])
        for data in packet.get("interned_data", []):
            self.strings.update({one(n, "iid"): one(n, "str") for n in data.get("event_names", [])})
        if "ftrace_events" in packet:
            self.take_bundle(packet["ftrace_events"][0])
        elif "perf_sample" in packet:
            self.samples.append((self.time_of(packet), packet["perf_sample"][0]))
        elif "track_event" in packet:
            self.slices.append((self.time_of(packet), packet["track_event"][0]))

    def take_bundle(self, bundle):
        number = one(bundle, "cpu")
        cpu = self.cpus.setdefault(number, Cpu())
        if cpu.complete_from is None:
            cpu.complete_from = one(bundle, "previous_bundle_end_timestamp")
        for event in bundle.get("event", []):
            t = one(event, "timestamp")
            if "sched_switch" in event:
                switch = event["sched_switch"][0]
                cpu.switches.append((t, one(switch, "prev_state"), one(switch, "next_pid")))
            else:
                kind = [k for k in event if k not in ("timestamp", "pid")][0]
                self.events.append((t, number, kind, event[kind][0]))
        for compact in bundle.get("compact_sched", []):
            self.take_compact(cpu, compact)

    @staticmethod
    def take_compact(cpu, compact):
        def column(name):
            return compact.get(name, [])

        def same_length(*names):
            lengths = {name: len(column(name)) for name in names}
            assert len(set(lengths.values())) == 1, lengths

        t = 0
        same_length("switch_timestamp", "switch_next_pid", "switch_prev_state")
        for delta, state, tid in zip(column("switch_timestamp"), column("switch_prev_state"),
                                     column("switch_next_pid")):
            t += delta
            cpu.switches.append((t, state, tid))
        t = 0
        flags = column("waking_common_flags") or [0] * len(column("waking_pid"))
        same_length("waking_timestamp", "waking_pid", "waking_target_cpu",
                    *(["waking_common_flags"] if compact.get("waking_common_flags") else []))
        for delta, tid, flag, target in zip(column("waking_timestamp"), column("waking_pid"), flags,
                                            column("waking_target_cpu")):
            t += delta
            cpu.wakings.append((t, tid, flag))
            cpu.targets.append((t, tid, target))

    def running(self, begin, end):
        """{tid: ns on a CPU between two times}"""
        spent = {}
        for cpu in self.cpus.values():
            for (t, _, tid), following in zip(cpu.switches, cpu.switches[1:] + [(end, 0, 0)]):
                ns = min(following[0], end) - max(t, begin)
                if ns > 0:
                    spent[tid] = spent.get(tid, 0) + ns
        return spent

    def runs(self):
        """{tid: [(begin, end)]}, and how often a thread was on two CPUs at once: a switch is missing."""
        runs = {}
        for cpu in self.cpus.values():
            for (t, _, tid), following in zip(cpu.switches, cpu.switches[1:]):
                if tid and tid < OUTSIDER:
                    runs.setdefault(tid, []).append((t, following[0]))
        twice = 0
        for spans in runs.values():
            spans.sort()
            twice += sum(a[1] > b[0] + CLOCKS_DIFFER for a, b in zip(spans, spans[1:]))
        return runs, twice

    def attributes(self):
        """{key: number or text} of the trace."""
        return {one(a, "key"): one(a, "long_value") if "long_value" in a else one(a, "string_value")
                for p in self.packets if "trace_attributes" in p
                for a in p["trace_attributes"][0]["attribute"]}
