"""The faults: what is changed where, and which suites ought to notice."""

import importlib
import os
import re
from dataclasses import dataclass, field

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lists")


@dataclass
class Fault:
    """One edit of one file.

    `find` is there exactly once. In `replace`, FAULT stands for the question whether this fault is on; without it the
    text does what `find` did. `tests` and `mounts` are regular expressions over the names of tests without and with
    mounts, tried in order. `equivalent` says why no test can notice it.
    """

    id: str
    file: str
    what: str
    find: str
    replace: str
    tests: list = field(default_factory=list)
    mounts: list = field(default_factory=list)
    equivalent: str = ""

    def steps(self, with_mounts):
        """The filters to run, in order."""
        if self.equivalent:
            return []
        return self.tests + (self.mounts if with_mounts else [])

    def edit(self):
        """Its edit as text: a result holds for this one only."""
        return f"{self.file}\n{self.find}\n{self.replace}"

    def question(self):
        return f'plantedFault("{self.id}")'


class Part:
    """The faults of one part of the program: what their files and suites have in common is said once."""

    def __init__(self, folder, tests, mounts=()):
        self.folder, self.tests, self.mounts = folder, list(tests), list(mounts)
        # A test is known by its module, its suite, its name and its file.
        self.modules = "|".join(dict.fromkeys(re.match(r"\^(\w+)", suites).group(1) for suites in self.tests))
        self.faults = []

    def add(self, id, file, what, find, replace, tests=(), mounts=(), equivalent=""):
        """`tests` (in the part's own modules) and `mounts` are tried before those of the part."""
        tests = [f"^({self.modules})\\..*({suites})" for suites in tests]
        self.faults.append(Fault(
            id, os.path.normpath(os.path.join(self.folder, file)), what, find, replace, [*tests, *self.tests], [*mounts, *self.mounts],
            equivalent))


def all_faults():
    faults = []
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".py") and not name.startswith("_"):
            module = importlib.import_module(f"lists.{name[:-3]}")
            for part in module.PARTS:
                faults += part.faults
    seen = set()
    for fault in faults:
        assert fault.id not in seen, f"two faults are named {fault.id}"
        assert fault.equivalent or "FAULT" in fault.replace, f"{fault.id} is always on"
        seen.add(fault.id)
    return faults
