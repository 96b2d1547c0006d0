"""Changes of a volume (`--scratch`): files that are made, renamed and removed, and a large one that is written to."""

import os

from measure import output_of
from mounts import Dataless, Foreground, bindfs
from sides import compare, row, sample

FILES = 20_000
SIZE = 4096
STEPS = ("create", "rename", "unlink")


def writer(bench):
    if not hasattr(bench, "writer"):
        bench.writer = bench.compile("writer.c", [])
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


def ours(bench, count):
    with Dataless(bench, empty(bench), "--scratch") as volume:
        return changed_files(bench, volume.status()["pid"], count)


def limit(bench, count, threads):
    flags = output_of(["pkg-config", "--cflags", "--libs", "fuse3"]).split()
    if not hasattr(bench, "write_limit"):
        bench.write_limit = bench.compile("write_limit.c", flags)
    with Foreground(bench, [bench.write_limit, bench.mountpoint, str(threads)], "write_limit") as peer:
        return changed_files(bench, peer.process.pid, count)


def through_bindfs(bench, count):
    with bindfs(bench, empty(bench), read_only=False) as peer:
        return changed_files(bench, peer.process.pid, count)


def measured(bench, peer):
    """Pairs of one run against a peer, measured once and shared by the rows of the three steps."""
    known = bench.__dict__.setdefault("changes", {})
    if peer not in known:
        count = FILES // 4 if bench.quick else FILES
        theirs = {"limit": lambda: limit(bench, count, 1), "bindfs": lambda: through_bindfs(bench, count)}[peer]
        known[peer] = [(ours(bench, count), theirs()) for _ in range(min(bench.pair_count, 9))]
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


WHAT = {
    "create": f"{FILES:,} files made, {SIZE // 1024} KiB written to each, closed",
    "rename": f"{FILES:,} files renamed",
    "unlink": f"{FILES:,} files removed",
}

CASES = {
    f"write-{name}-{peer}": step(name, peer, f"{WHAT[name]}, --scratch: {text}", **target)
    for name in STEPS
    for peer, text, target in (
        ("limit", "dataless / protocol's limit", {"at_most": 2}),
        ("bindfs", "bindfs / dataless", {"at_least": 5}),
    )
}
