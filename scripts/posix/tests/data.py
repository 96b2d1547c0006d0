"""Reading and writing: ranges, holes, and limits."""

import errno
import os
import resource
import threading

import kernel
from suite import case, in_child

LARGEST = 2**63 - 1
PATTERN = bytes(range(251)) * 4180  # above 1 MiB, and no page is like another


@case("write.at_once")
def writes(test):
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        with test.moves(new="mc", here=""):
            test.equal("written", len(PATTERN), test.works(os.write, descriptor, PATTERN))
        test.equal("position", len(PATTERN), os.lseek(descriptor, 0, os.SEEK_CUR))
        test.equal("size", len(PATTERN), os.fstat(descriptor).st_size)
    test.equal("content", PATTERN, test.content("new"))


@case("write.over_existing")
def overwrites(test):
    with test.opened("file") as descriptor:
        with test.moves(file="mc", here=""):
            test.works(os.pwrite, descriptor, b"ab", 3)
    test.equal("content", b"012ab56789", test.content("file"))


@case("write.extends_existing")
def extends(test):
    with test.opened("file") as descriptor:
        os.pwrite(descriptor, b"abcdef", 8)
        test.equal("size", 14, os.fstat(descriptor).st_size)
    test.equal("content", b"01234567abcdef", test.content("file"))


@case("write.large_existing")
def into_large(test):
    with test.opened("large") as descriptor:
        for place in (0, 4095, 131_071, 131_072, 299_990):
            os.pwrite(descriptor, b"|page|", place)
    data = test.content("large")
    expected = bytearray(b"".join(index.to_bytes(4, "little") for index in range(75_000)))
    for place in (0, 4095, 131_071, 131_072, 299_990):
        expected[place:place + 6] = b"|page|"
    test.true("content is as written", data == expected, first_difference(expected, data))


def first_difference(expected, got):
    for place in range(max(len(expected), len(got))):
        if expected[place:place + 1] != got[place:place + 1]:
            return f"at {place}: {got[place:place + 8]!r} for {bytes(expected[place:place + 8])!r}, size {len(got)}"
    return "equal"


@case("write.hole")
def hole(test):
    with test.opened("file") as descriptor:
        os.pwrite(descriptor, b"end", 100_000)
    test.equal("content", b"0123456789" + bytes(99_990) + b"end", test.content("file"))


@case("write.nothing")
def nothing(test):
    with test.opened("file") as descriptor:
        with test.moves(file=""):
            test.equal("written", 0, os.write(descriptor, b""))
            test.equal("written behind the end", 0, os.pwrite(descriptor, b"", 1000))
    test.equal("size", 10, test.size("file"))


@case("write.single_bytes")
def bytewise(test):
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        for number in range(3000):
            os.pwrite(descriptor, bytes([number % 256]), 2999 - number)
    test.equal("content", bytes((2999 - place) % 256 for place in range(3000)), test.content("new"))


@case("write.vectors")
def vectors(test):
    with test.opened("file") as descriptor:
        test.equal("written", 6, os.writev(descriptor, [b"ab", b"", b"cdef"]))
        buffers = [bytearray(3), bytearray(20)]
        test.equal("read", 10, os.preadv(descriptor, buffers, 0))
        test.equal("what", (b"abc", b"def6789"), (bytes(buffers[0]), bytes(buffers[1][:7])))


@case("write.per_call_flags")
def per_call(test):
    with test.opened("file") as descriptor:
        test.works(os.pwritev, descriptor, [b"A"], 0, os.RWF_DSYNC)
        test.works(os.pwritev, descriptor, [b"B"], 1, os.RWF_SYNC)
        test.works(os.pwritev, descriptor, [b"C"], 0, 0x10)  # RWF_APPEND
    test.equal("content", b"AB23456789C", test.content("file"))


@case("write.seen_by_others")
def seen(test):
    with test.opened("file") as one, test.opened("file", os.O_RDONLY) as other:
        test.equal("before", b"0123456789", os.pread(other, 20, 0))
        os.pwrite(one, b"abc", 9)
        test.equal("after", b"012345678abc", os.pread(other, 20, 0))
        test.equal("size", 12, os.fstat(other).st_size)
        os.ftruncate(one, 3)
        test.equal("shorter", b"012", os.pread(other, 20, 0))


@case("write.shared_position")
def position(test):
    with test.opened("file") as descriptor:
        second = os.dup(descriptor)
        os.write(descriptor, b"ab")
        os.write(second, b"cd")
        os.close(second)
    test.equal("content", b"abcd456789", test.content("file"))


@case("write.after_close_of_another")
def other_closes(test):
    with test.opened("file") as descriptor:
        os.close(os.open("file", os.O_RDWR))
        os.write(descriptor, b"ab")
    test.equal("content", b"ab23456789", test.content("file"))


