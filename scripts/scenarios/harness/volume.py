"""One mounted volume: mounted, asked, unmounted, and its log audited afterwards."""

import json
import os
import sys
import time

from . import process
from .eventlog import EventLog, Part

COMMAND_LIMIT = 30


class MountFailed(RuntimeError):
    """The volume is not there; its text says why."""


def is_mounted(path):
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        return any(line.split(" ")[4] == path for line in table)


class Volume:
    """A context: mounts SOURCE with a scenario file and options."""

    def __init__(self, bench, source, scenario=None, *options, outcomes=("ok",), interrupted=False):
        """`outcomes` are those that attempts on files and directories may have: all else is a broken promise.
        `interrupted`: waiters may be killed, and attempts cancelled."""
        self.bench, self.source = bench, source
        self.outcomes = set(outcomes) | ({"cancelled", "EINTR"} if interrupted else set())
        self.options = list(options) + (["--scenario", bench.scenario_file(scenario)] if scenario else [])
        number = bench.next_number()
        self.mountpoint = os.path.join(bench.work, f"volume{number}")
        self.cache = os.path.join(bench.work, f"cache{number}")
        self.log = EventLog(os.path.join(bench.work, f"log{number}.jsonl"))
        self.pid = None
        self._marks = 0

    def __enter__(self):
        os.makedirs(self.mountpoint, exist_ok=True)
        self.bench.volumes.append(self)
        outcome = self._dataless(
            "mount", self.source, self.mountpoint, "--log", self.log.path, "--cache-dir", self.cache, *self.options
        )
        if not outcome.ok:
            raise MountFailed(f"dataless mount: {outcome.how()}: {outcome.message()}")
        self.pid = self.json("status", self.mountpoint)["pid"]
        return self

    def __exit__(self, kind, *_):
        outcome = self.unmount()
        if kind is None:
            self._audit(outcome)

    # Talking to it.

    def _dataless(self, *arguments, limit=COMMAND_LIMIT):
        return process.run([self.bench.dataless, *arguments], limit, env=self.bench.environment)

    def command(self, *arguments, limit=COMMAND_LIMIT):
        """A `dataless` command that must succeed."""
        outcome = self._dataless(*arguments, limit=limit)
        if not outcome.ok:
            what = f"{' '.join(arguments)}: {outcome.how()}: {outcome.message()}"
            self.bench.promise(f"`dataless {arguments[0]}` succeeds", False, what)
        return outcome

    def attempt(self, *arguments, limit=COMMAND_LIMIT):
        """A `dataless` command that may fail."""
        return self._dataless(*arguments, limit=limit)

    def json(self, *arguments):
        return json.loads(self.command(*arguments, "--json").output or b"{}")

    def gates(self):
        """The gates, each with what it holds."""
        return [json.loads(line) for line in self.command("gate", "list", self.mountpoint, "--json").output.splitlines()]

    def path(self, *names):
        return os.path.join(self.mountpoint, *names)

    def evict(self, *names):
        """Everything, or the named items, dataless again."""
        return self.command("evict", *([self.path(name) for name in names] or [self.mountpoint]))

    def list_everything(self):
        """Lists all directories, so that what comes later is about files."""
        return process.run(["find", self.mountpoint], COMMAND_LIMIT)

    def look(self, what, *paths):
        """What look.py sees, from another process."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "look.py")
        outcome = process.run([sys.executable, script, what, *(paths or [self.mountpoint])], COMMAND_LIMIT)
        if not outcome.ok:
            self.bench.promise(f"looking at the volume ({what}) ends well", False, outcome.message())
            return {}
        return {name: tuple(value) for name, value in json.loads(outcome.output).items()}

    def read(self, name):
        """(sha-256 or errno name, seconds) of one file, read whole by another process."""
        return self.look("read", self.path(name)).get(self.path(name), ("?", 0.0))

    def settled(self):
        """Waits until no attempt is under way: a transfer may go on when nobody waits for it any more."""
        return process.wait_until(lambda: not self.json("status", self.mountpoint)["in_flight"], 20)

    # Its log.

    def mark(self):
        """Writes a mark into the log and waits until it and all before it is in the file; the mark's number."""
        self._marks += 1
        label = f"mark {self._marks}"
        self.command("mark", self.mountpoint, label)

        def is_there():
            return any(record["type"] == "mark" and record["label"] == label for record in self.log.refresh())

        if not process.wait_until(is_there, 5):
            self.bench.promise("a mark is in the log within 5 s", False, label)
        return self.log.last()

    def since(self, mark):
        """What happened since that mark; the marks at both ends included."""
        self.mark()
        return Part(self.log, [record for record in self.log.records if record["seq"] >= mark])

    # Its end.

    def unmount(self):
        outcome = None
        if is_mounted(self.mountpoint):
            outcome = self._dataless("unmount", self.mountpoint, limit=15)
        for command in (["umount", "-l", self.mountpoint], ["fusermount3", "-u", "-z", self.mountpoint]):
            if is_mounted(self.mountpoint):
                process.run(command, 10)
        if self in self.bench.volumes:
            self.bench.volumes.remove(self)
        return outcome

    def _audit(self, unmounted):
        """What holds for every volume, whatever a tool did on it."""
        promise = self.bench.promise
        promise("unmounts within 5 s", unmounted is not None and unmounted.ok and unmounted.seconds < 5,
                unmounted and f"{unmounted.how()} after {unmounted.seconds:.1f} s: {unmounted.message()}")
        gone = process.wait_until(lambda: process.state(self.pid) in ("", "Z"), 5)
        promise("its daemon is gone", gone, f"pid {self.pid}")
        left = [name for _, _, names in os.walk(self.cache) for name in names if name != ".lock"]
        promise("leaves no content behind", not left, left[:3])
        records = self.log.refresh()
        promise("its log is complete", *self._complete(records))
        promise("every attempt and every wait in the log has its end", *self._paired(records))
        finished = [record for record in records if record["type"] == "materialization.finished"]
        strange = [f"{r['path']}: {r['outcome']}" for r in finished if r["outcome"] not in self.outcomes]
        promise("no attempt fails but as staged", not strange, strange[:3])
        silent = [r["path"] for r in finished if r["outcome"] not in ("ok", "cancelled") and "rule" not in r]
        promise("each staged failure names its rule", not silent, silent[:3])
        # Where files come in parts, an attempt is not the whole file.
        sizes = {r["attempt"]: r["size"] for r in records
                 if r["type"] == "materialization.started" and "hydration" not in r}
        short = [r["path"] for r in finished if r["kind"] == "file" and r["outcome"] == "ok"
                 and r["bytes"] != sizes.get(r["attempt"], r["bytes"])]
        promise("content that came is as long as the file", not short, short[:3])

    @staticmethod
    def _complete(records):
        if not records or records[-1]["type"] != "volume.unmounted":
            return False, f"its last record is {records[-1]['type'] if records else 'none'}"
        gaps = [b["seq"] for a, b in zip(records, records[1:]) if b["seq"] != a["seq"] + 1]
        return not gaps and records[-1]["log_dropped"] == 0, f"gaps before {gaps[:3]}"

    @staticmethod
    def _paired(records):
        def keys(kind, *fields):
            return sorted(tuple(str(r.get(field)) for field in fields) for r in records if r["type"] == kind)

        for thing, fields in (("materialization", ["attempt"]), ("wait", ["attempt", "process", "tid"])):
            started, finished = keys(f"{thing}.started", *fields), keys(f"{thing}.finished", *fields)
            if started != finished:
                return False, f"{len(started)} {thing}.started, {len(finished)} {thing}.finished"
        return True, ""


def pause(seconds):
    """A deliberate wait, where what is to be seen is that nothing happens."""
    time.sleep(seconds)
