"""S34: a sandboxed helper runs as another user, who may not read everything."""

import os

from harness import process, trees
from harness.copiers import Damage
from harness.judge import copy_with_victims
from harness.tools import TOOLS

TITLE = "Another user's helper"
UID = 65534
PRIVATE = ("private.dat", "closed/inside.dat")


def build(root):
    for index in range(4):
        trees.put(root, f"open/f{index}.dat", 5000 + index)
    trees.put(root, PRIVATE[0], 7000, mode=0o600)
    trees.put(root, PRIVATE[1], 7000)
    os.chmod(os.path.join(root, "closed"), 0o700)
    return trees.settle(root)


def run(bench):
    if os.geteuid() != 0:
        bench.skip("becoming another user needs root")
        return
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s34_other_user") as volume:
        outcome = process.run([TOOLS["cat"].command, volume.path("open/f0.dat")], 10, user=UID)
        denied = "Permission denied" in outcome.text
        bench.promise("without --allow-other another user gets EACCES", denied, outcome.message())
    with bench.volume(source, "s34_other_user", "--allow-other") as volume:
        for name in bench.available("cp", "tar", "rsync", "rclone", "borg", "restic", "zip", "7zip", "git"):
            one(bench, volume, name, expected)


def one(bench, volume, name, expected):
    volume.evict()
    job = bench.copy(name, volume.mountpoint)
    process.run(["chown", "-R", str(UID), job.store, job.restored], 20)
    mark = volume.mark()
    outcome = job.start(user=UID).wait(30)
    part = volume.since(mark)
    tried = {r["path"] for r in part.attempts} & set(PRIVATE)
    bench.promise("what the user may not read is not even tried", not tried, f"{name}: {tried}")
    users = {volume.log.processes[r["process"]]["uid"] for r in part.of("materialization.started") if r.get("process")}
    bench.promise("the log names the user", users == {UID}, f"{name}: {users}")
    damage = Damage(expected, job.restore())
    verdict, text = copy_with_victims(outcome, damage, PRIVATE)
    bench.tool(name, verdict, text)
    job.discard()
