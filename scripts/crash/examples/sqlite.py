"""A data base as the crash harness's subject: `work` adds rows and marks each commit, `check` asks for all of them."""

import hashlib
import os
import sqlite3
import sys

DIRECTORY = os.environ["CRASH_DIR"]


def content(number):
    return hashlib.sha256(b"%d" % number).hexdigest() * (1 + number % 60)


def connect():
    base = sqlite3.connect(os.path.join(DIRECTORY, "base.sqlite"), isolation_level=None)
    base.execute("PRAGMA journal_mode = WAL")
    # FULL: a commit returns when it is durable. NORMAL would lose the last ones, which the check finds.
    base.execute(f"PRAGMA synchronous = {os.environ.get('SQLITE_SYNCHRONOUS', 'FULL')}")
    base.execute("PRAGMA wal_autocheckpoint = 20")
    base.execute("CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, content TEXT)")
    return base


def work():
    base = connect()
    with open(os.environ["CRASH_MARK"], "ab", 0) as mark:
        while True:
            number = base.execute("SELECT coalesce(max(number), 0) + 1 FROM rows").fetchone()[0]
            base.execute("INSERT INTO rows VALUES (?, ?)", (number, content(number)))
            mark.write(b"%d\n" % number)


def check():
    with open(os.environ["CRASH_MARKS"], "rb") as file:
        promised = {int(line) for line in file.read().splitlines() if line.isdigit()}
    if not promised and not os.path.exists(os.path.join(DIRECTORY, "base.sqlite")):
        return 0
    base = connect()
    if (verdict := base.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
        print(f"integrity: {verdict}")
        return 1
    rows = dict(base.execute("SELECT number, content FROM rows"))
    if lost := sorted(promised - set(rows)):
        print(f"{len(lost)} of {len(promised)} promised rows are lost, the first {lost[0]}")
        return 1
    wrong = [number for number, text in rows.items() if text != content(number)]
    print(f"wrong content in rows {wrong[:5]}" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(work() if sys.argv[1] == "work" else check())
