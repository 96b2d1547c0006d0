"""One tool in one case: mount, run, unmount, and what came of it."""

import hashlib
import json
import os
import re
import signal

import logs
import names
import tree

CASES = ("walk", "part", "all", "again", "refused", "failing", "slow")
SLOW = 0.4  # seconds
EFFECTS = {"refused": "materialize: off", "failing": "fault: EIO", "slow": f"latency: {int(SLOW * 1000)}ms"}


def command_of(tool, case):
    """What the tool is told to do; empty when it cannot be told that."""
    if case in ("walk", "part"):
        return getattr(tool, case)
    return tool.whole or (tool.walk if case in ("all", "again") else "")


def victim_of(whole, contents):
    """The file of the fault cases: one that the tool read when it read all; none if it read none of those."""
    read = names.unpack(whole.get("file_names", "none"), contents.files)
    return next((name for name in tree.VICTIMS if contents.one_name(name) in read), None)


def ended(outcome):
    """How a command ended, in a word that is the same in every run."""
    if outcome.timed_out:
        return "did not end"
    # find and xargs end with a status of their own when what they started is killed.
    if killed := re.search(rb"terminated by signal (\d+)", outcome.errors):
        return signal.Signals(int(killed[1])).name
    return outcome.signal or str(outcome.returncode)


def run(place, tool, case, victim=None):
    """The result of one case, or None when there is nothing to try."""
    command = command_of(tool, case)
    if not command or (case in EFFECTS and victim is None):
        return None
    rules = ""
    if case in EFFECTS:
        rules = f'{{name: victim, match: {{kind: file, path: "{victim}"}}, {EFFECTS[case]}}}'
    log = place.mount(rules)
    try:
        variables = place.folders()
        outcome = place.run(command, tool.limit, variables)
        if case == "again":
            place.command("mark", place.tree, "again")
            place.command("evict", place.tree, may_fail=True)
            variables = place.folders()
            outcome = place.run(command, tool.limit, variables)
    finally:
        went = place.unmount()
    records = logs.read(log)
    first, second = logs.split(records, "again") if case == "again" else (None, records)
    result = {"exit": ended(outcome)} | logs.facts(second, place.contents)
    if not went:
        result["trouble"] = "the volume did not unmount"
    if case == "again":
        before = logs.facts(first, place.contents)
        # Files with several names are not evicted.
        linked = names.unpack(before["file_names"], place.contents.files) & place.contents.linked
        result["first_files"] = before["files"] - len(linked)
        return without_names(result)
    result |= logs.use(json.loads(place.command("summary", "--json", "--files", log).output))
    if case in EFFECTS:
        result = without_names(result) | fault(place, outcome, second, victim, case)
    if tool.restore and case in ("all", "refused", "failing"):
        result["restored"] = restored(place, tool, variables, victim)
    return result


def without_names(result):
    """The paths are kept of walk, part and all; what is the same for all cases would hide what is not."""
    return {key: value for key, value in result.items() if key not in ("file_names", "directory_names")}


def fault(place, outcome, records, victim, case):
    result = {"victim": victim} | logs.on(records, place.contents.one_name(victim))
    if not result["tries"]:
        result |= {"tries": logs.on(records, victim)["tries"]}
    if case == "slow":
        waits = [record for record in records if record["type"] == "wait.finished"
                 and record["blocked_ns"] > SLOW * 1e9 * 0.9]
        result["frozen"] = names.how_many(sum(record["main_thread"] is True for record in waits), len(waits))
        return result
    places = {place.tree: "$T", place.source: "$T", place.work: "$W"}
    line, named, errno = names.evidence(*(
        part[-200_000:].decode("utf-8", "replace") for part in (outcome.errors, outcome.output)), victim, places)
    return result | {"printed": line, "names_file": named, "names_error": errno}


def restored(place, tool, variables, victim):
    """What is wrong with what was brought back, in words: "right", or what became of how many files."""
    outcome = place.run(tool.restore, tool.limit, variables)
    wrong = {}
    for name in sorted(place.contents.sizes):
        what = judge(os.path.join(variables["R"], name), place.contents.sizes[name], place.contents.sums[name])
        if what:
            same = victim and place.contents.one_name(name) == place.contents.one_name(victim)
            key = f"{'the file' if same else 'others'} {what}"
            wrong[key] = wrong.get(key, 0) + 1
    if len(wrong) == 1 and wrong.get("others missing") and not outcome.ok:
        return f"cannot be restored ({ended(outcome)})"
    text = ", ".join(f"{what} ({number})" if what.startswith("others") else what
                     for what, number in sorted(wrong.items(), reverse=True))
    return text or "right"


def judge(path, size, digest):
    """What is wrong with one file; None if nothing is."""
    if not os.path.isfile(path):
        return "missing"
    with open(path, "rb") as file:
        content = file.read()
    if hashlib.sha256(content).hexdigest() == digest:
        return None
    if not content:
        return "empty"
    if not any(content):
        return "all zeros"
    return "cut short" if len(content) < size else "other content"
