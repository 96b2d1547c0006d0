"""SQLite on a volume's state directory as the crash harness's subject: sqlite.py's data base, in WAL mode, on a volume
that keeps its changes, and whose daemon is killed under it again and again.

As dataless.py otherwise. What a commit was promised is there after each of the three: the killed program, the killed
daemon, the loss of power.
"""

import os
import random
import subprocess
import sys
import tempfile

import dataless

SUBJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sqlite.py")
POINT = os.path.join(dataless.MEMORY, "volume")


def start(what, point):
    return subprocess.Popen([sys.executable, "-B", SUBJECT, what], env=os.environ | {"CRASH_DIR": point},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def work():
    """For ever: it is killed, and so is the daemon, while the data base is in use."""
    chance = random.Random()
    if not os.path.exists(dataless.SOURCE):
        dataless.make_source()
    while True:
        dataless.end_last(POINT)
        dataless.mount_anew(POINT)
        program = start("work", POINT)
        try:
            said = program.communicate(timeout=chance.uniform(0.2, 2))[0]
            raise SystemExit(f"the data base ended with status {program.returncode}: {said[-400:]}")
        except subprocess.TimeoutExpired:
            dataless.end_last(POINT)
        program.communicate(timeout=dataless.LIMIT)


def check():
    with open(os.environ["CRASH_MARKS"], encoding="utf-8") as file:
        if not any(line.strip().isdigit() for line in file):
            return []
    status, text = dataless.command("check", dataless.STATE)
    if status:
        return [f"dataless check ended with status {status}: {text[-400:]}"]
    point = tempfile.mkdtemp(prefix="dataless-crash.")
    try:
        dataless.mount(point)
        program = start("check", point)
        said = program.communicate(timeout=dataless.LIMIT)[0]
        dataless.must("unmount", point)
        return [said.strip() or f"exit status {program.returncode}"] if program.returncode else []
    finally:
        subprocess.run(["umount", "-l", point], check=False, stderr=subprocess.DEVNULL)
        os.rmdir(point)


if __name__ == "__main__":
    sys.exit(dataless.main(work, check, POINT))
