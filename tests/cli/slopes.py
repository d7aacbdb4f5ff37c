# SPDX-License-Identifier: GPL-2.0-or-later
"""The arithmetic of tests/soak: slopes and their intervals."""

import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "bpf"))
from harness import Tap  # noqa: E402
from slope import flat, means, slope  # noqa: E402


def near(value, wanted, what, by=1e-9):
    assert abs(value - wanted) <= by, f"{what} is {value}, not {wanted}"


def textbook():
    """Five points: the slope is 0.6, its standard error sqrt(0.08), and t is 3.182 for three degrees of freedom."""
    growth, half = slope([(1, 2), (2, 4), (3, 5), (4, 4), (5, 5)])
    near(growth, 0.6, "the slope")
    near(half, 3.182 * math.sqrt(0.08), "half of the interval")


def straight():
    growth, half = slope([(i / 10, 100 + 3 * i / 10) for i in range(50)])
    near(growth, 3, "the slope", 1e-6)
    near(half, 0, "half of the interval", 1e-6)


def too_few():
    for samples in ([], [(1, 5)], [(1, 5), (1, 6)], [(1, 5), (2, 6)]):
        assert slope(samples)[1] == math.inf, (samples, slope(samples))


def covers():
    """The interval holds the true slope in about 95 of 100 runs."""
    random.seed(1)
    held = 0
    for _ in range(1000):
        growth, half = slope([(i, 0.5 * i + random.gauss(0, 3)) for i in range(20)])
        held += abs(growth - 0.5) <= half
    assert 930 <= held <= 970, f"{held} of 1000"


def verdicts():
    noise = [(i / 60, 100 + (i % 3 - 1)) for i in range(120)]
    leak = [(at, value + 5 * at) for at, value in noise]
    small = [(at, 100 + at / 10) for at, _ in noise]
    assert flat(noise, 2, 1), slope(noise)
    assert not flat(leak, 2, 1), slope(leak)
    assert flat(small, 2, 1), slope(small)
    per_minute = means([(i / 3600, i) for i in range(180)], 1 / 60)
    assert [value for _, value in per_minute] == [29.5, 89.5, 149.5], per_minute


def main():
    tap = Tap()
    tap.case("a slope and its interval, by hand", textbook)
    tap.case("a straight line", straight)
    tap.case("too few samples say nothing", too_few)
    tap.case("the interval holds the slope in 95 of 100", covers)
    tap.case("flat, growing, and growing by little", verdicts)
    tap.done()


main()
