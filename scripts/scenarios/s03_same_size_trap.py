"""S3: a duplicate finder or a comparing copy needs content only where sizes are equal."""

import shutil

from harness import trees
from harness.report import RIGHT, WRONG

TITLE = "Same-size trap"


def commands(bench, mountpoint, copy):
    compare = "import filecmp, sys; d = filecmp.dircmp(sys.argv[1], sys.argv[2]); d.report_full_closure()"
    return {
        "jdupes": ["-rq", mountpoint], "diff": ["-rq", mountpoint, copy],
        "rsync": ["-a", "--dry-run", mountpoint + "/", copy],
        "rclone": ["--config", "/dev/null", "copy", "--dry-run", mountpoint, copy],
        "python3": ["-c", compare, mountpoint, copy],
        "find": [mountpoint, "-type", "f", "-size", "-2k", "-newermt", "2000-01-01"],
    }


def run(bench):
    source = bench.tree(trees.pairs)
    sizes = {name: size for name, (size, _) in trees.fingerprint(source).items()}
    same = {name for name in sizes if list(sizes.values()).count(sizes[name]) > 1}
    # What is compared with: all sizes but those of the unique files are the same, and the times too.
    copy = bench.fresh("copy")
    shutil.copytree(source, copy, dirs_exist_ok=True)
    for name in sorted(set(sizes) - same):
        trees.put(copy, name, sizes[name] + 7)
    with bench.volume(source, "s03_same_size_trap") as volume:
        for name in bench.available(*commands(bench, "", "")):
            volume.evict()
            mark = volume.mark()
            outcome = bench.run(name, *commands(bench, volume.mountpoint, copy)[name])
            part = volume.since(mark)
            needless = [path for path in part.materialized if path not in same]
            started = [record for record in part.of("materialization.started") if record["kind"] == "file"]
            readers = {part.log.program(record) for record in started}
            bench.promise("each attempt names the program that read", "?" not in readers, readers)
            fetched = part.fetched == sum(sizes[path] for path in part.materialized)
            bench.promise("the bytes in the log are those of the files", fetched, part.fetched)
            text = (f"{outcome.how()}, {len(part.materialized)} of {len(same)} files with a size in common,"
                    f" {len(needless)} others")
            bench.tool(name, WRONG if needless or outcome.timed_out else RIGHT, text)
