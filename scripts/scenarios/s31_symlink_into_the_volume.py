"""S31: a folder on an ordinary disk has links into the volume. Who follows them, and who is asked?"""

import os

from harness import trees
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Symlink into the volume"


def run(bench):
    source = bench.tree(trees.mixed)
    with bench.volume(source, "s31_symlink_into_the_volume") as volume:
        outside = bench.fresh("outside")
        trees.put(outside, "own.txt", 1000)
        os.symlink(volume.path("big/photo.jpg"), os.path.join(outside, "photo.jpg"))
        os.symlink(volume.path("text"), os.path.join(outside, "text"))
        empty = bench.fresh("archive")
        python = "import os, sys; [os.lstat(e.path) for e in os.scandir(sys.argv[1])]"
        for name, how, words, follows in (
            ("find", "without -L", [outside, "-type", "f"], False), ("ls", "-l", ["-l", outside], False),
            ("du", "", ["-s", outside], False), ("python3", "lstat", ["-c", python, outside], False),
            ("tar", "", ["-cf", empty + "/a.tar", outside], False),
            ("rsync", "-a", ["-a", outside + "/", empty], False),
            ("cp", "-a", ["-a", outside, empty + "/cp"], False), ("rg", "", ["-c", "needle", outside], False),
            ("grep", "-r", ["-rc", "needle", outside], False), ("find", "-L", ["-L", outside, "-type", "f"], None),
            ("tar", "-h", ["-chf", empty + "/b.tar", outside], True),
            ("rsync", "-aL", ["-aL", outside + "/", empty + "/L"], True),
            ("rg", "-L", ["-Lc", "needle", outside], True),
            ("grep", "-R", ["-Rc", "needle", outside], True),
        ):
            if next(bench.available(name), None):
                one(bench, volume, name, how, words, follows)


def one(bench, volume, name, how, words, follows):
    volume.evict()
    mark = volume.mark()
    outcome = bench.run(name, *words)
    part = volume.since(mark)
    files, folders = len(part.materialized), len(part.directories)
    text = f"{outcome.how()}, {files} files and {folders} directories of the volume materialized"
    if follows is None:
        bench.promise("walking into the volume fetches no content", files == 0)
        bench.tool(name, NOTE, text, how)
    elif follows:
        what = "what is behind a link comes as it would without it"
        bench.promise(what, files == 3, f"{name} {how}: {part.materialized}")
        bench.tool(name, RIGHT, text, how)
    else:
        reached = sum(part.requests(operation) for operation in ("open", "read"))
        what = "nobody who stays outside opens or reads on the volume"
        bench.promise(what, reached == 0 or files, f"{name} {how}: {reached}")
        bench.tool(name, RIGHT if files + folders == 0 else NOTE if not files else WRONG, text, how or None)
