# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers shown side by side agree: on the screen, in tables and in JSON."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from tmux import SYSTOP, Tap, Terminal, skip_reason  # noqa: E402
from harness import Load, load_path  # noqa: E402

SECONDS = 6  # of refreshes to check
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "": 1}

os.environ["LOAD_PERCENT"] = "30"  # enough to fill every view, and time for the screen


def ns(text):
    """"~1.2ms" -> 1200000; None: "-"."""
    match = re.fullmatch(r"[~<>]?([0-9.]+)(ns|us|ms|s|m|h|)", text)
    return float(match[1]) * UNITS[match[2]] if match else None


def ordered(where, *texts):
    """Each value is at most the next one; all are known, or none. Shown numbers have two digits, rounded the same way; ">4.3s" is
    an unknown time longer than that."""
    values = [float("inf") if text.startswith(">") else ns(text) for text in texts]
    known = [v for v in values if v is not None]
    assert known == sorted(known), f"{where}: {texts} are not in order"
    return len(known)


def columns(lines, *titles):
    """The texts of right-aligned columns below the line that has all their titles."""
    for at, line in enumerate(lines):
        ends = [re.search(rf"(?<!\S){re.escape(title)}[v^]?(?!\S)", line) for title in titles]
        if all(ends):
            break
    else:
        raise AssertionError(f"no {titles} in\n" + "\n".join(lines))
    ends = [match.end() for match in ends]
    rows = []
    for row in lines[at + 1:]:
        found = [re.search(r"\S*$", row[:end])[0] for end in ends]
        if not all(found) or row[0] not in "> ":  # the text below the rows begins in the first column
            break
        rows.append(found)
    return rows


class Session:
    """A systop that is paused on a refresh in the middle of loads, which then end."""

    def __init__(self, width, height):
        self.t = Terminal(width, height)

    def __enter__(self):
        with Load(load_path("udp"), "60"), Load(load_path("burn"), "block", "60"), Load(load_path("burn"), "cpu", "60"):
            self.t.start()
            time.sleep(SECONDS)
            self.t.keys("Space")
            self.t.wait("PAUSED")
        return self

    def __exit__(self, *exc):
        self.t.close()

    def show(self, *keys, wait):
        """The lines after these keys, once `wait` has appeared."""
        self.t.keys(*keys)
        self.t.wait(wait)
        time.sleep(0.2)
        return self.t.lines()


def header(lines):
    match = re.search(r"RUNQ (?:p50 (\S+) )?p99 (\S+)(?: max (\S+))?", lines[1])
    assert match, lines[1]
    ordered("header", *(m for m in match.groups() if m))
    shares = re.search(r"CPU (\d+)% of \d+ us(\d+) sy(\d+) hi(\d+) si(\d+) st(\d+|-)", lines[1])
    assert shares, lines[1]
    cpu, *parts = (int(s) if s != "-" else 0 for s in shares.groups())
    assert abs(cpu - sum(parts)) <= 3, f"CPU is {cpu} %, its parts {sum(parts)} %: {lines[1]}"


def rows_of(s, *keys):
    lines = s.show(*keys, wait="RQ-MAX")
    header(lines)
    rows = columns(lines, "RQ-P50", "RQ-P99", "RQ-MAX")
    assert sum(ordered("row", *row) for row in rows) >= 3, rows


def detail(s):
    # The first row is from the middle of the load, so it waited.
    lines = s.show("1", "g", "Enter", wait="IN [0-9.]+m?s")
    text = "\n".join(lines)
    values = {name: re.search(rf"{name} +(\S+)", text)[1] for name in ("RQ-P50", "RQ-P99", "RQ-MAX")}
    ordered("detail", *values.values())
    if match := re.search(r"RUNQUEUE WAITS in these refreshes: p50 (\S+) p90 (\S+) p99 (\S+) max (\S+)", text):
        ordered("detail's waits", *match.groups())
        assert ns(match[4]) >= (ns(values["RQ-MAX"]) or 0), f"the longest of many is below that of one: {match[0]}, {values}"
    s.show("q", wait=r"\[1:")


