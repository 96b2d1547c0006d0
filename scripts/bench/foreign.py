"""A source that is a FUSE file system itself, and keeps attributes for ever: what it costs not to believe them."""

import os
import shutil
import subprocess

from measure import Failed, run
from mounts import Dataless, Foreground, force_unmount
from sides import row

ENDLESS = "attr_timeout=1000000,entry_timeout=1000000"


class ForeignSource:
    """bindfs over a tree, on a mountpoint of its own, as a context."""

    def __init__(self, bench, tree):
        self.mountpoint = bench.path("foreign")
        os.makedirs(self.mountpoint, exist_ok=True)
        if shutil.which("bindfs") is None:
            raise Failed("bindfs is not installed")
        place = type("Place", (), {"mountpoint": self.mountpoint})()
        self.mount = Foreground(place, ["bindfs", "-f", "-r", "-o", ENDLESS, tree, self.mountpoint], "bindfs")

    def __enter__(self):
        self.mount.__enter__()
        return self

    def __exit__(self, *_):
        self.mount.__exit__()
        force_unmount(self.mountpoint)


def times(bench, command, paths):
    _, output = run([bench.client, command, *paths], 120, stdout=subprocess.PIPE)
    return sorted(int(line) / 1e3 for line in output.split())


def forced_checks(bench):
    count = 500 if bench.quick else 2_000
    result = row(
        "forced-checks", f"{count:,} files of 4 KiB, SOURCE on FUSE with endless attribute times: one check of an open "
        "file, forced and from the cache; then the first read of a file through the volume", "reported",
    )
    tree = bench.files(f"checked-{count}", count, 4096)
    names = [os.path.join(f"d{index // 100:05}", f"f{index:06}") for index in range(count)]
    with ForeignSource(bench, tree) as source:
        paths = [os.path.join(source.mountpoint, name) for name in names]
        forced, cached = times(bench, "forced-checks", paths), times(bench, "cached-checks", paths)
        with Dataless(bench, source.mountpoint):
            run(["find", bench.mountpoint, "-size", "+1k"], 120)
            first = times(bench, "first", [os.path.join(bench.mountpoint, name) for name in names])
    middle = count // 2
    result.value = f"{forced[middle]:.1f} us and {cached[middle]:.1f} us a check, {first[middle]:.0f} us a first read"
    late = count * 99 // 100
    result.detail = f"medians; p99 {forced[late]:.0f}, {cached[late]:.0f} and {first[late]:.0f} us"
    result.raw = {"forced_us": forced, "cached_us": cached, "first_read_us": first}
    return result


CASES = {"forced-checks": forced_checks}
