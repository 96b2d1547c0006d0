"""One side of a comparison in wall time and processor time, and the rule that decides between the two."""

import os
import resource
import statistics
import subprocess

from measure import Failed, Result, median_interval, run

# Where the 90 % interval of the wall time is wider than this, processor time decides (perf counts no instructions on
# most virtual machines, so that they cannot).
WIDEST = 0.15


class Skipped(Failed):
    """A row that cannot be measured here, or not in a quick run: said with its reason, and no failure."""


class Sample:
    """What one side took: seconds of wall time, and of processor time of its client and its server together."""

    def __init__(self, seconds, cpu, extra=None):
        self.seconds, self.cpu, self.extra = seconds, cpu, extra


def cpu_of(pid):
    """Seconds of processor time that a process's living threads have used; 0 for no process."""
    if pid is None:
        return 0.0
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            # The thread has ended since.
            continue
    return total / 1e9


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def sample(command, limit, server=None, timed_by_output=False):
    """Runs a client. With `timed_by_output` its first line of output is the time in nanoseconds, else its life is."""
    before = children_cpu() + cpu_of(server)
    seconds, output = run(command, limit, stdout=subprocess.PIPE if timed_by_output else subprocess.DEVNULL)
    cpu = children_cpu() + cpu_of(server) - before
    if timed_by_output:
        numbers = [int(line) / 1e9 for line in output.split()]
        return Sample(numbers[0], cpu, numbers)
    return Sample(seconds, cpu)


def compare(result, count, ours, theirs, at_least=None, at_most=None, mode="", most=None):
    """Measures ours, theirs, ours, theirs ... and fills the result.

    With `at_least` the ratio is our speed over theirs (their time / our time), with `at_most` our time over theirs;
    with neither the speed is reported without a verdict. Both sides put the state back themselves, return a Sample.
    `most`: the most pairs that can be had.
    """
    speed = at_most is None
    measured = [(ours(), theirs()) for _ in range(count)]

    def meets(ratio):
        return ratio >= at_least if at_least is not None else at_most is None or ratio <= at_most

    def spread(value):
        ratios = [value(b) / max(value(a), 1e-9) if speed else value(a) / max(value(b), 1e-9) for a, b in measured]
        return ratios, statistics.median(ratios), *median_interval(ratios)

    def both():
        return spread(lambda side: side.seconds), spread(lambda side: side.cpu)

    (ratios, median, low, high), (cpu_ratios, cpu_median, cpu_low, cpu_high) = both()
    # Before processor time may overrule the clock, three times as many pairs get the chance to narrow its interval.
    while high - low > WIDEST and meets(median) != meets(cpu_median) and len(measured) < (most or 3 * count):
        measured.append((ours(), theirs()))
        (ratios, median, low, high), (cpu_ratios, cpu_median, cpu_low, cpu_high) = both()
    count = len(measured)
    by_cpu = high - low > WIDEST and cpu_high - cpu_low < high - low
    decisive = cpu_median if by_cpu else median
    if at_least is not None or at_most is not None:
        result.met = meets(decisive)
    result.value = f"{median:.3f} [{low:.3f}, {high:.3f}]"
    ours_s, theirs_s = (statistics.median(pair[side].seconds for pair in measured) for side in (0, 1))
    ours_cpu, theirs_cpu = (statistics.median(pair[side].cpu for pair in measured) for side in (0, 1))
    result.detail = (
        f"{count} pairs; medians {ours_s:.4f} s and {theirs_s:.4f} s; processor {ours_cpu:.3f} s and {theirs_cpu:.3f} s,"
        f" ratio {cpu_median:.3f} [{cpu_low:.3f}, {cpu_high:.3f}]{' DECIDES' if by_cpu else ''}"
        f"{'; reads: ' + mode if mode else ''}"
    )
    result.raw = {
        "pairs": [
            {"ours_s": a.seconds, "theirs_s": b.seconds, "ours_cpu_s": a.cpu, "theirs_cpu_s": b.cpu, "ratio": ratio}
            for (a, b), ratio in zip(measured, ratios)
        ],
        "ratio_median": median, "ratio_low": low, "ratio_high": high, "cpu_ratio_median": cpu_median,
        "cpu_ratio_low": cpu_low, "cpu_ratio_high": cpu_high, "decided_by": "cpu" if by_cpu else "wall",
        "confidence": 0.9, "mode": mode,
    }
    return result


def row(name, what, target):
    return Result(name, what, target)


def drop_caches(reader, files):
    """Empties the page cache: all of it as root, the given files' part of it as an ordinary user."""
    os.sync()
    if os.geteuid() == 0:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as control:
            control.write("3")
    else:
        run([reader, "drop", *files], 60)
