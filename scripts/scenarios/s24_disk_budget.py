"""S24: fetching ends in ENOSPC from some file on. Does the tool say which side is full, and leave no half file?"""

from harness import trees
from harness.copiers import USUAL
from harness.judge import copy_with_victims
from harness.report import NOTE

TITLE = "Disk budget"


def build(root):
    for index in range(4):
        trees.put(root, f"early/f{index}.dat", 40_000 + index)
        trees.put(root, f"late/g{index}.dat", 50_000 + index)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    victims = [name for name in expected if name.startswith("late/")]
    with bench.volume(source, "s24_disk_budget", outcomes=("ok", "ENOSPC")) as volume:
        for name, outcome, damage, part in bench.copies(volume, USUAL, expected):
            failed = [r for r in part.attempts if r["path"] in victims]
            outcomes = {record["outcome"] for record in failed}
            bench.promise("each fetch that lacks room is ENOSPC", outcomes == {"ENOSPC"}, outcomes)
            counted = [r["path"] for r in failed if r["bytes"]]
            bench.promise("what was thrown away does not count as fetched", not counted, counted[:3])
            items = volume.json("status", volume.mountpoint)["items"]
            kept = items["bytes_resident"] - sum(expected[path][0] for path in set(part.materialized))
            bench.promise("nothing half-fetched is kept", kept == 0, items)
            verdict, text = copy_with_victims(outcome, damage, victims)
            bench.tool(name, verdict, text)
            if "writing" in outcome.message("No space", "no space"):
                bench.tool(name, NOTE, f"blames the wrong side: '{outcome.message('No space', 'no space')}'")
