"""S23: sixteen processes want one file at the same time: one fetch, and the same answer for all."""

import hashlib

from harness import trees
from harness.judge import WORDS
from harness.report import RIGHT, WRONG

TITLE = "Many readers, one fetch"
SIZE = 500_000
NODE = "process.stdout.write(require('fs').readFileSync(process.argv[1]))"
PYTHON = "import shutil, sys; shutil.copyfileobj(open(sys.argv[1], 'rb'), sys.stdout.buffer)"
READERS = {"cat": ["{}"], "tail": ["-c", "+1", "{}"], "python3": ["-c", PYTHON, "{}"], "node": ["-e", NODE, "{}"]}
COUNT = 16


def run(bench):
    source = bench.tree(lambda root: trees.settle((trees.put(root, "shared.dat", SIZE), root)[1]))
    (_, digest), = trees.fingerprint(source).values()
    with bench.volume(source, "s23_two_readers", outcomes=("ok", "EIO")) as volume:
        for errno in (None, "EIO"):
            volume.evict()
            volume.list_everything()
            crowd(bench, volume, digest, errno)


def crowd(bench, volume, digest, errno):
    mark = volume.mark()
    names = [name for name in bench.available(*READERS)]
    started = []
    for index in range(COUNT):
        name = names[index % len(names)]
        words = [volume.path("shared.dat") if word == "{}" else word for word in READERS[name]]
        started.append((name, bench.start(name, *words)))
    waited = volume.attempt("gate", "wait", volume.mountpoint, "crowd", "--callers", str(COUNT), "--timeout", "20s")
    bench.promise("all sixteen are seen waiting at the gate", waited.ok, waited.message())
    volume.command("gate", "release", volume.mountpoint, "crowd", *(["--fail", errno] if errno else []))
    outcomes = [(name, running.wait(10)) for name, running in started]
    part = volume.since(mark)
    attempts = part.on("shared.dat")
    bench.promise("they are one attempt with sixteen waiters",
                  len(attempts) == 1 and attempts[0]["waiter_count"] == COUNT,
                  [attempt["waiter_count"] for attempt in attempts])
    told = {waiter["outcome"] for attempt in attempts for waiter in attempt["waiters"]}
    bench.promise("all get the same answer", told == {errno or "ok"}, told)
    for name in names:
        mine = [outcome for tool, outcome in outcomes if tool == name]
        if errno:
            fine = all(o.returncode not in (0, None) and any(w in o.text for w in WORDS[errno]) for o in mine)
            bench.tool(name, RIGHT if fine else WRONG, f"{len(mine)} readers: {mine[0].how()}, say the reason", errno)
        else:
            fine = all(hashlib.sha256(o.output).hexdigest() == digest for o in mine)
            bench.promise("all get the same bytes", fine, name)
            text = f"{len(mine)} readers: {mine[0].how()}, the same bytes"
            bench.tool(name, RIGHT if fine else WRONG, text, "success")
