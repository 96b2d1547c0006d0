"""Timing, pairs and their statistics."""

import math
import os
import signal
import statistics
import subprocess
import time


class Failed(Exception):
    """A measurement that could not be made; its text goes into the table."""


def run(command, limit, stdout=subprocess.DEVNULL, env=None):
    """Runs a command with a time limit in seconds; returns (seconds, output). The whole process group is killed."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, start_new_session=True, env=env
    )
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise Failed(f"{command[0]}: not done in {limit} s") from None
    elapsed = time.perf_counter() - started
    if process.returncode != 0:
        text = errors.decode("utf-8", "replace").strip().splitlines()
        raise Failed(f"{command[0]}: exit status {process.returncode}: {text[-1] if text else ''}")
    return elapsed, output


def output_of(command, limit=30):
    return run(command, limit, stdout=subprocess.PIPE)[1].decode("utf-8", "replace")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def median_interval(values, confidence=0.9):
    """Interval of the median by order statistics, which assume no distribution; below five values, their range."""
    ordered, count = sorted(values), len(values)
    below = 0.0
    k = 0
    # The k-th smallest and k-th largest enclose the median with probability 1 - 2 P(Binomial(n, 1/2) < k).
    while k < count // 2:
        below += math.comb(count, k) / 2**count
        if 1 - 2 * below < confidence:
            break
        k += 1
    k = max(k, 1)
    return ordered[k - 1], ordered[count - k]


class Result:
    """One row of the table."""

    def __init__(self, name, what, target):
        self.name, self.what, self.target = name, what, target
        self.value, self.detail, self.met, self.raw = "", "", None, {}

    def as_json(self):
        return {
            "name": self.name, "what": self.what, "target": self.target, "value": self.value, "detail": self.detail,
            "met": self.met, **self.raw,
        }


def pairs(name, what, target, count, side_a, side_b, ratio, met):
    """Measures two sides alternately, A B A B.

    side_a and side_b take no argument, put the state back themselves, and return seconds. `ratio(a, b)` is the number
    whose median is reported; `met(median)` says whether the target is.
    """
    result = Result(name, what, target)
    measured = []
    for _ in range(count):
        measured.append((side_a(), side_b()))
    ratios = [ratio(a, b) for a, b in measured]
    median = statistics.median(ratios)
    low, high = median_interval(ratios)
    wide = " (wide: use more pairs)" if high - low > 0.15 * max(1.0, median) else ""
    result.value = f"{median:.2f} [{low:.2f}, {high:.2f}]"
    result.detail = (
        f"{count} pairs; medians {statistics.median(a for a, _ in measured):.3f} s"
        f" and {statistics.median(b for _, b in measured):.3f} s{wide}"
    )
    result.met = met(median)
    result.raw = {
        "pairs": [{"a_s": a, "b_s": b, "ratio": r} for (a, b), r in zip(measured, ratios)],
        "ratio_median": median, "ratio_low": low, "ratio_high": high, "confidence": 0.9,
    }
    return result
