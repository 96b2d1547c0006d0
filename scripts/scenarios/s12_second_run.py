"""S12: the second run of an incremental tool finds nothing changed, and needs no content."""

from harness import trees
from harness.copiers import INCREMENTAL, Damage
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Second run"


def run(bench):
    source = bench.tree(trees.mixed)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s12_second_run") as volume:
        before = volume.look("identities")
        for name in bench.available("cp -u", "tar -g", *INCREMENTAL):
            one(bench, volume, name, expected)
            after = volume.look("identities")
            changed = [path for path in before if after.get(path) != before[path]]
            what = "size, times, inode, mode, owner and links stay, evicted or resident"
            bench.promise(what, not changed, changed[:3])


def one(bench, volume, name, expected):
    volume.evict()
    job = bench.copy(name, volume.mountpoint)
    first = job.save()
    intact = not Damage(expected, job.restore())
    evicted = volume.evict()
    left = volume.json("status", volume.mountpoint)["items"]["files_resident"]
    bench.promise("after `evict` no file is resident", evicted.ok and left == 0, left)
    mark = volume.mark()
    second = job.save()
    part = volume.since(mark)
    again = Damage(expected, job.restore())
    text = f"second run: {second.how()}, {len(part.materialized)} of {len(expected) - 1} files materialized"
    if not intact or again:
        text += f"; restored: {again.text()}"
    fine = first.ok and second.ok and intact and not again
    newest = name == "borg" and len(part.materialized) == 1
    if newest:
        text += " (the one with the newest ctime, which borg never takes on trust)"
    bench.tool(name, WRONG if not fine or part.materialized and not newest else NOTE if newest else RIGHT, text)
    job.discard()
