"""S1: 5,000 dataless files are listed, measured, sorted and globbed. Nothing needs content."""

from harness import trees
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Quiet walk"
COUNT = 5000

PYTHON = """import os, sys
print(sum(os.stat(os.path.join(d, f)).st_size for d, _, fs in os.walk(sys.argv[1]) for f in fs))"""
NODE = """const fs = require('fs'), walk = d => { for (const e of fs.readdirSync(d, {withFileTypes: true})) {
  const p = d + '/' + e.name; if (e.isDirectory()) walk(p); else fs.statSync(p) } }; walk(process.argv[1])"""


def walks(bench):
    empty = bench.fresh("empty")
    globstar = 'shopt -s globstar; cd "$0"; set -- **; test $# -gt 5000'
    return {
        "find": ["{}", "-size", "+0"], "ls": ["-lR", "{}"], "du": ["-s", "{}"], "bash": ["-c", globstar, "{}"],
        "rg": ["--files", "{}"], "rsync": ["-an", "--stats", "{}", empty], "tar": ["-cf", "/dev/null", "{}"],
        "rclone": ["--config", "/dev/null", "size", "{}"], "borg": None, "python3": ["-c", PYTHON, "{}"],
        "node": ["-e", NODE, "{}"],
    }


def run(bench):
    source = bench.tree(trees.files, COUNT, 1000, per_directory=50)
    with bench.volume(source, "s01_quiet_walk") as volume:
        first = volume.mark()
        commands = walks(bench)
        for name in bench.available(*commands):
            mark = volume.mark()
            if name == "borg":
                job = bench.copy("borg", volume.mountpoint)
                repository = job.words("save")[-2].split("::")[0]
                words = ["create", "--dry-run", f"{repository}::a", volume.mountpoint]
                outcome = bench.run("borg", *words, env=job.environment())
            else:
                words = [volume.mountpoint if word == "{}" else word for word in commands[name]]
                outcome = bench.run(name, *words)
            part = volume.since(mark)
            opens = part.requests("open")
            text = f"{outcome.how()}, {len(part.materialized)} files materialized, {opens} opened"
            verdict = WRONG if part.materialized or not outcome.ok else NOTE if opens else RIGHT
            bench.tool(name, verdict, text)
        whole = volume.since(first)
        listed = [record["path"] for record in whole.directories]
        bench.promise("each directory is listed once", len(listed) == len(set(listed)) == COUNT // 50 + 1, len(listed))
        opened = sum(1 for record in whole.of("handle.closed"))
        bench.promise("no content without a read", not whole.materialized or opened, whole.materialized[:3])
        status = volume.json("status", volume.mountpoint)
        items = status["items"]
        known = items.get("files_dataless", 0) + items.get("files_resident", 0)
        bench.promise("every file of the source is there", known == COUNT, items)
