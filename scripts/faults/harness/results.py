"""What is known of each fault, in a file that a run can go on from."""

import hashlib
import json
import os


class Results:
    def __init__(self, path):
        self.path = path
        self.known = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.known = json.load(file)

    @staticmethod
    def _key(fault):
        return hashlib.sha256(fault.edit().encode()).hexdigest()[:16]

    def of(self, fault):
        """{killed_by, filter, seconds} or {survived: [filters]}; None if nothing is known of this edit."""
        result = self.known.get(fault.id)
        return result if result and result["edit"] == self._key(fault) else None

    def is_settled(self, fault, suites):
        """Whether there is nothing to learn from these suites."""
        result = self.of(fault)
        return result is not None and (bool(result.get("killed_by")) or suites in result["survived"])

    def forget(self, faults):
        for fault in faults:
            self.known.pop(fault.id, None)

    def survived(self, fault):
        """The filters that did not notice it."""
        return (self.of(fault) or {}).get("survived", [])

    def killed(self, fault, test, how, suites, seconds):
        self._put(fault, {"killed_by": test, "how": how, "suites": suites, "seconds": round(seconds, 1)})

    def note_survived(self, fault, suites):
        self._put(fault, {"survived": [*self.survived(fault), suites]})

    def baseline(self, suites):
        """Seconds that these suites took without a fault; None if they have not run since the last build."""
        return self.known.get("", {}).get(suites)

    def note_baseline(self, suites, seconds):
        self.known.setdefault("", {})[suites] = round(seconds, 1)
        self._write()

    def note_build(self):
        """There may be other tests now: what was noticed stays, what survived is tried again."""
        self.known = {name: result for name, result in self.known.items() if result.get("killed_by")}
        self._write()

    def _put(self, fault, result):
        self.known[fault.id] = {"edit": self._key(fault), **result}
        self._write()

    def _write(self):
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.known, file, indent=1, sort_keys=True)
        os.rename(self.path + ".new", self.path)


def table(faults, results):
    """Prints what became of each; returns the ids of those that survive without a reason."""
    survivors = []
    print("| fault | file | what is wrong | noticed by |\n|---|---|---|---|")
    for fault in faults:
        result = results.of(fault) or {}
        if fault.equivalent:
            noticed = f"nothing can: {fault.equivalent}"
        elif result.get("killed_by"):
            noticed = f"{result['killed_by']} ({result['how']})" if result["how"] != "failed" else result["killed_by"]
        else:
            noticed = "**nothing**" if "survived" in result else "(not run)"
            survivors.append(fault.id)
        print(f"| `{fault.id}` | {fault.file.removeprefix('Sources/')} | {fault.what} | {noticed} |")
    killed = len(faults) - len(survivors) - sum(1 for fault in faults if fault.equivalent)
    print(f"\n{len(faults)} faults: {killed} noticed, {len(survivors)} not" +
          (f": {', '.join(survivors)}" if survivors else ""))
    return survivors
