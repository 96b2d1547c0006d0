"""A volume that is kept beside ext4: trees that are removed, a mount of what is known, programs that work on it."""

import os
import shutil
import statistics
import time

from measure import Failed, output_of, run
from mounts import Dataless
from sides import Sample, Skipped, compare, cpu_of, row, sample

# Seconds after which nothing is waited for any more.
PATIENCE = 300
PACKAGE_FILES = 24


def fresh(bench, name):
    path = bench.path(name)
    shutil.rmtree(path, ignore_errors=True)
    return path


# --- Removal


def removed_here(bench, source):
    """Samples of `dataless remove`, until it returns, and until nothing is left to be given back."""
    with Dataless(bench, source, "--state", fresh(bench, "state-removal")) as volume:
        pid = volume.status()["pid"]
        run([bench.dataless, "materialize", bench.mountpoint], PATIENCE)
        os.sync()
        before, started = cpu_of(pid), time.perf_counter()
        returned = sample([bench.dataless, "remove", os.path.join(bench.mountpoint, "tree")], PATIENCE, pid)
        while (trash := volume.status().get("trash") or {}).get("items", 0):
            if time.perf_counter() - started > PATIENCE:
                raise Failed(f"{trash['items']} items are not given back after {PATIENCE} s")
            time.sleep(0.01)
        back = Sample(time.perf_counter() - started, cpu_of(pid) - before)
        if os.listdir(bench.mountpoint):
            raise Failed("the tree is still there")
        return returned, back


def removed_there(bench, source):
    copy = fresh(bench, "bare-removal")
    run(["cp", "-a", os.path.join(source, "tree"), copy], PATIENCE)
    os.sync()
    return sample(["rm", "-rf", copy], PATIENCE)


def removal(name, which, what):
    def measure(bench):
        count = 10_000 if bench.quick else 100_000
        result = row(name, f"dataless remove of {count:,} resident files of 4 KiB, --state, {what}: speed / rm -rf on the"
                     " bare disk", "none")
        known = bench.__dict__.setdefault("removals", [])
        if not known:
            bench.files(f"removal-{count}/tree", count, 4096)
            source = bench.path(f"removal-{count}")
            known += [(removed_here(bench, source), removed_there(bench, source))
                      for _ in range(min(bench.pair_count, 5))]
        mine, others = iter([a[which] for a, _ in known]), iter([b for _, b in known])
        return compare(result, len(known), lambda: next(mine), lambda: next(others), most=len(known))

    return measure


# --- Remount


def remount(bench):
    files = 50_000 if bench.quick else 1_000_000
    result = row("remount-known", f"dataless mount of a state directory that knows {files:,} changed items, then a stat of"
                 " the root", "<= 100 ms")
    source = f"synthetic:files={files},depth=3,size=4k..1m,seed=1"
    state = ["--state", fresh(bench, "state-known")]
    with Dataless(bench, source, *state):
        made = sample(["chmod", "-R", "g+w", bench.mountpoint], 1800)
    times, listings, memory = [], [], []
    for _ in range(3 if bench.quick else 15):
        with Dataless(bench, source, *state) as volume:
            seconds, _ = run(["stat", "-f", bench.mountpoint], 30)
            times.append(volume.mount_seconds + seconds)
            listings.append(run(["ls", bench.mountpoint], 60)[0])
            memory.append(volume.resident_memory()[0])
            path = output_of(["find", bench.mountpoint, "-type", "f", "-print", "-quit"], 60).strip()
            if not int(output_of(["stat", "-c", "%a", path]), 8) & 0o020:
                raise Failed("what was changed before the mount is not known")
    result.value = f"{statistics.median(times) * 1e3:.0f} ms"
    result.detail = (
        f"{len(times)} mounts, at most {max(times) * 1e3:.0f} ms; root listed in {statistics.median(listings) * 1e3:.0f} ms;"
        f" {statistics.median(memory) / 1e6:.0f} MB then; chmod -R before took {made.seconds:.1f} s")
    result.met = max(times) <= 0.1
    result.raw = {"seconds": times, "root_listed_s": listings, "memory_bytes": memory, "chmod_s": made.seconds}
    return result


# --- Programs


def beside(bench, name, result, prepare, command, limit, before=None, at_most=None):
    """The same program in a directory that `prepare` fills, on the volume and on the bare disk."""
    bare = fresh(bench, f"bare-{name}")
    os.makedirs(bare)
    empty = bench.path("empty-source")
    os.makedirs(empty, exist_ok=True)
    with Dataless(bench, empty, "--state", fresh(bench, f"state-{name}")) as volume:
        pid = volume.status()["pid"]
        for place in (bench.mountpoint, bare):
            prepare(place)
        os.sync()

        def once(place, server):
            if before is not None:
                before(place)
            return sample(command(place), limit, server)

        # What is asked for once is in nobody's cache.
        for place in (bench.mountpoint, bare):
            once(place, None)
        return compare(result, min(bench.pair_count, 9), lambda: once(bench.mountpoint, pid), lambda: once(bare, None),
                       at_most=at_most, most=9)


def git_status(bench):
    count = 2_000 if bench.quick else 15_000
    result = row("git-status", f"git status of a repository of {count:,} files on a volume, --state: speed / bare disk's",
                 "none")
    files = bench.files(f"repository-{count}", count, 4096)

    def prepare(place):
        repository = os.path.join(place, "repository")
        run(["cp", "-a", files, repository], PATIENCE)
        for words in (["init", "-q"], ["add", "-A"],
                      ["-c", "user.name=bench", "-c", "user.email=bench", "commit", "-q", "-m", "first"]):
            run(["git", "-C", repository, *words], PATIENCE)

    return beside(bench, "git", result, prepare,
                  lambda place: ["git", "-C", os.path.join(place, "repository"), "status", "--porcelain"], PATIENCE)


def swift_build(bench):
    if shutil.which("swift") is None:
        raise Skipped("swift is not installed")
    result = row("swift-build", f"swift build of a package of {PACKAGE_FILES} files on a volume, .build there, --state: speed"
                 " / bare disk's", "none")

    def prepare(place):
        sources = os.path.join(place, "package", "Sources", "Built")
        os.makedirs(sources)
        with open(os.path.join(place, "package", "Package.swift"), "w", encoding="utf-8") as file:
            file.write('// swift-tools-version:6.0\nimport PackageDescription\n'
                       'let package = Package(name: "Built", targets: [.executableTarget(name: "Built")])\n')
        for number in range(PACKAGE_FILES):
            with open(os.path.join(sources, f"Part{number}.swift"), "w", encoding="utf-8") as file:
                file.write("".join(
                    f"struct Part{number}x{place} {{ var value = {place}; var text: String {{ \"\\(value)\" }} }}\n"
                    for place in range(50)))
        with open(os.path.join(sources, "main.swift"), "w", encoding="utf-8") as file:
            file.write("print(Part0x0().text)\n")

    def clean(place):
        shutil.rmtree(os.path.join(place, "package", ".build"), ignore_errors=True)

    return beside(bench, "swift", result, prepare,
                  lambda place: ["swift", "build", "--package-path", os.path.join(place, "package")], 600, before=clean)


CASES = {
    "remove-returns": removal("remove-returns", 0, "until it returns"),
    "remove-space": removal("remove-space", 1, "until the space is back"),
    "remount-known": remount,
    "git-status": git_status,
    "swift-build": swift_build,
}
