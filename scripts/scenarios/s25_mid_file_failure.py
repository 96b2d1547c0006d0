"""S25: a file fails after 60 % of its bytes. A short file must not pass for the whole."""

import os

from harness import trees
from harness.copiers import USUAL
from harness.judge import copy_with_victims
from harness.report import NOTE

TITLE = "Mid-file failure"
VICTIM = "m/victim.dat"
SIZE = 1_000_000
# What 60 % of it take at 20 MB/s, in nanoseconds, less a little for the first burst.
BEFORE = 20_000_000


def build(root):
    for index in range(4):
        trees.put(root, f"{'az'[index % 2]}/f{index}.dat", 9000 + index)
    trees.put(root, VICTIM, SIZE)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    stage(bench, source, expected, "s25_mid_file_failure", "full")
    if bench.has("hydration"):
        stage(bench, source, expected, "s25_mid_file_progressive", "progressive")


def stage(bench, source, expected, scenario, case):
    with bench.volume(source, scenario, outcomes=("ok", "EIO")) as volume:
        for name, outcome, damage, part in bench.copies(volume, USUAL, expected):
            failed = part.on(VICTIM)
            # A further attempt of a file that is partly there brings in 60 % of the rest.
            first = failed[0] if failed else {"duration_ns": 0, "bytes": 0}
            came = first["bytes"] == SIZE * 0.6 if case == "progressive" else first["duration_ns"] > BEFORE
            bench.promise("the attempt fails after 60 % of the bytes", came, f"{name}: {failed[:1]}")
            bench.promise("and each further one fails", {r["outcome"] for r in failed} == {"EIO"}, f"{name}: {failed[:1]}")
            verdict, text = copy_with_victims(outcome, damage, [VICTIM])
            bench.tool(name, verdict, text, case)
            left = leftovers(bench, expected)
            if left:
                bench.tool(name, NOTE, f"leaves {left}", case)
        state = volume.json("status", volume.mountpoint)["items"]
        bench.promise("no part of it counts as resident", state["files_resident"] <= len(expected) - 1, state)


def leftovers(bench, expected):
    """A temporary file of the last copy beside those it was to make."""
    restored = sorted(name for name in os.listdir(bench.work) if name.startswith("restored"))
    if not restored:
        return None
    names = {os.path.basename(name) for name in expected}
    for _, _, found in os.walk(os.path.join(bench.work, restored[-1])):
        for name in found:
            if name not in names and not name.endswith(".tmp"):
                return f"a temporary file '{name}'"
    return None
