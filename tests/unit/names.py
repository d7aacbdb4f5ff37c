# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics and histograms are named in their rows (src/model/metric.h) and at the sources of their values: everything
else derives from the rows. The table below lists the files that name single ones. It may only shrink."""

import glob
import os
import re

TOP = os.environ.get("srcdir", ".")
TABLE = "src/model/metric.h"
# The sources of values, and the code that adds them up.
OWN = {TABLE, "src/model/metric.c", "src/collect/slot_values.c", "src/collect/slot_values.h"}
# Other files and the names in them. An entry that is not needed fails.
NAMED = {
    "src/app/options.c": "METRIC_RUN",
    "src/collect/cpus.c": "HIST_D HIST_SLEEP",
    "src/collect/irqs.c": "HIST_IRQ HIST_SOFTIRQ",
    "src/collect/slots.c": "METRIC_THROTTLED",
    "src/collect/stacks.c": "METRIC_ALIVE METRIC_D METRIC_IRQ METRIC_RUN METRIC_RUNQ METRIC_SLEEP",
    "src/collect/waits.c": "HIST_D HIST_SLEEP",
    "src/model/aggregate.c": "METRIC_ALIVE METRIC_KERNEL METRIC_RUN "
        "METRIC_SLEEP METRIC_STEAL METRIC_STOPPED METRIC_USER",
    "src/model/irq.c": "HIST_IRQ HIST_SOFTIRQ",
    "src/model/row_history.c": "METRIC_ALIVE",
    "src/model/tick.h": "METRIC_ALIVE",
    "src/query/blocked.c": "HIST_D METRIC_D",
    "src/query/filter_match.c": "METRIC_THROTTLED",
    "src/query/irq_history.c": "METRIC_RUNQ_MAX",
    "src/query/latency.c": "HIST_RUNQ",
    "src/query/recorded.c": "METRIC_D METRIC_RUN METRIC_SLEEP",
    "src/query/wakers.c": "METRIC_D METRIC_SLEEP",
    "src/save/trigger.c": "METRIC_D",
    "src/tui/input/settings.c": "METRIC_RUN",
    "src/tui/screen/header.c": "METRIC_KERNEL METRIC_RUNQ_MAX METRIC_RUNQ_P50 METRIC_RUNQ_P99 METRIC_USER",
    "src/tui/screen/screen_keys.c": "METRIC_D METRIC_RUN METRIC_RUNQ_MAX METRIC_RUNQ_P99",
    "src/tui/view/detail.c": "HIST_RUNQ METRIC_D METRIC_RUN METRIC_RUNQ METRIC_RUNQ_MAX",
    "src/tui/view/flame/flame_source.c": "METRIC_D METRIC_RUNQ",
    "src/tui/view/irq/irq_notes.c": "METRIC_IRQ",
    "src/tui/view/latency/latency_flame.c": "HIST_RUNQ",
    "src/tui/view/latency/subsecond_flame.c": "METRIC_D METRIC_RUN",
    "src/tui/view/latency/view_range.c": "HIST_RUNQ",
    "src/tui/widget/bar.c": "METRIC_ALIVE METRIC_D METRIC_IRQ METRIC_KERNEL METRIC_RUN "
        "METRIC_RUNQ METRIC_SLEEP METRIC_STEAL METRIC_STOPPED METRIC_USER",
    "src/tui/widget/columns_draw.c": "METRIC_ALIVE METRIC_RUN",
    "src/tui/widget/row_table.c": "METRIC_D METRIC_RUN METRIC_RUNQ METRIC_WAKEUPS",
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


def main():
    names = rows()
    assert "METRIC_RUN" in names and "HIST_SOFTIRQ" in names, f"no rows in {TABLE}"
    paths = sorted(os.path.relpath(path, TOP) for folder in ("src", "bpf") for ext in "ch"
                   for path in glob.glob(f"{TOP}/{folder}/**/*.{ext}", recursive=True))
    found = {path: named(path, names) for path in paths if path not in OWN}
    more = [f"{path} names {name}" for path in paths if path not in OWN
            for name in sorted(found[path] - set(NAMED.get(path, "").split()))]
    less = [f"{path} does not name {name} any more: its entry goes" for path, had in NAMED.items()
            for name in had.split() if name not in found.get(path, set())]
    cases = [("metrics and histograms are named in their rows, their own files and what is listed only", more),
             ("every one that is listed is still named there", less)]
    print(f"1..{len(cases)}")
    for nr, (what, wrong) in enumerate(cases, 1):
        print(f"{'not ok' if wrong else 'ok'} {nr} - {what}")
        for line in wrong:
            print(f"# {line}")


main()
