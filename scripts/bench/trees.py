"""Rows 5 to 8: many files. Each comparison says in its name what stands on the other side."""

import os
import shutil
import subprocess

from measure import output_of, run
from mounts import Dataless, Foreground, protocol_limit, rclone
from sides import Skipped, compare, row, sample

WALK = ["find", "{}", "-size", "+1k"]
# tar looks at no content when its target is /dev/null, so a pipe it is.
TAR = ["bash", "-o", "pipefail", "-c", 'tar cf - -C "$0" . | cat > /dev/null', "{}"]


def over(work, directory):
    return [directory if word == "{}" else word for word in work]


def through(bench, mount, work, limit, prepare=None):
    """A side: a fresh mount, what prepares it, and the work, timed."""
    def once():
        with mount() as mounted:
            server = mounted.status()["pid"] if isinstance(mounted, Dataless) else mounted.process.pid
            if prepare:
                prepare()
            return sample(over(work, bench.mountpoint), limit, server)
    return once


def walk_limit(name, files):
    def case(bench):
        result = row(name, f"find -size, {files:,} synthetic files, fresh mount: speed / the protocol's limit", ">= 0.9")
        if bench.quick and files > 100_000:
            raise Skipped("not in the quick run")
        specification = f"synthetic:files={files},depth=1,size=4k..4k,seed=1"
        return compare(
            result, bench.pair_count,
            through(bench, lambda: Dataless(bench, specification), WALK, 300),
            through(bench, lambda: protocol_limit(bench, files // 100, 100, 4096), WALK, 300), at_least=0.9,
        )
    return case


def small_files(bench):
    count = 5_000 if bench.quick else 15_000
    root = bench.files(f"small-{count}", count, 4096)
    bench.warm(root)
    return count, root


def walk_second(bench):
    count, root = small_files(bench)
    result = row("walk-second", f"find -size, {count} files, second walk: speed / the bare tree", ">= 0.9")
    with Dataless(bench, root) as volume:
        server = volume.status()["pid"]
        for directory in (bench.mountpoint, bench.mountpoint, root):
            run(over(WALK, directory), 120)
        return compare(
            result, bench.pair_count, lambda: sample(over(WALK, bench.mountpoint), 120, server),
            lambda: sample(over(WALK, root), 120), at_least=0.9,
        )


def resident(bench, root):
    """A fresh volume on which everything is resident, and of which the kernel knows nothing yet."""
    return through(
        bench, lambda: Dataless(bench, root), TAR, 120,
        lambda: run([bench.dataless, "materialize", bench.mountpoint], 120),
    )


def tar_limit(bench):
    count, root = small_files(bench)
    result = row("tar-limit", f"tar to a pipe, {count} resident files of 4 KiB: speed / the protocol's limit", ">= 0.9")
    limit = through(bench, lambda: protocol_limit(bench, count // 100, 100, 4096), TAR, 120)
    return compare(result, bench.pair_count, resident(bench, root), limit, at_least=0.9)


def passthrough_example(bench, root):
    """libfuse's own passthrough_ll, from Debian's libfuse3-dev; with the caching it can have."""
    source = "/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c"
    if not os.path.exists(source):
        raise Skipped("no passthrough_ll.c (Debian: libfuse3-dev)")
    program = bench.path("passthrough_ll")
    if not os.path.exists(program):
        flags = output_of(["pkg-config", "--cflags", "--libs", "fuse3"]).split()
        run(["cc", "-O2", "-D_GNU_SOURCE", "-o", program, source, *flags], 60)
    options = f"source={root},cache=always,timeout=3600"
    return Foreground(bench, [program, "-f", "-o", options, bench.mountpoint], "passthrough_ll")


def tar_example(bench):
    count, root = small_files(bench)
    result = row(
        "tar-example", f"tar to a pipe, {count} resident files of 4 KiB: speed / libfuse's passthrough_ll", ">= 1.5"
    )
    example = through(bench, lambda: passthrough_example(bench, root), TAR, 120)
    return compare(result, bench.pair_count, resident(bench, root), example, at_least=1.5)


def tar_dataless_rclone(bench):
    if shutil.which("rclone") is None:
        raise Skipped("rclone is not installed")
    count, root = small_files(bench)
    result = row("tar-rclone", f"tar to a pipe, {count} dataless files of 4 KiB: speed / rclone (full cache)", ">= 10")
    pairs = 1 if bench.quick else bench.pair_count
    ours = through(bench, lambda: Dataless(bench, root), TAR, 120)
    return compare(result, pairs, ours, through(bench, lambda: rclone(bench, root), TAR, 300), at_least=10)


def tar_dataless_resident(bench):
    count, root = small_files(bench)
    result = row("tar-dataless", f"tar to a pipe, {count} dataless files of 4 KiB: speed / the same resident", ">= 0.5")
    dataless = through(bench, lambda: Dataless(bench, root), TAR, 120)
    return compare(result, bench.pair_count, dataless, resident(bench, root), at_least=0.5)


CASES = {
    "walk-limit-15000": walk_limit("walk-limit-15000", 15_000),
    "walk-limit-million": walk_limit("walk-limit-million", 1_000_000),
    "walk-second": walk_second,
    "tar-limit": tar_limit,
    "tar-example": tar_example,
    "tar-rclone": tar_dataless_rclone,
    "tar-dataless": tar_dataless_resident,
}
