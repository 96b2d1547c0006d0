"""S7: while one file is being fetched for seconds, everything else goes on as before."""

import sys
import time

from harness import process, trees
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Slow but fine"
COUNT = 40

# What a user interface does beside: list, stat and read; prints the seconds of each operation.
OTHERS = """import os, sys, time
root, part = sys.argv[1], sys.argv[2]
for name in sorted(os.listdir(root + '/' + part)):
    for act in (os.stat, lambda p: os.listdir(os.path.dirname(p)), lambda p: open(p, 'rb').read()):
        start = time.monotonic(); act(f'{root}/{part}/{name}'); print(act.__name__, time.monotonic() - start)"""


def build(root):
    for part in ("alone", "beside", "rest"):
        for index in range(COUNT):
            trees.put(root, f"{part}/f{index:02}.dat", 4096)
    trees.put(root, "rest/f20.slow/slow.dat", 4096)
    return trees.settle(root)


def percentile(outcome, act):
    times = sorted(float(line.split()[1]) for line in outcome.text.splitlines() if line.startswith(act))
    return times[int(len(times) * 0.99)] if times else 99.0


def run(bench):
    source = bench.tree(build)
    with bench.volume(source, "s07_slow_but_fine") as volume:
        volume.list_everything()
        alone = process.run([sys.executable, "-c", OTHERS, volume.mountpoint, "alone"], 20)
        mark = volume.mark()
        slow = bench.start("cat", volume.path("rest/f20.slow/slow.dat"))
        process.wait_until(lambda: volume.json("status", volume.mountpoint)["in_flight"], 5)
        beside = process.run([sys.executable, "-c", OTHERS, volume.mountpoint, "beside"], 20)
        pending = not slow.ended()
        outcome = slow.wait(10)
        bench.promise("the slow file was pending all the time", pending)
        bench.promise("it takes its 2 s", outcome.ok and 1.9 < outcome.seconds < 3, f"{outcome.seconds:.2f} s")
        for act, limit in (("stat", 0.2), ("<lambda>", 0.5)):
            before, during = percentile(alone, act), percentile(beside, act)
            named = "reading and listing" if act == "<lambda>" else "stat"
            bench.promise(f"{named} beside it is as fast as without it (99th percentile)",
                          during < max(limit, 2 * before), f"{during * 1000:.1f} ms, {before * 1000:.1f} ms without")
        part = volume.since(mark)
        bench.promise("each file has its own latency", all(
            r["requested_delay_ns"] == (2_000_000_000 if r["path"].endswith("slow.dat") else 10_000_000)
            for r in part.attempts))
        for name in bench.available("rsync", "cp", "rclone", "node", "python3", "rg"):
            copy_around(bench, volume, name)


def copy_around(bench, volume, name):
    """How much of the waiting a tool does side by side: the sum of its waits by the time it took."""
    volume.evict()
    volume.list_everything()
    mark = volume.mark()
    started = time.monotonic()
    if name == "rg":
        outcome = bench.run("rg", "-c", "absent", volume.path("rest"))
    else:
        outcome = bench.copy(name, volume.path("rest")).save(20)
    seconds = time.monotonic() - started
    part = volume.since(mark)
    waited = sum(r["duration_ns"] for r in part.attempts) / 1e9
    together = len(part.attempts) and part.most_at_once()
    text = f"{seconds:.1f} s for waits of {waited:.1f} s, {together} at once"
    verdict = WRONG if outcome.timed_out or outcome.signal else RIGHT if together > 1 else NOTE
    bench.tool(name, verdict, text)
