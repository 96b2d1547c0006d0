"""S14: materialization moves ctime. Is that taken for a change of the file?"""

from harness import trees
from harness.copiers import Damage
from harness.report import NOTE, RIGHT, WRONG
from harness.volume import pause

TITLE = "ctime moves"
NEEDS = ("present.ctime",)
CHANGED = "file changed"


def run(bench):
    source = bench.tree(trees.mixed)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s14_ctime_moves") as volume:
        ctimes(bench, volume)
        git_status(bench, volume)
        for name in bench.available("tar", "bsdtar", "tar -g", "borg", "restic", "rsync", "rclone"):
            volume.evict()
            volume.list_everything()
            job = bench.copy(name, volume.mountpoint)
            first = job.save()
            mark = volume.mark()
            second = job.save()
            part = volume.since(mark)
            # What is resident now is read again without an attempt: handles of resident files are in no record.
            reads = part.requests("open")
            damage = Damage(expected, job.restore())
            says = f" ('{first.message(CHANGED).rsplit(': ', 1)[-1]}')" if CHANGED in first.text else ""
            text = f"{first.how()}{says}, {damage.text()}; run again: {second.how()}, opens {reads} files"
            incremental = name not in ("tar", "bsdtar")
            if damage:
                verdict = WRONG
            else:
                verdict = RIGHT if first.ok and second.ok and not (incremental and reads) else NOTE
            bench.tool(name, verdict, text)
            job.discard()


def ctimes(bench, volume):
    """What moves, and what stays."""
    path = "big/photo.jpg"
    before = volume.look("identities")
    volume.read(path)
    after = volume.look("identities")
    moved = {name for name in before if after[name][2] != before[name][2]}
    bench.promise("ctime of the file that came moves, and of no other", moved == {path}, moved)
    stays = [name for name in before if (after[name][:2], after[name][3:]) != (before[name][:2], before[name][3:])]
    bench.promise("size, mtime, inode, mode, owner and links stay", not stays, stays[:3])


def git_status(bench, volume):
    """git compares ctimes: after content has come, it reads every file again, once."""
    if not next(bench.available("git"), None):
        return
    volume.evict()
    git = ["--git-dir", bench.fresh("git") + "/git", "--work-tree"]
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "all"]):
        bench.run("git", *git, volume.source, *words, cwd=volume.source)
    # Once to learn the volume's ctimes, which have moved for some already.
    bench.run("git", *git, volume.mountpoint, "status", "--porcelain")
    for case, come in (("nothing came", False), ("content came", True)):
        if come:
            # git compares whole seconds.
            pause(1.1)
            volume.evict()
            volume.command("materialize", volume.mountpoint)
        mark = volume.mark()
        outcome = bench.run("git", *git, volume.mountpoint, "status", "--porcelain")
        opens = volume.since(mark).requests("open")
        text = f"status: {outcome.how()}, shows {len(outcome.output.splitlines())} as changed, opens {opens} files"
        bench.tool("git", NOTE if opens or outcome.output else RIGHT, text, case)
