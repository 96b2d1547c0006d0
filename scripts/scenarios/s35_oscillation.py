"""S35: content is evicted again and again. Which watchers ask for it again each time?"""

import threading

from harness import trees
from harness.report import RIGHT, WRONG
from harness.volume import pause

TITLE = "Oscillation"
WATCHED = "notes/watched.txt"
SECONDS = 2.0

# Reads when size or time has changed: what a watcher should do.
NODE = """const fs = require('fs'), path = process.argv[1]; fs.readFileSync(path);
fs.watchFile(path, {interval: 100}, (now, before) => { if (now.mtimeMs !== before.mtimeMs) fs.readFileSync(path) })"""
# Compares contents: what a watcher should not do.
HASHING = """import hashlib, sys, time
while True:
    with open(sys.argv[1], 'rb') as file: hashlib.sha256(file.read())
    time.sleep(0.1)"""
RSYNC = 'while :; do rsync -a "$0/" "$1"; sleep 0.1; done'
GREP = 'while :; do grep -c absent "$0/notes/watched.txt"; sleep 0.1; done'


def build(root):
    trees.put(root, WATCHED, b"a line\n" * 300)
    trees.put(root, "notes/other.txt", 4000)
    return trees.settle(root)


def watchers(bench, volume):
    yield "tail", "-F", ["-F", volume.path(WATCHED)]
    yield "node", "fs.watchFile, reads on change", ["-e", NODE, volume.path(WATCHED)]
    yield "inotifywait", "-m", ["-m", "-q", volume.path("notes")]
    yield "rsync", "in a loop", ["-c", RSYNC, volume.mountpoint, bench.fresh("target")]
    yield "python3", "compares hashes", ["-c", HASHING, volume.path(WATCHED)]
    yield "grep", "in a loop", ["-c", GREP, volume.mountpoint]


class Evictor(threading.Thread):
    """Does by command what a rule does where the executable has such rules."""

    def __init__(self, volume):
        super().__init__(daemon=True)
        self.volume, self.over = volume, threading.Event()

    def run(self):
        while not self.over.wait(0.2):
            self.volume.attempt("evict", self.volume.path(WATCHED))


def run(bench):
    source = bench.tree(build)
    by_rule = bench.has("evict rules")
    with bench.volume(source, "s35_oscillation" if by_rule else None, interrupted=True) as volume:
        for tool, how, words in watchers(bench, volume):
            if next(bench.available(tool), None):
                one(bench, volume, tool, how, words, by_rule)


def one(bench, volume, tool, how, words, by_rule):
    volume.evict()
    volume.list_everything()
    evictor = Evictor(volume)
    if not by_rule:
        evictor.start()
    mark = volume.mark()
    running = bench.start("bash" if "loop" in how else tool, *words)
    pause(SECONDS)
    running.kill()
    part = volume.since(mark)
    evictor.over.set()
    fetches = len(part.on(WATCHED))
    evictions = [record for record in part.of("eviction.finished") if record["path"] == WATCHED]
    counts = f"{fetches} fetches, {len(evictions)} evictions"
    bench.promise("content comes again only after it went", fetches <= len(evictions) + 1, counts)
    if by_rule:
        bench.promise("the log names the rule that evicts", all(r["by"] == "rule:the-system" for r in evictions))
    text = f"{fetches} fetches in {SECONDS:.0f} s against {len(evictions)} evictions"
    bench.tool(tool, WRONG if fetches > 2 else RIGHT, text, how)
