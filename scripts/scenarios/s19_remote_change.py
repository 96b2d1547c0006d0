"""S19: files change in the store while they are dataless."""

import os

from harness import trees
from harness.copiers import Damage
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Remote change while dataless"
NEEDS = ("refresh",)
CHANGED = "big/photo.jpg"


def run(bench):
    for name in bench.available("rsync", "rclone", "borg", "restic", "git", "cp -u"):
        source = bench.tree(trees.mixed)
        with bench.volume(source, "s19_remote_change") as volume:
            one(bench, volume, name, source)


def one(bench, volume, name, source):
    job = bench.copy(name, volume.mountpoint)
    job.save()
    volume.evict()
    volume.list_everything()
    trees.put(source, CHANGED, trees.content("newer", 400_000))
    expected = trees.fingerprint(source)
    mark = volume.mark()
    refreshed = volume.command("refresh", volume.path(CHANGED))
    size = os.stat(os.path.join(source, CHANGED)).st_size
    seen = volume.look("identities").get(CHANGED, (None,))[0]
    bench.promise("after `refresh` the new size is seen", refreshed.ok and seen == size, f"{seen}, not {size}")
    bench.promise("without fetching anything", not volume.since(mark).attempts)
    mark = volume.mark()
    outcome = job.save()
    part = volume.since(mark)
    damage = Damage(expected, job.restore())
    found = part.materialized == [CHANGED]
    text = f"{outcome.how()}, {len(part.materialized)} files materialized, {damage.text()}"
    bench.tool(name, WRONG if damage or not outcome.ok else RIGHT if found else NOTE, text)
    answer, _ = volume.read(CHANGED)
    bench.promise("the next read has the new content", answer == expected[CHANGED][1], answer)
    job.discard()
