"""mmap(2): what is stored through a mapping is in the file, and the other way round."""

import mmap
import os

from suite import case, in_child

PAGE = mmap.PAGESIZE


@case("mmap.read")
def reads(test):
    with test.opened("large", os.O_RDONLY) as descriptor:
        with mmap.mmap(descriptor, 0, prot=mmap.PROT_READ) as mapping:
            test.equal("length", 300_000, len(mapping))
            test.equal("its last word", (74_999).to_bytes(4, "little"), mapping[-4:])


@case("mmap.store_and_read")
def stores(test):
    with test.opened("large") as descriptor:
        with mmap.mmap(descriptor, 0) as mapping:
            mapping[5000:5005] = b"store"
            test.equal("by read(2), at once", b"store", os.pread(descriptor, 5, 5000))
            os.pwrite(descriptor, b"write", 6000)
            test.equal("by the mapping, at once", b"write", mapping[6000:6005])
            mapping.flush()
    data = test.content("large")
    test.equal("in the end", (b"store", b"write", 300_000), (data[5000:5005], data[6000:6005], len(data)))


@case("mmap.store_without_msync")
def without_msync(test):
    with test.opened("large") as descriptor:
        with mmap.mmap(descriptor, 0) as mapping:
            mapping[0:5] = b"first"
            mapping[299_995:300_000] = b"final"
    data = test.content("large")
    test.equal("both ends", (b"first", b"final"), (data[:5], data[-5:]))


@case("mmap.store_after_close")
def after_close(test):
    descriptor = os.open("large", os.O_RDWR)
    mapping = mmap.mmap(descriptor, 0)
    os.close(descriptor)
    mapping[100_000:100_005] = b"after"
    test.equal("seen by a reader", b"after", test.content("large")[100_000:100_005])
    mapping.flush()
    mapping[200_000:200_005] = b"later"
    mapping.close()
    data = test.content("large")
    test.equal("in the end", (b"after", b"later"), (data[100_000:100_005], data[200_000:200_005]))


@case("mmap.store_after_unlink")
def after_unlink(test):
    with test.opened("file") as descriptor, mmap.mmap(descriptor, 0) as mapping:
        os.unlink("file")
        mapping[0:3] = b"abc"
        mapping.flush()
        test.equal("by read(2)", b"abc3456789", os.pread(descriptor, 20, 0))


@case("mmap.process_ends_with_dirty_pages")
def process_ends(test):
    def stores_and_ends():
        descriptor = os.open("large", os.O_RDWR)
        mapping = mmap.mmap(descriptor, 0)
        os.close(descriptor)
        for place in range(0, 300_000, PAGE):
            mapping[place:place + 1] = b"E"
        os.kill(os.getpid(), 9)

    test.equal("its end", -9, in_child(stores_and_ends))
    data = test.content("large")
    test.equal("every page", b"E" * len(range(0, 300_000, PAGE)), data[::PAGE])


@case("mmap.two_processes")
def shared(test):
    with test.opened("file") as descriptor, mmap.mmap(descriptor, 0) as mapping:
        def stores_there():
            other = os.open("file", os.O_RDWR)
            with mmap.mmap(other, 0) as theirs:
                theirs[0:1] = b"T"
            return 0

        in_child(stores_there)
        test.equal("seen here", b"T123456789", mapping[:])


@case("mmap.behind_the_end")
def behind_end(test):
    """The rest of the last page is zeros and never gets into the file."""
    with test.opened("file") as descriptor:
        with mmap.mmap(descriptor, 10) as mapping:
            mapping[9:10] = b"!"
        os.ftruncate(descriptor, 20)
        test.equal("content", b"012345678!" + bytes(10), os.pread(descriptor, 100, 0))


@case("mmap.private")
def private(test):
    with test.opened("file") as descriptor:
        with mmap.mmap(descriptor, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapping:
            mapping[0:5] = b"local"
    test.equal("content", b"0123456789", test.content("file"))


@case("mmap.truncated")
def truncated(test):
    """Pages behind the new end are gone: SIGBUS."""
    def touches():
        descriptor = os.open("large", os.O_RDWR)
        mapping = mmap.mmap(descriptor, 0)
        mapping[0:1] = b"x"
        os.ftruncate(descriptor, 1000)
        if mapping[500] is None:
            return 1
        return mapping[200_000]

    test.equal("signal", -7, in_child(touches))
    test.equal("size", 1000, test.size("large"))


@case("mmap.grows_with_file")
def grows(test):
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        os.ftruncate(descriptor, PAGE)
        with mmap.mmap(descriptor, PAGE) as mapping:
            mapping[0:2] = b"ab"
            os.pwrite(descriptor, b"cd", PAGE)
            test.equal("size", PAGE + 2, os.fstat(descriptor).st_size)
        test.equal("both", (b"ab", b"cd"), (os.pread(descriptor, 2, 0), os.pread(descriptor, 2, PAGE)))


@case("mmap.time_after_msync")
def time_moves(test):
    with test.opened("file") as descriptor, mmap.mmap(descriptor, 0) as mapping:
        os.utime("file", (1, 1))
        mapping[0:1] = b"x"
        mapping.flush()
        test.true("mtime moved", os.stat("file").st_mtime > 1000, os.stat("file").st_mtime)


@case("mmap.read_only_open")
def read_only(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.fails("EACCES", mmap.mmap, descriptor, 10)
    with test.opened("file", os.O_WRONLY) as descriptor:
        test.fails("EACCES", mmap.mmap, descriptor, 10)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        test.fails("ENODEV EACCES", lambda: mmap.mmap(descriptor, 10, prot=mmap.PROT_READ))


@case("mmap.mapped_file_is_written_over")
def written_over(test):
    with test.opened("large") as descriptor, mmap.mmap(descriptor, 0) as mapping:
        with test.opened("large", os.O_WRONLY) as other:
            for place in range(0, 300_000, 1000):
                os.pwrite(other, b"over", place)
        test.true("all of it is seen", all(mapping[place:place + 4] == b"over" for place in range(0, 300_000, 1000)))
