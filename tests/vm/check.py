# SPDX-License-Identifier: GPL-2.0-or-later
"""--check: each kernel has all that systop uses, except what is known to be missing there, and takes all programs."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import GUEST, SYSTOP, begin, systop_lines  # noqa: E402

# What a kernel before this version does not have: the name, and a part of the text.
MISSING = {
    (6, 4): ("storage memory", ""),
    (6, 15): ("locks of hashes", ""),
}
KERNEL = tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", os.uname().release).groups())


def found():
    done = subprocess.run([SYSTOP, "--check", "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return json.loads(done.stdout)["checks"]


def off(checks):
    """Names and texts of the features that are missing; an emulated machine's clock may be slow."""
    return sorted((c["name"], c["text"]) for c in checks if c["ok"] is False and c["name"] != "clock")


def has_all():
    wanted = sorted(one for before, one in MISSING.items() if KERNEL < before)
    seen = off(found())
    assert len(seen) == len(wanted) and all(name == want and text.startswith(start)
                                            for (name, text), (want, start) in zip(seen, wanted)), (seen, wanted)
    return ", ".join(name for name, _ in seen) or "all"


def shows_all():
    """What the programs read is there: memory, bytes, faults, command lines, stacks."""
    *_, line = systop_lines("--all", "-d", "1", "-n", "4")
    process, = [p for p in line["processes"] if p["tgid"] == os.getpid()]
    thread, = [t for t in line["threads"] if t["tid"] == os.getpid()]
    assert process["rss_bytes"] and process["swap_bytes"] is not None and len(process["cmdline"]) >= 2, process
    names = ("read_bytes", "write_bytes", "minor_faults", "major_faults")
    assert all(thread[name] is not None for name in names), thread
    assert not any(line["loss"].values()), line["loss"]
    assert line["stacks"]["cpu"]["stacks_ns"] > 0, line["stacks"]


def main():
    tap = begin()
    if not GUEST:
        tap.skip("the kernel has what it should", "in a guest only")
    else:
        tap.case("the kernel has what it should", has_all)
        tap.case("what the programs read is there", shows_all)
    tap.done()


main()
