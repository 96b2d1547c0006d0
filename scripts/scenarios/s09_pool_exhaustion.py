"""S9: four reads that hang use up a pool of threads; is a ninth, resident file still served?"""

from harness import process, trees
from harness.report import RIGHT, WRONG

TITLE = "Pool exhaustion"

# Starts eight reads at once, then one of a resident file; prints whether that one came within 1 s.
NODE = """const fs = require('fs'), [root] = process.argv.slice(1);
for (let i = 0; i < 4; i++) fs.promises.readFile(`${root}/hang${i}.dat`).catch(() => {});
for (let i = 0; i < 4; i++) fs.promises.readFile(`${root}/quick${i}.dat`).catch(() => {});
setTimeout(() => { console.log('starved'); process.exit(1) }, 1500);
setTimeout(() => fs.promises.readFile(`${root}/resident.dat`).then(() => {
  console.log('served'); setTimeout(() => process.exit(0), 500) }), 200)"""
PYTHON = """import concurrent.futures as f, os, sys, time
root, size = sys.argv[1], int(sys.argv[2]); pool = f.ThreadPoolExecutor(size)
read = lambda name: open(f'{root}/{name}.dat', 'rb').read()
for i in range(4): pool.submit(read, f'hang{i}')
for i in range(4): pool.submit(read, f'quick{i}')
try: pool.submit(read, 'resident').result(timeout=1.5); print('served', flush=True); time.sleep(0.5); os._exit(0)
except f.TimeoutError: print('starved', flush=True); os._exit(1)"""


def build(root):
    for index in range(4):
        trees.put(root, f"hang{index}.dat", 5000)
        trees.put(root, f"quick{index}.dat", 5000)
    trees.put(root, "resident.dat", 5000)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    with bench.volume(source, "s09_pool_exhaustion", interrupted=True) as volume:
        for name, case, arguments, environment in (
            ("node", "4 threads (default)", ["-e", NODE, volume.mountpoint], {}),
            ("node", "16 threads", ["-e", NODE, volume.mountpoint], {"UV_THREADPOOL_SIZE": "16"}),
            ("python3", "4 threads", ["-c", PYTHON, volume.mountpoint, "4"], {}),
            ("python3", "16 threads", ["-c", PYTHON, volume.mountpoint, "16"], {}),
        ):
            if next(bench.available(name), None):
                one(bench, volume, name, case, arguments, environment)


def one(bench, volume, name, case, arguments, environment):
    volume.evict()
    volume.command("materialize", volume.path("resident.dat"))
    mark = volume.mark()
    running = bench.start(name, *arguments, env=environment)
    held = volume.attempt("gate", "wait", volume.mountpoint, "hang", "--callers", "4", "--timeout", "10s")
    bench.promise("four callers are held", held.ok, held.message())
    status = volume.json("status", volume.mountpoint)
    bench.promise("status tells four in flight", len(status["in_flight"]) >= 4, len(status["in_flight"]))
    answer, seconds = volume.read("resident.dat")
    bench.promise("the resident file is served meanwhile", len(answer) == 64 and seconds < 0.5, f"{seconds:.3f} s")
    outcome = running.wait(2.5)
    served = "served" in outcome.text
    text = f"a resident file {'is served beside' if served else 'waits behind'} four hung ones"
    if outcome.timed_out:
        text += ", and the process does not end until it is killed"
    bench.tool(name, RIGHT if served else WRONG, text, case)
    empty = process.wait_until(
        lambda: sum(gate["callers"] for gate in volume.gates()) == 0, 5)
    bench.promise("the program's end leaves nobody at the gate", empty)
    part = volume.since(mark)
    most = max([r["in_flight"] for r in part.of("materialization.started") if r["kind"] == "file"] or [0])
    bench.promise("the log tells that four were in flight", most >= 4, most)
    # What hung was given up; the next case begins with a closed gate and nothing in flight.
    process.wait_until(lambda: not volume.json("status", volume.mountpoint)["in_flight"], 5)