def selected_range(s):
    """The text about the selected range, once all keys have arrived: when it is the same three times."""
    said, same = None, 0
    for _ in range(20):
        before = said
        said = s.t.wait(r"^range .*: (\S+) [a-zD]+(?: states?)?(?:; threads known for (\S+?))?, (\d+) (?:threads?|sources?)", 3)
        same = same + 1 if before and said[0] == before[0] else 0
        if same == 2:
            break
        time.sleep(0.3)
    return said


def latency(s):
    """Each metric's line below the map; the text about a range agrees with the list. The load is in all states."""
    compared = 0
    for metric, _ in enumerate(("runqueue wait", "sleep", "D state", "interrupt", "softirq")):
        lines = s.show("4" if not metric else "Tab", wait="(?:p50 ~|none in)")
        match = re.search(r"p50 (\S+)  p90 (\S+)  p99 (\S+)  max (\S+)", "\n".join(lines))
        if match:
            ordered(f"latency {metric}", *match.groups())
        assert match or metric > 2, f"no blocks of {metric}: {lines}"
        s.t.keys("v", "Up", "Up", "Up", "Up", "Left", "Left")
        said = selected_range(s) if match else None
        if said:
            count, parties = said[2] or said[1], int(said[3])
            lines = s.show("Enter", wait=r"^\[4:Latency\] > (runq|sleep|D st|inter|soft)")
            status = "\n".join(lines)
            assert re.search(rf"^{re.escape(count)} ", status, re.MULTILINE), f"{said[0]}, but {lines[-3:]}"
            assert re.search(rf", {parties} (thread|source)", status), f"{said[0]}, but {lines[-3:]}"
            total = "TOTAL" if re.search(r" TOTAL", status) else "~TOTAL"
            rows = columns(lines, total, "~P99")
            assert rows, lines
            for row in rows:
                ordered(f"range {metric}", row[1], row[0])
            compared += len(rows)
            s.show("q", wait=r"\[4:")
        s.t.keys("v")
    assert compared, "no range has threads"


def interrupts(s):
    lines = s.show("6", wait="~P99")
    rows = columns(lines, "AVG", "~P99", "MAX")
    assert sum(ordered("IRQ", row[0], row[2]) + ordered("IRQ", row[1], row[2]) for row in rows) >= 3, rows
    worst = re.search(r"worst in \S+: \S+ (\S+) at", "\n".join(lines))
    longest = max(ns(row[2]) or 0 for row in rows)
    assert worst and ns(worst[1]) >= longest * 0.99, f"{worst and worst[0]}, but a row's MAX is {longest} ns"
    assert re.search(r"sources in \S+s, worst in \S+", "\n".join(lines)), "it is not said what is of when"
    lines = s.show("Enter", wait="% of a CPU")
    match = re.search(r"in \S+: \S+% of a CPU .* avg (\S+) p50 (\S+) p99 (\S+) max (\S+)", "\n".join(lines))
    assert match, lines
    ordered("source", *match.groups()[1:])
    ordered("source", match[1], match[4])
    s.show("q", wait=r"\[6:")


def flames(s):
    """No count of 0 beside a total, in any kind of time."""
    lines = s.show("1", "g", "f", wait=r"\[On-CPU\]")
    for metric in ("Runq", "Sleep", "D-state", "IRQ", "MajFlt", "MinFlt", "Wall"):
        assert not any(re.search(r"total .* 0 (times|samples)", line) for line in lines), f"before {metric}: {lines}"
        lines = s.show("Tab", wait=rf"\[{metric}\]")
    s.show("q", wait=r"\[1:")


