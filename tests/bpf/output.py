# SPDX-License-Identifier: GPL-2.0-or-later
"""--json and -b: form, completeness, and sums that agree."""

import ctypes
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

import jsonschema

sys.path.insert(0, os.path.dirname(__file__))
from harness import (GUEST, MS, REALTIME, SEC, SYSTOP, Cgroup, Load, Systop, begin, descendants, load_path, rows_of,  # noqa: E402
                     states_of, systop_lines)

THREAD = {"tid", "tgid", "comm", "cgroup", "cpu_cgroup", "state", "run_ns", "user_ns", "kernel_ns", "runq_ns",
          "throttled_ns", "d_ns", "sleep_ns", "stopped_ns", "alive_ns", "runq_p50_ns",
          "runq_p99_ns", "runq_max_ns", "switches_voluntary", "switches_involuntary", "wakeups",
          "migrations", "minor_faults", "major_faults", "read_bytes", "write_bytes", "irq_ns", "steal_ns", "cpu_time_ns", "waited_behind", "wakers", "samples", "exited"}
HOST = {"mem_total_bytes", "mem_available_bytes", "swap_total_bytes", "swap_used_bytes", "load"}
PROCESS = (THREAD - {"tid", "cpu_cgroup", "state", "waited_behind", "wakers", "samples"} |
           {"threads", "rss_bytes", "swap_bytes", "cmdline", "cmdline_cut", "container", "pod", "unit"})
LINE = HOST | {"schema", "time", "boottime_ns", "interval_ns", "host", "kernel", "scope", "dropped_refreshes", "loss", "repaired", "self", "shed", "stacks",
        "cpus", "irqs", "cgroups", "processes", "threads"}
REPAIRED = {"gap", "seed_missed", "first_sight", "queue_stale", "torn"}
SUMMED = ("run_ns", "irq_ns", "runq_ns", "throttled_ns", "d_ns", "sleep_ns", "stopped_ns", "alive_ns",
          "switches_voluntary", "switches_involuntary", "wakeups", "migrations", "minor_faults", "major_faults",
          "read_bytes", "write_bytes")


def run(*args):
    return subprocess.run([SYSTOP, *args], capture_output=True, check=True).stdout


def undescribed(name, node):
    """Properties without a description, or with one that applies only to the screen."""
    if "items" in node and "properties" in node["items"]:
        return undescribed(name, node["items"])
    if "properties" in node:
        return [wrong for of, below in node["properties"].items() for wrong in undescribed(f"{name}.{of}", below)]
    text = node.get("description") or node.get("items", {}).get("description", "")
    return [] if text and "; - " not in text else [f"{name}: {text}"]


def schema():
    described = json.loads(run("--schema"))
    jsonschema.Draft7Validator.check_schema(described)
    assert not undescribed("", described), undescribed("", described)
    validator = jsonschema.Draft7Validator(described)
    with Load(load_path("forks"), "processes", "200", "10"):
        lines = systop_lines("--all", "-d", "1", "-n", "3")
    for line in lines:
        validator.validate(line)
    broken = json.loads(json.dumps(lines[0]))
    del broken["threads"][0]["run_ns"]
    assert not validator.is_valid(broken), "the schema lets a missing field pass"
    broken = json.loads(json.dumps(lines[0]))
    broken["threads"][0]["state"] = "busy"
    assert not validator.is_valid(broken), "the schema lets an unknown state pass"


def keys():
    line = systop_lines("--all", "-d", "0.3", "-n", "1")[0]
    assert set(line) == LINE, set(line) ^ LINE
    assert set(line["threads"][0]) == THREAD, set(line["threads"][0]) ^ THREAD
    assert set(line["processes"][0]) == PROCESS, set(line["processes"][0]) ^ PROCESS
    assert set(line["self"]) == {"cpu_ns", "rss_bytes", "bpf_ns", "bpf_bytes", "turn_ns", "turn_work_ns"}, line["self"]
    assert set(line["stacks"]) == {"cpu", "runq", "sleep", "d", "irq", "majflt", "minflt"}, line["stacks"]
    for name, kind in line["stacks"].items():
        unit = "" if name.endswith("flt") else "_ns"
        assert set(kind) == {f"{of}{unit}" for of in ("total", "stacks", "unwound", "functions", "named")} | {"cut", "unnamed"}, kind
        lacks = sum(kind["unnamed"].values())
        assert abs(kind[f"stacks{unit}"] - (kind[f"named{unit}"] or 0) - lacks) <= 16, kind
    assert set(line["repaired"]) == REPAIRED, line["repaired"]
    assert line["schema"] == 8 and "gap" not in line["loss"], (line["schema"], line["loss"])
    assert set(line["cpus"][0]) == {"cpu", "run_ns", "idle_ns", "steal_ns", "irq_ns", "switches"}, line["cpus"][0]
    row = set(line["cgroups"][0])
    assert {"id", "path", "container", "pod", "unit", "threads", "own", "nr_throttled", "quota_ns", "period_ns"} <= row, row
    assert (THREAD - {"tid", "tgid", "comm", "cgroup", "cpu_cgroup", "state", "samples", "exited", "waited_behind", "wakers",
                      "cpu_time_ns"}) <= row, row
    assert (line["host"], line["kernel"]) == (os.uname().nodename, os.uname().release), (line["host"], line["kernel"])


