"""S20: content is evicted between stat and read, between reads, and all the time while tools copy."""

import os
import threading

from harness import trees
from harness.copiers import Damage
from harness.report import RIGHT, WRONG

TITLE = "Evict while in use"
TOOLS_HERE = ("cp", "tar", "rsync", "rclone", "borg", "restic", "git", "7zip", "node", "python3")


class Evictor(threading.Thread):
    """Evicts everything, again and again; knows how often that was refused, and why."""

    def __init__(self, volume):
        super().__init__(daemon=True)
        self.volume, self.over, self.refusals, self.done = volume, threading.Event(), set(), 0

    def run(self):
        while not self.over.is_set():
            outcome = self.volume.attempt("evict", self.volume.mountpoint)
            self.done += outcome.ok
            if not outcome.ok:
                self.refusals.add("EBUSY" if "EBUSY" in outcome.text else outcome.message())

    def end(self):
        self.over.set()
        self.join()


def run(bench):
    source = bench.tree(trees.mixed)
    expected = trees.fingerprint(source)
    with bench.volume(source) as volume:
        by_hand(bench, volume, expected)
        for name in bench.available(*TOOLS_HERE):
            evictor = Evictor(volume)
            evictor.start()
            copy(bench, volume, name, expected, "evicted by command")
            evictor.end()
            bench.promise("evict is refused for what is in use only", evictor.refusals <= {"EBUSY"}, evictor.refusals)
    if bench.has("evict rules"):
        with bench.volume(source, "s20_evict_in_use") as volume:
            mark = volume.mark()
            for name in bench.available(*TOOLS_HERE):
                copy(bench, volume, name, expected, "evicted by rule")
            by = {record["by"] for record in volume.since(mark).of("eviction.finished")}
            bench.promise("the rule evicts, and the log names it", by == {"rule:goes-at-once"}, by)
        between_stat_and_read(bench, source, expected)


def between_stat_and_read(bench, source, expected):
    """Everything is resident to whoever looks, and gone to whoever opens."""
    with bench.volume(source, "s20_between_stat_and_read") as volume:
        for name in bench.available(*TOOLS_HERE):
            volume.command("materialize", volume.mountpoint)
            mark = volume.mark()
            copy(bench, volume, name, expected, "evicted by the open")
            part = volume.since(mark)
            by = {record["by"] for record in part.of("eviction.finished")}
            bench.promise("what was resident is evicted by the open and fetched again",
                          by == {"rule:just-gone"} and part.materialized, f"{name}: {by}")


def copy(bench, volume, name, expected, case):
    job = bench.copy(name, volume.mountpoint)
    outcome = job.save()
    damage = Damage(expected, job.restore())
    bench.tool(name, RIGHT if outcome.ok and not damage else WRONG, f"{outcome.how()}, {damage.text()}", case)
    lost = {path: now for path, now in volume.look("fingerprint").items() if now != expected.get(path)}
    bench.promise("every byte served is the source's", not lost, sorted(lost)[:3])
    job.discard()


def by_hand(bench, volume, expected):
    """Between stat and read, and between two reads of one handle. The file is touched in another thread only."""
    path, name = volume.path("big/photo.jpg"), "big/photo.jpg"
    answers = {}

    def body():
        os.stat(path)
        volume.attempt("evict", path)
        with open(path, "rb", buffering=0) as file:
            first = file.read(1000)
            answers["open"] = volume.attempt("evict", path)
            rest = file.read()
        answers["data"] = first + rest
        answers["closed"] = volume.attempt("evict", path)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(20)
    bench.promise("the file is read to its end within 20 s", not thread.is_alive())
    if thread.is_alive():
        return
    with open(os.path.join(volume.source, name), "rb") as file:
        bench.promise("a handle keeps its version across an eviction", answers["data"] == file.read())
    refused = not answers["open"].ok and "EBUSY" in answers["open"].text
    bench.promise("an open file is refused with EBUSY", refused, answers["open"].message())
    bench.promise("a closed one is evicted", answers["closed"].ok, answers["closed"].message())
