# SPDX-License-Identifier: GPL-2.0-or-later
"""--max-cpu and --max-mem: what systop leaves out to stay below them, in which order, and that it comes back."""

import os
import shlex
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "tui"))
from harness import HIDEPID, STATES, Cgroup, Load, Systop, begin, helper_of, load_path, rows_of, wait_for  # noqa: E402
from tmux import SYSTOP, Terminal  # noqa: E402

# The order of the collectors' rows.
ORDER = ["blocked", "samples/4", "block stacks", "waits", "samples/16", "recorder"]
START_S = 4     # at the start names are looked for, whatever that costs
SETTLED_S = 8   # by then everything that has to be left out is left out
SAME = 3        # refreshes in which nothing changes: nothing more is left out
BACK_S = 60     # 5 s at the soonest, and twice as long after an attempt that was too early


def cost(line):
    """Percent of one CPU."""
    return (line["self"]["cpu_ns"] + line["self"]["bpf_ns"]) / line["interval_ns"] * 100


def burners():
    """Two threads with thousands of stacks."""
    return [Load(load_path("burn"), "distinct", "120", "14") for _ in range(2)]


def shed_in_order(line):
    assert line["shed"] == ORDER[:len(line["shed"])], line["shed"]


def times_are_whole(lines, tids):
    """The time of a thread is never left out."""
    for tid in tids:
        rows = rows_of(lines, tid)
        assert rows, f"no row of {tid}"
        for row in rows:
            states = sum(row[state] for state in STATES if row[state] is not None)
            assert abs(states - row["alive_ns"]) <= 1000, row


def under_load():
    # What other programs do meanwhile costs next to nothing.
    with Cgroup(f"systop-shed-{os.getpid()}") as cgroup:
        return under_load_of(cgroup)


def under_load_of(cgroup):
    loads = burners()
    try:
        tids = [load.truth()["tid"] for load in loads]
        for load in loads:
            cgroup.add(load.pid)
        with Systop("-c", cgroup.name, "-F", "9999", "-d", "1", "-n", "9") as s:
            free = s.rest()
        assert not any(line["shed"] for line in free), free[-1]["shed"]
        without = statistics.median(cost(line) for line in free[START_S:])
        limit = without * 0.7
        with Systop("-c", cgroup.name, "-F", "9999", "-d", "1", "--max-cpu", f"{limit:.2f}") as s:
            first = [s.line() for _ in range(START_S)]
            while len(first) < START_S + SETTLED_S and (not first[-1]["shed"] or any(line["shed"] != first[-1]["shed"]
                                                                                     for line in first[-SAME:])):
                first.append(s.line())
            lines = [s.line() for _ in range(5)]
            for line in first + lines:
                shed_in_order(line)
            assert lines[0]["shed"], "nothing was left out"
            after = statistics.median(cost(line) for line in lines)
            assert after <= limit, f"{after:.2f} % with a limit of {limit:.2f} %"
            times_are_whole(first[1:] + lines, tids)
            for load in loads:
                load.end()
            left = lines[-1]["shed"]
            for _ in range(BACK_S):
                line, before = s.line(), left
                shed_in_order(line)
                left = line["shed"]
                if len(left) < len(before):
                    break
            assert len(left) < len(before), f"{left}: nothing came back"
        return f"{without:.1f} %, with a limit of {limit:.1f} % {after:.1f} %, without {', '.join(lines[-1]['shed'])}"
    finally:
        for load in loads:
            load.end()


def memory():
    """A limit that cannot be kept is reported, and only details that make room are left out. --on reports once that nothing is
    recorded, and goes on; SIGUSR1 reports it, too."""
    with tempfile.TemporaryDirectory() as folder, \
         Systop("-d", "0.2", "-n", "6", "--max-mem", "8M", "--window", "1", "--window-mem", "64M", "--on", "tid>0",
                "-o", f"{folder}/trace") as s:
        while s.line()["shed"] != ["recorder"]:
            pass
        time.sleep(0.3)
        s.proc.send_signal(signal.SIGUSR1)
        lines = s.rest()
        said = s.proc.stderr.read().decode()
    assert lines[-1]["shed"] == ["recorder"], lines[-1]["shed"]
    why = "systop: not saved: the recorder is left out, or has no memory (fix: a higher --max-cpu, --max-mem or --window-mem)"
    assert said.count(f"{why}; tid>0: ") == said.count(f"{why}\n") == 1, said
    with Systop("-d", "0.2", "-n", "6", "--max-mem", "100G", "--max-cpu", "1000") as s:
        lines = s.rest()
    assert len(lines) == 6 and not any(line["shed"] for line in lines), lines


def nothing_to_leave_out():
    """A systop that has no recorder never reports that it leaves that out."""
    with Systop("-d", "0.1", "-n", "9", "--max-cpu", "0.1", "--window", "0") as s:
        lines = s.rest()
    assert lines[-1]["shed"] == ["blocked", "samples/4", "block stacks", "waits", "samples/16"], lines[-1]["shed"]


def while_saving():
    """The first refresh exceeds the limit, while a save waits for it."""
    with tempfile.TemporaryDirectory() as folder, \
         Systop("-d", "1", "-n", "2", "--max-mem", "8M", "--window", "1", "--window-mem", "64M", "-o", f"{folder}/trace") as s:
        wait_for(lambda: helper_of(s.proc.pid, "systop-commands"), 30, "no BPF")
        time.sleep(0.4)
        s.proc.send_signal(signal.SIGUSR1)
        lines = s.rest()
        text = s.proc.stderr.read().decode()
    assert lines[0]["shed"] == ["recorder"], lines[0]["shed"]
    assert f"saved {folder}/trace: " in text and " 0 events" not in text, text


def said():
    with Terminal(120, 150) as t:
        t.start("--max-cpu", "0.1", "-d", "0.3")
        t.wait("left out, see !: blocked")
        t.keys("!")
        t.wait("Budget")
        t.wait("left out: stacks of threads that are blocked now")


def unknown():
    """Where /proc hides helpers, their memory does not count; the health page says so. The recorder gets a quarter at most."""
    with Terminal(120, 150) as t:
        t.run(f"{shlex.join(HIDEPID)} {SYSTOP} --max-mem 512M --window-mem 256M")
        t.wait("TID")
        t.keys("!")
        t.wait("helpers .*memory is unknown")
        rings = t.wait(rf"recorder .* events per CPU, ([0-9.]+)M on {os.cpu_count()} CPUs")
        assert float(rings[1]) <= 128, rings[0]


def main():
    tap = begin()
    tap.case("under a load details go in their order, the cost falls below the limit, and they come back", under_load)
    # In these cases it does not depend on other programs what is left out.
    tap.together([
        ("memory: the recorder goes", memory),
        ("what a run does not have is never left out", nothing_to_leave_out),
        ("a trace that is being saved is completed before the recorder goes", while_saving),
        ("it is said on the screen", said),
        ("memory of helpers that /proc hides", unknown),
    ], 3)
    tap.done()


main()