@case("write.parallel")
def parallel(test):
    def writer(number):
        with test.opened("new", os.O_RDWR) as descriptor:
            for block in range(64):
                os.pwrite(descriptor, bytes([number]) * 1000, (block * 4 + number) * 1000)

    test.make("new")
    threads = [threading.Thread(target=writer, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = b"".join(bytes([number]) * 1000 for _ in range(64) for number in range(4))
    test.true("content is as written", test.content("new") == expected)


@case("write.offsets")
def offsets(test):
    with test.opened("file") as descriptor:
        test.fails("EINVAL", os.pwrite, descriptor, b"x", -1)
        test.fails("EINVAL", os.pread, descriptor, 1, -1)
        test.fails("EFBIG EINVAL", os.pwrite, descriptor, b"xy", LARGEST)
        test.equal("read near 2^63", b"", test.works(os.pread, descriptor, 100, LARGEST - 100))
        test.fails("EINVAL", os.lseek, descriptor, -1, os.SEEK_SET)
    test.equal("size", 10, test.size("file"))


@case("write.near_the_limit")
def near_limit(test):
    """Either there is room for such a file, or it is refused and nothing has changed."""
    with test.opened("file") as descriptor:
        for place in (2**43, 2**44 - 1, 2**44, 2**62, LARGEST - 4096, LARGEST - 1):
            try:
                os.pwrite(descriptor, b"x", place)
            except OSError as error:
                test.true(f"errno of a write at {place}", error.errno in (errno.EFBIG, errno.ENOSPC), str(error))
                test.equal("size after it", 10, os.fstat(descriptor).st_size)
            else:
                test.equal("size", place + 1, os.fstat(descriptor).st_size)
                test.equal("byte", b"x", os.pread(descriptor, 1, place))
                os.ftruncate(descriptor, 10)
    test.equal("content", b"0123456789", test.content("file"))


@case("write.file_size_limit")
def size_limit(test):
    """RLIMIT_FSIZE: a short write up to it, then EFBIG."""
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (12, 12))
        descriptor = os.open("file", os.O_RDWR)
        if os.pwrite(descriptor, b"abcdef", 8) != 4:
            return 1
        for call in (lambda: os.pwrite(descriptor, b"x", 12), lambda: os.ftruncate(descriptor, 13)):
            try:
                call()
                return 2
            except OSError as error:
                if error.errno != errno.EFBIG:
                    return 3
        return 0

    test.equal("short write (else 1), EFBIG (else 2, 3)", 0, in_child(limited))
    test.equal("content", b"01234567abcd", test.content("file"))


@case("read.ranges")
def ranges(test):
    with test.opened("large", os.O_RDONLY) as descriptor:
        test.equal("at the end", b"", os.pread(descriptor, 10, 300_000))
        test.equal("over the end", 5, len(os.pread(descriptor, 10, 299_995)))
        test.equal("nothing", b"", os.pread(descriptor, 0, 0))
        test.equal("across pages", (1024).to_bytes(4, "little"), os.pread(descriptor, 4, 4096))
        test.equal("all", 300_000, len(os.read(descriptor, 1_000_000)))


@case("read.sparse")
def sparse(test):
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        os.ftruncate(descriptor, 1 << 20)
        test.equal("zeros", bytes(5000), os.pread(descriptor, 5000, 500_000))
        test.true("takes little room", os.fstat(descriptor).st_blocks * 512 < 1 << 19)


@case("lseek.ends")
def seeks(test):
    with test.opened("file") as descriptor:
        test.equal("end", 10, os.lseek(descriptor, 0, os.SEEK_END))
        test.equal("behind it", 110, os.lseek(descriptor, 100, os.SEEK_END))
        test.equal("read there", b"", os.read(descriptor, 10))
        test.fails("EINVAL", os.lseek, descriptor, -11, os.SEEK_END)
        test.fails("EINVAL", os.lseek, descriptor, 0, 99)


@case("lseek.data_and_holes")
def holes(test):
    """Any map is right that shows all data as data."""
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        os.pwrite(descriptor, b"d" * 65536, 1 << 20)
        os.ftruncate(descriptor, 2 << 20)
        data = test.works(os.lseek, descriptor, 0, os.SEEK_DATA)
        test.true("data begin at or before what was written", data <= 1 << 20, data)
        hole_start = test.works(os.lseek, descriptor, 1 << 20, os.SEEK_HOLE)
        test.true("the hole begins behind it", hole_start >= (1 << 20) + 65536, hole_start)
        test.fails("ENXIO", os.lseek, descriptor, 2 << 20, os.SEEK_DATA)
        test.fails("ENXIO", os.lseek, descriptor, 2 << 20, os.SEEK_HOLE)
        test.equal("the last hole at the latest", True, os.lseek(descriptor, 0, os.SEEK_HOLE) <= 2 << 20)


@case("lseek.existing")
def existing_map(test):
    with test.opened("file") as descriptor:
        test.equal("data", 0, test.works(os.lseek, descriptor, 0, os.SEEK_DATA))
        test.equal("hole", 10, test.works(os.lseek, descriptor, 0, os.SEEK_HOLE))


@case("pipe.not_seekable")
def fifo_offsets(test):
    os.mkfifo("fifo")
    with test.opened("fifo", os.O_RDWR | os.O_NONBLOCK) as descriptor:
        test.fails("ESPIPE", os.lseek, descriptor, 0, os.SEEK_SET)
        test.fails("ESPIPE", os.pread, descriptor, 1, 0)


@case("bad_descriptor")
def bad_descriptors(test):
    for function, arguments in ((os.read, (999, 1)), (os.write, (999, b"x")), (os.ftruncate, (999, 0)),
                                (os.fsync, (999,)), (os.fchmod, (999, 0)), (os.fstat, (999,)), (os.lseek, (999, 0, 0))):
        test.fails("EBADF", function, *arguments)


@case("write.killed_writer")
def killed(test):
    """What write(2) returned for is there, whatever happens to the writer."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        descriptor = os.open("new", os.O_CREAT | os.O_WRONLY)
        for number in range(10_000_000):
            os.write(descriptor, b"%08d" % number)
            if number == 200:
                os.write(writing, b"x")
    os.read(reading, 1)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    data = test.content("new")
    test.true("at least 201 are there", len(data) >= 201 * 8, len(data))
    whole = len(data) // 8
    test.true("in their order", data[:whole * 8] == b"".join(b"%08d" % number for number in range(whole)))


@case("kernel.names_errors")
def names_errors(test):
    """Of the suite itself: an errno is told by its name."""
    try:
        os.open("absent", os.O_RDONLY)
    except OSError as error:
        test.equal("name", "ENOENT", kernel.error_name(error))
