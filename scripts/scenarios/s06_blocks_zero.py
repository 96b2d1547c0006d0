"""S6: a size and no blocks. Archivers that take blocks for content lose it, without an error."""

from harness import trees
from harness.copiers import USUAL
from harness.report import RIGHT, WRONG

TITLE = "Blocks 0 archive"
SPARSE = ("tar -S", "rsync -S", "cp --sparse", "borg --sparse")


def run(bench):
    source = bench.tree(trees.mixed)
    expected = trees.fingerprint(source)
    archive(bench, source, expected, "s06_blocks_zero", {0}, SPARSE + USUAL)
    if bench.has("present.blocks"):
        archive(bench, source, expected, "s06_blocks_one", {1}, SPARSE)


def archive(bench, source, expected, scenario, shown, tools):
    case = f"blocks {min(shown)}"
    with bench.volume(source, scenario) as volume:
        seen = volume.look("blocks")
        strange = {name: blocks for name, (blocks, _) in seen.items() if blocks not in shown}
        bench.promise(f"a dataless file has {min(shown)} blocks", seen and not strange, strange)
        holes = [name for name, (_, hole) in seen.items() if hole != expected[name][0]]
        bench.promise("and no hole", not holes, holes)
        for name, outcome, damage, part in bench.copies(volume, tools, expected):
            unread = {path for path, (size, _) in expected.items() if size} - set(part.materialized)
            text = f"{outcome.how()}, {damage.text()}"
            if unread:
                text += f"; never read {len(unread)} files"
            bench.tool(name, WRONG if damage or not outcome.ok else RIGHT, text, case)
        lost = {path: now for path, now in volume.look("fingerprint").items() if now != expected.get(path)}
        bench.promise("the volume serves the source's bytes", not lost, sorted(lost)[:3])
