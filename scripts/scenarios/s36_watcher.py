"""S36: watchers are told of changes. Content that comes or goes is none."""

from harness import process, trees
from harness.report import RIGHT, WRONG

TITLE = "Watcher"
CHANGES = ("MODIFY", "ATTRIB", "CLOSE_WRITE", "CREATE", "DELETE", "MOVED", "UNMOUNT", "SELF")
NODE = "require('fs').watch(process.argv[1], (kind, name) => console.log(kind, name)); console.log('ready')"


def watchers(volume):
    yield "inotifywait", ["-m", "-r", volume.mountpoint], "Watches established"
    yield "node", ["-e", NODE, volume.path("text")], "ready"
    yield "tail", ["-n", "1", "-F", volume.path("text/story.txt")], "hay"


def run(bench):
    source = bench.tree(trees.mixed)
    with bench.volume(source, "s36_watcher") as volume:
        for name, words, ready in watchers(volume):
            if next(bench.available(name), None):
                one(bench, volume, name, words, ready)


def one(bench, volume, name, words, ready):
    volume.evict()
    volume.list_everything()
    mark = volume.mark()
    running = bench.start(name, *words)

    def text():
        return running.text().decode("utf-8", "replace")

    watching = process.wait_until(lambda: ready in text(), 10)
    before = text()
    part = volume.since(mark)
    own = len(part.materialized)
    mark = volume.mark()
    for path in ("text/story.txt", "text/other.txt", "README", "big/photo.jpg"):
        volume.read(path)
    volume.command("materialize", volume.mountpoint)
    if name == "tail":
        # It holds its file open, so that one stays.
        volume.evict("text/other.txt", "README", "big")
    else:
        volume.evict()
        volume.list_everything()
    part = volume.since(mark)
    if name == "inotifywait":
        # It sees the readers, so what it has seen last is what came last.
        process.wait_until(lambda: "photo.jpg" in text(), 5)
    running.kill()
    events = text()[len(before):]
    changes = sorted({word for word in CHANGES if word in events} | ({"change"} if "change " in events else set()))
    bench.promise("a watcher is ready", watching, f"{name}: {before[-80:]}")
    bench.promise("content that comes and goes is no change to a watcher", not changes, f"{name}: {changes}")
    answered = [r["path"] for r in part.of("materialization.started") if part.log.program(r).startswith(name)]
    seen = len(events.splitlines())
    text = f"told of {seen} events, none of them a change" if not changes else f"told of a change: {changes}"
    text += f"; {own} files read to begin with, {len(answered)} afterwards"
    bench.tool(name, WRONG if answered or changes else RIGHT, text)
