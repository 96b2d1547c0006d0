"""docs/SURVEY.md, from the results."""

import words
from tools import TOOLS

HEAD = """# What tools of Debian do with dataless files

Written by `make survey`; do not edit. {tools} tools in their usual commands, on one tree of {files} files ({bytes}) in
{directories} directories: equal sizes, whole pages, files of some bytes, names without extensions, films with their
index (moov) at the beginning and at the end, archives, SQLite, a git work tree, a hard link, symbolic links, an empty
file, sources. Each case begins with everything dataless. [survey.html](survey.html) has the same as a page that sorts
and filters, with the commands, the paths and what the tools said; [survey.json](survey.json) is what the next survey is
compared with. What a tool does here is a finding about it, not a test of `dataless`.

<!-- not run: ten minutes, and some hundred packages of Debian -->
```sh
make survey                       # all of them; installs what is missing
make survey TOOLS="tar rsync"     # these again, the others stay
make survey-check                 # that strace on the bare tree says the same
```

| case | is |
|---|---|
| walk | names and metadata only, as far as the tool can be told to |
| part, all | part of the tree; all that the tool is made for |
| again | all of it a second time, after everything was evicted: whether it fetches the same again |
| refused, failing | as *all*, and one file, which the tool reads, is refused (EDEADLK) or fails (EIO) |
| slow | as *all*, and that file takes 400 ms |

*Copy* is what was found after restoring what the tool had saved. A tool that takes one file at a time is called by
xargs, whose status is 123 when one call fails; one that takes many by find, whose status is 1 then. `make survey-check`
holds the files and directories of walk, part and all against the system calls of the same commands on the bare tree,
mounted read-only in the same place.
"""


def cell(value):
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(map(cell, row)) + " |" for row in rows)])


def amounts(name, tool):
    cases = tool["cases"]
    whole = cases.get("all") or cases.get("walk") or cases.get("part")
    read = f"{whole['read']} %" if whole["files"] else "-"
    return (name, *(words.amount(cases.get(case)) for case in ("walk", "part", "all")), words.again(cases.get("again")),
            read, words.VERDICTS[whole["verdict"]], whole["main_thread"])


def faults(name, tool):
    cases = tool["cases"]
    return (name, words.fault(cases.get("refused")), words.fault(cases.get("failing")), words.slow(cases.get("slow")),
            cases["refused"]["printed"] if "refused" in cases else "")


def document(results):
    tools = dict(sorted(results["tools"].items(), key=lambda item: item[0].lower()))
    there = {name: tool for name, tool in tools.items() if "missing" not in tool}
    tree = results.get("tree", {"files": 0, "bytes": 0, "directories": 0})
    parts = [HEAD.format(tools=len(there), files=tree["files"], bytes=words.size(tree["bytes"]),
                         directories=tree["directories"])]
    alarms = [(name, "; ".join(found)) for name, tool in there.items() if (found := words.alarms(tool))]
    if alarms:
        parts += ["## What to know before you let them at dataless files\n", table(("tool", "what"), alarms), ""]
    parts += ["## What they materialize\n",
              "Of all, or of the walk of a tool that reads nothing: *read* is how much of what came was read,",
              "*verdict* what was read of most of the files, *main thread* how many of the waits were its.\n",
              table(("tool", "walk", "part", "all", "again", "read", "verdict", "main thread"),
                    (amounts(*item) for item in there.items())), ""]
    parts += ["## How they take trouble\n", "*Said* is what was printed about the refused file.\n",
              table(("tool", "refused (EDEADLK)", "failing (EIO)", "slow", "said"),
                    (faults(*item) for item in there.items() if "refused" in item[1]["cases"])), ""]
    known = [(name, TOOLS[name].differs) for name in there if name in TOOLS and TOOLS[name].differs]
    parts += ["## Known differences to the bare tree\n", table(("tool", "why"), known), ""]
    gone = [(name, tool["missing"]) for name, tool in tools.items() if "missing" in tool]
    if gone:
        parts += ["## Missing\n", table(("tool", "why"), gone), ""]
    parts += ["## Changes since the last survey\n"]
    if results["changes"]:
        rows = ((name, "; ".join(lines)) for name, lines in sorted(results["changes"].items()))
        parts += [table(("tool", "what"), rows)]
    else:
        parts += ["None."]
    versions = sorted({(tool["package"], tool["version"]) for tool in there.values()})
    parts += ["\n## Versions\n", ",\n".join(" ".join(pair) for pair in versions) + ".", ""]
    return "\n".join(parts)
