"""S4: the tool itself may not materialize anything."""

from harness import process, trees
from harness.copiers import USUAL, Damage
from harness.judge import WORDS
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Refused process"
COUNT = 20


def verdict(outcome, part):
    """Right is: it ends, says so by its exit status, and says it once for each file."""
    named = [line for line in outcome.text.splitlines() if ".dat" in line]
    per_file = len(part.refused) / COUNT
    text = f"{outcome.how()}, {len(named)} lines that name a file, {per_file:.1f} refusals for each file"
    if outcome.timed_out or outcome.signal or outcome.returncode == 0:
        return WRONG, text
    understood = any(word in outcome.text for word in WORDS["EDEADLK"])
    return (RIGHT if understood and 1 <= len(named) <= COUNT + 2 and per_file <= 3 else NOTE), text


def run(bench):
    source = bench.tree(trees.files, COUNT, 20_000)
    expected = trees.fingerprint(source)
    with bench.volume(source, "s04_refused_process") as volume:
        for name, outcome, damage, part in bench.copies(volume, USUAL, expected):
            bench.promise("nothing is materialized for a refused program", not part.attempts, part.attempts[:1])
            wrong = [r for r in part.refused if (r["errno"], r["policy"]) != ("EDEADLK", "rule:not-for-these")]
            bench.promise("each refusal is EDEADLK and names the rule", part.refused and not wrong, wrong[:1])
            bench.promise("nobody waits for a refusal", not part.of("wait.started"), part.of("wait.started")[:1])
            bench.tool(name, *verdict(outcome, part))
            if damage.wrong:
                bench.tool(name, NOTE, f"what it leaves: {damage.text()}")
    by_the_process_itself(bench, source)


def by_the_process_itself(bench, source):
    """The same without a rule: `dataless exec` says it for the program."""
    with bench.volume(source) as volume:
        volume.list_everything()
        mark = volume.mark()
        copy = ["cp", "-r", volume.mountpoint, bench.fresh("copy")]
        command = [bench.dataless, "exec", "--materialize", "off", "--", *copy]
        outcome = process.run(command, 20, env=bench.environment)
        part = volume.since(mark)
        bench.promise(
            "`dataless exec --materialize off` refuses as the process' own policy",
            len(part.refused) == COUNT and {r["policy"] for r in part.refused} == {"process"} and not part.attempts,
            f"{len(part.refused)} refusals, {len(part.attempts)} attempts",
        )
        bench.promise("a program may see the refusal", outcome.returncode == 1, outcome.how())
        damage = Damage(trees.fingerprint(source), volume.look("fingerprint"))
        bench.promise("others read the same files", not damage, damage.text())
