"""What is measured: one function for each row of the table. A row is added by writing its function into CASES."""

import os
import shutil
import statistics
import subprocess

import biglog
import blocked
import coordination
import foreign
import kept
import native
import ordinary
import recording
import scale
import stacks
import staged
import together
import trees
import writing
from measure import Failed, Result, pairs, percentile, run
from mounts import Dataless, bindfs, protocol_limit, rclone

MEGABYTE = 1_000_000


def find(bench):
    """Seconds of a walk that asks for every file's size."""
    return run(["find", bench.mountpoint, "-size", "+1k"], 120)[0]


def tar(bench):
    """Seconds of reading everything once, into a pipe (tar looks at no content when its target is /dev/null)."""
    return run(["bash", "-o", "pipefail", "-c", 'tar cf - -C "$0" . | cat > /dev/null', bench.mountpoint], 300)[0]


def client(bench, command, paths, limit):
    seconds, output = run([bench.client, command, *paths], limit, stdout=subprocess.PIPE)
    return seconds, [int(line) / 1e9 for line in output.split()]


def latency_honest(bench):
    result = Result(
        "latency-honest", "200 files one after the other at --latency 50ms: measured minus requested",
        "median <= 1 ms, p99 <= 3 ms",
    )
    count = 100 if bench.quick else 200
    root = bench.files("two-hundred", 200, 4096, per_directory=200)
    with Dataless(bench, root, "--latency", "50ms"):
        run(["find", bench.mountpoint, "-size", "+1k"], 30)
        paths = [os.path.join(bench.mountpoint, "d00000", f"f{i:06}") for i in range(count)]
        _, times = client(bench, "first", paths, 120)
    late = [(seconds - 0.05) * 1000 for seconds in times]
    median, p99 = statistics.median(late), percentile(late, 0.99)
    result.value = f"{median:.3f} ms, p99 {p99:.3f} ms"
    result.detail = f"{count} files; earliest {min(late):.3f} ms, latest {max(late):.3f} ms"
    result.met = 0 <= min(late) and median <= 1 and p99 <= 3
    result.raw = {"late_ms": late}
    return result


def latency_parallel(bench):
    result = Result(
        "latency-parallel", "200 files by 200 processes at --latency 1s: until the last has its file", "< 1.5 s"
    )
    root = bench.files("two-hundred", 200, 4096, per_directory=200)
    totals = []
    for _ in range(1 if bench.quick else 5):
        with Dataless(bench, root, "--latency", "1s"):
            paths = [os.path.join(bench.mountpoint, "d00000", f"f{i:06}") for i in range(200)]
            _, times = client(bench, "processes", paths, 60)
        totals.append(times[0])
    result.value = f"{statistics.median(totals):.3f} s"
    result.detail = f"{len(totals)} runs, slowest {max(totals):.3f} s"
    result.met = max(totals) < 1.5
    result.raw = {"total_s": totals}
    return result


def walk_fresh(bench):
    root = bench.files("small-15000", 15_000, 4096)

    def ours():
        with Dataless(bench, root):
            return find(bench)

    def theirs():
        with bindfs(bench, root):
            return find(bench)

    bench.warm(root)
    return pairs(
        "walk-fresh", "find -size, 15,000 files, fresh mount: bindfs / dataless", ">= 2",
        bench.pair_count, ours, theirs, lambda a, b: b / a, lambda median: median >= 2,
    )


def walk_limit(bench):
    def ours():
        with Dataless(bench, "synthetic:files=15000,depth=1,size=4k..4k,seed=1"):
            return find(bench)

    def theirs():
        with protocol_limit(bench, 150, 100, 4096):
            return find(bench)

    return pairs(
        "walk-limit", "find -size, 15,000 synthetic files, fresh mount: protocol's limit / dataless", "reported",
        bench.pair_count, ours, theirs, lambda a, b: b / a, lambda median: None,
    )