def pace():
    began, since = time.monotonic(), time.time()
    lines = systop_lines("-d", "0.5", "-n", "4")
    took = time.monotonic() - began
    assert len(lines) == 4, len(lines)
    # The first interval begins when systop has started, which takes a while on a host under load.
    assert 2.0 <= sum(line["interval_ns"] for line in lines) / SEC <= took < 20, took
    for line in lines:
        assert 0.45 * SEC < line["interval_ns"] < (5 if GUEST else 0.75) * SEC, line["interval_ns"]
        assert since < datetime.datetime.fromisoformat(line["time"].replace("Z", "+00:00")).timestamp() < since + took, line["time"]


def own_cost():
    """systop's own CPU time equals the kernel's. Neither it nor its helpers are sampled."""
    with Systop("-F", "999", "-d", "1", "-n", "2") as systop:
        lines = [systop.line()]
        own = descendants(systop.proc.pid)
        lines.append(systop.line())
    rows = [t for line in lines for t in line["threads"] if t["tgid"] in own]
    assert len({t["tgid"] for t in rows}) > 1 and not any(t["samples"] for t in rows), rows
    me = lines[1]["self"]
    assert 0 < me["cpu_ns"] < 0.5 * SEC, me
    assert 4 << 20 < me["rss_bytes"] < 256 << 20, me
    assert 16 << 20 < me["bpf_bytes"] < 64 << 20, me


def nothing_lost():
    """Nothing is lost on an idle or busy host: repairs are not losses, and are counted as repairs."""
    idle = systop_lines("-d", "1", "-n", "3")[-1]
    with Load(load_path("forks"), "processes", "300", "20"), Load(load_path("pingpong"), "20"):
        lines = systop_lines("-d", "1", "-n", "5")
    busy = lines[-1]
    for line in (idle, busy):
        assert not any(line["loss"].values()), f"lost {line['loss']}, repaired {line['repaired']}"
    switches = sum(c["switches"] for line in lines for c in line["cpus"])
    assert switches > 20000, f"{switches} switches are no busy host"
    heading = run("-b", "-d", "0.5", "-n", "1").decode().split("\n")[0]
    assert " LOSS 0 " in heading, heading
    return f"{switches} switches; repaired: idle {idle['repaired']}, busy {busy['repaired']}"


def adds_up():
    with Load(load_path("udp"), "20"):
        lines = systop_lines("--all", "-d", "1", "-n", "3")
    for line in lines:
        for t in line["threads"]:
            assert states_of(t) == t["alive_ns"], t
            assert t["throttled_ns"] <= t["runq_ns"], t
            assert (t["user_ns"] is None) == (t["kernel_ns"] is None), t
            if t["user_ns"] is not None:
                assert t["user_ns"] + t["kernel_ns"] == t["run_ns"], t
            if t["runq_p50_ns"] is not None:
                assert t["runq_p50_ns"] <= t["runq_p99_ns"], t
        for path in {c["path"] for c in line["cgroups"]}:
            cgroups = [c for c in line["cgroups"] if c["path"] == path]  # removed and made again, it has more than one row
            of = "cgroup" if path.startswith("/") else "cpu_cgroup"
            below = [t for t in line["threads"] if path == "/" or t[of] == path or t[of].startswith(path + "/")]
            own = [t for t in line["threads"] if t[of] == path]
            for rows, threads in ((cgroups, below), ([c["own"] for c in cgroups], own)):
                assert sum(row["threads"] for row in rows) == len(threads), (path, [row["threads"] for row in rows], len(threads))
                for field in SUMMED:
                    assert sum(row[field] for row in rows) == sum(t[field] for t in threads), (path, field)
    ran, stolen = (sum(t[field] for line in lines for t in line["threads"] if t["comm"].startswith("ksoftirqd/"))
                   for field in ("run_ns", "irq_ns"))
    most = 0.4 if GUEST else 0.2
    assert stolen <= most * (ran + stolen), f"softirqs of ksoftirqd, which are its own, take {stolen} ns from its {ran} ns"
    of_cpus, of_all = (sum(row[field] or 0 for line in lines for row in line[rows])
                       for rows, field in (("cpus", "irq_ns"), ("irqs", "ns")))
    assert REALTIME or not of_cpus or of_all - ran - MS <= 1.01 * of_cpus <= 1.02 * of_all + MS, (of_cpus, of_all, ran)
    return f"{len(lines[0]['threads'])} threads, {len(lines[0]['cgroups'])} cgroups"


