"""S27: a file system that tells of holes where data is. Tools that believe it write zeros."""

from harness import trees
from harness.copiers import USUAL
from harness.report import RIGHT, WRONG

TITLE = "False hole map"
NEEDS = ("present.seek",)


def run(bench):
    source = bench.tree(trees.mixed)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s27_false_hole_map") as volume:
        seen = volume.look("blocks")
        wrong = [name for name, (_, hole) in seen.items() if hole != 0]
        bench.promise("a dataless file is a hole from its first byte on", seen and not wrong, wrong[:3])
        tools = ("cp --sparse", "tar -S", "borg --sparse", *USUAL)
        for name, outcome, damage, part in bench.copies(volume, tools, expected):
            unread = {path for path, (size, _) in expected.items() if size} - set(part.materialized)
            text = f"{outcome.how()}, {damage.text()}" + (f"; never read {len(unread)} files" if unread else "")
            bench.tool(name, WRONG if damage or not outcome.ok else RIGHT, text)
        lost = {path: now for path, now in volume.look("fingerprint").items() if now != expected.get(path)}
        bench.promise("a plain read still gives the source's bytes", not lost, sorted(lost)[:3])
