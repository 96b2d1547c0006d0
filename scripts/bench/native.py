"""Rows 1 to 4, 9 and 10: one large file, resident or about to be, beside the bare file system."""

import contextlib
import os
import shutil
import subprocess

from measure import run
from mounts import Dataless
from sides import Sample, Skipped, compare, drop_caches, row, sample

MEBIBYTE = 1 << 20


def tool(bench, name):
    """A C client, compiled once."""
    if not os.path.exists(bench.path(name)):
        bench.compile(f"{name}.c", ["-pthread"])
    return bench.path(name)


def size_of_large(bench):
    return (256 if bench.quick else 2048) * MEBIBYTE


def large(bench):
    """A directory with the file `large` in it, and a bare copy of that file on the same file system."""
    directory, bare = bench.path("native"), bench.path("native-bare")
    size = size_of_large(bench)
    if shutil.disk_usage(bench.work).free < 4 * size:
        raise Skipped(f"needs {4 * size >> 30} GiB of free disk")
    os.makedirs(directory, exist_ok=True)
    file = os.path.join(directory, "large")
    if not os.path.exists(bare):
        run(["bash", "-c", 'head -c "$1" /dev/urandom > "$0"', file, str(size)], 300)
        run(["cp", "--reflink=never", file, bare], 300)
        os.sync()
    return directory, bare


class Resident:
    """A volume whose one file is resident, and the bare copy beside it; knows who serves it and how."""

    def __init__(self, bench):
        self.bench, self.reader = bench, tool(bench, "reader")
        self.directory, self.bare = large(bench)
        self.path = os.path.join(bench.mountpoint, "large")

    def __enter__(self):
        self.volume = Dataless(self.bench, self.directory).__enter__()
        run([self.reader, "seq", self.path, str(MEBIBYTE)], 300)
        # The handle of the first read is a direct one; a fresh one waits until that is gone.
        run([self.reader, "seq", self.path, str(MEBIBYTE)], 300)
        status = self.volume.status()
        self.server, self.mode = status["pid"], status["fast_paths"].get("resident_reads", "unknown")
        return self

    def __exit__(self, *arguments):
        self.volume.__exit__(*arguments)

    def files(self):
        """Every file whose pages a cold read must not find, apart from the source."""
        held = [os.path.join(folder, name) for folder, _, names in os.walk(self.volume.cache) for name in names]
        return [self.path, self.bare, *(name for name in held if os.path.getsize(name) >= MEBIBYTE)]


def bounds(hot):
    """The targets: as root through passthrough, else through the page cache."""
    if os.geteuid() == 0:
        return 0.95
    return 0.85 if hot else 0.7


def sequential(bench, name, hot):
    bound = bounds(hot)
    result = row(
        name, f"{size_of_large(bench) // MEBIBYTE} MiB resident, sequential 1 MiB reads, "
        f"{'hot' if hot else 'cold page cache'}: speed / bare file", f">= {bound}",
    )
    with Resident(bench) as resident:

        def side(path, server):
            def once():
                if not hot:
                    drop_caches(resident.reader, resident.files())
                return sample([resident.reader, "seq", path, str(MEBIBYTE)], 120, server, timed_by_output=True)
            return once

        ours, theirs = side(resident.path, resident.server), side(resident.bare, None)
        ours(), theirs()
        return compare(result, bench.pair_count, ours, theirs, at_least=bound, mode=resident.mode)


def random_reads(bench, name, threads):
    count = size_of_large(bench) // 4096
    result = row(
        name, f"resident, {count} random 4 KiB reads, hot, {threads} thread{'s' if threads > 1 else ''}: speed / bare",
        ">= 0.85",
    )
    with Resident(bench) as resident:

        def side(path, server):
            command = [resident.reader, "random", path, "4096", str(count), str(threads)]
            return lambda: sample(command, 120, server, timed_by_output=True)

        ours, theirs = side(resident.path, resident.server), side(resident.bare, None)
        ours(), theirs()
        return compare(result, bench.pair_count, ours, theirs, at_least=0.85, mode=resident.mode)


