"""statfs, and what makes content durable (that it is, the crash harness shows)."""

import os

import kernel
from suite import case


@case("statfs.numbers")
def numbers(test):
    state = os.statvfs(".")
    test.true("block size", state.f_bsize >= 512, state.f_bsize)
    test.true("free is not more than all", state.f_bavail <= state.f_bfree <= state.f_blocks, str(state))
    test.equal("longest name", 255, state.f_namemax)
    other = os.statvfs("file")
    test.equal("the same by a file", (state.f_blocks, state.f_bsize), (other.f_blocks, other.f_bsize))


@case("statfs.handle")
def by_handle(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.works(os.fstatvfs, descriptor)


@case("statfs.is_writable")
def writable(test):
    test.equal("ST_RDONLY", 0, os.statvfs(".").f_flag & os.ST_RDONLY)


@case("fsync.file")
def fsync(test):
    with test.opened("file") as descriptor:
        os.write(descriptor, b"x")
        test.works(os.fsync, descriptor)
        os.write(descriptor, b"y")
        test.works(os.fdatasync, descriptor)
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.works(os.fsync, descriptor)
        test.works(os.fdatasync, descriptor)
    test.equal("content", b"xy23456789", test.content("file"))


@case("fsync.new_and_large")
def fsync_new(test):
    for name in ("new", "large", "empty"):
        with test.opened(name, os.O_CREAT | os.O_RDWR) as descriptor:
            test.works(os.fsync, descriptor)
            os.pwrite(descriptor, bytes(200_000), 1000)
            test.works(os.fsync, descriptor)


@case("fsync.directory")
def fsync_directory(test):
    test.make("dir/new")
    with test.opened("dir", os.O_RDONLY) as descriptor:
        test.works(os.fsync, descriptor)
        test.works(os.fdatasync, descriptor)
    with test.opened(".", os.O_RDONLY) as descriptor:
        test.works(os.fsync, descriptor)


@case("fsync.unlinked")
def fsync_unlinked(test):
    with test.opened("file") as descriptor:
        os.unlink("file")
        os.write(descriptor, b"x")
        test.works(os.fsync, descriptor)


@case("fsync.errors")
def fsync_errors(test):
    reading, _ = os.pipe()
    test.fails("EINVAL", os.fsync, reading)
    test.fails("EINVAL", os.fdatasync, reading)


@case("syncfs")
def syncfs(test):
    with test.opened("file") as descriptor:
        os.write(descriptor, b"x")
        test.works(kernel.syncfs, descriptor)


@case("sync_file_range")
def range_sync(test):
    with test.opened("file") as descriptor:
        os.write(descriptor, b"x")
        test.works(kernel.sync_file_range, descriptor, 0, 10, 7)


@case("fadvise")
def fadvise(test):
    with test.opened("file") as descriptor:
        os.write(descriptor, b"x")
        for advice in (os.POSIX_FADV_DONTNEED, os.POSIX_FADV_WILLNEED, os.POSIX_FADV_SEQUENTIAL):
            test.works(os.posix_fadvise, descriptor, 0, 0, advice)
        test.equal("content", b"x123456789", os.pread(descriptor, 20, 0))
