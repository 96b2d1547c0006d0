"""Stacks of blocked callers: what one takes, cold and warm, and what others notice of a thousand."""

import json
import os
import statistics
import subprocess
import time

from blocked import SPECIFICATION, files_below, probe
from measure import Failed, percentile, run
from mounts import Dataless
from sides import row

# A C program as one is debugged, a few functions deep, reading one file after the other.
CALLER = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile char sink;
__attribute__((noinline)) static long load(const char *path) {
  char byte = 0;
  int file = open(path, O_RDONLY);
  long count = read(file, &byte, 1);
  sink = byte;
  close(file);
  return count;
}
__attribute__((noinline)) static long draw(const char *path) { return load(path) + sink; }
int main(void) {
  static char path[4096];
  long done = 0;
  while (fgets(path, sizeof path, stdin) != NULL) {
    path[strcspn(path, "\n")] = 0;
    done += draw(path);
  }
  return done < 0;
}
"""


def caller(bench):
    source, program = bench.path("caller.c"), bench.path("caller")
    if not os.path.exists(program):
        with open(source, "w", encoding="utf-8") as file:
            file.write(CALLER)
        run(["cc", "-O1", "-g", "-fno-optimize-sibling-calls", "-o", program, source], 60)
    return program


def start(program, paths):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, start_new_session=True)
    process.stdin.write(b"".join(os.fsencode(path) + b"\n" for path in paths))
    process.stdin.close()
    return process


def stacks_in(log):
    """The stacks of reads in a log: those that were taken, and how many were not."""
    taken, missing = [], 0
    with open(log, encoding="utf-8") as file:
        for line in file:
            if '"wait.stack"' not in line:
                continue
            record = json.loads(line)
            if record.get("trigger") != "read":
                continue
            if record["outcome"] == "ok":
                taken.append(record)
            else:
                missing += 1
    return taken, missing


def capture(bench):
    count = 200 if bench.quick else 1_000
    result = row(
        "stack-capture", f"{count:,} stacks of a C program that reads one file after the other: reading its memory, warm",
        "median <= 0.1 ms, p99 <= 0.3 ms",
    )
    program = caller(bench)
    with Dataless(bench, SPECIFICATION.format(count + 1), "--latency", "5ms", "--stacks", "all") as volume:
        first, *paths = files_below(bench.mountpoint, count + 1)
        log = volume.log
        # The first one starts both processes and reads the files.
        if start(program, [first]).wait(60) != 0:
            raise Failed("the caller failed")
        until = time.monotonic() + 30
        while not stacks_in(log)[0] and time.monotonic() < until:
            time.sleep(0.1)
        if start(program, paths).wait(300) != 0:
            raise Failed("the caller failed")
    taken, missing = stacks_in(log)
    if len(taken) < count * 0.9:
        raise Failed(f"{len(taken)} stacks of {count}")
    reading = [record["reading_ns"] / 1e6 for record in taken[20:]]
    naming = [record["naming_ns"] / 1e6 for record in taken]
    median, p99 = statistics.median(reading), percentile(reading, 0.99)
    result.value = f"{median:.3f} ms, p99 {p99:.3f} ms"
    result.detail = (
        f"{len(taken)} stacks, {missing} waits without one; unwinding and names afterwards: first {naming[0]:.1f} ms, then "
        f"{statistics.median(naming[20:]):.3f} ms at the median, p99 {percentile(naming[20:], 0.99):.3f} ms"
    )
    result.met = median <= 0.1 and p99 <= 0.3
    result.raw = {"reading_ms": reading, "naming_ms": naming, "missing": missing}
    return result


def neighbours(bench):
    count, runs_wanted = (300, 1) if bench.quick else (1_000, 5)
    result = row(
        "stack-neighbours", f"lookup, stat, open, xattr of resident files beside {count:,} stacks: p99 / p99 idle",
        "<= 1.2 each",
    )
    program = caller(bench)
    seconds = count * 5e-3
    runs = []
    for _ in range(runs_wanted):
        found = {}
        for side in ["off", "all"]:
            options = ["--latency", "5ms", "--stacks", side]
            with Dataless(bench, SPECIFICATION.format(count + 1), *options):
                paths = files_below(bench.mountpoint, count + 1)
                spare = paths.pop()
                run(["head", "-c", "1", spare], 30)
                if side == "all":
                    found["idle"] = probe(bench, seconds, bench.mountpoint, spare)
                process = start(program, paths)
                found[side] = probe(bench, seconds, bench.mountpoint, spare)
                if process.wait(300) != 0:
                    raise Failed("the caller failed")
        runs.append(found)
    names = list(runs[0]["idle"])

    def median(side, name):
        return statistics.median(found[side][name]["p99_us"] for found in runs)

    def ratio(side, other, name):
        return statistics.median(found[side][name]["p99_us"] / found[other][name]["p99_us"] for found in runs)

    ratios = {name: ratio("all", "idle", name) for name in names}
    result.value = f"{max(ratios.values()):.2f}, the worst of {len(names)}"
    # What the caller itself costs the others is no stack's doing.
    result.detail = f"{len(runs)} runs; " + ", ".join(
        f"{name} {ratios[name]:.2f} ({median('idle', name):.0f} -> {median('all', name):.0f} us; beside the same caller "
        f"without stacks {ratio('all', 'off', name):.2f})" for name in names
    )
    result.met = max(ratios.values()) <= 1.2
    result.raw = {"runs": runs, "p99_ratio": ratios}
    return result


CASES = {"stack-capture": capture, "stack-neighbours": neighbours}
