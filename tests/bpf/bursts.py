# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines of programs that live for 100 us, started at the highest rate."""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from harness import GUEST, SEC, Load, Systop, begin, load_path  # noqa: E402


COMMAND_BYTES = 256  # kept for a program of which nothing else is left, see bpf/command.h


def burst(rate, seconds):
    """Programs that live for 100 us keep their own arguments, whatever their rate and length."""
    wanted, lines = {}, []
    with Systop("-d", "0.5", "--filter", "comm=nothing") as systop:
        systop.line()
        with Load(load_path("commands"), "burst", load_path("nothing"), str(rate), str(seconds)) as load:
            truth = load.truth()
            end = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            while not lines or lines[-1]["boottime_ns"] < end:
                lines.append(systop.line())
            lines.append(systop.line())
    exited = sum(t["exited"] for line in lines for t in line["threads"])
    named, cut, unknown, late = set(), 0, 0, set()
    for line in lines:
        # A refresh that is made while a program starts can already have its name; the next one has the rest.
        unknown += len(late - {p["tgid"] for p in line["processes"] if p["cmdline"]})
        late = {p["tgid"] for p in line["processes"] if not p["cmdline"]}
        for p in line["processes"]:
            if not p["cmdline"]:
                continue
            number = int(p["cmdline"][1])
            padding = "x" * (number * 7 % 300)
            text = p["cmdline"][2] if len(p["cmdline"]) > 2 else ""
            assert p["cmdline"][0] == "burst" and padding.startswith(text), p
            cut += text != padding
            assert text == padding or sum(len(arg) + 1 for arg in ("burst", p["cmdline"][1], padding)) > COMMAND_BYTES, p
            assert p["cmdline_cut"] == (text != padding), p
            named.add(number)
    lost = lines[-1]["loss"]["commands"] + lines[-1]["loss"]["no_slot"] + lines[-1]["loss"]["unlisted"]
    note = (f"{truth['made']} at {truth['made'] / truth['ns'] * SEC:.0f}/s: {len(named)} with their own arguments, {cut} of them cut, "
            f"{unknown} unknown, {lost} counted as lost, {exited} exits")
    assert len(named) + lost >= truth["made"], note
    assert not unknown or lost, note
    return note


def main():
    tap = begin()
    tap.case("programs that live for 100 us keep their arguments", burst, 500 if GUEST else 3000, 3)
    tap.case("as many as fit on a CPU do", burst, 1000 if GUEST else 20000, 3)
    tap.done()


main()
