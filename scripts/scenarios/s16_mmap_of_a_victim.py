"""S16: programs that map files meet one whose content fails."""

import os
import shutil

from harness import trees
from harness.judge import WORDS
from harness.report import NOTE, RIGHT, WRONG

TITLE = "mmap of a victim"
FOLDERS = {"deadlock": "EDEADLK", "broken": "EIO"}
PYTHON = """import mmap, sys
with open(sys.argv[1], 'rb') as f: print(bytes(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)[:4]))"""


def build(root):
    for folder in FOLDERS:
        for size in (32768, 32769, 200_000):
            trees.put(root, f"{folder}/f{size}.bin", size)
        trees.database(os.path.join(root, folder, "data.sqlite"), 2000)
    return trees.settle(root)


def readers(bench, path):
    if path.endswith(".sqlite"):
        select = "select count(*), sum(length(text)) from notes"
        yield "sqlite3", "by read", ["-readonly", path, select]
        yield "sqlite3", "by mmap", ["-readonly", "-cmd", "pragma mmap_size=100000000", path, select]
        return
    store = bench.fresh("git")
    git = ["--git-dir", store, "--work-tree", os.path.dirname(path)]
    bench.run("git", *git, "init", "-q")
    yield "git", "add", [*git, "add", path]
    yield "rg", "one file", ["-c", "needle", path]
    yield "rg", "--no-mmap", ["--no-mmap", "-c", "needle", path]
    yield "grep", "one file", ["-c", "needle", path]
    yield "python3", "mmap", ["-c", PYTHON, path]


def run(bench):
    source = bench.tree(build)
    with bench.volume(source, "s16_mmap_of_a_victim", outcomes=("ok", *FOLDERS.values())) as volume:
        volume.list_everything()
        for folder, errno in FOLDERS.items():
            for name in sorted(os.listdir(os.path.join(source, folder))):
                for tool, how, words in readers(bench, volume.path(folder, name)):
                    if next(bench.available(tool), None):
                        one(bench, volume, f"{folder}/{name}", errno, tool, how, words)
            answer, _ = volume.read(f"{folder}/f32769.bin")
            bench.promise("a plain read gets the errno", answer == errno, answer)
    shutil.rmtree(source)


def one(bench, volume, path, errno, tool, how, words):
    mark = volume.mark()
    outcome = bench.run(tool, *words, limit=15)
    part = volume.since(mark)
    results = part.outcomes(path)
    bench.promise("each touch of it is an attempt that fails as staged", results and set(results) == {errno},
                  f"{tool} {how} {path}: {results}")
    modes = {record["io"] for record in part.of("materialization.started") if record["path"] == path and "io" in record}
    mapped = "page_cache" in modes
    bench.promise("only a mapping ends in SIGBUS", not (outcome.signal == "SIGBUS" and not mapped), f"{tool} {how}")
    named = os.path.basename(path) in outcome.text
    understood = any(word in outcome.text for word in WORDS[errno])
    case = f"{how} {os.path.basename(path).removesuffix('.bin')} {errno}"
    if outcome.signal or outcome.timed_out:
        bench.tool(tool, WRONG, f"{outcome.how()}, says nothing of the file" if not named else outcome.how(), case)
    elif outcome.returncode == 0:
        bench.tool(tool, WRONG, "exit status 0", case)
    else:
        what = "names the file" if named else "does not name the file"
        what += " and the reason" if understood else f"; says '{outcome.message()[-90:]}'"
        bench.tool(tool, RIGHT if named and understood else NOTE, f"{outcome.how()}, {what}", case)
