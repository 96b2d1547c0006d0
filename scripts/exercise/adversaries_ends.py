"""Ends that are not the ordinary ones: the daemon is killed under its writers; the store hangs."""

import errno
import os
import shutil
import signal
import subprocess
import threading
import time

from harness import process
from attacked import Attacked, Child, LeftOut, Wrong, holds, pattern, read_length, works, write_file

FILES = 40


def _fill(source):
    for directory in ("listed", "full", "other"):
        os.mkdir(os.path.join(source, directory))
    os.mkdir(os.path.join(source, "listed", "empty"))
    for number in range(FILES):
        write_file(os.path.join(source, "listed", f"file-{number}"), pattern(number, 150_000))
    write_file(os.path.join(source, "full", "child"), b"child")


def _write_for_ever(root, number):
    errors = []

    def write(which):
        try:
            descriptor = os.open(os.path.join(root, f"new-{number}-{which}"), os.O_CREAT | os.O_RDWR, 0o644)
            while True:
                os.pwrite(descriptor, b"x" * 10_000, 0)
                os.fsync(descriptor)
        except OSError as error:
            errors.append(errno.errorcode.get(error.errno, str(error.errno)))

    threads = [threading.Thread(target=write, args=(which,)) for which in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(set(errors))


def killed_daemon(options):
    """SIGKILL under 200 writers: each gets an error at once, the mountpoint can be used again, SOURCE is as it was."""
    with Attacked(options, _fill) as volume:
        writers = [Child(_write_for_ever, volume.root, number) for number in range(20)]
        mapped = Child(_map_and_wait, volume.path("listed", "file-1"))
        time.sleep(1.5)
        os.kill(volume.daemon, signal.SIGKILL)
        hanging = [writer for writer in writers if not writer.wait(15)]
        mapped.kill()
        if hanging or not mapped.wait(15):
            raise Wrong(f"{len(hanging)} of 20 processes hang after the daemon was killed")
        answers = set()
        for writer in writers:
            answers.update(writer.answer[1] if writer.answer[0] == "ok" else [str(writer.answer)])
        if not answers <= {"ENOTCONN", "ECONNABORTED"}:
            raise Wrong(f"writers got {sorted(answers)}")
        outcome = process.run([volume.dataless, "unmount", volume.root], 30)
        if not outcome.ok:
            raise Wrong(f"dataless unmount after a kill: {outcome.how()}: {outcome.message()}")
        volume.begin()
        for number in range(FILES):
            if number != 1:
                holds(volume.path("listed", f"file-{number}"), pattern(number, 150_000))
        volume.end()
        for number in range(FILES):
            holds(os.path.join(volume.source, "listed", f"file-{number}"), pattern(number, 150_000))
        return f"the writers got {', '.join(sorted(answers))}"


def _map_and_wait(path):
    import mmap
    area = mmap.mmap(os.open(path, os.O_RDWR), 8192)
    while True:
        area[0:4] = b"MMAP"
        time.sleep(0.01)


class _Hanging(Attacked):
    """SOURCE is seen through bindfs, which can be stopped."""

    def __enter__(self):
        if not shutil.which("bindfs"):
            raise LeftOut("there is no bindfs")
        super(Attacked, self).__enter__()
        self.fill(self.source)
        self.real, self.source = self.source, os.path.join(self.work, "through")
        os.mkdir(self.source)
        self.server = subprocess.Popen(["bindfs", "-f", self.real, self.source], stderr=subprocess.DEVNULL)
        if not process.wait_until(lambda: os.path.ismount(self.source), 10):
            raise LeftOut("bindfs does not mount here")
        self.options.append("--cross-mounts")
        self.begin()
        return self

    def __exit__(self, *details):
        self.server.send_signal(signal.SIGCONT)
        super().__exit__(*details)
        process.run(["umount", "-l", self.source], 10)
        self.server.kill()
        self.server.wait()
        if not self.keep:
            shutil.rmtree(self.work, ignore_errors=True)


def _append(path):
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, b"more")
    os.fsync(descriptor)


def _rename_over(path, name):
    write_file(path + ".new", b"new")
    os.rename(path + ".new", os.path.join(os.path.dirname(path), name))


def _tree(path):
    shutil.rmtree(path)


def hanging_store(options):
    """The store answers nobody any more. What is local, and every change of names in directories that are known, goes
    on; who waits for content can be killed; and the volume ends."""
    with _Hanging(options, _fill) as volume:
        at = volume.path
        works(os.listdir, volume.root)
        works(os.listdir, at("listed"))
        works(os.listdir, at("listed", "empty"))
        works(os.listdir, at("full"))
        works(read_length, at("listed", "file-0"))
        works(_append, at("listed", "file-1"))
        works(write_file, at("made"), b"made")
        volume.server.send_signal(signal.SIGSTOP)
        reader = Child(read_length, at("listed", "file-2"))
        writer = Child(_append, at("listed", "file-3"))
        time.sleep(0.5)
        wrong = []
        for function, *words in [
                (read_length, at("listed", "file-0")), (_append, at("listed", "file-1")), (_append, at("made")),
                (write_file, at("made-2"), b"2"), (write_file, at("listed", "made-3"), b"3"),
                (os.mkdir, at("directory")),
                (os.rename, at("made-2"), at("listed", "made-2")), (os.symlink, "x", at("listed", "link")),
                (os.rename, at("listed", "file-5"), at("moved")), (os.unlink, at("listed", "file-6")),
                (os.chmod, at("listed", "file-7"), 0o600), (os.utime, at("listed", "file-7")),
                (os.stat, at("listed", "file-8")), (os.listdir, at("listed")),
                (_rename_over, at("listed", "x"), "file-9"),
                (os.rmdir, at("listed", "empty")), (os.link, at("made"), at("made-again")), (os.statvfs, volume.root),
                (os.setxattr, at("listed", "file-7"), "user.a", b"b"), (os.setxattr, at("made"), "user.a", b"b"),
                (os.unlink, at("made")), (os.unlink, at("listed", "file-1")), (_tree, at("full"))]:
            try:
                works(function, *words, limit=8)
            except Wrong as text:
                wrong.append(str(text)[:200])
        # A link of what is dataless needs its content, and may not keep others from the directory meanwhile.
        linker = Child(os.link, at("listed", "file-4"), at("other-name"))
        linker.wait(0.5)
        for function, *words in [
                (os.mkdir, at("another")), (write_file, at("made-4"), b"4"), (os.listdir, volume.root)]:
            try:
                works(function, *words, limit=8)
            except Wrong as text:
                wrong.append(f"beside a link: {str(text)[:200]}")
        for child in (reader, writer):
            if child.wait(0):
                wrong.append(f"{child.name} ended while the store hung: {child.answer}")
        for child in (reader, writer, linker):
            child.kill()
            if not child.wait(10):
                wrong.append(f"{child.name} does not end by SIGKILL")
        started = time.monotonic()
        try:
            volume.end(30)
        except Wrong as text:
            wrong.append(str(text))
        if wrong:
            raise Wrong("\n  ".join(wrong))
        return f"unmounted after {time.monotonic() - started:.1f} s"
