"""Where the tests run: a directory that is there, or a volume of dataless that is mounted for them."""

import concurrent.futures
import os
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenarios"))

from harness import process  # noqa: E402
from harness.volume import is_mounted  # noqa: E402

import items  # noqa: E402

COMMAND_LIMIT = 60
SMALL_DISK_SIZE = "24m"


class Trouble(Exception):
    """The tests cannot begin; the text says why."""


def type_of_file_system(path):
    """As in the mount table: that of the longest mountpoint above."""
    best, kind = "", "?"
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        for line in table:
            words = line.split(" ")
            point = words[4].rstrip("/")
            if (os.path.realpath(path) + "/").startswith(point + "/") and len(point) >= len(best):
                best, kind = point, words[words.index("-") + 1]
    return kind


class Bare:
    """A directory of its own below one that is given."""

    over = "new"

    def __init__(self, directory, keep):
        self.parent, self.keep = directory, keep

    def __enter__(self):
        self.kind = type_of_file_system(self.parent)
        self.root = tempfile.mkdtemp(prefix="dataless-posix.", dir=self.parent)
        os.chmod(self.root, 0o755)
        return self

    def __exit__(self, *_):
        if not self.keep:
            process.run(["chmod", "-R", "u+rwx", self.root], COMMAND_LIMIT)
            shutil.rmtree(self.root, ignore_errors=True)

    def prepare(self, directories):
        """`directories`: name -> (uid, gid) of the owner."""
        for name, owner in directories.items():
            items.make(os.path.join(self.root, name), *owner)


class SmallDisk:
    """A file system in memory that may be filled; a context."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="dataless-small.")
        outcome = process.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_SIZE},mode=755", "none", self.root], 10)
        if not outcome.ok:
            os.rmdir(self.root)
            raise Trouble(f"no small disk: {outcome.message()}")
        return self

    def __exit__(self, *_):
        process.run(["umount", "-l", self.root], 10)
        os.rmdir(self.root)


class Volume:
    """Everything is made in SOURCE first; the volume shows it dataless, or it is materialized, or changed there."""

    kind = "dataless"

    def __init__(self, dataless, over, options, keep, disk=None, kept=False):
        """`disk`: where local content goes, if not to the machine's own. `kept`: mounted with --state, and a directory
        of its own."""
        self.dataless, self.over, self.keep, self.disk = dataless, over, keep, disk
        self.kept = kept or over == "state"
        self.options = list(options) or ([] if self.kept else ["--scratch"])
        if os.geteuid() == 0 and "--allow-other" not in self.options:
            self.options.append("--allow-other")

    def __enter__(self):
        # Who is ended by `timeout` leaves no volume behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self.work = tempfile.mkdtemp(prefix="dataless-posix.")
        os.chmod(self.work, 0o755)
        self.source, self.root = os.path.join(self.work, "source"), os.path.join(self.work, "volume")
        os.mkdir(self.source)
        os.mkdir(self.root)
        return self

    def __exit__(self, *_):
        if is_mounted(self.root):
            process.run([self.dataless, "unmount", self.root], COMMAND_LIMIT)
        for command in (["umount", "-l", self.root], ["fusermount3", "-u", "-z", self.root]):
            if is_mounted(self.root):
                print(f"dataless unmount left {self.root} mounted", file=sys.stderr)
                process.run(command, 10)
        if self.keep:
            print(f"kept: {self.work}, with the log, log.jsonl", file=sys.stderr)
        elif not is_mounted(self.root):
            shutil.rmtree(self.work, ignore_errors=True)

    def prepare(self, directories):
        for name, owner in directories.items():
            items.make(os.path.join(self.source, name), *owner)
        self.mount()
        if self.over == "resident":
            self.command("materialize", self.root)
        if self.over in ("dirty", "state"):
            # On a volume that keeps its changes each first write waits for the disk, and those at once for one flush.
            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                list(pool.map(lambda name: items.make_dirty(os.path.join(self.root, name)), directories))
        if self.over == "state":
            self.command("unmount", self.root)
            self.mount()

    def mount(self):
        self.command(*self.mount_arguments())

    def mount_arguments(self):
        where = self.disk or self.work
        local = ["--state", os.path.join(where, "state")] if self.kept else ["--cache-dir", os.path.join(where, "cache")]
        return ["mount", self.source, self.root, "--log", os.path.join(self.work, "log.jsonl"), *local, *self.options]

    def command(self, *arguments):
        outcome = process.run([self.dataless, *arguments], COMMAND_LIMIT)
        if not outcome.ok:
            raise Trouble(f"dataless {' '.join(arguments)}: {outcome.how()}: {outcome.message()}")
