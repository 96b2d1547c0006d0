"""Rows 13, 14 and 16: memory per file, time to the first answer, and a daemon at rest."""

import os
import statistics
import time

from measure import Failed, run
from mounts import Dataless
from sides import Skipped, row, sample

WALKED = "synthetic:files={},depth=3,size=4k..1m,seed=1"


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def walked(bench, files):
    """(bytes before, bytes after, descriptors after, Sample of the walk)."""
    with Dataless(bench, WALKED.format(files)) as volume:
        pid = volume.status()["pid"]
        before = resident_bytes(pid)
        walk = sample(["find", bench.mountpoint, "-size", "+1k"], 1200, pid)
        seen = volume.status()["items"]["files"]
        if seen != files:
            raise Failed(f"the walk saw {seen} files of {files}")
        return before, resident_bytes(pid), descriptors(pid), walk


def memory(name, files, target, met):
    def case(bench):
        if bench.quick:
            raise Skipped("not in the quick run")
        _, _, few, _ = walked(bench, 1_000)
        before, after, many, walk = walked(bench, files)
        result = row(name, f"memory of the daemon after find -size over {files:,} files; descriptors", target)
        each = (after - before) / files
        result.value = f"{each:.0f} bytes a file, {after / 1e6:.0f} MB"
        result.detail = (
            f"{before / 1e6:.0f} MB before; {many} descriptors, {few} with 1,000 files; walk {walk.seconds:.1f} s, "
            f"{files / walk.seconds:,.0f} files/s, processor {walk.cpu:.1f} s"
        )
        result.met = met(each, after) and many <= few + 2
        result.raw = {
            "before_bytes": before, "after_bytes": after, "descriptors": many, "descriptors_of_1000": few,
            "walk_s": walk.seconds,
        }
        return result
    return case


def first_answer(bench):
    result = row(
        "first-answer", "dataless mount, then a stat of the root: 1, 1e6, 1e8 synthetic files, a directory of 15,000",
        "<= 100 ms",
    )
    tree = bench.files("small-15000", 15_000, 4096)
    sources = {
        "1": "synthetic:files=1,depth=0", "1e6": WALKED.format(10**6), "1e8": WALKED.format(10**8), "directory": tree,
    }
    times, listing = {name: [] for name in sources}, {}
    for _ in range(3 if bench.quick else 15):
        for name, source in sources.items():
            with Dataless(bench, source) as volume:
                # What the shell and the loader take to start stat(1) is not ours, but belongs to what a caller feels.
                seconds, _ = run(["stat", "-f", bench.mountpoint], 30)
                times[name].append(volume.mount_seconds + seconds)
                listing[name], _ = run(["find", bench.mountpoint, "-maxdepth", "1", "-name", "x", "-quit"], 60)
    medians = {name: statistics.median(values) * 1e3 for name, values in times.items()}
    result.value = f"{max(medians.values()):.0f} ms"
    result.detail = "; ".join(
        f"{name}: {medians[name]:.0f} ms (at most {max(times[name]) * 1e3:.0f}, root listed in {listing[name] * 1e3:.0f})"
        for name in sources
    )
    result.met = max(medians.values()) <= 100
    result.raw = {"seconds": times}
    return result


def activity(pid):
    """Ticks of processor time; for every thread its nanoseconds on a processor and how often it was switched."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    ticks, threads = int(fields[11]) + int(fields[12]), {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{thread}"
        with open(f"{folder}/schedstat", encoding="ascii") as file:
            nanoseconds = int(file.read().split()[0])
        with open(f"{folder}/status", encoding="utf-8", errors="replace") as file:
            lines = dict(line.split(":", 1) for line in file if ":" in line)
        name = lines["Name"].strip()
        count = int(lines["voluntary_ctxt_switches"]) + int(lines["nonvoluntary_ctxt_switches"])
        threads[f"{name}/{thread}"] = (nanoseconds, count)
    return ticks, threads


def at_rest(bench):
    seconds = 3 if bench.quick else 10
    result = row("at-rest", f"the daemon over {seconds} s in which nobody asks anything", "0 ticks, 0 switches")
    root = bench.files("two-hundred", 200, 4096, per_directory=200)
    with Dataless(bench, root) as volume:
        pid = volume.status()["pid"]
        run(["bash", "-c", 'cat "$0"/*/* > /dev/null', bench.mountpoint], 60)
        # The last RELEASEs and the log's last write follow the reads; rest begins after them.
        time.sleep(2)
        ticks, before = activity(pid)
        time.sleep(seconds)
        ticks_after, after = activity(pid)
    # A thread that ended meanwhile was awake for it; how long is not known any more.
    woken = {name: count - before.get(name, (0, 0))[1] for name, (_, count) in after.items()}
    woken = {name: count for name, count in woken.items() if count} | {name: 1 for name in before.keys() - after.keys()}
    spent = sum(after[name][0] - before.get(name, (0, 0))[0] for name in after)
    total = sum(woken.values())
    result.value = f"{ticks_after - ticks} ticks, {total} switches"
    result.detail = f"{spent / 1e6:.3f} ms on a processor; woken: " + (
        ", ".join(f"{name.rpartition('/')[0]} {count}" for name, count in woken.items()) or "nobody"
    )
    result.met = ticks_after == ticks and total == 0
    result.raw = {"switches": woken, "ns": spent}
    return result


CASES = {
    "memory-per-file": memory(
        "memory-per-file", 1_000_000, "<= 200 bytes a file", lambda each, after: each <= 200
    ),
    "memory-ten-million": memory(
        "memory-ten-million", 10_000_000, "<= 2.5 GB", lambda each, after: after <= 2.5e9
    ),
    "first-answer": first_answer,
    "at-rest": at_rest,
}
