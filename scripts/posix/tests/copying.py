"""Copies inside the kernel."""

import fcntl
import os

from suite import case, in_child

PATTERN = bytes(range(251)) * 4180  # above 1 MiB, and no page is like another


@case("sendfile.to_and_from")
def sendfile(test):
    with test.opened("large", os.O_RDONLY) as source, test.opened("new", os.O_CREAT | os.O_RDWR) as target:
        sent = 0
        while sent < 300_000:
            sent += test.works(os.sendfile, target, source, sent, 300_000 - sent)
    test.true("content is equal", test.content("new") == test.content("large"))


@case("splice.through_pipe")
def splice(test):
    reading, writing = os.pipe()
    with test.opened("file") as source, test.opened("new", os.O_CREAT | os.O_RDWR) as target:
        test.equal("out of the file", 10, test.works(os.splice, source, writing, 100))
        test.equal("into the file", 10, test.works(os.splice, reading, target, 100))
    test.equal("content", b"0123456789", test.content("new"))


@case("copy_file_range.whole")
def copies(test):
    with test.opened("large", os.O_RDONLY) as source, test.opened("empty") as target:
        copied = 0
        with test.moves(empty="mc"):
            while count := test.works(os.copy_file_range, source, target, 1 << 20):
                copied += count
        test.equal("copied", 300_000, copied)
        test.equal("positions", (300_000, 300_000),
                   (os.lseek(source, 0, os.SEEK_CUR), os.lseek(target, 0, os.SEEK_CUR)))
    test.true("content is equal", test.content("empty") == test.content("large"))


@case("copy_file_range.ranges")
def copies_ranges(test):
    with test.opened("large", os.O_RDONLY) as source, test.opened("file") as target:
        test.equal("copied", 8, test.works(os.copy_file_range, source, target, 8, 4000, 4))
        test.equal("copied over its end", 4, os.copy_file_range(source, target, 100, 299_996, 12))
        test.equal("copied from behind its end", 0, os.copy_file_range(source, target, 100, 400_000, 0))
        test.equal("positions stay", (0, 0), (os.lseek(source, 0, os.SEEK_CUR), os.lseek(target, 0, os.SEEK_CUR)))
    test.equal("content", b"0123" + (1000).to_bytes(4, "little") + (1001).to_bytes(4, "little")
               + (74_999).to_bytes(4, "little"), test.content("file"))


@case("copy_file_range.within_one")
def copies_within(test):
    with test.opened("large") as descriptor:
        test.equal("copied", 1000, test.works(os.copy_file_range, descriptor, descriptor, 1000, 0, 100_000))
        test.fails("EINVAL", os.copy_file_range, descriptor, descriptor, 1000, 0, 500)
    data = test.content("large")
    test.true("content is equal", data[:1000] == data[100_000:101_000])


@case("copy_file_range.errors")
def copy_errors(test):
    with test.opened("large") as source, test.opened("file", os.O_RDONLY) as read_only, \
            test.opened("file", os.O_WRONLY) as write_only, test.opened("file", os.O_RDWR | os.O_APPEND) as appending, \
            test.opened("dir", os.O_RDONLY) as directory:
        test.fails("EBADF", os.copy_file_range, source, read_only, 10)
        test.fails("EBADF", os.copy_file_range, write_only, source, 10)
        test.fails("EBADF", os.copy_file_range, source, appending, 10)
        test.fails("EISDIR EBADF", os.copy_file_range, source, directory, 10)
        test.fails("EISDIR", os.copy_file_range, directory, source, 10)


@case("copy.between_file_systems")
def copies_in_and_out(test):
    import_descriptor = os.memfd_create("outside")
    os.write(import_descriptor, PATTERN)
    with test.opened("new", os.O_CREAT | os.O_RDWR) as target:
        sent = 0
        while sent < len(PATTERN):
            sent += test.works(os.sendfile, target, import_descriptor, sent, len(PATTERN) - sent)
    os.close(import_descriptor)
    test.true("content is equal", test.content("new") == PATTERN)


@case("descriptor.passed_on")
def inherited(test):
    with test.opened("file") as descriptor:
        fcntl.fcntl(descriptor, fcntl.F_SETFD, 0)
        test.equal("child", 0, in_child(lambda: 0 if os.write(descriptor, b"ab") == 2 else 1))
        os.write(descriptor, b"cd")
    test.equal("content", b"abcd456789", test.content("file"))
