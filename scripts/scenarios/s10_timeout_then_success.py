"""S10: a file that fails once and then comes."""

from harness import trees
from harness.copiers import USUAL, Damage
from harness.judge import copy_with_victims
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Timeout, then success"
VICTIM = "m/victim.dat"


def build(root):
    for index in range(4):
        trees.put(root, f"a/f{index}.dat", 9000 + index)
    trees.put(root, VICTIM, 100_000)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    for name in bench.available(*USUAL):
        with bench.volume(source, "s10_timeout_then_success", outcomes=("ok", "ETIMEDOUT")) as volume:
            volume.list_everything()
            job = bench.copy(name, volume.mountpoint)
            mark = volume.mark()
            outcome = job.save(20)
            part = volume.since(mark)
            damage = Damage(expected, job.restore())
            failed = [r for r in part.on(VICTIM) if r["outcome"] != "ok"]
            bench.promise("the first attempt fails after its latency, once",
                          len(failed) == 1 and failed[0]["delay_ns"] >= 300_000_000, len(failed))
            bench.tool(name, *verdict(job, outcome, damage, part, expected))
            answer, _ = volume.read(VICTIM)
            bench.promise("afterwards the file is read", answer == expected[VICTIM][1], answer)
            job.discard()


def verdict(job, outcome, damage, part, expected):
    """Retrying is right, and so is saying it and being right when it is called again."""
    tries = len(part.on(VICTIM))
    if outcome.ok and not damage:
        return RIGHT, f"tries again: {tries} attempts, exit status 0, all byte-exact"
    first, text = copy_with_victims(outcome, damage, [VICTIM])
    if first == WRONG:
        return WRONG, text
    again = job.save(20)
    repaired = Damage(expected, job.restore())
    if again.ok and not repaired:
        return first, f"{text}; run again: all byte-exact"
    return NOTE if again.returncode else WRONG, f"{text}; run again: {again.how()}, {repaired.text()}"
