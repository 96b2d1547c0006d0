"""What results mean, in the words of the documents."""

CASE_TITLES = {"walk": "walk", "part": "part", "all": "all", "again": "again", "refused": "refused (EDEADLK)",
               "failing": "failing (EIO)", "slow": "slow (400 ms)"}
VERDICTS = {"whole": "read whole", "in_part": "read in part", "header_only": "header only", "nothing": "nothing",
            "opened_not_read": "opened, not read", "unknown": "unknown"}


def size(count):
    for unit, step in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


def amount(case):
    """What one case materialized, in a cell."""
    if case is None:
        return "-"
    if not case["files"] and not case["directories"]:
        return "nothing"
    parts = [f"{case['files']} files, {size(case['bytes'])}" if case["files"] else "0 files"]
    return ", ".join([*parts, f"{case['directories']} dirs"])


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
        words.append("says nothing" if not case["names_error"] else "file not named, status 0")
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


def alarms(tool):
    """What somebody who uses the tool on dataless files should know, worst first."""
    cases, found = tool.get("cases", {}), []
    whole = cases.get("all")
    if whole and whole.get("restored", "right") != "right":
        found.append(f"saves what is not there: {whole['restored']}")
    for name in ("refused", "failing"):
        case = cases.get(name)
        if not case or not case["tries"]:
            continue
        if case["exit"] == "did not end":
            found.append(f"{name}: hangs")
        elif case["exit"].startswith("SIG"):
            found.append(f"{name}: dies of {case['exit']}")
        elif silent(case):
            found.append(f"{name}: silent, status 0" + (f"; copy: {case['restored']}" if "restored" in case else ""))
        elif case["exit"] == "0" and case.get("restored", "right") != "right":
            found.append(f"{name}: status 0; copy: {case['restored']}")
        elif "others" in case.get("restored", "") or "cannot" in case.get("restored", ""):
            found.append(f"{name}: loses others; copy: {case['restored']}")
        if case["tries"] > 4:
            found.append(f"{name}: {case['tries']} tries")
    walk = cases.get("walk")
    if walk and walk["share"] >= 5:
        found.append(f"its walk reads {walk['files']} files")
    for name, case in cases.items():
        if case.get("exit") == "did not end" and name not in ("refused", "failing"):
            found.append(f"{name}: hangs")
        if "trouble" in case:
            found.append(f"{name}: {case['trouble']}")
    return found
