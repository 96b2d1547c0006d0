"""S13: unmounted and mounted again between two runs; nothing may look changed."""

import shutil

from harness import process, trees
from harness.copiers import Damage
from harness.report import NOTE, RIGHT, WRONG
from harness.tools import TOOLS

TITLE = "Stable identity"
TOOLS_HERE = ("git status", "make", "tar -g", "borg", "restic", "rsync", "rclone")

MAKEFILE = """vpath %.c {source}
out.txt: a.c b.c c.c
\tcat $^ > $@
"""


def build(root):
    trees.mixed(root)
    for name in "abc":
        trees.put(root, f"code/{name}.c", b"int " + name.encode() + b";\n" * 3000)
    return trees.settle(root)


class Work:
    """One tool's two runs, on two mounts at the same place."""

    def __init__(self, bench, name, source):
        self.bench, self.name, self.source, self.job = bench, name, source, None
        self.folder = bench.fresh("work")

    def prepare(self):
        if self.name == "git status":
            # The repository is made on the source: its index has the inode numbers and times of the source.
            for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
                self.git(self.source, *words)

    def git(self, tree, *words):
        command = [TOOLS["git"].command, "--git-dir", self.folder + "/git", "--work-tree", tree, *words]
        return process.run(command, 30, cwd=tree, env=self.bench.environment)

    def run(self, volume):
        if self.name == "git status":
            return self.git(volume.mountpoint, "status", "--porcelain")
        if self.name == "make":
            with open(self.folder + "/Makefile", "w", encoding="utf-8") as file:
                file.write(MAKEFILE.format(source=volume.path("code")))
            return self.bench.run("make", "-C", self.folder, "out.txt")
        self.job = self.job or self.bench.copy(self.name, volume.mountpoint)
        return self.job.save()


def run(bench):
    for name in bench.available(*TOOLS_HERE):
        source = bench.tree(build)
        expected = trees.fingerprint(source)
        work = Work(bench, name, source)
        work.prepare()
        before = twice(bench, work, expected)
        after = trees.identities(source)
        bench.promise("the volume shows the source's identities, before and after a remount",
                      all(one == after for one in before))
        shutil.rmtree(source, ignore_errors=True)


def twice(bench, work, expected):
    """Runs it on one mount and on the next; what both mounts showed."""
    first = bench.volume(work.source, "s13_stable_identity")
    with first as volume:
        seen = [volume.look("identities")]
        outcome = work.run(volume)
    second = bench.volume(work.source, "s13_stable_identity")
    second.mountpoint = first.mountpoint
    with second as volume:
        volume.list_everything()
        mark = volume.mark()
        again = work.run(volume)
        part = volume.since(mark)
        seen.append(volume.look("identities"))
    text = f"on another mount: {again.how()}, {len(part.materialized)} of {len(expected) - 1} files materialized"
    fine = outcome.ok and again.ok and not part.materialized
    if work.name == "git status" and again.output:
        fine, text = False, f"{text}; shows {len(again.output.splitlines())} files as changed"
    if work.job:
        damage = Damage(expected, work.job.restore())
        fine, text = fine and not damage, text + (f"; {damage.text()}" if damage else "")
        work.job.discard()
    harmless = outcome.ok and again.ok and "changed" not in text
    bench.tool(work.name, RIGHT if fine else NOTE if harmless else WRONG, text)
    return seen
