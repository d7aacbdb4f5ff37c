# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics and histograms are named in their rows (src/model/metric.h) and at the sources of their values; events of the
recorder in theirs (bpf/ring.h), where they are recorded and where they are read; collectors in theirs
(src/collect/collector.h) and in their own files. Everything else derives from the rows. The tables below list the other files
that name single ones: a new one is added where it is recorded or analysed, or its stacks are reported."""

import glob
import os
import re

TOP = os.environ.get("srcdir", ".")
TABLE = "src/model/metric.h"
# The sources of values, and the code that adds them up.
OWN = {TABLE, "src/model/metric.c", "src/collect/slot_values.c", "src/collect/slot_values.h"}
# Other files and the names in them. An entry that is not needed fails the test.
NAMED = {
    "src/app/options.c": "METRIC_RUN",
    "src/collect/cpus.c": "HIST_D HIST_SLEEP",
    "src/collect/irqs.c": "HIST_IRQ HIST_SOFTIRQ",
    "src/collect/slots.c": "METRIC_THROTTLED",
    "src/collect/stacks_report.c": "METRIC_ALIVE METRIC_D METRIC_IRQ METRIC_RUN METRIC_RUNQ METRIC_SLEEP",
    "src/collect/waits.c": "HIST_D HIST_SLEEP",
    "src/model/aggregate.c": "METRIC_ALIVE METRIC_KERNEL METRIC_RUN METRIC_SLEEP "
        "METRIC_STOPPED METRIC_USER",
    "src/model/irq.c": "HIST_IRQ HIST_SOFTIRQ",
    "src/model/row.c": "METRIC_D METRIC_RUN METRIC_RUNQ METRIC_WAKEUPS",
    "src/model/tick.h": "METRIC_ALIVE",
    "src/proc/cgroup_memory.c": "METRIC_MEMORY METRIC_SWAP",
    "src/query/blocked.c": "HIST_D METRIC_D",
    "src/query/filter_match.c": "METRIC_THROTTLED",
    "src/query/irq_history.c": "METRIC_RUNQ_MAX",
    "src/query/latency.c": "HIST_RUNQ",
    "src/query/recorded.c": "METRIC_D METRIC_RUN METRIC_SLEEP",
    "src/query/wakers.c": "METRIC_D METRIC_SLEEP",
    "src/save/trigger.c": "METRIC_D",
    "src/tui/input/settings.c": "METRIC_RUN",
    "src/tui/screen/header.c": "METRIC_KERNEL METRIC_RUN METRIC_RUNQ_MAX METRIC_RUNQ_P50 METRIC_RUNQ_P99 METRIC_USER",
    "src/tui/screen/screen_keys.c": "METRIC_D METRIC_RUN METRIC_RUNQ_MAX METRIC_RUNQ_P99",
    "src/tui/view/detail.c": "HIST_RUNQ METRIC_D METRIC_RUN METRIC_RUNQ METRIC_RUNQ_MAX",
    "src/tui/view/detail_memory.c": "METRIC_MEMORY METRIC_RSS METRIC_SWAP",
    "src/tui/view/irq/irq_notes.c": "METRIC_IRQ",
    "src/tui/view/latency/latency_flame.c": "HIST_RUNQ",
    "src/tui/view/latency/view_range.c": "HIST_RUNQ",
    "src/tui/view/latency/view_subsecond.c": "METRIC_D METRIC_RUN",
    "src/tui/view/view_blocked.c": "METRIC_D",
    "src/tui/view/view_waits.c": "METRIC_RUNQ",
    "src/tui/widget/bar.c": "METRIC_ALIVE METRIC_D METRIC_IRQ METRIC_KERNEL METRIC_RUN "
        "METRIC_RUNQ METRIC_SLEEP METRIC_STEAL METRIC_STOPPED METRIC_USER",
    "src/tui/widget/columns.c": "METRIC_MEMORY METRIC_RSS",
    "src/tui/widget/columns_draw.c": "METRIC_ALIVE METRIC_RUN",
}

EVENTS = "bpf/ring.h"
# Their readers; the kernel's own events in a trace, and stacks.
EVENTS_OWN = {EVENTS, "src/record/snapshot.c", "src/export/perfetto/trace.c"}
EVENTS_NAMED = {
    # where they are recorded
    "bpf/block.bpf.h": "BLOCK",
    "bpf/irq.bpf.h": "GAP IRQ",
    "bpf/recorder.bpf.h": "SWITCH WAKING",
    "bpf/sample.bpf.c": "SAMPLE",
    "bpf/sched.bpf.c": "EXEC NEW RENAME",
    # what analysis looks for
    "src/model/event.h": "BLOCK IRQ NEW SAMPLE SWITCH WAKING",
    "src/query/interrupted.c": "IRQ",
    "src/query/recorded.c": "BLOCK SAMPLE SWITCH",
    "src/query/subsecond.c": "BLOCK SAMPLE SWITCH",
}

COLLECTORS = "src/collect/collector.h"
# The rows, and queries of a single one; struct collect has their states by a macro.
COLLECTORS_OWN = {COLLECTORS, "src/collect/ask.c",
                  *(os.path.relpath(path, TOP) for path in glob.glob(f"{TOP}/src/collect/collectors*.c"))}
# Files that include another collector's header, or name its row. Slots are the core: threads, which all collectors are
# about.
COLLECTORS_NAMED = {
    "src/collect/collect.c": "slots",
    "src/collect/files.c": "unwind_tables",
    "src/collect/moves.c": "slots",
    "src/collect/slots_usage.c": "usages",
}


def read(path):
    with open(f"{TOP}/{path}", encoding="utf-8") as f:
        return f.read()


def rows():
    """METRIC_RUN, HIST_D, ...: the ids that the rows generate."""
    text = read(TABLE)
    names = set()
    for macro, prefix in ("METRICS", "METRIC_"), ("THREAD_HISTS", "HIST_"), ("TICK_HISTS", "HIST_"):
        body = re.search(rf"#define {macro}\(_\)(.*?[^\\])\n", text, re.DOTALL)[1]
        names |= {prefix + name for name in re.findall(r"\b_\((\w+),", body)}
    return names


def named(path, names):
    return {name for name in re.findall(r"\b(?:METRIC|HIST)_\w+", read(path)) if name in names}


def events_named(path, kinds):
    return {name for name in re.findall(r"\bRING_(\w+)", read(path)) if name in kinds}


def collectors_named(path, types):
    """By their types: included headers, and named rows."""
    text, name = read(path), os.path.basename(path)
    headers = set(re.findall(r'#include "(?:collect|record|proc)/(\w+)\.h"', text)) & set(types.values())
    rows = {types[row] for row in re.findall(r"\b(?:COLLECTOR|collector)_(\w+)", text) if row in types}
    states = {types[row] for row in re.findall(r"\bc(?:ollect)?->(\w+)\b", text) if row in types} \
        if "collect_internal.h" in text else set()
    return {found for found in headers | rows | states if not re.search(rf"(^|_){found}\b|(^|_){found}_", name)}


def compare(what, paths, own, listed, find):
    """The cases of one kind of names: @find returns those in a file."""
    found = {path: find(path) for path in paths if path not in own}
    more = [f"{path} names {name}" for path, names in found.items()
            for name in sorted(names - set(listed.get(path, "").split()))]
    less = [f"{path} does not name {name} any more: its entry goes" for path, had in listed.items()
            for name in had.split() if name not in found.get(path, set())]
    return [(f"{what} are named in their rows, their own files and what is listed only", more),
            (f"every one of these {what} that is listed is still named there", less)]


def main():
    names = rows()
    assert "METRIC_RUN" in names and "HIST_SOFTIRQ" in names, f"no rows in {TABLE}"
    kinds = set(re.findall(r"^\s_\((\w+),", read(EVENTS), re.MULTILINE))
    assert {"SWITCH", "GAP"} <= kinds, f"no rows in {EVENTS}"
    types = dict(re.findall(r"^\s_\((\w+),\s*(\w+),\s*\w+\)", read(COLLECTORS), re.MULTILINE))
    assert types.get("sched") == "slots" and types.get("tables") == "unwind_tables", f"no rows in {COLLECTORS}"
    paths = sorted(os.path.relpath(path, TOP) for folder in ("src", "bpf") for ext in "ch"
                   for path in glob.glob(f"{TOP}/{folder}/**/*.{ext}", recursive=True))
    collect = [path for path in paths if path.startswith("src/collect/")]
    cases = compare("metrics and histograms", paths, OWN, NAMED, lambda path: named(path, names)) + \
        compare("events", paths, EVENTS_OWN, EVENTS_NAMED, lambda path: events_named(path, kinds)) + \
        compare("collectors", collect, COLLECTORS_OWN, COLLECTORS_NAMED, lambda path: collectors_named(path, types))
    print(f"1..{len(cases)}")
    for nr, (what, wrong) in enumerate(cases, 1):
        print(f"{'not ok' if wrong else 'ok'} {nr} - {what}")
        for line in wrong:
            print(f"# {line}")


main()
