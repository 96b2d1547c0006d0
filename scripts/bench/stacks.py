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
    return compiled(bench, "caller", CALLER)


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


# As many processes as there are paths, each of which reads one file, one a few milliseconds after the other.
CALLERS = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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
__attribute__((noinline)) static long draw(const char *path) { return load(path) + (sink & 1); }
int main(int count, char **words) {
  static char path[4096];
  int failures = 0, status;
  if (count < 2) return 2;
  while (fgets(path, sizeof path, stdin) != NULL) {
    path[strcspn(path, "\n")] = 0;
    pid_t child = fork();
    if (child == 0) _exit(draw(path) < 0);
    if (child < 0) return 1;
    usleep(atoi(words[1]));
  }
  while (wait(&status) > 0) failures += status != 0;
  return failures != 0;
}
"""

# Milliseconds: between two callers; from a caller's read to its stack, and to its answer.
STAGGER, UNTIL_STACK, UNTIL_ANSWER = 5, 9_000, 24_000


def compiled(bench, name, text):
    source, program = bench.path(name + ".c"), bench.path(name)
    if not os.path.exists(program):
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        run(["cc", "-O1", "-g", "-fno-optimize-sibling-calls", "-o", program, source], 60)
    return program


def at(moment):
    """Waits for a moment of time.monotonic()."""
    left = moment - time.monotonic()
    if left < 0:
        raise Failed(f"{-left:.1f} s too late: the machine is too slow for this row")
    time.sleep(left)


def neighbours(bench):
    """Stacks of callers that wait already, so that nothing but the taking of stacks is new in that time."""
    count, runs_wanted = (300, 1) if bench.quick else (1_000, 5)
    result = row(
        "stack-neighbours",
        f"lookup, stat, open, xattr of resident files while the stacks of {count:,} processes that wait are taken, one each {STAGGER} ms: "
        "p99 / p99 beside the same processes, who wait on",
        "<= 1.2 each",
    )
    program = compiled(bench, "callers", CALLERS)
    seconds = count * STAGGER / 1000 - 0.5
    runs, taken = [], 0
    for _ in range(runs_wanted):
        found = {}
        options = ["--latency", f"{UNTIL_ANSWER}ms", "--stacks", f"over={UNTIL_STACK}ms"]
        with Dataless(bench, SPECIFICATION.format(count + 1), *options) as volume:
            paths = files_below(bench.mountpoint, count + 1)
            spare = paths.pop()
            run([bench.dataless, "materialize", spare], 60)
            log = volume.log
            found["idle"] = probe(bench, seconds, bench.mountpoint, spare)
            process = subprocess.Popen([program, str(STAGGER * 1000)], stdin=subprocess.PIPE, start_new_session=True)
            began = time.monotonic()
            process.stdin.write(b"".join(os.fsencode(path) + b"\n" for path in paths))
            process.stdin.close()
            # After the first stack, which starts processes and reads files; the last one is later than the last caller.
            at(began + UNTIL_STACK / 1000 + 0.4)
            found["stacks"] = probe(bench, seconds, bench.mountpoint, spare)
            at(began + UNTIL_STACK / 1000 + count * (STAGGER + 1) / 1000 + 2)
            found["waiting"] = probe(bench, seconds, bench.mountpoint, spare)
            if time.monotonic() - began > UNTIL_ANSWER / 1000:
                raise Failed("the callers were answered before the last measurement was over")
            if process.wait(300) != 0:
                raise Failed("a caller failed")
        records, missing = stacks_in(log)
        if len(records) < count * 0.95:
            raise Failed(f"{len(records)} stacks of {count}, {missing} without one")
        taken += len(records)
        runs.append(found)
    names = list(runs[0]["idle"])

    def median(side, name):
        return statistics.median(found[side][name]["p99_us"] for found in runs)

    def ratio(side, other, name):
        return statistics.median(found[side][name]["p99_us"] / found[other][name]["p99_us"] for found in runs)

    # The peer is who waits without being looked at: a thousand processes are noticed by themselves.
    ratios = {name: ratio("stacks", "waiting", name) for name in names}
    result.value = f"{max(ratios.values()):.2f}, the worst of {len(names)}"
    result.detail = f"{len(runs)} runs, {taken} stacks; " + ", ".join(
        f"{name} {ratios[name]:.2f} ({median('waiting', name):.0f} -> {median('stacks', name):.0f} us; beside nobody "
        f"{median('idle', name):.0f} us, of which stacks are {ratio('stacks', 'idle', name):.2f} and waiting alone is "
        f"{ratio('waiting', 'idle', name):.2f} times)" for name in names
    )
    result.met = max(ratios.values()) <= 1.2
    result.raw = {"runs": runs, "p99_ratio": ratios, "p99_ratio_to_idle": {name: ratio("stacks", "idle", name) for name in names}}
    return result


def reader(bench):
    """What a program that reads one file after the other costs others, with its stacks and without."""
    count, runs_wanted = (300, 1) if bench.quick else (1_000, 5)
    result = row(
        "stack-reader", f"lookup, stat, open, xattr of resident files beside a program that reads {count:,} files one after the other: p99 with "
        "its stacks / without",
        "reported",
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
                process = start(program, paths)
                found[side] = probe(bench, seconds, bench.mountpoint, spare)
                if process.wait(300) != 0:
                    raise Failed("the caller failed")
        runs.append(found)
    ratios = {
        name: statistics.median(found["all"][name]["p99_us"] / found["off"][name]["p99_us"] for found in runs)
        for name in runs[0]["off"]
    }
    result.value = f"{max(ratios.values()):.2f}, the worst of {len(ratios)}"
    result.detail = f"{len(runs)} runs; " + ", ".join(f"{name} {value:.2f}" for name, value in ratios.items())
    result.raw = {"runs": runs, "p99_ratio": ratios}
    return result


CASES = {"stack-capture": capture, "stack-neighbours": neighbours, "stack-reader": reader}