def blocked(s):
    """A thread with time in D state has a longest block, and no counts of 0 beside it. The load's is woken by its children."""
    rows, totals = columns(s.show("5", wait="LONGEST"), "TOTAL", "LONGEST", "COUNT"), 0
    for row in rows:
        total, longest, count = row
        assert ns(longest) != 0 and count != "0", row
        # Both are unknown for a thread whose end was not seen.
        assert count != "-" or longest == "-" or longest.startswith("<") or ns(longest) < 1e5, row
        if not longest.startswith("<"):
            totals += ordered("D state", longest, total) // 2
    assert totals, rows
    s.t.type("/burn")
    s.show("Enter", wait=r"^woken by +burn \d+ ")


def screens(width, height):
    with Session(width, height) as s:
        header(s.t.lines())
        if width >= 200:
            rows_of(s, "1")
            rows_of(s, "H")
            rows_of(s, "H", "2")
        detail(s)
        flames(s)
        latency(s)
        interrupts(s)
        blocked(s)


def quantiles(value, path=""):
    """For all JSON objects with a p99. Returns how many were compared."""
    if isinstance(value, list):
        return sum(quantiles(one, path) for one in value)
    if not isinstance(value, dict):
        return 0
    compared = 0
    for p50, p99, longest in (("runq_p50_ns", "runq_p99_ns", "runq_max_ns"), (None, "p99_ns", "max_ns")):
        if value.get(p99) is None:
            continue
        assert value[p99] <= value[longest], f"{path}: {p99} {value[p99]} > {longest} {value[longest]}"
        assert not p50 or value[p50] <= value[p99], f"{path}: {p50} {value[p50]} > {p99} {value[p99]}"
        compared += 1
    if "p99_ns" in value and value.get("count"):
        assert value["ns"] / value["count"] <= value["max_ns"] + 1, f"{path}: the average is above the longest: {value}"
    return compared + sum(quantiles(one, f"{path}.{name}") for name, one in value.items())


def printed():
    """Every row of -b and every object of --json."""
    with Load(load_path("udp"), "60"), Load(load_path("forks"), "threads", "500", "60"):
        out = subprocess.run([SYSTOP, "--json", "--all", "-n", "6", "-d", "0.5"], capture_output=True, text=True, check=True)
        compared = sum(quantiles(json.loads(line)) for line in out.stdout.splitlines())
        assert compared > 100, f"{compared} objects have a p99"
        out = subprocess.run([SYSTOP, "-b", "-n", "4", "-d", "0.5"], capture_output=True, text=True, check=True)
        rows = 0
        for table in out.stdout.split("\n\n"):
            if table.strip():
                rows += sum(ordered("-b", *row) for row in columns(table.split("\n"), "RQ-P50", "RQ-P99", "RQ-MAX"))
        assert rows > 20, f"{rows} numbers"
    return f"{compared} objects and {rows} numbers of rows"


WIDE = 184  # cells: the next column does not fit


def default_columns():
    """-b has the columns of a wide screen, in the same order, except the bar."""
    out = subprocess.run([SYSTOP, "-b", "-n", "1", "-d", "0.5"], capture_output=True, text=True, check=True).stdout
    with tempfile.NamedTemporaryFile("w", suffix=".toprc") as config, Terminal(WIDE, 24, {"SYSTOPRC": config.name}) as t:
        t.start()
        shown = t.wait(r"^ +TID .*COMMAND")[0]
    shown = re.sub(r" TIME of \S+", "", shown).replace("RUN%v", "RUN%").split()
    assert out.split("\n")[1].split() == shown, f"-b has {out.splitlines()[1].split()}, the screen {shown}"


def main():
    tap = Tap()
    why = skip_reason()
    if why:
        print(f"1..0 # SKIP {why}")
        return
    tap.together([("80x24", screens, 80, 24), ("200x50", screens, 200, 50)], 2)
    tap.case("tables and JSON", printed)
    tap.case("columns of a table", default_columns)
    tap.done()


main()
