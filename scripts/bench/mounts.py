"""The file systems that are compared: each is mounted fresh and taken down again, with a time limit on everything."""

import json
import os
import shutil
import signal
import subprocess
import time

from measure import Failed, output_of, run

MOUNT_LIMIT = 30


def is_mounted(path):
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        return any(line.split(" ")[4] == path for line in table)


def force_unmount(path):
    for command in (["umount", "-l", path], ["fusermount3", "-u", "-z", path]):
        if is_mounted(path):
            subprocess.run(command, stderr=subprocess.DEVNULL, timeout=10, check=False)


class Bench:
    """Where everything of one run lies."""

    def __init__(self, work, dataless, quick, count):
        self.work, self.dataless, self.quick, self.pair_count = work, dataless, quick, count
        self.here = os.path.dirname(os.path.abspath(__file__))
        self.mountpoint = os.path.join(work, "mount")
        os.makedirs(self.mountpoint, exist_ok=True)
        self.client = self.compile("client.c", [])
        self._trees = {}

    def path(self, name):
        return os.path.join(self.work, name)

    def compile(self, source, flags):
        target = self.path(source.removesuffix(".c"))
        run(["cc", "-O2", "-o", target, os.path.join(self.here, source), *flags], 60)
        return target

    def files(self, name, count, size, per_directory=100):
        """A tree of equal files, made once; also leaves it in the page cache."""
        root = self.path(name)
        if name not in self._trees:
            block = os.urandom(size)
            for index in range(count):
                directory = os.path.join(root, f"d{index // per_directory:05}")
                if index % per_directory == 0:
                    os.makedirs(directory, exist_ok=True)
                with open(os.path.join(directory, f"f{index:06}"), "wb") as file:
                    file.write(index.to_bytes(8, "little") + block[8:])
            os.sync()
            self._trees[name] = root
        return root

    def warm(self, root):
        """Puts the source into the state both sides begin with: everything cached, nothing to be written."""
        run(["bash", "-c", 'find "$0" -type f -print0 | xargs -0 cat > /dev/null', root], 120)


class Dataless:
    """A fresh volume as a context; knows its status."""

    def __init__(self, bench, source, *options, cache=None):
        self.bench, self.source, self.options = bench, source, options
        self.cache = cache or bench.path("cache")
        self.mount_seconds = None

    def __enter__(self):
        bench = self.bench
        self.log = bench.path("log.jsonl")
        if os.path.exists(self.log):
            os.unlink(self.log)
        # A state directory has the content, too.
        cache = [] if "--state" in self.options else ["--cache-dir", self.cache]
        command = [
            bench.dataless, "mount", *self.options, "--log", self.log, *cache, self.source, bench.mountpoint,
        ]
        self.mount_seconds, _ = run(command, MOUNT_LIMIT)
        return self

    def __exit__(self, *_):
        try:
            run([self.bench.dataless, "unmount", self.bench.mountpoint], 120)
        finally:
            force_unmount(self.bench.mountpoint)

    def status(self):
        return json.loads(output_of([self.bench.dataless, "status", "--json", self.bench.mountpoint]))

    def resident_memory(self):
        """Bytes now, and at the highest."""
        values = {}
        with open(f"/proc/{self.status()['pid']}/status", encoding="utf-8") as status:
            for line in status:
                name, _, value = line.partition(":")
                if name in ("VmRSS", "VmHWM"):
                    values[name] = int(value.split()[0]) * 1024
        return values["VmRSS"], values["VmHWM"]


class Foreground:
    """Any other file system whose program stays in the foreground."""

    def __init__(self, bench, command, program):
        self.bench, self.command, self.program = bench, command, program

    def __enter__(self):
        if shutil.which(self.command[0]) is None:
            raise Failed(f"{self.program} is not installed")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + MOUNT_LIMIT
        while not is_mounted(self.bench.mountpoint):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.__exit__()
                raise Failed(f"{self.program} did not mount")
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        mountpoint = self.bench.mountpoint
        for command in (["fusermount3", "-u", mountpoint], ["umount", mountpoint]):
            if is_mounted(mountpoint):
                subprocess.run(command, stderr=subprocess.DEVNULL, timeout=120, check=False)
        force_unmount(mountpoint)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=10)


def bindfs(bench, source, read_only=True):
    options = ["-r"] if read_only else []
    return Foreground(bench, ["bindfs", "-f", *options, source, bench.mountpoint], "bindfs")


def rclone(bench, source):
    cache = bench.path("rclone-cache")
    shutil.rmtree(cache, ignore_errors=True)
    command = [
        "rclone", "mount", "--config", "/dev/null", "--vfs-cache-mode", "full", "--cache-dir", cache, "--read-only",
        source, bench.mountpoint,
    ]
    return Foreground(bench, command, "rclone")


def protocol_limit(bench, directories, files, size):
    flags = output_of(["pkg-config", "--cflags", "--libs", "fuse3"]).split()
    program = bench.compile("protocol_limit.c", flags)
    command = [program, bench.mountpoint, str(directories), str(files), str(size)]
    return Foreground(bench, command, "protocol_limit")
