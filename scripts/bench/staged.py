"""What staging costs, and how exact it is: progressive content, thousands of rules, and callers held at a gate."""

import statistics
import time

from blocked import SPECIFICATION, Waiters, files_below, probe
from measure import Failed, run
from mounts import Dataless
from sides import compare, row, sample


def first_byte(bench):
    """The first bytes of a file that comes at 100 MB/s, beside the latency that was asked for."""
    result = row(
        "progressive-first-byte", "progressive, 2 GiB at 100 MB/s, latency 200 ms: first read(2) of 4 KiB minus the latency",
        "<= 50 ms",
    )
    late = []
    for _ in range(3 if bench.quick else 15):
        options = ["--latency", "200ms", "--bandwidth", "100MB/s", "--hydration", "progressive"]
        with Dataless(bench, "synthetic:files=1,depth=1,size=2048m..2048m,seed=1", *options):
            path = files_below(bench.mountpoint, 1)[0]
            with open(path, "rb", buffering=0) as file:
                started = time.perf_counter()
                content = file.read(4096)
                late.append((time.perf_counter() - started - 0.2) * 1000)
            if len(content) != 4096:
                raise Failed("the read was short")
    result.value = f"{statistics.median(late):.1f} ms, slowest {max(late):.1f} ms"
    result.detail = f"{len(late)} mounts; the whole file takes 21 s"
    result.met = min(late) >= 0 and max(late) <= 50
    result.raw = {"late_ms": late}
    return result


def ten_thousand_rules(bench):
    """Rules of each kind that name a path, a folder or the end of a name; none of them matches."""
    path = bench.path("rules.yaml")
    kinds = ['path: "other/file-{}"', 'path: "d{:05}x/*.jpg"', 'path: "*.kind{}"', 'path: "other/{}/**"']
    with open(path, "w", encoding="ascii") as file:
        file.write("rules:\n")
        for index in range(10_000):
            match = kinds[index % len(kinds)].format(index)
            file.write(f"  - {{match: {{{match}, kind: file}}, latency: {index % 90 + 1}ms, fault: EIO}}\n")
    return path


def rules_walk(bench):
    result = row("rules-walk", "find -size, 15,000 files of a fresh volume: with 10,000 rules / without", "<= 1.05")
    rules = ten_thousand_rules(bench)

    def side(*options):
        with Dataless(bench, "synthetic:files=15000,depth=1,size=4k..4k,seed=1", *options) as volume:
            return sample(["find", bench.mountpoint, "-size", "+1k"], 120, volume.status()["pid"])

    return compare(
        result, 2 * bench.pair_count, lambda: side("--scenario", rules), side, at_most=1.05)


def rules_read(bench):
    result = row("rules-read", "cat of 15,000 resident files of 4 KiB: with 10,000 rules / without", "<= 1.05")
    rules = ten_thousand_rules(bench)
    root = bench.files("small-15000", 15_000, 4096)

    def side(*options):
        with Dataless(bench, root, *options) as volume:
            run([bench.dataless, "materialize", bench.mountpoint], 120)
            return sample(
                ["bash", "-c", 'find "$0" -type f -print0 | xargs -0 cat > /dev/null', bench.mountpoint], 120,
                volume.status()["pid"])

    bench.warm(root)
    return compare(result, bench.pair_count, lambda: side("--scenario", rules), side, at_most=1.05)


def held(bench):
    """As the plateau row, with the callers at a gate."""
    count, window = (200, 1.0) if bench.quick else (1_000, 3.0)
    result = row(
        "gate-held", f"lookup, stat, open, xattr while {count:,} readers are held at a gate: p99 / p99 idle", "<= 2 each"
    )
    scenario = bench.path("gate.yaml")
    with open(scenario, "w", encoding="ascii") as file:
        file.write("rules: [{match: {kind: file}, gate: hold}]\n")
    runs = []
    for _ in range(1 if bench.quick else 5):
        with Dataless(bench, SPECIFICATION.format(count + 1), "--scenario", scenario):
            paths = files_below(bench.mountpoint, count + 1)
            spare = paths.pop()
            gate = [bench.dataless, "gate"]
            run([*gate, "open", bench.mountpoint, "hold"], 30)
            run(["head", "-c", "1", spare], 30)
            run([*gate, "close", bench.mountpoint, "hold"], 30)
            idle = probe(bench, window, bench.mountpoint, spare)
            waiters = Waiters(bench, paths, "read", "0")
            run([*gate, "wait", bench.mountpoint, "hold", "--callers", str(count), "--timeout", "30s"], 60)
            busy = probe(bench, window, bench.mountpoint, spare)
            started = time.perf_counter()
            run([*gate, "release", bench.mountpoint, "hold"], 30)
            waiters.finish(60)
            runs.append((idle, busy, time.perf_counter() - started))
    names = list(runs[0][0])
    ratios = {
        name: statistics.median(busy[name]["p99_us"] / idle[name]["p99_us"] for idle, busy, _ in runs) for name in names
    }
    result.value = f"{max(ratios.values()):.2f}, the worst of {len(names)}"
    result.detail = f"{len(runs)} runs; " + ", ".join(f"{name} {ratios[name]:.2f}" for name in names) + (
        f"; all served {statistics.median(seconds for *_, seconds in runs) * 1000:.0f} ms after the release"
    )
    result.met = max(ratios.values()) <= 2
    result.raw = {"runs": [{"idle": idle, "held": busy} for idle, busy, _ in runs], "p99_ratio": ratios}
    return result


CASES = {
    "progressive-first-byte": first_byte, "rules-walk": rules_walk, "rules-read": rules_read, "gate-held": held,
}
