"""Sets of paths, shares and outputs as short, stable text."""

import os
import re


def pack(paths, everything):
    """A set as "all", "none", a sorted list, or what is not in it. `docs/` is docs and all below it."""
    if not paths:
        return "none"
    if paths == everything:
        return "all"
    here, gone = folded(paths, everything), folded(everything - paths, everything)
    if paths <= everything and len(gone) < len(here):
        return {"all but": gone}
    return here


def folded(paths, everything):
    out, done = [], None
    for path in sorted(paths):
        if done and path.startswith(done):
            continue
        done = next((top for top in tops(path, path in everything) if all(
            other in paths for other in everything if other + "/" == top or other.startswith(top))
            and any(other.startswith(top) for other in everything)), None)
        out.append(done or path)
    return out


def tops(path, known):
    """The directories above a path, outermost first, and itself if something may be below it."""
    parts = path.split("/")
    return ["/".join(parts[:length]) + "/" for length in range(1, len(parts) + known)] if path != "." else []


def unpack(packed, everything):
    if packed == "none":
        return set()
    if packed == "all":
        return set(everything)
    if isinstance(packed, dict):
        return set(everything) - unpack(packed["all but"], everything)
    named = set()
    for path in packed:
        named |= {other for other in everything if other + "/" == path or other.startswith(path)} \
            if path.endswith("/") else {path}
    return named


def percent(part, whole):
    """Whole per cent; 0 and 100 only for none and all."""
    if not whole or not part:
        return 0
    return 100 if part >= whole else min(99, max(1, round(100 * part / whole)))


def how_many(part, whole):
    return "-" if not whole else "all" if part == whole else "some" if part else "none"


# What differs between two runs of the same command on the same tree.
NOISE = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?( ?[+-]\d{4}|Z)?"), "TIME"),
    (re.compile(r"\b\d{4}[/-]\d\d[/-]\d\d\b"), "DATE"),
    (re.compile(r"\b(\w{3} )?\w{3} +\d+ \d\d:\d\d:\d\d (UTC )?\d{4}\b"), "TIME"),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d([.,]\d+)?\b"), "TIME"),
    (re.compile(r"\b\d+([.,]\d+)? ?(s|ms|sec|secs|seconds|second)\b"), "N s"),
    (re.compile(r"0x[0-9a-f]+|\b(?=[a-f]*\d)[0-9a-f]{8,}\b", re.I), "HEX"),
    (re.compile(r"\b(pid|line|process) \d+|\[\d+\]|:\d+(?=[:)])|\b\d{5,}\b", re.I), "N"),
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
)


def plain(line, places):
    """A line of output without places, times and numbers of this run. `places`: {path: what stands for it}."""
    for path in sorted(places, key=len, reverse=True):
        line = line.replace(path, places[path])
    for pattern, word in NOISE:
        line = pattern.sub(word, line)
    return "".join(letter if letter.isprintable() else "?" for letter in line).strip()[:160]


ERRORS = re.compile(r"deadlock|EDEADLK|errno 35|input/output error|EIO\b|errno 5\b", re.I)


COMPLAINT = re.compile(
    r"error|fail|cannot|can't|could ?n.t|unable|warn|deadlock|denied|not |EIO|bad|skip|except|invalid|no such|abort",
    re.I)


def evidence(errors, output, victim, places):
    """The line that tells of a failure, whether any line complains about the file by its name, and whether any names
    the error. What goes to standard output counts only with one of the two: it may be the content of files."""
    name = os.path.basename(victim)
    told = [line for line in errors.splitlines() if line.strip() and "\ufffd" not in line]
    lines = told + [line for line in output.splitlines() if "\ufffd" not in line]

    def rank(line):
        return (name in line and bool(COMPLAINT.search(line))) + 2 * bool(ERRORS.search(line))

    best = max(lines, key=rank, default="")
    return (plain(best if rank(best) else (told or [""])[-1], places),
            any(name in line and bool(COMPLAINT.search(line)) for line in lines), any(map(ERRORS.search, lines)))
