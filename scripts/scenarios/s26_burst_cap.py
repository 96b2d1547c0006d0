"""S26: thousands of small files are opened at once. The cap holds, and the volume answers stat meanwhile."""

import sys
import time

from harness import process, trees
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Burst cap"
COUNT, CAP = 2000, 32

NODE = """const fs = require('fs'), path = require('path'), all = [];
const walk = d => { for (const e of fs.readdirSync(d, {withFileTypes: true})) { const p = path.join(d, e.name);
  if (e.isDirectory()) walk(p); else all.push(fs.promises.readFile(p)) } };
walk(process.argv[1]); Promise.all(all).then(x => console.log(x.reduce((s, b) => s + b.length, 0)))"""
PYTHON = """import concurrent.futures as f, os, sys
files = [os.path.join(d, n) for d, _, ns in os.walk(sys.argv[1]) for n in ns]
with f.ThreadPoolExecutor(256) as pool: print(sum(pool.map(lambda p: len(open(p, 'rb').read()), files)))"""
STATS = """import os, sys, time
root, end = sys.argv[1], time.monotonic() + float(sys.argv[2])
names = [os.path.join(root, d, n) for d in sorted(os.listdir(root))[:4] for n in os.listdir(os.path.join(root, d))]
while time.monotonic() < end:
    for name in names:
        start = time.monotonic(); os.stat(name); print(time.monotonic() - start)
    time.sleep(0.05)"""


def run(bench):
    source = bench.tree(trees.files, COUNT, 600, per_directory=50)
    bursts = {
        "node": (["-e", NODE], {"UV_THREADPOOL_SIZE": "128"}), "python3": (["-c", PYTHON], {}),
        "rg": (["-j", "128", "-c", "absent"], {}),
        "rclone": (["--config", "/dev/null", "copy", "--transfers", "128", "--checkers", "8"], {}),
    }
    with bench.volume(source, "s26_burst_cap") as volume:
        for name in bench.available(*bursts):
            words, environment = bursts[name]
            words = [*words, volume.mountpoint] + ([bench.fresh("target")] if name == "rclone" else [])
            one(bench, volume, name, words, environment)


def one(bench, volume, name, words, environment):
    volume.evict()
    volume.list_everything()
    mark = volume.mark()
    running = bench.start(name, *words, env=environment)
    beside = process.run([sys.executable, "-c", STATS, volume.mountpoint, "1"], 20)
    answered = time.monotonic()
    status = volume.attempt("status", volume.mountpoint, "--json")
    answered = time.monotonic() - answered
    outcome = running.wait(30)
    part = volume.since(mark)
    most = part.most_at_once()
    bench.promise(f"at most {CAP} are in latency and transfer at once", most <= CAP, f"{name}: {most}")
    times = sorted(float(line) for line in beside.text.split())
    late = times[int(len(times) * 0.99)] if times else 99.0
    bench.promise("stat beside the burst: 99 % within 100 ms", late < 0.1, f"{name}: {late * 1000:.1f} ms")
    bench.promise("`status` answers within 1 s", status.ok and answered < 1, f"{answered:.2f} s")
    bench.promise("each file is fetched once", len(part.materialized) == len(set(part.materialized)) == COUNT,
                  f"{name}: {len(part.materialized)} of {COUNT}")
    queued = sum(r["queued_ns"] for r in part.attempts) / 1e9
    asked = max([r["in_flight"] for r in part.of("materialization.started")] or [0])
    text = f"{outcome.how()} after {outcome.seconds:.1f} s, {asked} asked for at once, {queued:,.0f} s queued in all"
    good = outcome.ok or name == "rg" and outcome.returncode == 1
    bench.tool(name, WRONG if not good else RIGHT if asked <= 4 * CAP else NOTE, text)
