"""A log with something of everything: threads, stacks, gates, faults, marks, and names that are markup."""

import json
import random

NAMES = ["<script>alert(1)</script>", "\n::add-mask::x", "a&b<img src=x onerror=alert(2)>.jpg", "\u202egpj.exe", "\x1b[31mred"]
FUNCTIONS = ["load_thumbnail", "std::vector<int>::push_back", "decode<T>", "main", "on_paint", "idle", "walk"]


def write(path, count, seed=7):
    """Writes a log of about `count` records."""
    chance = random.Random(seed)
    sequence = 0
    with open(path, "w", encoding="utf-8") as file:

        def add(nanoseconds, type_, **fields):
            nonlocal sequence
            sequence += 1
            record = {
                "v": 1, "seq": sequence, "session": "0123456789ab",
                "time": f"2026-01-02T03:{4 + nanoseconds // 60_000_000_000:02}:{nanoseconds // 1_000_000_000 % 60:02}.{nanoseconds % 1_000_000_000:09}Z",
                "monotonic_ns": nanoseconds, "type": type_,
            }
            file.write(json.dumps({**record, **fields}) + "\n")

        add(0, "volume.mounted", source="/home/ann/photos", mountpoint="/mnt", options={"observe": "reads", "latency_ns": 20000000}, pid=9, read_only=True)
        add(0, "process.seen", process=1, pid=10, comm="bash", exe="/usr/bin/bash", parents=[])
        programs = [("python3", "fm.py"), ("gallery", None), ("tar", None), ("<b>bold</b>", None)]
        for number, (comm, script) in enumerate(programs, 2):
            extra = {"script": script} if script else {}
            add(0, "process.seen", process=number, pid=100 * number, comm=comm, exe=f"/usr/bin/{comm}", parents=[1], **extra)
        add(0, "run.started", command=["sh", "build.sh"], command_withheld=True, pid=200)
        now, attempt, known = 1_000_000, 0, {}
        while sequence < count - 10:
            attempt += 1
            process = 2 + attempt % 4
            thread = 100 * process + (0 if attempt % 3 else 1 + attempt % 5)
            who = {"process": process, "tid": thread, "main_thread": thread % 100 == 0}
            is_directory = attempt % 17 == 0
            kind, trigger = ("directory", "readdir") if is_directory else ("file", "read")
            name = NAMES[attempt % 5] if attempt % 40 == 0 else f"img-{attempt:05}.jpg"
            where = f"2026/{attempt % 12 + 1:02}" + ("" if is_directory else "/" + name)
            size = 0 if is_directory else chance.randrange(2_000, 4_000_000)
            blocked = chance.randrange(200_000, 40_000_000)
            outcome = "EIO" if attempt % 151 == 0 else "ok"
            add(now, "materialization.started", attempt=attempt, path=where, kind=kind, size=size, trigger=trigger, handle=attempt, io="direct", **who)
            add(now, "wait.started", attempt=attempt, trigger=trigger, **who)
            if attempt % 97 == 0:
                add(now + 1_000, "materialization.held", attempt=attempt, path=where, gate="photos", rule="hold")
                add(now + blocked - 1_000, "materialization.released", attempt=attempt, path=where, gate="photos", by="command", held_ns=blocked - 2_000)
            now += blocked
            add(now, "wait.finished", attempt=attempt, trigger=trigger, blocked_ns=blocked, outcome=outcome, **who)
            if attempt % 2 == 0:
                number = attempt % 24
                stack = {}
                if number not in known:
                    depth = 3 + number % 6
                    frames = [{"function": FUNCTIONS[(number + at) % 7], "file": f"/home/ann/src/{FUNCTIONS[at % 7]}.py", "line": 10 + at} for at in range(depth)]
                    stack = {"stack": {"complete": number % 5 != 0, "end": "outermost", "frames": [], "interpreted": {"language": "python", "readable": True, "complete": number % 5 != 0, "frames": frames}}}
                    known[number] = True
                add(now, "wait.stack", attempt=attempt, trigger=trigger, outcome="ok", stack_id=number, **stack, **who)
            add(now, "materialization.finished", attempt=attempt, path=where, kind=kind, bytes=size if outcome == "ok" else 0, outcome=outcome, duration_ns=blocked, waiter_count=1, waiters=[{**who, "trigger": trigger}])
            if not is_directory:
                covered = size if attempt % 4 else size // 40
                add(now, "handle.closed", path=where, inode=attempt, handle=attempt, process=process, size=size, bytes_read=covered, covered_bytes=covered, high_water_mark=covered, reads=1, triggered=True)
            if attempt % 500 == 0:
                add(now, "mark", label=f"half {attempt} <i>way</i>")
            now += chance.randrange(0, 3_000_000)
        # Programs that coordinate: each of the others waits for the first, and a presenter is slow.
        def intent(nanoseconds, step, number, process, **fields):
            add(nanoseconds, f"coordination.{step}", intent=number, path=f"2026/01/{NAMES[number % 5]}", reads=1, writes=number % 2, process=process, tid=None, main_thread=None, **fields)

        began = now // 2
        intent(began, "started", 1, 2)
        intent(began, "granted", 1, 2, waited_ns=0, asking_ns=0, materializing_ns=1_000, materialized=0)
        for number in range(2, 20):
            intent(began + number, "started", number, 2 + number % 4, waits_for=[1], waits_at="2026")
        intent(now, "finished", 1, 2, outcome="ok", held_ns=now - began)
        add(now, "presenter.answered", presenter=30, path="2026", process=5, tid=None, main_thread=None, intent=2, what="read", took_ns=5_000_000_000, outcome="timed_out")
        for number in range(2, 20):
            intent(now, "granted", number, 2 + number % 4, waited_ns=now - began - number, asking_ns=0, materializing_ns=0, materialized=0)
            intent(now, "finished", number, 2 + number % 4, outcome="ok", held_ns=0)
        add(now, "budget.exceeded", budget="files", limit=10, used=11, attempt=12, path="2026/01/<script>alert(1)</script>", process=2, tid=200, main_thread=True)
        add(now, "run.finished", exit_status=0, budgets={"max_files": 10, "files": 1900, "bytes": 5, "in_flight": 0, "exceeded": [{"budget": "files", "limit": 10, "used": 11, "path": "2026/01/<script>alert(1)</script>"}]})
        add(now + 1, "volume.unmounted", reason="unmount", requests_reaching_the_volume={"lookup": 4812, "read": 2200, "readdirplus": 40}, items={"files": 3000, "directories": 13, "bytes": 9_000_000_000}, log_dropped=0)
