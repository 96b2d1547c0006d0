"""S32: the older form of an evicted file: a stub with another name, and no file of its own name."""

import os
import plistlib

from harness import trees
from harness.copiers import USUAL
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Old stub form"


def stub(name, size):
    return plistlib.dumps({"NSURLFileResourceTypeKey": "NSURLFileResourceTypeRegular", "NSURLFileSizeKey": size,
                           "NSURLNameKey": name}, fmt=plistlib.FMT_BINARY)


def build(root):
    trees.put(root, "docs/.report.pdf.icloud", stub("report.pdf", 1_000_000))
    trees.put(root, "docs/.notes.sqlite.icloud", stub("notes.sqlite", 20_000))
    trees.put(root, "docs/here.txt", 3000)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s32_old_stub_form") as volume:
        answer, _ = volume.read("docs/report.pdf")
        bench.promise("the name itself is ENOENT", answer == "ENOENT", answer)
        mark = volume.mark()
        volume.read("docs/report.pdf")
        bench.promise("a name that is not there fetches nothing", not volume.since(mark).attempts)
        for name, outcome, damage, _ in bench.copies(volume, USUAL, expected):
            warned = "icloud" in outcome.text.lower() and name != "borg"
            text = f"{outcome.how()}, saves 2 stubs for 2 documents" + ("" if warned else " without a word")
            bench.tool(name, WRONG if damage or not outcome.ok else RIGHT if warned else NOTE, text)
        programs(bench, volume)
        names = sorted(os.listdir(os.path.join(source, "docs")))
        bench.promise("nothing was created beside the stubs", len(names) == 3, names)


def programs(bench, volume):
    """What opens the document by its name."""
    path = volume.path("docs/notes.sqlite")
    if next(bench.available("sqlite3"), None):
        outcome = bench.run("sqlite3", path, "create table t (x)")
        said = outcome.message("Error").replace(volume.mountpoint, "VOLUME")
        text = f"{outcome.how()}: '{said}'; where it may write, it would create an empty database"
        bench.tool("sqlite3", RIGHT if outcome.returncode else WRONG, text)
    if next(bench.available("cat"), None):
        outcome = bench.run("cat", volume.path("docs/report.pdf"))
        bench.tool("cat", NOTE, f"{outcome.how()}: '{outcome.message()}'".replace(volume.mountpoint, "VOLUME"))
