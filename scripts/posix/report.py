"""What is expected to differ, and what is printed: TAP, and JSON for programs."""

import fnmatch
import json
import os

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "differences.json")
KEYS = {"test", "kind", "who", "over", "reason"}


class Differences:
    """Known failures, each with its reason: patterns of ids, and where they hold (`*` where a key is missing)."""

    def __init__(self, path=LIST):
        with open(path, encoding="utf-8") as file:
            self.entries = json.load(file)
        for entry in self.entries:
            if not entry.get("reason") or not entry.get("test") or set(entry) - KEYS:
                raise ValueError(f"{path}: an entry needs `test` and `reason`, and may have {sorted(KEYS)}: {entry}")

    def reason(self, identifier, kind, who, over):
        """Why this failure is expected, or None."""
        here = {"test": identifier, "kind": kind, "who": who, "over": over}
        for entry in self.entries:
            if all(fnmatch.fnmatchcase(here[key], entry.get(key, "*")) for key in here):
                return entry["reason"]
        return None


class Report:
    """Prints TAP as tests end, and counts."""

    def __init__(self, kind, over, quiet, differences):
        self.kind, self.over, self.quiet, self.differences = kind, over, quiet, differences
        self.results = []
        self.counts = {"ok": 0, "failed": 0, "expected": 0, "outdated": 0, "skipped": 0}

    def begin(self, count):
        print("TAP version 14")
        print(f"1..{count}", flush=True)

    def add(self, identifier, who, result):
        reason = self.differences.reason(identifier, self.kind, who, self.over)
        verdict = result.outcome
        if reason is not None:
            verdict = {"failed": "expected", "ok": "outdated"}.get(verdict, verdict)
        self.counts[verdict] += 1
        number = len(self.results) + 1
        entry = {"test": identifier, "who": who, "verdict": verdict, "seconds": round(result.seconds, 4)}
        if result.outcome == "failed":
            entry |= {"call": result.call, "expected": result.expected, "got": result.got, "where": result.where}
        if reason is not None or result.outcome == "skipped":
            entry["reason"] = reason or result.got
        self.results.append(entry)
        for line in self._lines(number, entry):
            print(line.encode("ascii", "backslashreplace").decode(), flush=True)

    def _lines(self, number, entry):
        verdict, title = entry["verdict"], f"{number} - {entry['test']} ({entry['who']})"
        if verdict == "ok":
            return [] if self.quiet else [f"ok {title}"]
        if verdict == "skipped":
            return [] if self.quiet else [f"ok {title} # SKIP {entry['reason']}"]
        if verdict == "outdated":
            return [f"not ok {title}", f"  # is in differences.json ({entry['reason']}), but passes"]
        told = [f"  # call: {entry['call']}", f"  # expected: {entry['expected']}", f"  # got: {entry['got']}",
                f"  # at: {entry['where']}"]
        if verdict == "expected":
            return [] if self.quiet else [f"not ok {title} # TODO {entry['reason']}", *told]
        return [f"not ok {title}", *told]

    def end(self, seconds, path):
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items() if count)
        print(f"# {self.kind}, {self.over}: {counts} in {seconds:.1f} s")
        if path:
            document = {"kind": self.kind, "over": self.over, "counts": self.counts, "results": self.results}
            with open(path, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=1)
                file.write("\n")
        return 1 if self.counts["failed"] or self.counts["outdated"] else 0
