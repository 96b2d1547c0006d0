"""S11: 21 of 22 files fail for good: is that a success, and how often is each tried?"""

from harness import trees
from harness.copiers import USUAL
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Permanent failure"


def build(root):
    for index in range(21):
        trees.put(root, f"f{index:02}.locked", 2000)
    trees.put(root, "good.txt", 2000)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s11_permanent_failure", outcomes=("ok", "EPERM")) as volume:
        for name, outcome, damage, part in bench.copies(volume, USUAL, expected, limit=60):
            locked = [r for r in part.attempts if r["path"].endswith(".locked")]
            outcomes = {record["outcome"] for record in locked}
            bench.promise("locked files fail with EPERM, always", outcomes == {"EPERM"}, outcomes)
            numbers = {}
            for record in part.of("materialization.started"):
                numbers.setdefault(record["path"], []).append(record["file_attempt"])
            bench.promise("attempts on a file are counted one by one", all(
                sorted(n) == list(range(min(n), min(n) + len(n))) for n in numbers.values()))
            most = max(len(part.on(path)) for path in expected)
            tried = len({r["path"] for r in locked})
            good = "good.txt" not in damage.missing + damage.wrong
            stand_ins = len([name for name in damage.wrong])
            text = (f"{outcome.how()} after {outcome.seconds:.1f} s, {tried} of 21 tried, at most {most} times each;"
                    f" the good file is {'there' if good else 'lost'}"
                    + (f"; {stand_ins} with {damage.stand_in(damage.wrong[0])}" if stand_ins else ""))
            silent = outcome.returncode == 0 or outcome.timed_out or outcome.signal
            bench.tool(name, WRONG if silent else RIGHT if good and most <= 3 and not stand_ins else NOTE, text)
