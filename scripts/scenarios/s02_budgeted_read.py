"""S2: nine of ten files are dataless, and a tool searches one folder."""

import json

from harness import process, trees
from harness.report import RIGHT, WRONG

TITLE = "Budgeted read"

PYTHON = """import os, sys
for d, _, fs in os.walk(sys.argv[1]):
  for f in fs:
    with open(os.path.join(d, f), 'rb') as file: print(b'needle' in file.read())"""
NODE = """const fs = require('fs'); for (const n of fs.readdirSync(process.argv[1]))
  console.log(fs.readFileSync(process.argv[1] + '/' + n).includes('needle'))"""
SEARCHES = {
    "grep": ["-rl", "needle"], "rg": ["-l", "needle"], "git": ["grep", "--no-index", "-l", "needle", "--"],
    "find": None, "file": None, "python3": ["-c", PYTHON], "node": ["-e", NODE],
}


def build(root):
    for folder in ("wanted", "other", "archive"):
        for index in range(20):
            trees.put(root, f"{folder}/f{index:02}.txt", b"hay and hay and hay\n" * 300 + b"needle\n" * (index % 2))
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    sizes = {name: size for name, (size, _) in trees.fingerprint(source).items()}
    resident = {f"wanted/f{index:02}.txt" for index in range(0, 20, 10)}
    budget = sum(size for name, size in sizes.items() if name.startswith("wanted/"))
    with bench.volume(source, "s02_budgeted_read") as volume:
        for name in bench.available(*SEARCHES):
            volume.evict()
            volume.command("materialize", *[volume.path(path) for path in sorted(resident)])
            mark = volume.mark()
            folder = volume.path("wanted")
            if name == "find":
                outcome = bench.run("find", folder, "-type", "f", "-exec", "grep", "-l", "needle", "{}", "+")
            elif name == "file":
                names = [volume.path(path) for path in sorted(sizes) if path.startswith("wanted/")]
                outcome = bench.run("file", *names)
            else:
                outcome = bench.run(name, *SEARCHES[name], folder if name != "git" else ".", cwd=folder)
            part = volume.since(mark)
            outside = [path for path in part.materialized if not path.startswith("wanted/")]
            again = set(part.materialized) & resident
            bench.promise("resident files are served without an attempt", not again, sorted(again)[:3])
            bench.promise("no file is fetched twice", len(part.materialized) == len(set(part.materialized)))
            bytes_right = part.fetched == sum(sizes[path] for path in part.materialized)
            bench.promise("the bytes in the log are those of the files", bytes_right, part.fetched)
            text = f"{len(part.materialized)} of 18 dataless files in its folder, {len(outside)} outside"
            over = part.fetched > budget
            bench.tool(name, WRONG if outside or over or not outcome.ok else RIGHT, text)
    budgets(bench, source)


def budgets(bench, source):
    """`dataless run` holds a command to the same budget, and its exit status says so."""
    for limit, expected in (("20", 0), ("19", 90)):
        command = [
            bench.dataless, "run", source, "--max-files", limit, "--json", "--log", bench.fresh("log") + "/l.jsonl",
            "--cache-dir", bench.fresh("cache"), "--", "grep", "-rlq", "absent", "{}/wanted",
        ]
        outcome = process.run(command, 30, env=bench.environment)
        # grep finds nothing, which is its status 1; a budget that was exceeded comes first.
        wanted = expected or 1
        what = f"`run --max-files {limit}` of 20 files answers {wanted}"
        bench.promise(what, outcome.returncode == wanted, outcome.how())
        try:
            answer = json.loads(outcome.output)
        except ValueError:
            answer = {}
        bench.promise("`run --json` prints JSON", answer.get("exit_status") == wanted, outcome.message())
