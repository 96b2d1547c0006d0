"""S29: the store is down at the start and comes back later. Is nothing taken for an empty tree?"""

from harness import trees
from harness.copiers import USUAL, Damage
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Provider down at start"


def run(bench):
    source = bench.tree(trees.mixed)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s29_provider_down", outcomes=("ok", "ETIMEDOUT")) as volume:
        answer, seconds = volume.read("README")
        bench.promise("offline, a read fails at once with ETIMEDOUT", answer == "ETIMEDOUT" and seconds < 1.5,
                      f"{answer} after {seconds:.2f} s")
        volume.command("set", volume.mountpoint, "latency=2ms")
        for name in bench.available(*USUAL):
            one(bench, volume, name, expected)
        for name in bench.available("rsync --delete", "git", "rclone", "borg", "restic"):
            after_better_days(bench, volume, name, expected)


def offline_run(bench, volume, job):
    """A save while the store is down, everything dataless."""
    volume.command("offline", volume.mountpoint)
    volume.evict()
    mark = volume.mark()
    outcome = job.save(20)
    part = volume.since(mark)
    bench.promise("offline, nothing comes", not part.materialized)
    bench.promise("offline, the log says so", all(r.get("rule") == "offline" for r in part.attempts + part.directories))
    volume.command("online", volume.mountpoint)
    return outcome


def one(bench, volume, name, expected):
    job = bench.copy(name, volume.mountpoint)
    outcome = offline_run(bench, volume, job)
    again = job.save(30)
    damage = Damage(expected, job.restore())
    said = f"{outcome.how()}; back: {again.how()}, {damage.text()}"
    silent = outcome.returncode == 0 or outcome.timed_out
    fine = again.ok and not damage
    bench.tool(name, WRONG if silent else RIGHT if fine else NOTE, said, "first run offline")
    job.discard()


def after_better_days(bench, volume, name, expected):
    """What a run while the store is down does to what was saved before."""
    job = bench.copy(name, volume.mountpoint)
    job.save(30)
    outcome = offline_run(bench, volume, job)
    if name in ("borg", "restic"):
        # Each run is an archive of its own: the one that was made offline is looked at.
        text = f"{outcome.how()}, makes {'an' if outcome.returncode in (0, 1, 3) else 'no'} archive"
        bench.tool(name, WRONG if outcome.returncode == 0 else RIGHT, text, "second run offline")
    else:
        damage = Damage(expected, job.restore())
        silent = outcome.returncode == 0
        text = f"{outcome.how()}; what was saved before: {damage.text()}"
        bench.tool(name, WRONG if damage or silent else RIGHT, text, "second run offline")
    job.discard()
