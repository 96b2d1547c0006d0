"""A disk that is full: who wants room gets ENOSPC (or EIO, from a mapping), what was acknowledged stays, and the rest
goes on. Only with `--small-disk`, which mounts a disk for it: nobody's own disk is filled."""

import contextlib
import errno
import mmap
import os
import signal
import time

import items
import kernel
from suite import SMALL_DISK, Failure, case

BLOCK, LARGEST_DISK = 65_536, 64 << 20
NO_ROOM = (errno.ENOSPC, errno.EIO, errno.EDQUOT)


def block_of(name, number):
    return (b"%s %08d " % (name.encode(), number)).ljust(64, b".") * (BLOCK // 64)


def fill(name="filler"):
    """Writes until there is no room; how many bytes were taken."""
    descriptor, done = os.open(name, os.O_CREAT | os.O_WRONLY, 0o644), 0
    try:
        while done < LARGEST_DISK:
            block = block_of(name, done // BLOCK)[done % BLOCK:]
            done += os.write(descriptor, block)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
    else:
        raise Failure("filling the disk", "ENOSPC", f"{done} bytes were written")
    finally:
        os.close(descriptor)
    return done


def check_filler(test, size, name="filler"):
    test.equal(f"size of {name}", size, os.stat(name).st_size)
    with open(name, "rb") as file:
        for number in range(0, (size + BLOCK - 1) // BLOCK):
            expected = block_of(name, number)[:size - number * BLOCK]
            test.true(f"block {number} of {name} is as written", file.read(BLOCK) == expected)


@contextlib.contextmanager
def full(test):
    """The disk is full in it, and has room after it."""
    size = fill()
    try:
        yield size
    finally:
        for name in [name for name in os.listdir(".") if name.startswith("filler")]:
            os.unlink(name)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            with test.opened("room", os.O_CREAT | os.O_WRONLY) as descriptor:
                if os.write(descriptor, bytes(1 << 20)) == 1 << 20:
                    return
        except OSError:
            pass
        finally:
            os.unlink("room")
        time.sleep(0.05)
    raise Failure("a write of 1 MiB after all was removed", "success within 10 s", "none")


def tried(test, what, function, *arguments):
    """Whether it worked; it may fail for want of room only."""
    try:
        function(*arguments)
        return True
    except OSError as error:
        test.true(f"{what} fails for want of room", error.errno in NO_ROOM, kernel.error_name(error))
        return False


@case("full.write", SMALL_DISK)
def writes(test):
    with full(test) as size:
        test.true("something was written", size > 1 << 20, size)
        check_filler(test, size)


@case("full.in_place", SMALL_DISK)
def in_place(test):
    with full(test) as size:
        with test.opened("filler") as descriptor:
            test.equal("written over", BLOCK, test.works(os.pwrite, descriptor, block_of("filler", 0), 0))
            tried(test, "fsync", os.fsync, descriptor)
        check_filler(test, size)


@case("full.names", SMALL_DISK)
def names(test):
    with full(test):
        test.works(os.rename, "file", "full/moved")
        test.works(os.unlink, "empty")
        test.works(os.rmdir, "dir")
        test.works(os.chmod, "full", 0o700)
        tried(test, "mkdir", os.mkdir, "sub")
        tried(test, "symlink", os.symlink, "a" * 50, "new")
        tried(test, "setxattr", os.setxattr, "large", "user.a", b"b")
        tried(test, "creation", test.make, "made")
        test.equal("names", ["child", "moved"], test.names("full"))


@case("full.read_existing", SMALL_DISK)
def reads(test):
    """Dataless content may find no room: an error then, and never zeros."""
    with full(test):
        with test.opened("large", os.O_RDONLY) as descriptor:
            try:
                test.true("what is read is right", os.pread(descriptor, 300_000, 0) == items.large_content())
            except OSError as error:
                test.true("read fails for want of room", error.errno in NO_ROOM, kernel.error_name(error))
    test.true("later it is all there", test.content("large") == items.large_content())


@case("full.write_existing", SMALL_DISK)
def writes_existing(test):
    expected = bytearray(items.large_content())
    with full(test):
        with test.opened("large") as descriptor:
            if tried(test, "a write", os.pwrite, descriptor, b"new", 1000):
                expected[1000:1003] = b"new"
    test.true("later its content is old or new", test.content("large") == expected)


@case("full.truncate_existing", SMALL_DISK)
def truncates_existing(test):
    with full(test):
        worked = tried(test, "truncate", os.truncate, "large", 1000)
    test.true("later its content is old or new",
              test.content("large") == (items.large_content()[:1000] if worked else items.large_content()))


@case("full.open_truncating", SMALL_DISK)
def opens_truncating(test):
    with full(test):
        worked = tried(test, "open with O_TRUNC", lambda: os.close(os.open("large", os.O_WRONLY | os.O_TRUNC)))
    test.equal("size", 0 if worked else items.LARGE, os.stat("large").st_size)


@case("full.save", SMALL_DISK)
def saves(test):
    """An editor that writes a new file and renames it over the old one: the old one stays if there is no room."""
    with full(test):
        try:
            with open("new", "wb", 0) as file:
                file.write(bytes(200_000))
                os.fsync(file.fileno())
            os.rename("new", "large")
            test.equal("size", 200_000, os.stat("large").st_size)
            return
        except OSError as error:
            test.true("it fails for want of room", error.errno in NO_ROOM, kernel.error_name(error))
            os.unlink("new")
    test.true("the old one is there", test.content("large") == items.large_content())


@case("full.fallocate", SMALL_DISK)
def allocates(test):
    with test.opened("file") as descriptor:
        test.fails("ENOSPC", kernel.fallocate, descriptor, 0, 0, LARGEST_DISK)
        test.true("the size is the old one, or room was left", os.fstat(descriptor).st_size >= 10)
        test.equal("content", b"0123456789", os.pread(descriptor, 10, 0))
        os.ftruncate(descriptor, 10)
    with full(test):
        with test.opened("filler") as descriptor:
            test.fails("ENOSPC", kernel.fallocate, descriptor, kernel.FALLOC_KEEP_SIZE, 0, LARGEST_DISK)


@case("full.mapped_store", SMALL_DISK)
def mapped(test):
    """A store into a hole finds no room: SIGBUS, or EIO at the latest at msync; others go on."""
    test.make("sparse")
    os.truncate("sparse", 4 << 20)
    with full(test) as size:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGBUS, signal.SIG_DFL)
            descriptor = os.open("sparse", os.O_RDWR)
            mapping = mmap.mmap(descriptor, 4 << 20)
            try:
                for place in range(0, 4 << 20, mmap.PAGESIZE):
                    mapping[place] = 1
                mapping.flush()
            except OSError:
                os._exit(1)
            os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        test.true("it is told (SIGBUS, or 1)", ended in (-signal.SIGBUS, 1, 0), ended)
        check_filler(test, size)
    test.works(os.unlink, "sparse")


@case("full.four_writers", SMALL_DISK)
def writers(test):
    reading, writing = os.pipe()
    pids = []
    for number in range(4):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                os.write(writing, b"%d %d\n" % (number, fill(f"filler{number}")))
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    for pid in pids:
        test.equal("a writer's end", 0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    for line in os.read(reading, 4096).splitlines():
        number, size = map(int, line.split())
        check_filler(test, size, f"filler{number}")
    for number in range(4):
        os.unlink(f"filler{number}")
    with full(test):
        pass


@case("full.copy", SMALL_DISK)
def copies(test):
    with full(test):
        with test.opened("filler", os.O_RDONLY) as source, test.opened("new", os.O_CREAT | os.O_RDWR) as target:
            copied = 0
            try:
                while copied < 1 << 20:
                    copied += os.copy_file_range(source, target, (1 << 20) - copied)
            except OSError as error:
                test.true("it fails for want of room", error.errno in NO_ROOM, kernel.error_name(error))
            test.equal("size", copied, os.fstat(target).st_size)
