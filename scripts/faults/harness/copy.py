"""The copy of the repository that has the faults in it."""

import glob
import os
import shutil
import subprocess
import sys

SWIFT_HELPER = """internal import Glibc

private let planted = getenv("DATALESS_PLANTED_FAULT").map { String(cString: $0) } ?? ""

/// Whether this is the fault that the test run asks for. Also in what other modules inline.
@usableFromInline
@inline(never)
func plantedFault(_ name: String) -> Bool { planted == name }
"""

C_HELPER = """
#include <stdlib.h>
#include <string.h>
static inline int plantedFault(const char *name) {
    const char *planted = getenv("DATALESS_PLANTED_FAULT");
    return planted != NULL && strcmp(planted, name) == 0;
}
"""


class Copy:
    def __init__(self, repository, tree):
        self.repository, self.tree = repository, tree

    def update(self, faults, write=True):
        """Makes the copy what the repository is, with all faults. What has not changed is not touched, for the build.

        Returns what is wrong with the edits."""
        planted, problems = self._planted(faults)
        if problems or not write:
            return problems
        wanted = {}
        for path in self._paths():
            if path not in planted:
                with open(os.path.join(self.repository, path), "rb") as file:
                    wanted[path] = file.read()
        wanted.update(planted)
        for path, text in wanted.items():
            target = os.path.join(self.tree, path)
            if not self._is(target, text):
                os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
                with open(target, "wb") as file:
                    file.write(text)
            mode = os.stat(os.path.join(self.repository, path)).st_mode if os.path.exists(
                os.path.join(self.repository, path)) else 0o644
            os.chmod(target, mode & 0o777)
        self._remove_others(wanted)
        return []

    def build(self):
        environment = dict(os.environ)
        environment.pop("DATALESS_WARNINGS_AS_ERRORS", None)
        built = subprocess.run(
            ["swift", "build", "--build-tests"], cwd=self.tree, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace")
        if built.returncode != 0:
            lines = built.stdout.splitlines()
            lines = list(dict.fromkeys(line for line in lines if ": error:" in line)) or lines[-30:]
            print("\n".join(["faults: the copy with the faults does not build:", *lines]), file=sys.stderr)
        return built.returncode == 0

    @property
    def bundle(self):
        """What `swift build --build-tests` makes of all tests: a program."""
        return glob.glob(os.path.join(self.tree, ".build", "debug", "*PackageTests.xctest"))[0]

    def _paths(self):
        """Files that git has, or would have, and the versions of the packages."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.repository,
            capture_output=True, check=True).stdout.decode().split("\0")
        paths = [path for path in listed if path and os.path.isfile(os.path.join(self.repository, path))]
        return paths + [path for path in ["Package.resolved"] if os.path.exists(os.path.join(self.repository, path))]

    def _planted(self, faults):
        """{path: bytes} of the files with faults and of those that the questions need; problems."""
        texts, problems, edits = {}, [], {}
        for fault in faults:
            path = os.path.join(self.repository, fault.file)
            if not os.path.exists(path):
                problems.append(f"{fault.id}: there is no {fault.file}")
                continue
            with open(path, encoding="utf-8") as file:
                text = texts.setdefault(fault.file, file.read())
            if text.count(fault.find) != 1:
                problems.append(f"{fault.id}: {text.count(fault.find)} places in {fault.file} for: {fault.find}")
                continue
            start = text.index(fault.find)
            edits.setdefault(fault.file, []).append((start, start + len(fault.find), fault))
        result = {}
        for file, places in edits.items():
            text, end = texts[file], len(texts[file]) + 1
            for start, stop, fault in sorted(places, key=lambda place: place[0], reverse=True):
                if stop > end:
                    problems.append(f"{fault.id}: overlaps another fault of {file}")
                text = text[:start] + fault.replace.replace("FAULT", fault.question()) + text[stop:]
                end = start
            result[file] = self._with_helper(file, text, result).encode()
        return result, problems

    @staticmethod
    def _with_helper(file, text, result):
        if file.endswith(".swift"):
            target = "/".join(file.split("/")[:2])
            result[f"{target}/PlantedFault.swift"] = SWIFT_HELPER.encode()
            return text
        last = text.rindex("#include")
        line = text.index("\n", last) + 1
        return text[:line] + C_HELPER + text[line:]

    @staticmethod
    def _is(path, text):
        try:
            with open(path, "rb") as file:
                return file.read() == text
        except FileNotFoundError:
            return False

    def _remove_others(self, wanted):
        """What was copied once and is gone from the repository."""
        for folder in ["Sources", "Tests"]:
            for parent, _, names in os.walk(os.path.join(self.tree, folder)):
                for name in names:
                    path = os.path.join(parent, name)
                    if os.path.relpath(path, self.tree) not in wanted:
                        os.remove(path)

    def remove(self):
        shutil.rmtree(self.tree, ignore_errors=True)