def first_read(bench, result, source, cache, copy, synced):
    """Row 9: from open(2) of a dataless file to the return of its first read(2), beside cp of the same file."""

    def settle():
        if os.path.exists(copy):
            os.unlink(copy)
        run(["cat", os.path.join(source, "large")], 120)
        os.sync()

    def finish(taken):
        if synced:
            taken.seconds += run(["sync", "-f", os.path.dirname(copy)], 300)[0]
        return taken

    def ours():
        settle()
        with Dataless(bench, source, cache=cache) as volume:
            path = os.path.join(bench.mountpoint, "large")
            server = volume.status()["pid"]
            run(["stat", path], 30)
            return finish(sample([bench.client, "first", path], 300, server, timed_by_output=True))

    def theirs():
        settle()
        return finish(sample(["cp", "--reflink=never", os.path.join(source, "large"), copy], 300))

    try:
        return compare(result, 2 if bench.quick else bench.pair_count, ours, theirs, at_most=1.11)
    finally:
        if os.path.exists(copy):
            os.unlink(copy)


def first_read_disk(bench):
    source, _ = large(bench)
    result = row(
        "first-read-disk", f"first read(2) of {size_of_large(bench) // MEBIBYTE} MiB, no latency, then sync: "
        "time / (cp --reflink=never, then sync)", "<= 1.11",
    )
    return first_read(bench, result, source, bench.path("cache"), bench.path("native-copy"), synced=True)


@contextlib.contextmanager
def mounted(bench, name, command):
    """A file system of its own below the work directory; root only."""
    if os.geteuid() != 0:
        raise Skipped("needs root, for a file system of its own")
    directory = bench.path(name)
    os.makedirs(directory, exist_ok=True)
    run([*command, directory], 60)
    try:
        yield directory
    finally:
        run(["umount", "-l", directory], 60)


def fill(bench, directory):
    source = os.path.join(directory, "source")
    os.makedirs(source)
    run(["bash", "-c", 'head -c "$1" /dev/urandom > "$0"', os.path.join(source, "large"), str(size_of_large(bench))], 300)
    run(["sync", "-f", directory], 300)
    return source


def first_read_tmpfs(bench):
    size = size_of_large(bench)
    result = row(
        "first-read-tmpfs", f"first read(2) of {size // MEBIBYTE} MiB, source and cache on tmpfs: time / cp", "<= 1.11"
    )
    with open("/proc/meminfo", encoding="ascii") as file:
        free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    if free < 4 * size:
        raise Skipped(f"needs {4 * size >> 30} GiB of available memory")
    with mounted(bench, "tmpfs", ["mount", "-t", "tmpfs", "-o", f"size={3 * size + (64 << 20)}", "bench"]) as directory:
        source = fill(bench, directory)
        return first_read(
            bench, result, source, os.path.join(directory, "cache"), os.path.join(directory, "copy"), synced=False
        )


