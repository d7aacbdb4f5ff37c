# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether something measured for hours stays flat: its slope and the interval of that."""

import math
import statistics

# Student's t, two-sided 95 %, by degrees of freedom; between entries the larger value applies.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
           12: 2.179, 15: 2.131, 20: 2.086, 30: 2.042, 60: 2.000, 120: 1.980}
NORMAL = 1.960


def student(freedom):
    """The quantile for this number of degrees of freedom."""
    if freedom > max(STUDENT):
        return NORMAL
    return STUDENT[max(k for k in STUDENT if k <= freedom)]


def means(samples, span):
    """For each span of time, (time, mean): neighbours are alike, and would count as more values than they are."""
    spans = {}
    for at, value in samples:
        spans.setdefault(int(at // span), []).append((at, value))
    return [(statistics.fmean(at for at, _ in some), statistics.fmean(value for _, value in some))
            for _, some in sorted(spans.items())]


def slope(samples):
    """(growth per unit of time, half its 95 % interval) of (time, value); the half is infinite for fewer than three."""
    times, values = [at for at, _ in samples], [value for _, value in samples]
    if len(samples) < 2 or len(set(times)) < 2:
        return 0.0, math.inf
    line = statistics.linear_regression(times, values)
    if len(samples) < 3:
        return line.slope, math.inf
    rest = sum((value - line.intercept - line.slope * at) ** 2 for at, value in samples)
    middle = statistics.fmean(times)
    spread = sum((at - middle) ** 2 for at in times)
    error = math.sqrt(rest / (len(samples) - 2) / spread)
    return line.slope, student(len(samples) - 2) * error


def flat(samples, hours, allowed):
    """Whether it grows no more than allowed in this number of hours, as far as can be known: no growth beyond
    chance, or a small one. Times are in hours."""
    growth, half = slope(samples)
    return growth - half <= 0 or growth * hours <= allowed
