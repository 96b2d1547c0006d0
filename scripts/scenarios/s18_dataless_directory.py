"""S18: a directory in the middle of a walk cannot be listed."""

import os

from harness import trees
from harness.copiers import USUAL, Damage
from harness.judge import WORDS, times
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Dataless directory"

PYTHON = "import os, sys; print(sum(len(f) for _, _, f in os.walk(sys.argv[1])))"
NODE = "console.log(require('fs').readdirSync(process.argv[1], {recursive: true}).length)"
WALKS = {
    "find": ("", ["{}", "-type", "f"]), "ls": ("", ["-R", "{}"]), "du": ("", ["-a", "{}"]),
    "rg": ("--files", ["--files", "{}"]),
    "bash": ("globstar", ["-c", "shopt -s globstar; cd \"$0\"; printf '%s\\n' **", "{}"]),
    "python3": ("os.walk", ["-c", PYTHON, "{}"]), "node": ("recursive readdir", ["-e", NODE, "{}"]),
}


def build(root):
    for folder in ("scope/early", "scope/bad", "scope/late", "other/deep", "other/deeper/still"):
        for index in range(3):
            trees.put(root, f"{folder}/f{index}.dat", 3000)
    return trees.settle(root)


def run(bench):
    source = bench.tree(build)
    expected = trees.fingerprint(os.path.join(source, "scope"))
    for scenario, errno in (("s18_dataless_directory", "EDEADLK"), ("s18_interrupted_listing", "EINTR")):
        for name in bench.available(*USUAL):
            with bench.volume(source, scenario, outcomes=("ok", errno)) as volume:
                job = bench.copy(name, volume.path("scope"))
                mark = volume.mark()
                outcome = job.save(15)
                part = volume.since(mark)
                check(bench, part, errno)
                judge(bench, name, outcome, Damage(expected, job.restore()), part, errno)
                job.discard()
        for name in bench.available(*WALKS):
            with bench.volume(source, scenario, outcomes=("ok", errno), interrupted=True) as volume:
                how, words = WALKS[name]
                mark = volume.mark()
                outcome = bench.run(name, *[volume.path("scope") if word == "{}" else word for word in words], limit=5)
                part = volume.since(mark)
                check(bench, part, errno)
                silent = outcome.returncode == 0 and not any(word in outcome.text for word in WORDS[errno])
                tries = len(part_of(part, "scope/bad"))
                recovered = any(r["outcome"] == "ok" for r in part_of(part, "scope/bad"))
                late = any(r["path"] == "scope/late" for r in part.directories)
                text = f"{outcome.how()}, {times(tries, 'try')}" + ("" if late else ", ends there")
                verdict = RIGHT if recovered else WRONG if silent or outcome.timed_out else RIGHT if late else NOTE
                if verdict == WRONG and silent:
                    text += ", the directory is taken for empty without a word"
                bench.tool(name, verdict, text, " ".join(filter(None, [how, errno])))


def part_of(part, path):
    return [record for record in part.directories if record["path"] == path]


def check(bench, part, errno):
    bad = part_of(part, "scope/bad")
    # A tool that tries for ever is ended, and so is its last attempt.
    first = [record["outcome"] for record in bad if record["outcome"] != "cancelled"][: 2 if errno == "EINTR" else None]
    bench.promise("listing that directory fails as staged", bad and set(first) == {errno}, f"{errno}: {first}")
    # The root and `scope` have to be looked into to find the rest.
    beyond = [record["path"] for record in part.directories if record["path"].split("/")[0] == "other"]
    bench.promise("no directory outside the scope is listed", not beyond, beyond)


def judge(bench, name, outcome, damage, part, errno):
    lost = [path for path in damage.missing + damage.wrong if not path.startswith("bad/")]
    tries = len(part_of(part, "scope/bad"))
    text = f"{outcome.how()}, {times(tries, 'try')}, {damage.text()}"
    named = "bad" in outcome.text and any(word in outcome.text for word in WORDS[errno])
    if outcome.timed_out or outcome.signal or (damage and outcome.returncode == 0):
        verdict = WRONG
        text += "" if named else ", without a word"
    elif not damage:
        verdict = RIGHT
    else:
        verdict = RIGHT if named and not lost else NOTE
    bench.tool(name, verdict, text, f"copy {errno}")
