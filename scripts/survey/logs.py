"""What the event log says that a tool did: docs/EVENTS.md describes its records."""

import json

import names


def read(path):
    with open(path, "rb") as file:
        return [json.loads(line) for line in file if line.endswith(b"\n")]


def split(records, label):
    """The records before and after a mark."""
    for index, record in enumerate(records):
        if record["type"] == "mark" and record["label"] == label:
            return records[:index], records[index + 1:]
    raise ValueError(f"no mark '{label}' in the log")


def finished(records, kind):
    return [record for record in records if record["type"] == "materialization.finished" and record["kind"] == kind]


def facts(records, contents):
    """What was materialized, and who waited, as a dictionary for the results."""
    files = [record for record in finished(records, "file") if record["outcome"] == "ok"]
    folders = {record["path"] or "." for record in finished(records, "directory") if record["outcome"] == "ok"}
    waits = [record for record in records if record["type"] == "wait.finished"]
    size = sum(record["bytes"] for record in files)
    paths = {contents.one_name(record["path"]) for record in files}
    return {
        "files": len(paths), "directories": len(folders), "bytes": size,
        "share": names.percent(size, contents.bytes),
        "file_names": names.pack(paths, contents.files),
        "directory_names": names.pack(folders, contents.directories),
        # Threads that come at the same time to one directory wait together, or not: their number is chance.
        "waits": len({(record["attempt"], record["process"]) for record in waits}),
        "main_thread": names.how_many(sum(record["main_thread"] is True for record in waits), len(waits)),
    }


def use(summary):
    """What was read of what came: a percentage, and the verdict on most files. From `summary --json --files`."""
    rows = [row for row in summary["files"] if row["bytes"]]
    words = ("whole", "in_part", "header_only", "opened_not_read", "unknown")
    counts = {word: sum(row.get("use") == word for row in rows) for word in words}
    most = max(words, key=lambda word: counts[word])
    return {
        "read": names.percent(sum(row["read_bytes"] for row in rows), sum(row["bytes"] for row in rows)),
        "verdict": most if rows else "nothing",
        "needless": sum(row["needless"] for row in rows),
    }


def on(records, victim):
    """How often a file was tried, by which calls, and whether anything else came while its first attempt lasted."""
    tried = [record for record in records if record["type"] in ("materialization.finished", "materialization.refused")
             and record["path"] == victim or victim in record.get("names", ())
             and record["type"] == "materialization.refused"]
    begun = [record for record in records if record["type"] == "materialization.started"]
    mine = next((record for record in begun if record["path"] == victim), None)
    end = next((record["monotonic_ns"] for record in finished(records, "file")
                if mine and record["attempt"] == mine["attempt"]), 0)
    others = mine and [record for record in begun if mine["monotonic_ns"] < record["monotonic_ns"] < end]
    return {"tries": len(tried), "meanwhile": bool(others)}