def cpu_time():
    """cpu_time_ns is the kernel's sum since a thread began, before systop, too; a process has that of threads that ended since."""
    script = ("import threading, time\n"
              "def burn(s):\n    until = time.thread_time() + s\n    while time.thread_time() < until: pass\n"
              "burn(1)\nprint('{}', flush=True)\ntime.sleep(SLEEP)\n"
              "t = threading.Thread(target=burn, args=(0.5,))\nt.start()\nt.join()\nprint('{}', flush=True)\n"
              "while True:\n    time.sleep(0.05)")
    with Load(sys.executable, "-c", script.replace("SLEEP", "10" if GUEST else "3")) as load:
        load.truth()
        with Systop("-p", str(load.pid), "-d", "0.5") as systop:
            load.truth()
            systop.line()
            time.sleep(1)
            systop.proc.terminate()
            lines = systop.rest()
        with open(f"/proc/{load.pid}/schedstat", encoding="ascii") as f:
            thread = int(f.read().split()[0])
        with open(f"/proc/{load.pid}/stat", encoding="ascii") as f:
            process = sum(map(int, f.read().rpartition(")")[2].split()[11:13])) * SEC / os.sysconf("SC_CLK_TCK")
    row = rows_of(lines[-1:], load.pid)[0]
    whole, = (p for p in lines[-1]["processes"] if p["tgid"] == load.pid)
    assert thread > SEC and abs(row["cpu_time_ns"] - thread) < 50 * MS, (row["cpu_time_ns"], thread)
    assert process > 1.4 * SEC and abs(whole["cpu_time_ns"] - process) < 100 * MS, (whole["cpu_time_ns"], process)
    times = [row["cpu_time_ns"] for row in rows_of(lines, load.pid)]
    assert times == sorted(times), times
    return f"thread {row['cpu_time_ns'] / SEC:.3f} s, kernel {thread / SEC:.3f} s; process {whole['cpu_time_ns'] / SEC:.2f} s, kernel {process / SEC:.2f} s"


def unknown_is_null():
    """A thread that the kernel's tick never sampled has no user time: null, never 0."""
    with Load(load_path("forks"), "processes", "1000", "5"):
        lines = systop_lines("-d", "1", "-n", "2")
    short = [t for line in lines for t in line["threads"] if t["exited"] and t["run_ns"]]
    assert len(short) > 100, len(short)
    assert any(t["user_ns"] is None for t in short), "every short process met a tick?"
    zero = [t for t in short if t["user_ns"] == t["kernel_ns"] == 0]
    assert not zero, zero[:3]


def hostile_names():
    """Any name of a thread: valid UTF-8, nothing that moves a cursor."""
    names = [b"\x1b]0;x\x07", b"\xff\xfe\x80", b"\xe2\x80\xaeabc", b"a\nb\tc", b'"\\']
    children = []
    for name in names:
        child = os.fork()
        if not child:
            ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
            time.sleep(60)
            os._exit(0)
        children.append(child)
    try:
        time.sleep(2 if GUEST else 0.3)
        for mode in (("--json",), ("-b",)):
            out = run(*mode, "--all", "-d", "0.3", "-n", "1")
            text = out.decode("utf-8")  # strictly
            assert not any(c < 32 and c != 10 or c == 127 for c in out), mode
            assert not set(text) & {"\u202e", "\x9b", "\x80"}, mode
            text = text.replace("\\\\", "\\")  # JSON escapes the backslash
            assert "\\x1b" in text and "\\xff\\xfe\\x80" in text, mode
    finally:
        for child in children:
            os.kill(child, 9)
            os.waitpid(child, 0)


