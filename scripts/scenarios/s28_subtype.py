"""S28: the name of the file system's type, by which desktops and indexers tell remote from local."""

import os

from harness import process, trees
from harness.report import NOTE

TITLE = "File system subtype"


def run(bench):
    source = bench.tree(trees.mixed)
    stage(bench, source, None, "fuse.dataless")
    if bench.has("present.subtype"):
        stage(bench, source, "s28_subtype", "fuse.sshfs")


def type_of(path):
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        return next((line.split(" - ")[1].split(" ")[0] for line in table if line.split(" ")[4] == path), None)


def stage(bench, source, scenario, expected):
    with bench.volume(source, scenario) as volume:
        found = type_of(volume.mountpoint)
        bench.promise(f"the kernel knows the volume as {expected}", found == expected, found)
        # The commands find their volume all the same.
        status = volume.json("status", volume.mountpoint)
        bench.promise("`status` finds it", status.get("mountpoint") == volume.mountpoint)
        for name in bench.available("findmnt", "stat", "find"):
            words = {
                "findmnt": ["-no", "FSTYPE", "--target", volume.mountpoint],
                "stat": ["-f", "-c", "%T", volume.mountpoint],
                "find": [volume.mountpoint, "-maxdepth", "0", "-printf", "%F"],
            }[name]
            seen = bench.run(name, *words).output.decode("utf-8", "replace").strip()
            bench.tool(name, NOTE, f"takes it for '{seen}'", expected)
        pruned(bench, expected)


def pruned(bench, kind):
    """What the lists of this machine say of the type."""
    path = "/etc/updatedb.conf"
    if os.path.exists(path):
        outcome = process.run(["grep", "PRUNEFS", path], 5)
        bench.tool("updatedb", NOTE, f"{'skips' if kind in outcome.text else 'walks'} it ({path})", kind)
