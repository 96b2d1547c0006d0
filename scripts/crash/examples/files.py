"""Files as the crash harness's subject: saved by rename, removed, written in place, appended; each fsync is a promise.

Each file, each block of one file and a log has a version that only grows. Before a change "try WHAT VERSION" is
marked, after its fsync has returned "WHAT VERSION": after a loss of power its version lies between the last promise
and the last try, and its content is wholly of that version. CRASH_SYNC=no leaves the fsyncs out, which the check
finds.

Two kinds of files have no fsync at all. What is made ("loose") and written is there as far as it was written, or not at
all, and is never another one's bytes. What is saved by rename ("swapped") is wholly of some version that was tried.
"""

import hashlib
import os
import random
import sys

COUNT, BLOCKS, BLOCK, DIRECTORIES, LOOSE = 24, 32, 4096, 4, 8
# One version in this many is the file's absence.
REMOVAL = 5
SYNCS = os.environ.get("CRASH_SYNC") != "no"


def content(what, version):
    """Its first line tells what it is."""
    head = b"%s %d\n" % (what.encode(), version)
    unit = hashlib.sha256(head).digest()
    length = (0, 100, 5000, 140_000)[unit[0] % 4] + unit[1]
    return head + (unit * (length // 32 + 1))[:length]


def block(number, version):
    head = b"block-%d %d\n" % (number, version)
    return (head + hashlib.sha256(head).hexdigest().encode() * 64)[:BLOCK]


def sync(path):
    if SYNCS:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


class Files:
    def __init__(self, root):
        self.root = root

    def path(self, number):
        return os.path.join(self.root, f"d{number % DIRECTORIES}", f"file-{number}")

    def setup(self):
        for number in range(DIRECTORIES):
            os.makedirs(os.path.join(self.root, f"d{number}"), exist_ok=True)
        for name in ("blocks", "log"):
            with open(os.path.join(self.root, name), "ab"):
                pass
            sync(os.path.join(self.root, name))
        sync(self.root)

    # Reading: what is there, as {what: version}, and complaints.

    def file(self, number):
        try:
            with open(self.path(number), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None, ""
        what, _, version = data.split(b"\n", 1)[0].partition(b" ")
        if not version.isdigit() or data != content(what.decode(), int(version)):
            return 0, f"file-{number} is of no version: {len(data)} bytes, {data[:40]!r}"
        return int(version), ""

    def blocks(self):
        found, wrong = {}, []
        with open(os.path.join(self.root, "blocks"), "rb") as file:
            for number in range(BLOCKS):
                data = file.read(BLOCK)
                version = data.split(b"\n", 1)[0].partition(b" ")[2]
                found[f"block-{number}"] = int(version) if version.isdigit() else 0
                if data.strip(b"\0") and data != block(number, found[f"block-{number}"]):
                    wrong.append(f"block-{number} is of no version: {data[:40]!r}")
        return found, wrong

    def log(self):
        with open(os.path.join(self.root, "log"), "rb") as file:
            lines = file.read().split(b"\n")
        for place, line in enumerate(lines[:-1]):
            if line != b"line %d" % (place + 1):
                return place, [] if not line.strip(b"\0") else [f"line {place + 1} of the log is {line[:40]!r}"]
        return len(lines) - 1, []

    def loose(self):
        """What is wrong with files that were made and written without an fsync."""
        wrong = []
        for name in sorted(os.listdir(self.root)):
            kind, _, version = name.partition("-")
            if kind != "loose" or not version.isdigit():
                continue
            with open(os.path.join(self.root, name), "rb") as file:
                data = file.read()
            whole = content("loose", int(version))
            # Blocks that had not reached the disk yet are zeros there, as on ext4.
            if len(data) > len(whole) or any(one not in (0, other) for one, other in zip(data, whole)):
                wrong.append(f"{name} has bytes that nobody wrote to it: {len(data)} of {len(whole)}, {data[:40]!r}")
        return wrong

    def swapped(self):
        """The version of the file that is saved by rename without an fsync, and what is wrong with it."""
        try:
            with open(os.path.join(self.root, "swapped"), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return 0, []
        version = data.split(b"\n", 1)[0].partition(b" ")[2]
        if not version.isdigit() or data != content("swapped", int(version)):
            return 0, [f"swapped is of no version: {len(data)} bytes, {data[:40]!r}"]
        return int(version), []


class Workload:
    def __init__(self, root, mark):
        self.files, self.mark, self.chance = Files(root), mark, random.Random()

    def promise(self, what, version):
        self.mark.write(f"{what} {version}\n".encode())

    def attempt(self, what, version):
        self.mark.write(f"try {what} {version}\n".encode())

    def save(self, number, version):
        path, what = self.files.path(number), f"file-{number}"
        self.attempt(what, version)
        if version % REMOVAL == 0:
            if os.path.exists(path):
                os.unlink(path)
        else:
            with open(path + ".new", "wb", 0) as file:
                file.write(content(what, version))
                if SYNCS:
                    os.fsync(file.fileno())
            os.rename(path + ".new", path)
        sync(os.path.dirname(path))
        self.promise(what, version)

    def in_place(self, number, version):
        self.attempt(f"block-{number}", version)
        descriptor = os.open(os.path.join(self.files.root, "blocks"), os.O_WRONLY)
        os.pwrite(descriptor, block(number, version), number * BLOCK)
        if SYNCS:
            os.fdatasync(descriptor)
        os.close(descriptor)
        self.promise(f"block-{number}", version)

    def append(self, version):
        self.attempt("log", version)
        path = os.path.join(self.files.root, "log")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, b"line %d\n" % version)
        os.close(descriptor)
        sync(path)
        self.promise("log", version)

    def loosely(self, version):
        """Makes a file, and removes the one that was made LOOSE files ago."""
        written = content("loose", version)
        with open(os.path.join(self.files.root, f"loose-{version}"), "xb", 0) as file:
            for start in range(0, len(written), BLOCK):
                file.write(written[start : start + BLOCK])
        for old in os.listdir(self.files.root):
            if old.startswith("loose-") and int(old[6:]) <= version - LOOSE:
                os.unlink(os.path.join(self.files.root, old))

    def swap(self, version):
        path = os.path.join(self.files.root, "swapped")
        self.attempt("swapped", version)
        with open(path + ".new", "wb", 0) as file:
            file.write(content("swapped", version))
            # Without an fsync a new file is whole only where it takes the place of an older one.
            if not os.path.exists(path):
                os.fsync(file.fileno())
        os.rename(path + ".new", path)

    def run(self):
        """For ever: it is killed, and goes on from what is there."""
        self.files.setup()
        blocks, lines = self.files.blocks()[0], self.files.log()[0]
        swapped = self.files.swapped()[0]
        loose = max([int(name[6:]) for name in os.listdir(self.files.root) if name.startswith("loose-")], default=0)
        versions = {}
        for number in range(COUNT):
            version = self.files.file(number)[0]
            # An absent file does not tell its version: what was remembered does, at least nearly.
            versions[number] = last_try(f"file-{number}") if version is None else version
        while True:
            turn = self.chance.random()
            if turn < 0.5:
                number = self.chance.randrange(COUNT)
                versions[number] += 1
                self.save(number, versions[number])
                remember(f"file-{number}", versions[number])
            elif turn < 0.65:
                number = self.chance.randrange(BLOCKS)
                blocks[f"block-{number}"] += 1
                self.in_place(number, blocks[f"block-{number}"])
            elif turn < 0.8:
                lines += 1
                self.append(lines)
            elif turn < 0.9:
                loose += 1
                self.loosely(loose)
            else:
                swapped += 1
                self.swap(swapped)


# What a killed workload has to know of absent files, outside of the disk that loses its power.
MEMORY = os.environ.get("CRASH_MEMORY", "")


def remember(what, version):
    with open(os.path.join(MEMORY, what), "w", encoding="ascii") as file:
        file.write(str(version))


def last_try(what):
    try:
        with open(os.path.join(MEMORY, what), encoding="ascii") as file:
            return (int(file.read() or 0) // REMOVAL + 1) * REMOVAL
    except FileNotFoundError:
        return 0


def complaints(root, lines):
    """What is wrong with the state at `root`, given the marks."""
    promised, tried = {}, {}
    for line in lines:
        words = line.split()
        if words and words[0] == "try":
            tried[words[1]] = int(words[2])
        elif len(words) == 2:
            promised[words[0]] = int(words[1])
    if not promised:
        return []
    files = Files(root)
    found, wrong = files.blocks()
    found["log"], more = files.log()
    wrong += more + files.loose()
    version, more = files.swapped()
    wrong += more
    if version > tried.get("swapped", 0):
        wrong.append(f"swapped has version {version}; tried was {tried.get('swapped', 0)}")
    for number in range(COUNT):
        version, complaint = files.file(number)
        wrong += [complaint] if complaint else []
        found[f"file-{number}"] = version
    for what, version in found.items():
        low, high = promised.get(what, 0), tried.get(what, 0)
        if version is None:
            if not any(each % REMOVAL == 0 for each in range(low, high + 1)):
                wrong.append(f"{what} is absent; promised was version {low}, tried {high}")
        elif not low <= version <= high:
            wrong.append(f"{what} has version {version}; promised was {low}, tried {high}")
    return wrong


def main():
    root = os.environ.get("CRASH_FILES") or os.environ["CRASH_DIR"]
    if sys.argv[1] == "work":
        with open(os.environ["CRASH_MARK"], "ab", 0) as mark:
            Workload(root, mark).run()
    with open(os.environ["CRASH_MARKS"], encoding="utf-8") as file:
        wrong = complaints(root, file.read().splitlines())
    print("\n".join(wrong[:10]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