def first_read_reflink(kind):
    def case(bench):
        size = size_of_large(bench)
        result = row(
            f"first-read-{kind}", f"first read(2) of {size // MEBIBYTE} MiB, source and cache on one {kind}: seconds",
            "<= 0.2 s",
        )
        maker = shutil.which(f"mkfs.{kind}", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if maker is None:
            raise Skipped(f"no mkfs.{kind}")
        image = bench.path(f"{kind}.img")
        with open(image, "wb") as file:
            file.truncate(size + (1 << 30))
        run([maker, "-q", image], 60)
        with mounted(bench, f"on-{kind}", ["mount", "-t", kind, "-o", "loop", image]) as directory:
            source = fill(bench, directory)
            times = []
            for _ in range(3 if bench.quick else 15):
                with Dataless(bench, source, cache=os.path.join(directory, "cache")):
                    path = os.path.join(bench.mountpoint, "large")
                    run(["stat", path], 30)
                    _, output = run([bench.client, "first", path], 120, stdout=subprocess.PIPE)
                    times.append(int(output) / 1e9)
        os.unlink(image)
        ordered = sorted(times)
        result.value = f"{ordered[len(ordered) // 2]:.4f} s"
        result.detail = f"{len(times)} mounts, {ordered[0]:.4f} to {ordered[-1]:.4f} s; the image is a loop device"
        result.met = ordered[len(ordered) // 2] <= 0.2
        result.raw = {"first_read_s": times}
        return result
    return case


def dataless_handle(bench):
    """Row 10. The reads of the early handle go to the daemon one by one: it was opened with direct_io."""
    size = (16 if bench.quick else 128) * MEBIBYTE
    result = row(
        "dataless-handle", f"{size // MEBIBYTE} MiB in 4 KiB steps through a handle opened while dataless: "
        "time / a fresh handle", "reported",
    )
    directory = bench.path("handle")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "file"), "wb") as file:
        file.write(os.urandom(MEBIBYTE) * (size // MEBIBYTE))
    reader, taken = tool(bench, "reader"), []
    for _ in range(bench.pair_count):
        with Dataless(bench, directory):
            command = [reader, "handle", os.path.join(bench.mountpoint, "file"), "4096"]
            taken.append([int(line) / 1e9 for line in run(command, 120, stdout=subprocess.PIPE)[1].split()])
    order = iter([Sample(times[side], 0.0) for times in taken for side in (0, 1)])
    compare(result, len(taken), lambda: next(order), lambda: next(order), at_most=1e9)
    result.met = None
    early, fresh = (sorted(times[side] for times in taken)[len(taken) // 2] for side in (0, 1))
    steps = size // 4096
    result.value = f"{early / steps * 1e6:.1f} us and {fresh / steps * 1e6:.2f} us a read"
    result.raw["compared"] = early / steps * 1e6
    result.detail = f"{len(taken)} pairs; {size / early / 1e6:.0f} MB/s early, {size / fresh / 1e6:.0f} MB/s fresh"
    return result


def observed_reads(bench):
    """What `--observe reads`, the default of `run`, costs reads of local content: opens that the kernel would serve alone."""
    size = (16 if bench.quick else 128) * MEBIBYTE
    result = row(
        "observed-reads", f"{size // MEBIBYTE} MiB resident, sequential, hot: time with --observe reads / without, "
        "by size of a read", "reported",
    )
    directory = bench.path("observed")
    os.makedirs(directory, exist_ok=True)
    file = os.path.join(directory, "file")
    if not os.path.exists(file):
        run(["bash", "-c", 'head -c "$1" /dev/urandom > "$0"', file, str(size)], 300)
    reader, path = tool(bench, "reader"), os.path.join(bench.mountpoint, "file")
    blocks, times = (4096, 131072, MEBIBYTE), {}
    for _ in range(bench.pair_count):
        for mode in ("reads", "off"):
            with Dataless(bench, directory, "--observe", mode):
                run([reader, "seq", path, str(MEBIBYTE)], 120)
                for block in blocks:
                    # Once to warm up what this mode reads from.
                    run([reader, "seq", path, str(block)], 120)
                    taken = sample([reader, "seq", path, str(block)], 120, None, timed_by_output=True)
                    times.setdefault((mode, block), []).append(taken.seconds)
    parts = []
    for block in blocks:
        observed, plain = (sorted(times[mode, block])[bench.pair_count // 2] for mode in ("reads", "off"))
        each = observed / (size / block) * 1e6
        parts.append(f"{block // 1024} KiB: {observed / plain:.1f} ({each:.1f} us a read)")
    result.value = "; ".join(parts)
    result.detail = f"{bench.pair_count} pairs, medians"
    result.raw = {f"{mode}_{block}_s": values for (mode, block), values in times.items()}
    # Of 4 KiB, in us a read.
    result.raw["compared"] = sorted(times["reads", blocks[0]])[bench.pair_count // 2] / (size / blocks[0]) * 1e6
    return result


CASES = {
    "sequential-hot": lambda bench: sequential(bench, "sequential-hot", True),
    "sequential-cold": lambda bench: sequential(bench, "sequential-cold", False),
    "random-1": lambda bench: random_reads(bench, "random-1", 1),
    "random-2": lambda bench: random_reads(bench, "random-2", 2),
    "first-read-tmpfs": first_read_tmpfs,
    "first-read-disk": first_read_disk,
    "first-read-xfs": first_read_reflink("xfs"),
    "first-read-btrfs": first_read_reflink("btrfs"),
    "dataless-handle": dataless_handle,
    "observed-reads": observed_reads,
}
