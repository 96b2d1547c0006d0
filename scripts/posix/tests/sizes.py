"""truncate, ftruncate and fallocate."""

import errno
import os

import kernel
from suite import USER, case

KEEP, PUNCH, ZERO = kernel.FALLOC_KEEP_SIZE, kernel.FALLOC_PUNCH_HOLE, kernel.FALLOC_ZERO
LARGEST = 2**63 - 1


def large():
    return b"".join(index.to_bytes(4, "little") for index in range(75_000))


@case("truncate.shorter")
def shorter(test):
    with test.moves(file="mc", here=""):
        test.works(os.truncate, "file", 4)
    test.equal("size", 4, test.size("file"))
    test.equal("content", b"0123", test.content("file"))


@case("truncate.longer")
def longer(test):
    with test.moves(file="mc"):
        test.works(os.truncate, "file", 5000)
    test.equal("content", b"0123456789" + bytes(4990), test.content("file"))


@case("truncate.same")
def same(test):
    """POSIX: if the size does not change, the times may; Linux moves them."""
    test.works(os.truncate, "file", 10)
    test.equal("content", b"0123456789", test.content("file"))


@case("truncate.zero")
def to_zero(test):
    test.works(os.truncate, "large", 0)
    test.equal("content", b"", test.content("large"))


@case("truncate.down_and_up")
def down_and_up(test):
    """What was cut off is gone: zeros come back."""
    os.truncate("large", 5000)
    os.truncate("large", 20_000)
    test.true("content", test.content("large") == large()[:5000] + bytes(15_000))


@case("truncate.through_link")
def through_link(test):
    test.works(os.truncate, "link", 3)
    test.equal("size", 3, test.size("file"))
    test.true("the link is still one", os.path.islink("link"))


@case("truncate.errors")
def errors(test):
    test.fails("EINVAL", os.truncate, "file", -1)
    test.fails("EISDIR", os.truncate, "dir", 5)
    os.mkfifo("fifo")
    test.fails("EINVAL", os.truncate, "fifo", 5)
    test.equal("size", 10, test.size("file"))


@case("truncate.refused", USER)
def refused(test):
    os.chmod("file", 0o444)
    test.fails("EACCES", os.truncate, "file", 5)
    test.equal("size", 10, test.size("file"))


@case("truncate.huge")
def huge(test):
    for size in (2**40, 2**44, 2**62, LARGEST):
        try:
            os.truncate("file", size)
        except OSError as error:
            test.true(f"errno for {size}", error.errno in (errno.EFBIG, errno.ENOSPC, errno.EINVAL), str(error))
            test.equal("size after it", 10, test.size("file"))
        else:
            test.equal("size", size, test.size("file"))
            os.truncate("file", 10)
    test.equal("content", b"0123456789", test.content("file"))


@case("ftruncate.handle")
def by_handle(test):
    with test.opened("file") as descriptor:
        with test.moves(file="mc", here=""):
            test.works(os.ftruncate, descriptor, 6)
        os.pwrite(descriptor, b"x", 8)
        test.equal("content", b"012345\0\0x", os.pread(descriptor, 20, 0))
        test.fails("EINVAL", os.ftruncate, descriptor, -1)
    test.equal("size", 9, test.size("file"))


@case("ftruncate.keeps_position")
def keeps_position(test):
    with test.opened("file") as descriptor:
        os.lseek(descriptor, 8, os.SEEK_SET)
        os.ftruncate(descriptor, 2)
        test.equal("position", 8, os.lseek(descriptor, 0, os.SEEK_CUR))
        os.write(descriptor, b"y")
    test.equal("content", b"01" + bytes(6) + b"y", test.content("file"))


@case("ftruncate.after_chmod")
def after_chmod(test):
    """The open decided; what the mode says now does not matter."""
    with test.opened("file") as descriptor:
        os.chmod("file", 0)
        test.works(os.ftruncate, descriptor, 1)
        test.works(os.pwrite, descriptor, b"zz", 0)
        test.equal("content", b"zz", os.pread(descriptor, 9, 0))


@case("fallocate.extends")
def extends(test):
    with test.opened("file") as descriptor:
        with test.moves(file="mc"):
            test.works(kernel.fallocate, descriptor, 0, 0, 100_000)
        test.true("room is there", os.fstat(descriptor).st_blocks * 512 >= 100_000, os.fstat(descriptor).st_blocks)
    test.equal("content", b"0123456789" + bytes(99_990), test.content("file"))