def listed():
    """Without --all: only threads with an event, or not asleep all the time. A move to another cgroup is an event."""
    with Load("sleep", "60") as sleeper:
        time.sleep(2 if GUEST else 0.3)
        some = systop_lines("-d", "1", "-n", "1")[0]
        everything = systop_lines("--all", "-d", "1", "-n", "1")[0]
    assert not rows_of([some], sleeper.pid), "a sleeper is listed"
    row, = rows_of([everything], sleeper.pid)
    assert row["state"] == "sleep" and row["sleep_ns"] == row["alive_ns"], row
    # Only the form: other threads come and go between the two runs.
    quiet = [row for row in some["threads"]
             if row["sleep_ns"] == row["alive_ns"] == some["interval_ns"] and not row["wakeups"]]
    assert not quiet, quiet


def slow_file():
    """A file takes a line in more than one turn, as each write waits for the disk: nothing is dropped."""
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(load_path(""))) as file, \
         subprocess.Popen([load_path("threads"), "200"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as load:
        load.stdout.readline()
        fd = os.open(file.name, os.O_WRONLY | os.O_APPEND | os.O_SYNC)
        done = subprocess.run([SYSTOP, "--json", "--all", "-p", str(load.pid), "-d", "4", "-n", "2"], stdout=fd,
                              stderr=subprocess.PIPE, check=False)
        os.close(fd)
        lines = [json.loads(line) for line in file.read().splitlines()]
    assert not done.returncode and not done.stderr, done
    assert len(lines) == 2 and not lines[-1]["dropped_refreshes"], f"{len(lines)} lines, {lines[-1]['dropped_refreshes']} dropped"


def tables():
    out = run("-b", "-d", "0.3", "-n", "2").decode()
    tables = out.strip().split("\n\n")
    assert len(tables) == 2, out
    for table in tables:
        head, titles, *rows = table.split("\n")
        assert head.startswith(f"systop {os.uname().nodename} "), head
        assert titles.split()[:4] == ["TID", "USER", "S", "UNIT/POD"] and titles.endswith(" COMMAND"), titles
        assert rows, table
    assert "\033" not in out, out
    at = titles.index("RUN%") + 4
    runs = [float(share) for r in rows if (share := r[:at].split()[-1]) != "-"]
    assert runs == sorted(runs, reverse=True), runs
    for column, title in (("runq_ns", "RUNQ%"), ("RQ-MAX", "RQ-MAX"), ("d_ns", "D%"), ("sleep_ns", "SLEEP%"),
                          ("minor_faults", "MINF/s")):
        titles = run("-b", "-d", "0.1", "-n", "1", "-s", column).decode().split("\n")[1]
        assert title in titles.split(), f"sorted by {column}: {titles}"


def who():
    """A row has the user of a thread, what it belongs to, and what it runs: the whole command line, which --redact leaves out."""
    words = [load_path("burn"), "cpu", "60", "x" * 300]
    name = f"systop-{os.getpid()}"
    with Cgroup(f"{name}.service") as unit, Load(*words, preexec=lambda: os.setuid(65534)) as load:
        unit.add(load.pid)
        time.sleep(2 if GUEST else 0.5)
        for more in (), ("--redact",):
            out = run("-b", "-p", str(load.pid), "-d", "0.5", "-n", "2", *more).decode().split("\n\n")[1]
            row, = (r.split() for r in out.split("\n") if r.split()[:1] == [str(load.pid)])
            assert row[1] == "nobody", row
            assert row[3] == (name if not more else row[3]) and ("systop" in row[3]) == (not more), row
            assert (row[-len(words):] == words) if not more else "burn" not in " ".join(row), row


def main():
    tap = begin()
    tap.case("the schema holds for real output", schema)
    tap.case("exactly these fields", keys)
    tap.case("N lines in N intervals", pace)
    tap.case("own cost", own_cost)
    tap.case("nothing is lost", nothing_lost)
    tap.case("everything adds up", adds_up)
    tap.case("CPU time", cpu_time)
    tap.case("unknown is null", unknown_is_null)
    tap.case("hostile names", hostile_names)
    tap.case("which threads are listed", listed)
    tap.case("a file that takes long", slow_file)
    tap.case("-b", tables)
    tap.case("who it is, in -b", who)
    tap.done()


main()
