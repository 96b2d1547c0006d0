"""Which times move with which operation, of the item and of its parents. Creating, renaming and others have theirs
beside the other questions about them."""

import os

import kernel
from suite import case


@case("times.write_through_link")
def write_by_link(test):
    with test.opened("link") as descriptor:
        with test.moves(file="mc", link="", here=""):
            os.write(descriptor, b"x")


@case("times.write_through_second_name")
def second_name(test):
    os.link("file", "dir/second")
    with test.opened("dir/second") as descriptor:
        with test.moves(file="mc", dir="", here=""):
            os.write(descriptor, b"x")


@case("times.each_write")
def each_write(test):
    with test.opened("file") as descriptor:
        for _ in range(3):
            with test.moves(file="mc"):
                os.pwrite(descriptor, b"x", 0)


@case("times.read")
def read(test):
    with test.moves(file="", here=""):
        test.content("file")
        os.listdir(".")
        os.readlink("link")


@case("times.atime_of_read")
def atime(test):
    """As mounted: with relatime, an atime before mtime moves; with noatime it does not."""
    kernel.utimensat("file", (1000, 0), (2000, 0))
    test.content("file")
    moved = int(os.stat("file").st_atime) != 1000
    test.equal("atime moved", not os.statvfs(".").f_flag & os.ST_NOATIME, moved)


@case("times.stat_and_open")
def looks(test):
    with test.moves(file="", here=""):
        os.close(os.open("file", os.O_RDWR))
        os.access("file", os.R_OK)
        os.stat("file")
    state = os.stat("file")
    os.close(os.open("file", os.O_RDONLY))
    test.equal("atime after open", state.st_atime_ns, os.stat("file").st_atime_ns)


@case("times.rmdir_and_unlink_in_subdirectory")
def below(test):
    with test.moves(full="mc", here=""):
        os.unlink("full/child")
    os.mkdir("full/sub")
    with test.moves(full="mc", here=""):
        os.rmdir("full/sub")


@case("times.rename_ctime")
def renamed(test):
    """POSIX leaves it open for the moved one; every Linux file system of note does it."""
    with test.moves(link="c", here="mc"):
        os.rename("link", "moved")
        os.rename("moved", "link")


@case("times.rename_directory")
def renamed_directory(test):
    os.mkdir("target")
    with test.moves(here="mc", target="mc"):
        os.rename("full", "target/full")


@case("times.refused_calls")
def refused(test):
    with test.moves(here="", file="", dir="", full=""):
        for function, arguments in ((os.mkdir, ("file",)), (os.rmdir, ("full",)), (os.unlink, ("dir",)),
                                    (os.rename, ("dir", "full")), (os.link, ("file", "dir")),
                                    (os.truncate, ("file", -1)), (os.symlink, ("a", "file")), (os.mkfifo, ("file",))):
            try:
                function(*arguments)
            except OSError:
                continue
            test.true(f"{function.__name__} fails", False)


@case("times.xattr")
def xattr(test):
    with test.moves(file="c", here=""):
        os.setxattr("file", "user.a", b"b")
    with test.moves(file="", here=""):
        os.getxattr("file", "user.a")
        os.listxattr("file")
    with test.moves(file="c", here=""):
        os.removexattr("file", "user.a")


@case("times.hard_to_reach")
def tmpfile(test):
    with test.opened(".", os.O_TMPFILE | os.O_RDWR) as descriptor:
        with test.moves(here="mc"):
            kernel.link_by_proc(descriptor, "named")


@case("times.special_files")
def special(test):
    with test.moves(here="mc"):
        os.mkfifo("fifo")
    with test.moves(here="mc", link="c"):
        os.link("link", "second", follow_symlinks=False)


@case("times.stay_after_close")
def stay(test):
    with test.opened("file") as descriptor:
        os.write(descriptor, b"x")
        kernel.futimens(descriptor, (10, 0), (20, 0))
    test.equal("times set after the last write stay", (10, 20),
               (int(os.stat("file").st_atime), int(os.stat("file").st_mtime)))


@case("times.stay_after_close_large")
def stay_large(test):
    """What `cp -p` and `tar` do; a file above the size for passthrough."""
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        os.write(descriptor, bytes(400_000))
        kernel.futimens(descriptor, (10, 0), (20, 0))
        os.fchmod(descriptor, 0o600)
    with test.opened("large") as descriptor:
        os.write(descriptor, b"x")
        kernel.futimens(descriptor, (10, 0), (20, 0))
    for name in ("new", "large"):
        test.equal(f"times of {name}", (10, 20), (int(os.stat(name).st_atime), int(os.stat(name).st_mtime)))


@case("times.order")
def order(test):
    """A file that was changed later is not older: make depends on it."""
    for number in range(20):
        test.make(f"dir/{number}", b"x")
        test.tick()
    times = [os.stat(f"dir/{number}").st_mtime_ns for number in range(20)]
    test.equal("in the order in which they were written", sorted(times), times)