@case("fallocate.within")
def within(test):
    with test.opened("large") as descriptor:
        test.works(kernel.fallocate, descriptor, 0, 1000, 2000)
    test.true("content is the same", test.content("large") == large())


@case("fallocate.keep_size")
def keep_size(test):
    with test.opened("file") as descriptor:
        test.works(kernel.fallocate, descriptor, KEEP, 0, 1 << 20)
        test.equal("size", 10, os.fstat(descriptor).st_size)
        test.true("room is there", os.fstat(descriptor).st_blocks * 512 >= 1 << 20, os.fstat(descriptor).st_blocks)
    test.equal("content", b"0123456789", test.content("file"))


@case("fallocate.punch")
def punch(test):
    with test.opened("large") as descriptor:
        with test.moves(large="mc"):
            test.works(kernel.fallocate, descriptor, PUNCH | KEEP, 4096, 131_072)
        test.equal("size", 300_000, os.fstat(descriptor).st_size)
    expected = large()
    test.true("content", test.content("large") == expected[:4096] + bytes(131_072) + expected[135_168:])


@case("fallocate.punch_odd")
def punch_odd(test):
    with test.opened("large") as descriptor:
        os.pread(descriptor, 300_000, 0)
        test.works(kernel.fallocate, descriptor, PUNCH | KEEP, 1001, 9999)
        test.works(kernel.fallocate, descriptor, PUNCH | KEEP, 299_000, 50_000)
        expected = large()
        test.true("content", os.pread(descriptor, 400_000, 0)
                  == expected[:1001] + bytes(9999) + expected[11_000:299_000] + bytes(1000))


@case("fallocate.punch_behind_the_end")
def punch_behind(test):
    with test.opened("file") as descriptor:
        test.works(kernel.fallocate, descriptor, PUNCH | KEEP, 100, 1000)
    test.equal("content", b"0123456789", test.content("file"))


@case("fallocate.zero")
def zero(test):
    with test.opened("large") as descriptor:
        try:
            kernel.fallocate(descriptor, ZERO, 1001, 9999)
        except OSError as error:
            test.equal("errno of a place without it", "EOPNOTSUPP", kernel.error_name(error))
            test.skip("no FALLOC_FL_ZERO_RANGE here")
        test.works(kernel.fallocate, descriptor, ZERO | KEEP, 299_990, 50_000)
        test.equal("size", 300_000, os.fstat(descriptor).st_size)
        test.works(kernel.fallocate, descriptor, ZERO, 299_990, 1010)
        test.equal("size when it may grow", 301_000, os.fstat(descriptor).st_size)
    old = large()
    test.true("content", test.content("large") == old[:1001] + bytes(9999) + old[11_000:299_990] + bytes(1010))


@case("fallocate.errors")
def fallocate_errors(test):
    with test.opened("file") as descriptor:
        test.fails("EINVAL", kernel.fallocate, descriptor, 0, -1, 10)
        test.fails("EINVAL", kernel.fallocate, descriptor, 0, 0, 0)
        test.fails("EINVAL", kernel.fallocate, descriptor, 0, 0, -5)
        test.fails("EFBIG", kernel.fallocate, descriptor, 0, LARGEST, 1)
        test.fails("EOPNOTSUPP", kernel.fallocate, descriptor, PUNCH, 0, 10)
        test.fails("EOPNOTSUPP EINVAL", kernel.fallocate, descriptor, 0x1000, 0, 10)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        test.fails("EBADF EISDIR ENODEV", kernel.fallocate, descriptor, 0, 0, 10)
    os.mkfifo("fifo")
    with test.opened("fifo", os.O_RDWR) as descriptor:
        test.fails("ESPIPE", kernel.fallocate, descriptor, 0, 0, 10)
    test.equal("content", b"0123456789", test.content("file"))


@case("fallocate.collapse_and_insert")
def collapse(test):
    """Either done right, or refused with EOPNOTSUPP and nothing changed."""
    with test.opened("large") as descriptor:
        for mode, size in ((kernel.FALLOC_COLLAPSE, 300_000 - 65_536), (kernel.FALLOC_INSERT, 300_000)):
            before = os.fstat(descriptor).st_size
            try:
                kernel.fallocate(descriptor, mode, 65_536, 65_536)
            except OSError as error:
                test.equal("errno", "EOPNOTSUPP", kernel.error_name(error))
                test.equal("size", before, os.fstat(descriptor).st_size)
            else:
                test.equal("size", size, os.fstat(descriptor).st_size)
