"""Changes of a volume (`--scratch`, `--state`): files that are made, renamed and removed, and a large one that is written to."""

import os

from measure import output_of, run
from mounts import Dataless, Foreground, bindfs
from sides import compare, row, sample

FILES = 20_000
SIZE = 4096
# The resident file that is written to, and how.
LARGE = 2 << 30
BLOCKS = {"sequential": 128 << 10, "random": 4096}
RANDOM_WRITES = 200_000
FLUSHES = 200
STEPS = ("create", "rename", "unlink")


def writer(bench):
    if not hasattr(bench, "writer"):
        bench.writer = bench.compile("writer.c", ["-pthread"])
    return bench.writer


def empty(bench):
    path = bench.path("empty-source")
    os.makedirs(path, exist_ok=True)
    return path


def changed_files(bench, server, count):
    """A sample of each of the three steps."""
    sizes = {"create": [str(SIZE)]}
    return [
        sample([writer(bench), step, bench.mountpoint, str(count), *sizes.get(step, [])], 120, server, True)
        for step in STEPS
    ]


def ours(bench, count, *options):
    with Dataless(bench, empty(bench), *options) as volume:
        return changed_files(bench, volume.status()["pid"], count)


def ours_kept(bench, count):
    """On a volume that keeps its changes, in a directory that is new each time. None is removed before the end: ext4 without
    a journal looks for an inode that was not freed in the last minutes, one by one, which takes a millisecond a file."""
    bench.kept_count = getattr(bench, "kept_count", 0) + 1
    return ours(bench, count, "--state", bench.path(f"state-changes-{bench.kept_count}"))


def write_limit(bench, threads, *store):
    if not hasattr(bench, "write_limit"):
        flags = output_of(["pkg-config", "--cflags", "--libs", "fuse3"]).split()
        bench.write_limit = bench.compile("write_limit.c", flags)
    return Foreground(bench, [bench.write_limit, bench.mountpoint, str(threads), *store], "write_limit")


def limit(bench, count, threads):
    with write_limit(bench, threads) as peer:
        return changed_files(bench, peer.process.pid, count)


def through_bindfs(bench, count):
    with bindfs(bench, empty(bench), read_only=False) as peer:
        return changed_files(bench, peer.process.pid, count)


def measured(bench, peer):
    """Pairs of one run against a peer, measured once and shared by the rows of the three steps."""
    known = bench.__dict__.setdefault("changes", {})
    if peer not in known:
        count = FILES // 4 if bench.quick else FILES
        mine = ours_kept if peer == "state" else lambda bench, count: ours(bench, count, "--scratch")
        theirs = through_bindfs if peer == "bindfs" else lambda bench, count: limit(bench, count, 1)
        known[peer] = [(mine(bench, count), theirs(bench, count)) for _ in range(min(bench.pair_count, 9))]
    return known[peer]


def step(name, peer, what, **target):
    index = STEPS.index(name)

    def measure(bench):
        both = measured(bench, peer)
        mine, others = iter([a[index] for a, _ in both]), iter([b[index] for _, b in both])
        goal = f"<= {target['at_most']}" if "at_most" in target else f">= {target['at_least']}"
        result = row(f"write-{name}-{peer}", what, goal)
        # The pairs are there already: no more can be had.
        return compare(result, len(both), lambda: next(mine), lambda: next(others), **target, most=len(both))

    return measure


def large_file(bench, size):
    """A source with one large file, and the same file on the bare disk."""
    path = bench.path("large-source")
    bare = bench.path("large-bare")
    if not os.path.exists(bare):
        os.makedirs(path, exist_ok=True)
        for target in (os.path.join(path, "large"), bare):
            run(["dd", "if=/dev/zero", f"of={target}", "bs=1M", f"count={size >> 20}", "status=none"], 300)
    return path, bare


