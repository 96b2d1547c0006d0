"""What results mean, in the words of the documents."""

CASE_TITLES = {"walk": "walk", "part": "part", "all": "all", "again": "again", "refused": "refused (EDEADLK)",
               "failing": "failing (EIO)", "slow": "slow (400 ms)"}
VERDICTS = {"whole": "read whole", "in_part": "read in part", "header_only": "header only", "nothing": "nothing",
            "opened_not_read": "opened, not read", "unknown": "unknown"}


def size(number):
    for unit, step in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if number >= step:
            return f"{number / step:.1f} {unit}"
    return f"{number} B"


def count(number, thing):
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def amount(case):
    """What one case materialized, in a cell."""
    if case is None:
        return "-"
    if not case["files"] and not case["directories"]:
        return "nothing"
    parts = [count(case["files"], "file"), *([size(case["bytes"])] if case["files"] else []),
             count(case["directories"], "dir")]
    return ", ".join(parts)


def again(case):
    if case is None:
        return "-"
    if case["files"] == case["first_files"]:
        return "the same" if case["files"] else "0 files"
    return f"{case['files']} of {case['first_files']} files"


def silent(case):
    """Exit status 0, and nobody is told which file it was."""
    return case["exit"] == "0" and not case["names_file"]


def fault(case):
    """How a tool took a file that is refused or fails."""
    if case is None:
        return "-"
    if not case["tries"]:
        return "not read"
    words = []
    if case["exit"].startswith("SIG"):
        words.append(f"dies of {case['exit']}")
    elif case["exit"] == "did not end":
        words.append("hangs")
    elif silent(case):
        words.append("file not named, status 0" if case["printed"] else "says nothing, status 0")
    elif case["exit"] == "0":
        words.append("names the file, status 0")
    else:
        words.append(("names the file" if case["names_file"] else "file not named") + f", status {case['exit']}")
    if not case["names_error"] and not silent(case) and not case["exit"].startswith("SIG"):
        words.append("error not named")
    if case["tries"] > 2:
        words.append(f"{case['tries']} tries")
    if case.get("restored", "right") != "right":
        words.append("copy: " + case["restored"])
    return "; ".join(words)


def slow(case):
    if case is None:
        return "-"
    if case["frozen"] == "-":
        return "not read"
    words = {"all": "main thread waits", "some": "main thread waits, too", "none": "main thread free"}[case["frozen"]]
    return words + (", others go on" if case["meanwhile"] else ", all else waits")


def alarm(case):
    """What is bad about how a tool took a fault; empty when nothing is."""
    copy = f"; copy: {case['restored']}" if case.get("restored", "right") != "right" else ""
    if not case["tries"]:
        return ""
    if case["exit"] == "did not end":
        return "hangs"
    if case["exit"].startswith("SIG"):
        return f"dies of {case['exit']}"
    many = f"{case['tries']} tries" if case["tries"] > 4 else ""
    if silent(case):
        words = ["silent" if not case["printed"] else "does not name the file", "status 0", *([many] if many else [])]
        return ", ".join(words) + copy
    if case["exit"] == "0" and copy:
        return "status 0" + copy
    if "others" in copy or "cannot" in copy:
        return "loses others" + copy
    return many


def alarms(tool):
    """What somebody who uses the tool on dataless files should know, worst first."""
    cases, found = tool.get("cases", {}), []
    whole = cases.get("all")
    if whole and whole.get("restored", "right") != "right":
        found.append(f"saves what is not there: {whole['restored']}")
    bad = {name: text for name in ("refused", "failing") if name in cases and (text := alarm(cases[name]))}
    for text in dict.fromkeys(bad.values()):
        found.append(f"{', '.join(name for name in bad if bad[name] == text)}: {text}")
    walk = cases.get("walk")
    if walk and walk["share"] >= 5:
        found.append(f"its walk reads {count(walk['files'], 'file')}")
    for name, case in cases.items():
        if case.get("exit") == "did not end" and name not in ("refused", "failing"):
            found.append(f"{name}: hangs")
        if "trouble" in case:
            found.append(f"{name}: {case['trouble']}")
    return found