def tar_fresh(bench):
    count = 5_000 if bench.quick else 15_000
    root = bench.files(f"small-{count}", count, 4096)

    def ours():
        with Dataless(bench, root):
            return tar(bench)

    def theirs():
        with rclone(bench, root):
            return tar(bench)

    bench.warm(root)
    return pairs(
        "tar-fresh", f"tar to a pipe, {count} files of 4 KiB, fresh mount: rclone (full cache) / dataless", ">= 4",
        min(bench.pair_count, 2 if bench.quick else 7), ours, theirs, lambda a, b: b / a, lambda median: median >= 4,
    )


def first_read(bench):
    size = 2 << 30
    if shutil.disk_usage(bench.work).free < 3 * size:
        raise Failed("needs 6 GiB of free disk")
    source = bench.path("large-source")
    os.makedirs(source, exist_ok=True)
    large = os.path.join(source, "large")
    if not os.path.exists(large):
        run(["bash", "-c", 'head -c "$1" /dev/urandom > "$0"', large, str(size)], 120)
    copy = bench.path("copy")

    def settle():
        if os.path.exists(copy):
            os.unlink(copy)
        run(["cat", large], 120)
        os.sync()

    def ours():
        settle()
        with Dataless(bench, source):
            path = os.path.join(bench.mountpoint, "large")
            run(["stat", path], 30)
            seconds = client(bench, "first", [path], 120)[1][0]
        return seconds

    def theirs():
        settle()
        return run(["cp", "--reflink=never", large, copy], 120)[0]

    result = pairs(
        "first-read", "first read(2) of a 2 GiB file, no latency: dataless / cp to the same disk", "<= 1.5",
        min(bench.pair_count, 2 if bench.quick else 9), ours, theirs, lambda a, b: a / b, lambda median: median <= 1.5,
    )
    settle()
    os.unlink(large)
    return result


MILLION = "synthetic:files=1000000,depth=3,size=4k..1m,seed=1"


def mount_million(bench):
    result = Result("mount-million", "dataless mount of 1,000,000 synthetic files, until it returns", "< 0.5 s")
    times = []
    for _ in range(3 if bench.quick else 15):
        with Dataless(bench, MILLION) as volume:
            times.append(volume.mount_seconds)
    low, high = min(times), max(times)
    result.value = f"{statistics.median(times):.3f} s"
    result.detail = f"{len(times)} mounts, {low:.3f} to {high:.3f} s"
    result.met = high < 0.5
    result.raw = {"mount_s": times}
    return result


def memory_million(bench):
    result = Result(
        "memory-million", "resident memory of the daemon after find -size over 1,000,000 files", "<= 300 MB"
    )
    with Dataless(bench, MILLION) as volume:
        before, _ = volume.resident_memory()
        seconds, output = run(["find", bench.mountpoint, "-size", "+1k"], 300, stdout=subprocess.PIPE)
        entries = output.count(b"\n")
        after, highest = volume.resident_memory()
        files = volume.status()["items"]["files"]
    if files != 1_000_000:
        raise Failed(f"the walk saw {files} files")
    result.value = f"{after / MEGABYTE:.0f} MB"
    result.detail = (
        f"{before / MEGABYTE:.0f} MB before, {highest / MEGABYTE:.0f} MB at the highest, "
        f"{(after - before) / files:.0f} bytes a file; walk {seconds:.1f} s, {entries / seconds:.0f} entries/s"
    )
    result.met = after <= 300 * MEGABYTE
    result.raw = {"before_bytes": before, "after_bytes": after, "highest_bytes": highest, "walk_s": seconds}
    return result


CASES = {
    "latency-honest": latency_honest,
    "latency-parallel": latency_parallel,
    "walk-fresh": walk_fresh,
    "walk-limit": walk_limit,
    "tar-fresh": tar_fresh,
    "first-read": first_read,
    "mount-million": mount_million,
    "memory-million": memory_million,
    **native.CASES, **ordinary.CASES, **trees.CASES, **blocked.CASES, **scale.CASES, **recording.CASES, **biglog.CASES,
    **staged.CASES, **foreign.CASES, **stacks.CASES, **writing.CASES, **kept.CASES, **coordination.CASES,
    **together.CASES,
}
