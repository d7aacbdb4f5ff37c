# SPDX-License-Identifier: GPL-2.0-or-later
"""Room for files and for interrupts: unused files make room for others, and what finds no room is counted. A systop with small
limits (tests/bpf/small.c) fills up in seconds."""

import contextlib
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, Cgroup, Load, Systop, begin, load_path, rows_of  # noqa: E402

SMALL = os.environ.get("SYSTOP_SMALL_PROGRAM", os.path.join(os.path.dirname(load_path("")), "..", "bpf", "systop-small"))


@contextlib.contextmanager
def small(**room):
    """The limits are set in the program's environment."""
    said = {"files": 65536, "age": 60, "rest": 10, "lines": 239, "past": 32 << 20} | room
    os.environ["SYSTOP_SMALL"] = " ".join(str(number) for number in said.values())
    try:
        yield
    finally:
        del os.environ["SYSTOP_SMALL"]


def short_program(folder, name, cgroup, seconds):
    """A program of its own that uses a CPU and ends again."""
    path = shutil.copy(load_path("burn"), os.path.join(folder, name))
    with Load(path, "cpu", "9", preexec=lambda: cgroup.add(os.getpid())) as load:
        load.truth()
        time.sleep(seconds)
    os.unlink(path)


def drain(systop):
    """Entries from now on are new."""
    systop.skip()


def files_make_room(room, programs):
    """Programs that come and go, more than there is room for: each gets room, and functions have names to the end. Three come
    in a second, and in each 2 to 3 s up to a quarter of the room is made free again."""
    with Cgroup(f"systop-aging-{os.getpid()}") as cgroup, tempfile.TemporaryDirectory() as folder, \
         small(files=room, age=1, rest=1, past=1), \
         Systop("-d", "0.1", "-F", "499", "--window", "0", "-c", cgroup.path, program=SMALL) as systop:
        systop.line()
        for i in range(programs):
            if i == programs - room // 2:
                drain(systop)
            short_program(folder, f"short{i}", cgroup, 0.3)
        systop.proc.terminate()
        lines = systop.rest()
    lost = lines[-1]["loss"]["files"]
    worth = {name: sum(line["stacks"]["cpu"][name] or 0 for line in lines) for name in ("total_ns", "unwound_ns", "named_ns")}
    assert not lost, f"{lost} times no room"
    assert worth["unwound_ns"] > 0.8 * worth["total_ns"] and worth["named_ns"] > 0.7 * worth["total_ns"], worth
    return f"{programs} programs in {room - 1} places; of the last ones: {worth}"


def files_full(room):
    """A file in use finds no room: its stacks continue through it, and each of them is counted."""
    enough = 20 if GUEST else 200
    with Cgroup(f"systop-aging-{os.getpid()}") as cgroup, tempfile.TemporaryDirectory() as folder, \
         small(files=room), Systop("-d", "0.5", "--window", "0", "-c", cgroup.path, "-F", "499", program=SMALL) as systop:
        systop.line()
        with Load(load_path("burn"), "cpu", "9", preexec=lambda: cgroup.add(os.getpid())):
            time.sleep(2)  # libc and the vdso have ids then
        for i in range(2 * room):
            short_program(folder, f"short{i}", cgroup, 0.06)
        path = shutil.copy(load_path("burn"), os.path.join(folder, "last"))
        with Load(path, "cpu", "30", preexec=lambda: cgroup.add(os.getpid())) as load:
            tid = load.truth()["tid"]
            drain(systop)
            lines, samples = [systop.line() for _ in range(2)][1:], 0
            while samples <= enough and len(lines) < 30:
                lines.append(systop.line())
                samples = sum(r["samples"] for r in rows_of(lines[1:], tid))
    lost = lines[-1]["loss"]["files"] - lines[0]["loss"]["files"]
    assert samples > enough, f"{samples} samples"
    # Of those that are taken while a refresh is made, which can take 10 ms on a busy host, at the first and the last one.
    assert abs(lost - samples) <= 2 * 0.01 * 499, f"{samples} samples, {lost} files without room"
    return f"{samples} samples, {lost} times no room"


def interrupts():
    """{line: count on all CPUs} of /proc/interrupts, for lines with a handler."""
    with open("/proc/interrupts", encoding="utf-8") as f:
        cpus = len(f.readline().split())
        words = [line.split() for line in f]
    return {w[0][:-1]: sum(map(int, w[1:1 + cpus])) for w in words if w[0][:-1].isdigit() and len(w) > 1 + cpus}


def lines_full():
    """Two sources for all lines: the busiest device has one, and the counts of all lines are complete."""
    before = interrupts()
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(load_path(""))) as file, small(lines=2), \
         Systop("-d", "0.5", "--window", "0", program=SMALL) as systop:
        systop.line()
        counts = interrupts()
        lines = []
        for _ in range(8):
            for _ in range(20):
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
            lines.append(systop.line())
        counts = {line: count - counts[line] for line, count in interrupts().items()}
    ours = {}
    for irq in (i for line in lines for i in line["irqs"] if i["kind"] == "hard"):
        ours[irq["name"]] = ours.get(irq["name"], 0) + irq["count"]
    truth, busiest = sum(counts.values()), max(before, key=before.get)
    assert truth > 20, counts
    assert abs(sum(ours.values()) - truth) <= truth / 50 + 10, (ours, counts)
    assert len(ours) <= 3 and set(ours) - {"others"}, ours
    assert any(name.partition("+")[0] == busiest for name in ours) or "+" in "".join(ours), (ours, busiest)
    return f"{truth} interrupts of {sum(map(bool, counts.values()))} lines: {ours}"


def main():
    tap = begin()
    tap.case("files that are gone make room", files_make_room, 40, 60)
    tap.case("files that are there and have no room are counted", files_full, 16)
    tap.case("lines of interrupts without a source of their own", lines_full)
    tap.done()


if __name__ == "__main__":
    main()
