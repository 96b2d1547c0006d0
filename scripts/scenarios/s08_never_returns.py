"""S8: a read does not return. Does the tool's own deadline hold, and is everything as before afterwards?"""

import os

from harness import process, trees
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Never returns"
VICTIM = "m/victim.dat"

NODE = """const fs = require('fs'); setTimeout(() => { console.error('gave up'); process.exit(3) }, 1000);
fs.promises.readFile(process.argv[1]).then(() => process.exit(0))"""
PYTHON = """import concurrent.futures as f, sys
with f.ThreadPoolExecutor() as pool:
    print(len(pool.submit(lambda: open(sys.argv[1], 'rb').read()).result(timeout=1)))"""


def build(root):
    trees.put(root, "a/other.dat", 9000)
    trees.put(root, VICTIM, 9000)
    return trees.settle(root)


def with_deadlines(bench, volume):
    """Programs that promise to give up: name, deadline in seconds, how it is asked for, command."""
    target = bench.fresh("target")
    victim = volume.path(VICTIM)
    yield "rsync", 1, "--timeout=1", ["-a", "--timeout=1", volume.mountpoint + "/", target]
    rclone = ["--config", "/dev/null", "copy", "--max-duration", "1s", volume.mountpoint, target]
    yield "rclone", 1, "--max-duration 1s", rclone
    yield "node", 1, "a timer of 1 s", ["-e", NODE, victim]
    yield "python3", 1, "a future's timeout of 1 s", ["-c", PYTHON, victim]
    yield "bash", 1, "timeout 1 cat", ["-c", 'timeout 1 cat "$0"', victim]


def state(pid):
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


def run(bench):
    source = bench.tree(build)
    with bench.volume(source, "s08_never_returns", interrupted=True) as volume:
        volume.list_everything()
        for name, deadline, how, arguments in list(with_deadlines(bench, volume)):
            if next(bench.available(name), None):
                one_tool(bench, volume, name, deadline, how, arguments)
        no_leak(bench, volume)
    with bench.volume(source, "s08_interruptible", interrupted=True) as volume:
        volume.list_everything()
        for name, deadline, how, arguments in list(with_deadlines(bench, volume)):
            if name in ("rsync", "bash") and next(bench.available(name), None):
                one_tool(bench, volume, name, deadline, f"{how}, interrupt: any", arguments)


def callers(volume):
    return sum(gate["callers"] for gate in volume.gates())


def one_tool(bench, volume, name, deadline, how, arguments):
    running = bench.start(name, *arguments)
    blocked = process.wait_until(lambda: callers(volume) > 0 or running.ended(), 5)
    bench.promise("a held reader is seen at the gate", blocked, name)
    process.wait_until(running.ended, deadline + 1.5)
    gave_up = running.ended()
    took = running.kill() if not gave_up else 0.0
    outcome = running.wait(1)
    if gave_up:
        verdict = RIGHT if outcome.returncode else WRONG
        bench.tool(name, verdict, f"{how}: {outcome.how()} after {outcome.seconds:.1f} s")
    else:
        bench.tool(name, WRONG, f"{how}: still there {deadline + 1.5:.1f} s later, ended by SIGKILL")
    bench.promise("SIGKILL ends a held reader within 1 s", took is not None and took < 1, f"{name}: {took} s")
    empty = process.wait_until(lambda: callers(volume) == 0, 5)
    bench.promise("no caller is left at the gate", empty, f"{name}: {callers(volume)}")
    volume.command("gate", "open", volume.mountpoint, "hang")
    answer, _ = volume.read(VICTIM)
    bench.promise("released, the file is read as usual", len(answer) == 64, answer)
    volume.evict("m")
    volume.list_everything()
    volume.command("gate", "close", volume.mountpoint, "hang")


def no_leak(bench, volume):
    """Given up again and again: no thread and no descriptor stays behind."""
    before = None
    for _ in range(8):
        readers = [bench.start("cat", volume.path(VICTIM)) for _ in range(8)]
        volume.command("gate", "wait", volume.mountpoint, "hang", "--callers", "8", "--timeout", "10s")
        for reader in readers:
            reader.kill()
        process.wait_until(lambda: callers(volume) == 0, 5)
        # The first round may start threads that stay.
        before = before or state(volume.pid)
    after = state(volume.pid)
    grown = [b - a for a, b in zip(before, after)]
    bench.promise("56 readers given up leave no thread or descriptor behind", max(grown) <= 4,
                  f"descriptors and threads: {before}, then {after}")
    bench.tool("cat", NOTE, "has no deadline; SIGKILL ends it at once")
