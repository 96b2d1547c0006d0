"""The event log of a volume, as docs/EVENTS.md describes it."""

import json
import os


class EventLog:
    """Reads what was appended since the last look."""

    def __init__(self, path):
        self.path, self.records, self.processes = path, [], {}
        self._read = 0

    def refresh(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self._read)
                data = file.read()
        except FileNotFoundError:
            return self.records
        data = data[: data.rfind(b"\n") + 1]
        self._read += len(data)
        for line in data.splitlines():
            record = json.loads(line)
            if record["type"] == "process.seen":
                self.processes[record["process"]] = record
            self.records.append(record)
        return self.records

    def last(self):
        return self.records[-1]["seq"] if self.records else 0

    def program(self, record):
        """Name of the executable of a record's caller."""
        process = self.processes.get(record.get("process")) or {}
        return os.path.basename(process.get("exe") or process.get("comm") or "?")


class Part:
    """The records between two marks, and what is counted of them."""

    def __init__(self, log, records):
        self.log, self.records = log, records

    def of(self, kind):
        return [record for record in self.records if record["type"] == kind]

    @property
    def attempts(self):
        """Finished attempts on files."""
        return [record for record in self.of("materialization.finished") if record["kind"] == "file"]

    @property
    def directories(self):
        return [record for record in self.of("materialization.finished") if record["kind"] == "directory"]

    @property
    def materialized(self):
        """Paths of files whose content came."""
        return [record["path"] for record in self.attempts if record["outcome"] == "ok"]

    @property
    def fetched(self):
        """Bytes of content that came."""
        return sum(record["bytes"] for record in self.attempts)

    @property
    def refused(self):
        return self.of("materialization.refused")

    def on(self, path):
        return [record for record in self.attempts if record["path"] == path]

    def outcomes(self, path):
        return [record["outcome"] for record in self.on(path)]

    def requests(self, operation):
        """How many requests of an operation reached the volume between the first and the last mark of the part."""
        marks = self.of("mark")
        count = [mark["counters"]["requests_reaching_the_volume"].get(operation, 0) for mark in (marks[0], marks[-1])]
        return count[1] - count[0]

    def most_at_once(self):
        """Most attempts on files that were in latency and transfer at one moment."""
        queued = {record["attempt"]: record for record in self.attempts}
        steps = []
        for record in queued.values():
            end = record["monotonic_ns"]
            busy = record["duration_ns"] - record.get("queued_ns", 0) - record.get("held_ns", 0)
            steps += [(end - busy, 1), (end, -1)]
        most = now = 0
        for _, step in sorted(steps):
            now += step
            most = max(most, now)
        return most
