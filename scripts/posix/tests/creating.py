"""open(2) that makes a file: O_CREAT, O_EXCL and O_TMPFILE, and what is no regular file."""

import os
import resource
import socket
import stat
import time

import kernel
from suite import case, in_child

CREATE = os.O_CREAT | os.O_WRONLY


@case("open.creat.new")
def creates(test):
    descriptor = test.works(os.open, "new", os.O_CREAT | os.O_RDWR, 0o640)
    state = os.fstat(descriptor)
    test.equal("type and mode", stat.S_IFREG | 0o640, state.st_mode)
    test.equal("owner and group", (test.uid, test.gid), (state.st_uid, state.st_gid))
    test.equal("size and links", (0, 1), (state.st_size, state.st_nlink))
    test.equal("its name leads to it", state.st_ino, os.stat("new").st_ino)
    test.equal("what is listed has its inode", [state.st_ino], [e.inode() for e in os.scandir(".") if e.name == "new"])
    os.close(descriptor)


@case("open.creat.times")
def creates_with_times(test):
    test.tick()
    before = time.time()
    with test.moves(here="mc"):
        os.close(os.open("new", CREATE, 0o644))
    state = os.stat("new")
    for field in ("st_atime", "st_mtime", "st_ctime"):
        test.true(f"{field} is now", abs(getattr(state, field) - before) < 1, getattr(state, field) - before)


@case("open.creat.existing")
def opens_existing(test):
    with test.moves(file="", here=""):
        os.close(os.open("file", CREATE, 0o600))
    test.equal("content", b"0123456789", test.content("file"))
    test.equal("mode", 0o644, test.mode("file"))


@case("open.creat.umask")
def umask(test):
    with test.umask(0o137):
        os.close(os.open("new", CREATE, 0o777))
        os.mkdir("sub", 0o777)
        os.mkfifo("fifo", 0o666)
    test.equal("mode of a file made with 0777 under umask 0137", 0o640, test.mode("new"))
    test.equal("mode of a directory made with 0777 under umask 0137", 0o640, test.mode("sub"))
    test.equal("mode of a FIFO made with 0666 under umask 0137", 0o640, test.mode("fifo"))


@case("open.creat.mode_bits")
def special_bits(test):
    with test.umask(0):
        os.close(os.open("new", CREATE, 0o7777))
    test.true("mode", test.mode("new") in (0o7777, 0o6777), oct(test.mode("new")))


@case("open.creat.unreadable")
def writes_what_it_may_not(test):
    with test.opened("new", os.O_CREAT | os.O_RDWR, 0) as descriptor:
        os.write(descriptor, b"abc")
        test.equal("content", b"abc", os.pread(descriptor, 9, 0))
    test.equal("mode", 0, test.mode("new"))


@case("open.excl.exists")
def exclusive(test):
    for name in ("file", "dir", "link"):
        test.fails("EEXIST", os.open, name, CREATE | os.O_EXCL)


@case("open.excl.dangling")
def exclusive_dangling(test):
    os.symlink("nowhere", "dangling")
    test.fails("EEXIST", os.open, "dangling", CREATE | os.O_EXCL)
    test.absent("nowhere")


@case("open.excl.new")
def exclusive_new(test):
    os.close(test.works(os.open, "new", CREATE | os.O_EXCL, 0o600))
    test.fails("EEXIST", os.open, "new", CREATE | os.O_EXCL)


@case("open.creat.through_dangling_link")
def through_link(test):
    os.symlink("target", "dangling")
    os.close(test.works(os.open, "dangling", CREATE, 0o600))
    test.true("the target is a file", stat.S_ISREG(os.lstat("target").st_mode))


@case("open.creat.directory")
def creates_directory(test):
    test.fails("EISDIR", os.open, "dir", os.O_CREAT | os.O_RDONLY)
    test.fails("EISDIR", os.open, "dir", CREATE)


@case("open.fifo.nonblocking")
def fifo(test):
    os.mkfifo("fifo")
    test.fails("ENXIO", os.open, "fifo", os.O_WRONLY | os.O_NONBLOCK)
    with test.opened("fifo", os.O_RDONLY | os.O_NONBLOCK) as reader, test.opened("fifo", os.O_WRONLY) as writer:
        os.write(writer, b"through")
        test.equal("what came", b"through", os.read(reader, 10))
    test.equal("size", 0, os.stat("fifo").st_size)


@case("open.socket")
def socket_node(test):
    with socket.socket(socket.AF_UNIX) as server:
        test.works(server.bind, "socket")
        server.listen(1)
        test.true("is a socket", stat.S_ISSOCK(os.stat("socket").st_mode))
        test.fails("ENXIO", os.open, "socket", os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as client:
            test.works(client.connect, "socket")


@case("open.tmpfile")
def temporary(test):
    with test.moves(dir=""):
        with test.opened("dir", os.O_TMPFILE | os.O_RDWR, 0o600) as descriptor:
            os.write(descriptor, b"unnamed")
            test.equal("content", b"unnamed", os.pread(descriptor, 10, 0))
            state = os.fstat(descriptor)
            test.equal("links, mode, owner", (0, 0o600, test.uid),
                       (state.st_nlink, stat.S_IMODE(state.st_mode), state.st_uid))
            test.equal("names", [], test.names("dir"))


@case("open.tmpfile.linked")
def temporary_linked(test):
    with test.opened(".", os.O_TMPFILE | os.O_RDWR, 0o600) as descriptor:
        os.write(descriptor, b"was unnamed")
        test.works(kernel.link_by_proc, descriptor, "named")
        test.equal("links", 1, os.fstat(descriptor).st_nlink)
    test.equal("content", b"was unnamed", test.content("named"))


@case("open.tmpfile.excl")
def temporary_exclusive(test):
    with test.opened(".", os.O_TMPFILE | os.O_RDWR | os.O_EXCL, 0o600) as descriptor:
        test.fails("ENOENT", kernel.link_by_proc, descriptor, "named")


@case("open.tmpfile.errors")
def temporary_errors(test):
    test.fails("EINVAL", os.open, ".", os.O_TMPFILE | os.O_RDONLY)
    test.fails("ENOTDIR", os.open, "file", os.O_TMPFILE | os.O_RDWR)
    test.fails("ENOENT", os.open, "absent", os.O_TMPFILE | os.O_RDWR)


@case("open.emfile")
def too_many(test):
    def exhausts():
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        names = []
        try:
            for number in range(20):
                names.append(f"new{number}")
                os.open(names[-1], CREATE)
        except OSError as error:
            return 0 if kernel.error_name(error) == "EMFILE" and not os.path.exists(names[-1]) else 1
        return 2

    test.equal("EMFILE makes no file (0), or does (1), or none came (2)", 0, in_child(exhausts))
