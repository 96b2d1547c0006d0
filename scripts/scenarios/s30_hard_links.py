"""S30: a file with two names is fetched once, and is one file in the copy if the tool says so."""

import os

from harness import trees
from harness.copiers import Damage
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Hard links"
NAMES = ("a/first.dat", "b/second.dat")


def build(root):
    trees.put(root, NAMES[0], 50_000)
    trees.put(root, "a/other.dat", 3000)
    os.makedirs(os.path.join(root, "b"))
    os.link(os.path.join(root, NAMES[0]), os.path.join(root, NAMES[1]))
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    tools = ("cp", "tar", "bsdtar", "cpio", "rsync", "rsync -H", "borg", "restic", "7zip", "git", "du")
    for name in bench.available(*tools):
        with bench.volume(source, "s30_hard_links") as volume:
            one(bench, volume, name, expected)


def one(bench, volume, name, expected):
    seen = volume.look("identities")
    pair = [seen.get(path) for path in NAMES]
    bench.promise("both names are one inode with two links", pair[0] == pair[1] and pair[0][7] == 2, pair)
    mark = volume.mark()
    if name == "du":
        outcome = bench.run("du", "-sb", "--apparent-size", volume.mountpoint)
        bench.promise("du fetches nothing", not volume.since(mark).attempts)
        total = int(outcome.text.split()[0])
        bench.tool(name, RIGHT if 53_000 <= total < 80_000 else NOTE, f"counts {total:,} bytes: the two names once")
        return
    job = bench.copy(name, volume.mountpoint)
    outcome = job.save()
    damage = Damage(expected, job.restore())
    part = volume.since(mark)
    fetches = [path for path in part.materialized if path in NAMES]
    bench.promise("one fetch for both names", len(fetches) == 1, fetches)
    copies = [path for path in (os.path.join(job.restored, name) for name in NAMES) if os.path.exists(path)]
    linked = len(copies) == 2 and os.path.samefile(*copies)
    text = f"{outcome.how()}, {damage.text()}, {'one file with two names' if linked else 'two files'} in the copy"
    bench.tool(name, WRONG if damage or not outcome.ok else RIGHT if linked else NOTE, text)
    refused = volume.attempt("evict", volume.path(NAMES[0]))
    links = not refused.ok and "EMLINK" in refused.text
    bench.promise("a file with two names is not evicted: EMLINK", links, refused.message())
    job.discard()
