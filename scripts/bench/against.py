"""Two executables by turns: whether a change of the code has made a row slower, or faster."""

import math
import re
import statistics

# A change of less than this is none.
SAME = 0.05
NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


class Unmeasured(Exception):
    """A row that one of the two cannot do; its text goes into the table."""


def number_of(result):
    """The number that a row is about: the one it says, the ratio to its peer, or the first number of what it prints."""
    if "compared" in result:
        return result["compared"]
    if "ratio_median" in result:
        return result["cpu_ratio_median"] if result.get("decided_by") == "cpu" else result["ratio_median"]
    found = NUMBER.search(result["value"])
    if found is None:
        raise Unmeasured(f"{result['value']}: {result['detail']}")
    return float(found.group().replace(",", ""))


def spread(values):
    return f"{statistics.median(values):.4g} [{min(values):.4g}, {max(values):.4g}]"


def by_turns(measure, rounds, sides):
    """Measures one row with each side, one after the other, `rounds` times; who begins changes with each round.

    `measure(side)` returns a result as JSON. Returns a record for the table: numbers of each side, the median of each,
    and `ratio`, the first side's median over the second's. `same`: whether that is within 5 %; `overlap`: whether the
    numbers of both sides lie among each other, so that a larger ratio says nothing but how much they vary.
    """
    numbers = {name: [] for name in sides}
    for turn in range(rounds):
        for name in sides if turn % 2 == 0 else reversed(sides):
            numbers[name].append(number_of(measure(sides[name])))
    (new_name, new), (old_name, old) = numbers.items()
    new_median, old_median = statistics.median(new), statistics.median(old)
    ratio = new_median / old_median if old_median else (1.0 if not new_median else math.inf)
    return {
        new_name: new, old_name: old, "ratio": ratio, "same": abs(ratio - 1) <= SAME,
        "overlap": min(new) <= max(old) and min(old) <= max(new),
    }


def line_of(name, record):
    """A line of the table."""
    if "detail" in record:
        return f"{name:<22} {'-':<9} {record['detail']}"
    (new_name, new), (old_name, old) = list(record.items())[:2]
    verdict = "same" if record["same"] else "varies" if record["overlap"] else "CHANGED"
    return f"{name:<22} {verdict:<9} {record['ratio']:.3f}  {new_name} {spread(new)}  {old_name} {spread(old)}"
