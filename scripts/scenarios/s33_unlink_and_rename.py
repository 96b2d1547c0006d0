"""S33: dataless files and trees are removed and renamed. Is any content fetched for it?"""

import os

from harness import trees
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Unlink or rename of a dataless file"
NEEDS = ("writing",)
FILES, SIZE = 12, 20_000
RMTREE = "import shutil, sys; shutil.rmtree(sys.argv[1])"
MOVE = "import shutil, sys; shutil.move(sys.argv[1], sys.argv[2])"

# Words; {} is a folder of dataless files, {other} a name beside it, {out} one that is not on the volume; whether it has
# to read.
REMOVING = {
    "rm": (["-rf", "{}"], False), "find": (["{}", "-delete"], False), "python3": (["-c", RMTREE, "{}"], False),
    "rsync": (["-a", "--delete", "{empty}/", "{}"], False),
}
MOVING = {
    "mv": (["{}", "{other}"], False), "python3": (["-c", MOVE, "{}", "{other}"], False),
    "git": (["--git-dir", "{git}", "--work-tree", "{root}", "mv", "{}", "{other}"], False),
}
LEAVING = {
    "mv": (["{}", "{out}"], True), "python3": (["-c", MOVE, "{}", "{out}"], True),
    "rsync": (["-a", "--remove-source-files", "{}/", "{out}"], True),
}
KINDS = {"removed": REMOVING, "renamed": MOVING, "moved away": LEAVING}


def build(root):
    for kind in KINDS:
        for tool in KINDS[kind]:
            for place in range(FILES):
                trees.put(root, f"{kind.replace(' ', '-')}-{tool}/d{place % 3}/f{place:02}.dat", SIZE + place)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    before = trees.fingerprint(source)
    with bench.volume(source, "s33_unlink_and_rename", "--scratch") as volume:
        for kind, tools in KINDS.items():
            for name in bench.available(*tools):
                one(bench, volume, kind, name, *tools[name], before)
    bench.promise("the source stays as it is", trees.fingerprint(source) == before)


def one(bench, volume, kind, name, words, reads, before):
    folder = f"{kind.replace(' ', '-')}-{name}"
    out, empty = bench.fresh("out"), bench.fresh("empty")
    git = bench.fresh("git") + "/git"
    if name == "git":
        for command in (["init", "-q"], ["add", folder], ["commit", "-qm", "all"]):
            bench.run("git", "--git-dir", git, "--work-tree", volume.source, *command, cwd=volume.source)
    places = {"{}": volume.path(folder), "{other}": volume.path(folder + "-moved"), "{out}": os.path.join(out, "tree"),
              "{empty}": empty, "{git}": git, "{root}": volume.mountpoint}
    words = list(words)
    for key, path in places.items():
        words = [word.replace(key, path) for word in words]
    mark = volume.mark()
    outcome = bench.run(name, *words, cwd=volume.mountpoint)
    part = volume.since(mark)
    contents = {path[len(folder):]: value for path, value in before.items() if path.startswith(folder + "/")}
    if kind == "removed":
        left = bench.run("find", volume.path(folder), "-type", "f").output.splitlines()
        bench.promise("what was removed is gone", not left, f"{name}: {left[:3]}")
    if not reads:
        fetches = part.materialized if name != "git" else []
        bench.promise("removing and renaming fetch no content", not fetches, fetches[:3])
    if kind != "removed":
        target = places["{other}" if kind == "renamed" else "{out}"]
        there = {"/" + path: value for path, value in volume.look("fingerprint", target).items()}
        bench.promise("what was moved has its bytes", not outcome.ok or there == contents,
                      f"{name}: {len(there)} files of {len(contents)}")
    verdict = RIGHT if outcome.ok and (reads or not part.attempts) else NOTE if outcome.ok else WRONG
    bench.tool(name, verdict, f"{outcome.how()}, {len(part.materialized)} of {FILES} files fetched", kind)
