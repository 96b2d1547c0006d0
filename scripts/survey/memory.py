"""The results as they are kept: one sorted, readable file, and what changed in it."""

import json
import os

FORMAT = 1
HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.normpath(os.path.join(HERE, "..", "..", "docs", "survey.json"))


def load(path=FILE):
    """The results of the last survey; empty ones when there was none, or when its format is another."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except FileNotFoundError:
        results = {}
    if results.get("format") != FORMAT:
        return {"format": FORMAT, "tools": {}, "changes": {}}
    return results


def save(results, path=FILE):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text(results))
    os.replace(path + ".new", path)


def text(results):
    """JSON with one line for each case of each tool, so that a diff shows which case is another."""
    def line(value):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)

    out = ["{"]
    for key in sorted(set(results) - {"tools"}):
        out.append(f"  {line(key)}: {line(results[key])},")
    out.append('  "tools": {')
    tools = []
    for name in sorted(results["tools"]):
        parts = ",\n".join(f"      {line(key)}: {line(value)}" for key, value in sorted(results["tools"][name].items()))
        tools.append(f"    {line(name)}: {{\n{parts}\n    }}")
    return "\n".join([*out, ",\n".join(tools), "  }", "}"]) + "\n"


# What a user of a tool would notice; names and counts of waits follow from these.
WATCHED = ("exit", "files", "directories", "bytes", "verdict", "restored", "names_file", "names_error")
# What is chance where a tool has several threads.
THREADS = ("main_thread", "tries", "frozen", "meanwhile")


def several_threads(tool):
    return any(case.get(key) in ("some", "none") for case in tool.get("cases", {}).values()
               for key in ("main_thread", "frozen"))


def compared(before, after):
    """What changed about one tool, in lines; none when nothing did."""
    if before is None:
        return ["new in the survey"]
    lines = []
    for key in ("missing", "version"):
        if before.get(key) != after.get(key):
            lines.append(f"{key}: {before.get(key) or '-'}, now {after.get(key) or '-'}")
    for case in sorted(set(before.get("cases", ())) | set(after.get("cases", ()))):
        old, new = before.get("cases", {}).get(case), after.get("cases", {}).get(case)
        if old is None or new is None:
            lines.append(f"{case}: {'tried for the first time' if old is None else 'not tried any more'}")
            continue
        watched = WATCHED if several_threads(before) or several_threads(after) else WATCHED + THREADS
        lines += [f"{case}: {key} was {old.get(key)}, is {new.get(key)}" for key in watched
                  if old.get(key) != new.get(key)]
    return lines


def changes(before, after, surveyed):
    """{tool: lines} since the last survey; the old ones stay where nothing changed at all."""
    found = {name: lines for name in surveyed
             if (lines := compared(before["tools"].get(name), after["tools"][name]))}
    if not before["tools"]:
        return {}
    return found or before["changes"]
