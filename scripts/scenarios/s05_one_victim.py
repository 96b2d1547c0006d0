"""S5: one of N files fails with each errno in turn; what becomes of the others, and of the exit status?"""

import os

from harness import trees
from harness.copiers import USUAL
from harness.judge import copy_with_victims

TITLE = "One victim, each errno"
ERRNOS = ("EDEADLK", "ETIMEDOUT", "EIO", "EPERM", "EINTR", "ESTALE")
VICTIM = "m/victim.dat"

RULE = """version: 1
rules:
  - name: victim
    match: {{path: victim.dat, kind: file{attempts}}}
    fault: {errno}
"""


def build(root):
    for index in range(9):
        trees.put(root, f"{'amz'[index % 3]}/f{index}.dat", 10_000 + index)
    trees.put(root, VICTIM, 100_000)
    return trees.settle(root)


def scenario(bench, errno):
    """EINTR asks for another try, so it goes on until the third; the others are for good."""
    if errno == "EDEADLK":
        return "s05_one_victim"
    path = os.path.join(bench.work, f"s05_{errno}.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(RULE.format(errno=errno, attempts=", attempt: {first: 3}" if errno == "EINTR" else ""))
    return path


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(source)
    for errno in ERRNOS:
        # A fresh volume for each tool where the number of the attempt counts.
        for tools in [(tool,) for tool in USUAL] if errno == "EINTR" else [USUAL]:
            one_errno(bench, source, expected, errno, tools)


def one_errno(bench, source, expected, errno, tools):
    with bench.volume(source, scenario(bench, errno), outcomes=("ok", errno)) as volume:
        for tool, outcome, damage, part in bench.copies(volume, tools, expected, limit=20):
            failed = [result for result in part.outcomes(VICTIM) if result != "ok"]
            others = [r["path"] for r in part.attempts if r["path"] != VICTIM and r["outcome"] != "ok"]
            bench.promise("the victim fails as staged, and nothing else", not others and set(failed) == {errno},
                          f"{tool}: {failed or 'not tried'} {others[:2]}")
            told = {w["outcome"] for r in part.on(VICTIM) for w in r["waiters"]} - {"ok"}
            bench.promise("its waiters get its errno", told == {errno}, f"{tool}: {told}")
            verdict, text = copy_with_victims(outcome, damage, [VICTIM])
            tries = len(part.on(VICTIM))
            bench.tool(tool, verdict, text + (f"; tries {tries} times" if tries > 1 else ""), errno)
        if errno == "EDEADLK":
            answer, _ = volume.read(VICTIM)
            bench.promise("a plain read gets the errno", answer == errno, answer)
