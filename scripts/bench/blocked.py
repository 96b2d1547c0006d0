"""Rows 11 and 12: thousands of callers blocked at once, and how late a delay is."""

import os
import statistics
import subprocess
import threading
import time

from measure import Failed, percentile, run
from mounts import Dataless
from native import tool
from sides import Sample, compare, row

SPECIFICATION = "synthetic:files={},depth=1,size=4k..4k,seed=1"


def files_below(directory, count):
    """Paths of files of a synthetic volume; listing it is part of the preparation."""
    found = []
    for folder, _, names in os.walk(directory):
        found += [os.path.join(folder, name) for name in sorted(names)]
    if len(found) < count:
        raise Failed(f"{directory} has {len(found)} files of {count}")
    return sorted(found)[:count]


class Waiters:
    """The client with a thread for each path; says when the last thread has arrived, and when the last was served."""

    def __init__(self, bench, paths, *arguments):
        self.process = subprocess.Popen(
            [tool(bench, "waiters"), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )
        self.lines = {}
        self.arrived = threading.Event()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.process.stdin.write(b"".join(os.fsencode(path) + b"\n" for path in paths))
        self.process.stdin.close()

    def _read(self):
        for line in self.process.stdout:
            word, *numbers = line.decode().split()
            self.lines[word] = [int(number) / 1e9 for number in numbers]
            if word == "arrived":
                self.arrived.set()
        self.arrived.set()

    def finish(self, limit):
        """(seconds until the last was served, seconds of each read)."""
        self.reader.join(limit)
        if self.reader.is_alive():
            self.process.kill()
            raise Failed(f"waiters: not done in {limit} s")
        self.process.wait()
        errors = self.process.stderr.read().decode("utf-8", "replace").strip()
        self.process.stdout.close()
        self.process.stderr.close()
        if self.process.returncode != 0:
            raise Failed(errors or f"waiters: exit status {self.process.returncode}")
        return self.lines["done"][0], self.lines["each"]


def facts_of(pid):
    """(threads, bytes resident now) of a process."""
    values = {}
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            values[name] = value
    return int(values["Threads"]), int(values["VmRSS"].split()[0]) * 1024


def blocked(bench):
    count = 2_000 if bench.quick else 10_000
    result = row(
        "blocked", f"{count:,} readers blocked at once, latency 500 ms: all done, beside the same client with sleep",
        "<= 0.5 s + 1.5 x the plain client; <= 24 threads, <= 200 MB",
    )
    plain = bench.files(f"plain-{count}", count, 4096)
    plain_paths = files_below(plain, count)
    most = [0, 0]

    def ours():
        with Dataless(bench, SPECIFICATION.format(count), "--latency", "500ms") as volume:
            server = volume.status()["pid"]
            paths = files_below(bench.mountpoint, count)
            waiters = Waiters(bench, paths, "read", "0")
            while waiters.reader.is_alive():
                threads, memory = facts_of(server)
                most[:] = max(most[0], threads), max(most[1], memory)
                waiters.reader.join(0.05)
            seconds, each = waiters.finish(60)
            return Sample(seconds, 0.0, each)

    def theirs():
        seconds, each = Waiters(bench, plain_paths, "sleep", "0", "500").finish(60)
        return Sample(seconds, 0.0, each)

    theirs()
    measured = []

    def kept(side):
        def once():
            measured.append(side())
            return measured[-1]
        return once

    compare(result, bench.pair_count, kept(ours), kept(theirs), at_most=1e9)
    over = [a.seconds - (0.5 + 1.5 * b.seconds) for a, b in zip(measured[::2], measured[1::2])]
    slowest, plain_median = (statistics.median(side.seconds for side in measured[start::2]) for start in (0, 1))
    result.value = f"{slowest:.3f} s, plain {plain_median:.3f} s"
    result.detail = (
        f"{bench.pair_count} pairs; limit {0.5 + 1.5 * plain_median:.3f} s, worst pair {max(over):+.3f} s from its limit; "
        f"daemon: at most {most[0]} threads, {most[1] / 1e6:.0f} MB"
    )
    result.met = statistics.median(over) <= 0 and most[0] <= 24 and most[1] <= 200e6
    result.raw |= {"threads": most[0], "memory_bytes": most[1], "over_limit_s": over}
    return result


def probe(bench, seconds, directory, file):
    _, output = run([tool(bench, "others"), str(seconds), directory, file], seconds + 60, stdout=subprocess.PIPE)
    found = {}
    for line in output.decode().splitlines():
        name, count, median, p99, slowest = line.split()
        found[name] = {
            "count": int(count), "median_us": int(median) / 1e3, "p99_us": int(p99) / 1e3, "max_us": int(slowest) / 1e3,
        }
    return found


def plateau(bench):
    """Other callers while everybody waits: after the last arrival, before the first release."""
    count, latency, window = (2_000, 4, 1.0) if bench.quick else (10_000, 10, 4.0)
    result = row(
        "blocked-plateau", f"lookup, stat, open, xattr while {count:,} readers wait ({latency} s): p99 / p99 idle",
        "<= 2 each",
    )
    runs = []
    for _ in range(1 if bench.quick else 5):
        with Dataless(bench, SPECIFICATION.format(count + 1), "--latency", f"{latency}s") as volume:
            paths = files_below(bench.mountpoint, count + 1)
            spare = paths.pop()
            run(["head", "-c", "1", spare], 30)
            idle = probe(bench, window, bench.mountpoint, spare)
            waiters = Waiters(bench, paths, "read", "0")
            if not waiters.arrived.wait(30):
                raise Failed("the readers did not arrive")
            arrived = time.monotonic()
            while volume.status()["items"]["files_materializing"] < count:
                if time.monotonic() > arrived + latency / 2:
                    raise Failed("not every reader was blocked in time")
                time.sleep(0.1)
            busy = probe(bench, window, bench.mountpoint, spare)
            if volume.status()["items"]["files_materializing"] < count:
                raise Failed("the first reader was released before the probe ended")
            waiters.finish(60)
            runs.append((idle, busy))
    names = list(runs[0][0])
    ratios = {name: statistics.median(busy[name]["p99_us"] / idle[name]["p99_us"] for idle, busy in runs) for name in names}
    result.value = f"{max(ratios.values()):.2f}, the worst of {len(names)}"
    result.detail = f"{len(runs)} runs; " + ", ".join(
        f"{name} {ratios[name]:.2f} ({statistics.median(idle[name]['p99_us'] for idle, _ in runs):.0f} -> "
        f"{statistics.median(busy[name]['p99_us'] for _, busy in runs):.0f} us)" for name in names
    )
    result.met = max(ratios.values()) <= 2
    result.raw = {"runs": [{"idle": idle, "plateau": busy} for idle, busy in runs], "p99_ratio": ratios}
    return result


def one_file(bench):
    """Other callers while thousands come to one file, are served as its ranges arrive, and are answered together."""
    count, window = (2_000, 3.0) if bench.quick else (10_000, 4.0)
    size = (count + 1) * 4096
    result = row(
        "blocked-one-file",
        f"lookup, stat, open, xattr while {count:,} readers of one file come, wait and go, in each hydration mode: p99 / "
        "p99 beside the same client with sleep",
        "<= 2 each",
    )
    plain = bench.path(f"one-{count}")
    with open(plain, "wb") as file:
        file.truncate(size)
    ratios, raw = {}, {}
    for hydration in ["full", "progressive", "partial"]:
        runs = []
        for _ in range(1 if bench.quick else 3):
            found = {}
            for side in ["plain", "volume"]:
                options = ["--latency", "500ms", "--bandwidth", f"{size}B/s", "--hydration", hydration]
                with Dataless(bench, f"synthetic:files=2,depth=0,size={size}..{size},seed=1", *options):
                    path, spare = files_below(bench.mountpoint, 2)
                    if side == "volume":
                        client = Waiters(bench, [path] * count, "pages", "50")
                    else:
                        client = Waiters(bench, [plain] * count, "pages", "50", "1500")
                    found[side] = probe(bench, window, bench.mountpoint, spare)
                    client.finish(120)
            runs.append(found)
        raw[hydration] = runs
        for name in runs[0]["volume"]:
            ratios[f"{hydration} {name}"] = statistics.median(
                one["volume"][name]["p99_us"] / one["plain"][name]["p99_us"] for one in runs
            )
    result.value = f"{max(ratios.values()):.2f}, the worst of {len(ratios)}"
    result.detail = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    result.met = max(ratios.values()) <= 2
    result.raw = {"runs": raw, "p99_ratio": ratios}
    return result


# Milliseconds requested, files, microseconds between starts (0: one after the other).
DELAYS = [(1, 300, 0), (10, 200, 0), (50, 100, 0), (200, 100, 23_000), (1_000, 100, 23_000), (5_000, 100, 43_000)]
DELAYS_QUICK = [(1, 100, 0), (50, 40, 0), (1_000, 40, 23_000)]


def delays(bench):
    """Row 12. Long delays overlap with different starts: nothing else happens at the moment one of them ends."""
    result = row("delays", "a read's time minus the delay requested, 1 ms to 5 s", "median <= 0.3 ms, p99 <= 2 ms")
    parts, raw, met = [], {}, True
    for milliseconds, count, stagger in DELAYS_QUICK if bench.quick else DELAYS:
        with Dataless(bench, SPECIFICATION.format(count), "--latency", f"{milliseconds}ms"):
            paths = files_below(bench.mountpoint, count)
            if stagger:
                times = Waiters(bench, paths, "read", str(stagger)).finish(120)[1]
            else:
                _, output = run([bench.client, "first", *paths], 120, stdout=subprocess.PIPE)
                times = [int(line) / 1e9 for line in output.split()]
        late = [seconds * 1e3 - milliseconds for seconds in times]
        median, p99 = statistics.median(late), percentile(late, 0.99)
        met = met and min(late) >= 0 and median <= 0.3 and p99 <= 2
        parts.append(f"{milliseconds} ms: {median:.3f}, {p99:.3f}")
        raw[str(milliseconds)] = {"late_ms": late, "median_ms": median, "p99_ms": p99}
    worst = max(raw.values(), key=lambda one: one["median_ms"])
    result.value = f"median {worst['median_ms']:.3f} ms, p99 {max(one['p99_ms'] for one in raw.values()):.3f} ms"
    result.detail = "late by (median, p99 in ms) " + "; ".join(parts)
    result.met = met
    result.raw = {"requested_ms": raw}
    return result


CASES = {"blocked": blocked, "blocked-plateau": plateau, "blocked-one-file": one_file, "delays": delays}
