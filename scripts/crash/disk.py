"""A disk whose writes are written down, and the states in which a loss of power could leave it."""

import os
import shutil
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "scenarios"))

from harness.volume import is_mounted  # noqa: E402

WRITTEN, SYNCED, MARKED = 1, 2, 3
HEAD = struct.Struct("<IIQ")
# What a disk writes whole or not at all.
BLOCK = 4096
LIMIT = 120


class Trouble(Exception):
    """The harness cannot go on; the text says why."""


def command(*words, check=True):
    outcome = subprocess.run([os.fspath(word) for word in words], check=False, capture_output=True, timeout=LIMIT)
    if check and outcome.returncode != 0:
        raise Trouble(f"{' '.join(map(str, words))}: {outcome.stderr.decode(errors='replace').strip()[-300:]}")
    return outcome.stdout.decode(errors="replace").strip()


class Mounted:
    """ext4 of an image file, on a loop device; a context."""

    def __init__(self, image, point, options="rw"):
        self.image, self.point, self.options, self.device = image, point, options, None

    def __enter__(self):
        self.device = command("losetup", "--find", "--show", self.image)
        try:
            os.makedirs(self.point, exist_ok=True)
            command("mount", "-t", "ext4", "-o", self.options, self.device, self.point)
        except Trouble:
            command("losetup", "--detach", self.device, check=False)
            raise
        return self

    def __exit__(self, *_):
        for _ in range(50):
            command("umount", self.point, check=False)
            if not is_mounted(self.point):
                break
            time.sleep(0.1)
        else:
            command("umount", "-l", self.point, check=False)
            print(f"crash: {self.point} was in use and could not be unmounted", file=sys.stderr)
        command("losetup", "--detach", self.device, check=False)


class Disk:
    """The logging server with an image of `megabytes`; a context. `image` is the file for a loop device."""

    def __init__(self, work, megabytes):
        self.work, self.backing, self.log = work, os.path.join(work, "backing"), os.path.join(work, "writes.log")
        self.point, self.megabytes, self.server = os.path.join(work, "disk"), megabytes, None
        self.image, self.mark = os.path.join(self.point, "image"), os.path.join(self.point, "mark")

    def __enter__(self):
        os.makedirs(self.point, exist_ok=True)
        with open(self.backing, "wb") as file:
            file.truncate(self.megabytes << 20)
        program = os.path.join(self.work, "logdisk")
        flags = command("pkg-config", "--cflags", "--libs", "fuse3").split()
        command(os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program,
                os.path.join(HERE, "logdisk.c"), *flags)
        self.server = subprocess.Popen([program, self.backing, self.log, self.point])
        for _ in range(500):
            if is_mounted(self.point):
                return self
            time.sleep(0.01)
        raise Trouble("the logging server did not mount within 5 s")

    def __exit__(self, *_):
        command("fusermount3", "-u", "-z", self.point, check=False)
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()


class Cut:
    """A state of the disk: all records before `place`, and some of those until `stop`."""

    def __init__(self, number, place, stop, lost_seed):
        self.number, self.place, self.stop, self.lost_seed = number, place, stop, lost_seed

    def __str__(self):
        if self.lost_seed is None:
            return f"fsync {self.number} (record {self.place})"
        some = f"some of the {self.stop - self.place} records after it"
        return f"fsync {self.number} (record {self.place}) and {some}, choice {self.lost_seed}"


class Log:
    """The records: kind, offset, and where their bytes are in the log."""

    def __init__(self, path):
        self.file = open(path, "rb")  # noqa: SIM115: read for as long as this lives
        self.records = []
        while len(head := self.file.read(HEAD.size)) == HEAD.size:
            kind, length, offset = HEAD.unpack(head)
            self.records.append((kind, offset, self.file.tell(), length))
            self.file.seek(length, os.SEEK_CUR)

    def data(self, record):
        self.file.seek(record[2])
        return self.file.read(record[3])

    def place_of_mark(self, text):
        """The record behind this mark."""
        for place, record in enumerate(self.records):
            if record[0] == MARKED and self.data(record) == text:
                return place + 1
        raise Trouble(f"the log has no mark {text!r}")

    def marks(self, start, stop):
        return b"".join(self.data(record) for record in self.records[start:stop] if record[0] == MARKED)

    def cuts(self, start, subsets):
        """One at each FSYNC, and `subsets` with what a random choice of the later writes left."""
        places = [place + 1 for place in range(start, len(self.records)) if self.records[place][0] == SYNCED]
        cuts = []
        for number, (place, stop) in enumerate(zip(places, [*places[1:], len(self.records)])):
            cuts.append(Cut(number, place, stop, None))
            if any(record[0] == WRITTEN for record in self.records[place:stop]):
                cuts += [Cut(number, place, stop, choice) for choice in range(subsets)]
        return cuts


class Replay:
    """Makes the image of each cut; cuts come in their order."""

    def __init__(self, log, base, target):
        self.log, self.base, self.target, self.done = log, base, target, 0

    def _apply(self, file, start, stop, choose=None):
        for record in self.log.records[start:stop]:
            if record[0] != WRITTEN:
                continue
            data, offset = self.log.data(record), record[1]
            for place in range(0, len(data), BLOCK) if choose else (0,):
                if choose is None or choose.random() < 0.5:
                    file.seek(offset + place)
                    file.write(data[place:place + BLOCK] if choose else data)

    def make(self, cut, choose):
        """`choose`: a random.Random for the records after the FSYNC."""
        with open(self.base, "r+b") as file:
            self._apply(file, self.done, cut.place)
        self.done = cut.place
        if os.path.exists(self.target):
            os.unlink(self.target)
        command("cp", "--sparse=always", self.base, self.target)
        if cut.lost_seed is not None:
            with open(self.target, "r+b") as file:
                self._apply(file, cut.place, cut.stop, choose)


def empty_directory(path):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path
