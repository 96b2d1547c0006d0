"""A volume's state directory as the crash harness's subject: the workload of files.py on a volume that keeps its
changes.

$DATALESS is the executable. SOURCE lies outside of the disk that loses its power; the volume is mounted anew for each
start and each check. Between the changes clean files are read and evicted. After a loss of power `dataless check` finds
no damage, what was promised is there, and each clean file equals SOURCE's. Every other state is mounted before it is
checked: who mounts need not have heard of `check`.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import files

DATALESS, MEMORY = os.environ.get("DATALESS", "dataless"), os.environ["CRASH_MEMORY"]
SOURCE = os.path.join(MEMORY, "source")
STATE = os.path.join(os.environ["CRASH_DIR"], "state")
CLEAN, LIMIT = 30, 60


def clean_content(number):
    return files.content(f"clean-{number}", number)


def command(*words):
    outcome = subprocess.run([DATALESS, *words], check=False, capture_output=True, timeout=LIMIT)
    text = (outcome.stdout + outcome.stderr).decode(errors="replace").strip()
    return outcome.returncode, text


def must(*words):
    status, text = command(*words)
    if status:
        raise SystemExit(f"dataless {' '.join(words)}: exit status {status}: {text[-400:]}")
    return text


def mount(point):
    os.makedirs(point, exist_ok=True)
    must("mount", SOURCE, point, "--state", STATE)


def make_source():
    os.makedirs(os.path.join(SOURCE, "clean"))
    for number in range(CLEAN):
        with open(os.path.join(SOURCE, "clean", f"clean-{number}"), "wb") as file:
            file.write(clean_content(number))


def holders():
    """Processes that have the state directory's lock open: a killed workload may leave a daemon that it has not heard
    of yet."""
    lock = os.path.join(STATE, "lock")
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if any(os.readlink(entry.path) == lock for entry in os.scandir(f"/proc/{process}/fd")):
                yield int(process)
        except OSError:
            continue


def end_last(point):
    """The daemon of a killed workload dies as hard as that one."""
    end = time.monotonic() + LIMIT
    while left := list(holders()):
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if time.monotonic() > end:
            raise SystemExit(f"killed processes {left} do not end")
        time.sleep(0.01)
    subprocess.run(["umount", "-l", point], check=False, stderr=subprocess.DEVNULL)


def read_and_evict(point):
    """For ever, beside the changes."""
    chance = random.Random()
    while True:
        path = os.path.join(point, "clean", f"clean-{chance.randrange(CLEAN)}")
        with open(path, "rb") as file:
            file.read()
        if chance.random() < 0.2:
            command("evict", path)


def mount_anew(point):
    """After the end of the last daemon."""
    os.makedirs(point, exist_ok=True)
    # A daemon that was only beginning when its workload was killed may have the directory since.
    while (outcome := command("mount", SOURCE, point, "--state", STATE))[0] and "EBUSY" in outcome[1]:
        end_last(point)
    if outcome[0]:
        raise SystemExit(f"dataless mount: exit status {outcome[0]}: {outcome[1][-400:]}")


def work():
    point = os.path.join(MEMORY, "volume")
    end_last(point)
    if not os.path.exists(SOURCE):
        make_source()
    mount_anew(point)
    threading.Thread(target=read_and_evict, args=(point,), daemon=True).start()
    with open(os.environ["CRASH_MARK"], "ab", 0) as mark:
        files.Workload(point, mark).run()


def damages():
    """What `dataless check` says of the state directory, that is not as it should be; it finds nothing once more."""
    status, text = command("check", STATE)
    if status:
        return [f"dataless check ended with status {status}: {text[-400:]}"]
    findings = json.loads(must("check", "--json", STATE))["findings"]
    return [f"dataless check finds something after a repair: {findings}"] if findings else []


def check():
    with open(os.environ["CRASH_MARKS"], encoding="utf-8") as file:
        lines = file.read().splitlines()
    if not any(line and not line.startswith(("try", "--")) for line in lines):
        return []
    looks_first = len(lines) % 2 == 0
    if looks_first and (wrong := damages()):
        return wrong
    point = tempfile.mkdtemp(prefix="dataless-crash.")
    try:
        mount(point)
        wrong = files.complaints(point, lines)
        for number in range(CLEAN):
            with open(os.path.join(point, "clean", f"clean-{number}"), "rb") as file:
                if file.read() != clean_content(number):
                    wrong.append(f"clean-{number} is not SOURCE's")
        must("unmount", point)
        return wrong if looks_first else wrong + damages()
    finally:
        subprocess.run(["umount", "-l", point], check=False, stderr=subprocess.DEVNULL)
        os.rmdir(point)


def main(work, check, point):
    """`work`, `end` or `check`, as the harness has it."""
    if sys.argv[1] == "work":
        work()
    if sys.argv[1] == "end":
        end_last(point)
        return 0
    wrong = check()
    print("\n".join(wrong[:10]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(work, check, os.path.join(MEMORY, "volume")))