def written_to(bench, path, how, size, server, is_flushed):
    """Nothing is left to be written to the disk when it begins: what it takes is the writing alone."""
    os.sync()
    amount = size if how == "sequential" else (RANDOM_WRITES // 10 if bench.quick else RANDOM_WRITES)
    word = {"sequential": "seq", "random": "random"}[how]
    flush = ["flush"] if is_flushed else []
    return sample([writer(bench), word, path, str(BLOCKS[how]), str(amount), *flush], 300, server, True)


def large(how, is_flushed):
    """Both sides write the whole of a resident file over, or in places: into memory, or to the disk."""
    name = f"write-{how}-flushed" if is_flushed else f"write-{how}"

    def measure(bench):
        is_root = os.geteuid() == 0
        target = 0.8 if is_root else 0.5
        size = (256 << 20) if bench.quick else LARGE
        result = row(
            name, f"{how} writes of {BLOCKS[how] >> 10} KiB in a resident file of {size >> 20} MiB,"
            f" {'--state, then fsync' if is_flushed else '--scratch'}: speed / bare disk's", f">= {target}")
        source, bare = large_file(bench, size)
        options = ["--state", bench.path(f"state-{name}")] if is_flushed else ["--scratch"]
        with Dataless(bench, source, *options) as volume:
            path = os.path.join(bench.mountpoint, "large")
            run([bench.dataless, "materialize", path], 300)
            pid = volume.status()["pid"]
            return compare(
                result, min(bench.pair_count, 9), lambda: written_to(bench, path, how, size, pid, is_flushed),
                lambda: written_to(bench, bare, how, size, None, is_flushed), at_least=target, most=9)

    return measure


def possible(how):
    """The same writes into a server that does nothing but to write them into one file: what requests leave of a disk's
    speed at best."""

    def measure(bench):
        size = (256 << 20) if bench.quick else LARGE
        result = row(
            f"write-{how}-limit", f"{how} writes of {BLOCKS[how] >> 10} KiB in a file of {size >> 20} MiB, each a request:"
            " speed of the protocol's limit / bare disk's", "none")
        _, bare = large_file(bench, size)
        store = bench.path("large-store")
        if not os.path.exists(store):
            run(["dd", "if=/dev/zero", f"of={store}", "bs=1M", f"count={size >> 20}", "status=none"], 300)
        with write_limit(bench, 1, store) as peer:
            path = os.path.join(bench.mountpoint, "f0")
            run(["truncate", "-s", str(size), path], 60)
            return compare(
                result, min(bench.pair_count, 9), lambda: written_to(bench, path, how, size, peer.process.pid, False),
                lambda: written_to(bench, bare, how, size, None, False), most=9)

    return measure


def flushed(name, option, files, at_most):
    """Writes that are flushed one by one, by one thread or by many."""

    def measure(bench):
        count = FLUSHES // 10 if bench.quick else FLUSHES
        result = row(
            name, f"{files} x {count} writes of 4 KiB, each flushed, {option}: time / bare disk's", f"<= {at_most}")
        options = [option, bench.path(f"state-{name}")] if option == "--state" else [option]
        bare = bench.path("flushed-bare")
        os.makedirs(bare, exist_ok=True)
        command = [writer(bench), "flush"]
        with Dataless(bench, empty(bench), *options) as volume:
            pid = volume.status()["pid"]
            return compare(
                result, min(bench.pair_count, 9),
                lambda: sample([*command, bench.mountpoint, str(files), str(count)], 300, pid, True),
                lambda: sample([*command, bare, str(files), str(count)], 300, None, True), at_most=at_most, most=9)

    return measure


WHAT = {
    "create": f"{FILES:,} files made, {SIZE // 1024} KiB written to each, closed",
    "rename": f"{FILES:,} files renamed",
    "unlink": f"{FILES:,} files removed",
}

CASES = {
    f"write-{name}-{peer}": step(name, peer, f"{WHAT[name]}, {text}", **target)
    for name in STEPS
    for peer, text, target in (
        ("limit", "--scratch: dataless / protocol's limit", {"at_most": 2}),
        ("state", "--state: dataless / protocol's limit", {"at_most": 3}),
        ("bindfs", "--scratch: bindfs / dataless", {"at_least": 5}),
    )
}
CASES |= {
    f"write-{how}{'-flushed' if is_flushed else ''}": large(how, is_flushed)
    for how in BLOCKS for is_flushed in (False, True)
}
CASES |= {f"write-{how}-limit": possible(how) for how in BLOCKS}
CASES |= {
    "write-flush-state": flushed("write-flush-state", "--state", 1, 4),
    "write-flush-scratch": flushed("write-flush-scratch", "--scratch", 1, 2),
    # At once: they share their commits.
    "write-flushes-state": flushed("write-flushes-state", "--state", 50, 4),
}
