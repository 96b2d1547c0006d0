"""S22: files were changed, then a backup runs, then everything is evicted. Does what was changed stay?"""

import os

from harness import trees
from harness.copiers import USUAL, Damage
from harness.report import RIGHT, WRONG

TITLE = "Eviction hygiene"
NEEDS = ("writing",)
CHANGED = {"README": b"changed here\n", "big/photo.jpg": b"\xff" * 200_000, "new/file.txt": b"made here\n"}


def run(bench):
    source = bench.tree(trees.mixed)
    with bench.volume(source, "s22_eviction_hygiene", "--scratch") as volume:
        volume.list_everything()
        for name, data in CHANGED.items():
            path = os.path.join(bench.fresh("changed"), "file")
            with open(path, "wb") as file:
                file.write(data)
            bench.run("bash", "-c", 'mkdir -p "${2%/*}" && cat "$1" > "$2"', "-", path, volume.path(name))
        expected = volume.look("fingerprint")
        evict(bench, volume, expected)
        for name in bench.available(*USUAL):
            job = bench.copy(name, volume.mountpoint)
            outcome = job.save()
            damage = Damage(expected, job.restore())
            bench.tool(name, RIGHT if outcome.ok and not damage else WRONG, f"{outcome.how()}, {damage.text()}")
            job.discard()
            evict(bench, volume, expected)


def evict(bench, volume, expected):
    """All that came may go; what was changed here is nowhere else."""
    outcome = volume.attempt("evict", volume.mountpoint)
    refused = [name for name in CHANGED if name not in outcome.text]
    bench.promise("each changed file is refused by name", not outcome.ok and not refused, f"{outcome.how()}: {refused}")
    items = volume.json("status", volume.mountpoint)["items"]
    local = sum(len(data) for data in CHANGED.values())
    bench.promise("nothing but what was changed stays local", items["bytes_resident"] == local,
                  f"{items['bytes_resident']} bytes for {local}")
    now = {name: volume.read(name)[0] for name in CHANGED}
    lost = [name for name in CHANGED if now[name] != expected[name][1]]
    bench.promise("what was changed is as it was", not lost, lost)
