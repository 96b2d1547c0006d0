"""open(2) of what is there, with every flag."""

import fcntl
import mmap
import os
import resource
import shutil
import stat
import time

import kernel
from suite import USER, case

CREATE = os.O_CREAT | os.O_WRONLY


@case("open.directory.write")
def writes_directory(test):
    test.fails("EISDIR", os.open, "dir", os.O_WRONLY)
    test.fails("EISDIR", os.open, "dir", os.O_RDWR)
    test.fails("EISDIR", os.open, "dir", os.O_RDONLY | os.O_TRUNC)


@case("open.directory.flag")
def directory_flag(test):
    os.close(test.works(os.open, "dir", os.O_RDONLY | os.O_DIRECTORY))
    test.fails("ENOTDIR", os.open, "file", os.O_RDONLY | os.O_DIRECTORY)
    test.fails("ENOTDIR", os.open, "link", os.O_RDONLY | os.O_DIRECTORY)


@case("open.nofollow")
def no_follow(test):
    test.fails("ELOOP", os.open, "link", os.O_RDONLY | os.O_NOFOLLOW)
    os.close(test.works(os.open, "file", os.O_RDONLY | os.O_NOFOLLOW))


@case("open.path")
def path_only(test):
    with test.opened("file", os.O_PATH) as descriptor:
        test.fails("EBADF", os.read, descriptor, 1)
        test.fails("EBADF", os.ftruncate, descriptor, 1)
        test.fails("EBADF", os.fchmod, descriptor, 0o600)
        test.equal("its inode", os.stat("file").st_ino, os.fstat(descriptor).st_ino)
    with test.opened("link", os.O_PATH | os.O_NOFOLLOW) as descriptor:
        test.true("is the link", stat.S_ISLNK(os.fstat(descriptor).st_mode))
        test.equal("leads to", "file", os.readlink("", dir_fd=descriptor))


@case("open.trunc.write")
def truncates(test):
    with test.moves(file="mc", here=""):
        os.close(test.works(os.open, "file", os.O_WRONLY | os.O_TRUNC))
    test.equal("size", 0, test.size("file"))
    test.equal("content", b"", test.content("file"))


@case("open.trunc.large")
def truncates_large(test):
    with test.opened("large", os.O_RDWR | os.O_TRUNC) as descriptor:
        test.equal("size", 0, os.fstat(descriptor).st_size)
        os.write(descriptor, b"new")
    test.equal("content", b"new", test.content("large"))
    test.true("blocks were freed", os.stat("large").st_blocks * 512 <= 65536, os.stat("large").st_blocks)


@case("open.trunc.empty")
def truncates_empty(test):
    with test.moves(empty="mc"):
        os.close(os.open("empty", os.O_WRONLY | os.O_TRUNC))


@case("open.trunc.creat")
def truncates_or_creates(test):
    os.close(test.works(os.open, "new", CREATE | os.O_TRUNC, 0o644))
    os.close(test.works(os.open, "file", CREATE | os.O_TRUNC, 0o644))
    test.equal("sizes", (0, 0), (test.size("new"), test.size("file")))


@case("open.trunc.read_only_open")
def truncates_by_reading(test):
    """POSIX leaves it open; Linux truncates."""
    os.close(test.works(os.open, "file", os.O_RDONLY | os.O_TRUNC))
    test.equal("size", 0, test.size("file"))


@case("open.trunc.other_handles")
def others_see_it(test):
    with test.opened("file", os.O_RDWR) as other:
        test.equal("read before", b"0123456789", os.pread(other, 20, 0))
        os.close(os.open("file", os.O_WRONLY | os.O_TRUNC))
        test.equal("read after", b"", os.pread(other, 20, 0))
        test.equal("size", 0, os.fstat(other).st_size)


@case("open.trunc.refused", USER)
def truncates_not(test):
    os.chmod("file", 0o444)
    test.fails("EACCES", os.open, "file", os.O_RDONLY | os.O_TRUNC)
    test.fails("EACCES", os.open, "file", os.O_WRONLY | os.O_TRUNC)
    test.equal("size", 10, test.size("file"))


@case("open.eacces", USER)
def refused(test):
    for mode, flags in ((0o244, os.O_RDONLY), (0o444, os.O_WRONLY), (0o444, os.O_RDWR), (0o200, os.O_RDWR)):
        os.chmod("file", mode)
        test.fails("EACCES", os.open, "file", flags)


@case("open.access_modes")
def access_modes(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.fails("EBADF", os.write, descriptor, b"x")
        test.fails("EBADF", os.pwrite, descriptor, b"x", 0)
        test.fails("EINVAL EBADF", os.ftruncate, descriptor, 1)
        test.fails("EBADF", kernel.fallocate, descriptor, 0, 0, 10)
    with test.opened("file", os.O_WRONLY) as descriptor:
        test.fails("EBADF", os.read, descriptor, 1)
        test.fails("EBADF", os.pread, descriptor, 1, 0)
        test.works(os.write, descriptor, b"x")
    test.equal("content", b"x123456789", test.content("file"))


@case("open.write_only_reads_back")
def partial_page(test):
    """A write into the middle by a handle that may not read: what is around it stays."""
    with test.opened("large", os.O_WRONLY) as descriptor:
        os.pwrite(descriptor, b"XY", 5001)
    data = test.content("large")
    test.equal("bytes 4996 to 5008", (1249).to_bytes(4, "little") + (1250).to_bytes(4, "little")[:1] + b"XY"
               + (1250).to_bytes(4, "little")[3:] + (1251).to_bytes(4, "little"), data[4996:5008])


@case("open.append")
def appends(test):
    with test.opened("file", os.O_WRONLY | os.O_APPEND) as descriptor:
        os.lseek(descriptor, 2, os.SEEK_SET)
        os.write(descriptor, b"abc")
        test.equal("position after it", 13, os.lseek(descriptor, 0, os.SEEK_CUR))
        os.pwrite(descriptor, b"de", 0)  # as Linux has it: the offset is ignored
    test.equal("content", b"0123456789abcde", test.content("file"))


@case("open.append.by_fcntl")
def appends_later(test):
    with test.opened("file", os.O_RDWR) as descriptor:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_APPEND)
        os.write(descriptor, b"abc")
        fcntl.fcntl(descriptor, fcntl.F_SETFL, 0)
        os.pwrite(descriptor, b"z", 0)
    test.equal("content", b"z123456789abc", test.content("file"))


@case("open.append.two_writers")
def two_append(test):
    def writer(letter):
        with test.opened("new", os.O_WRONLY | os.O_APPEND) as descriptor:
            for _ in range(500):
                os.write(descriptor, letter * 16)

    test.make("new")
    pids = []
    for letter in (b"a", b"b"):
        pid = os.fork()
        if pid == 0:
            writer(letter)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)
    data = test.content("new")
    pieces = {data[place:place + 16] for place in range(0, len(data), 16)}
    test.equal("length", 16000, len(data))
    test.equal("pieces are whole", {b"a" * 16, b"b" * 16}, pieces)


@case("open.append.sees_growth")
def append_after_growth(test):
    with test.opened("file", os.O_WRONLY | os.O_APPEND) as one, test.opened("file", os.O_WRONLY) as other:
        os.write(one, b"a")
        os.pwrite(other, b"bb", 11)
        os.write(one, b"c")
    test.equal("content", b"0123456789abbc", test.content("file"))


@case("open.sync_flags")
def synchronous(test):
    for flag in (os.O_SYNC, os.O_DSYNC):
        with test.opened("file", os.O_WRONLY | flag) as descriptor:
            test.equal("written", 2, os.write(descriptor, b"xy"))
    test.equal("content", b"xy23456789", test.content("file"))


@case("open.direct")
def direct(test):
    try:
        descriptor = os.open("large", os.O_RDWR | os.O_DIRECT)
    except OSError as error:
        test.equal("errno of a place without O_DIRECT", "EINVAL", kernel.error_name(error))
        test.skip("no O_DIRECT here")
    with mmap.mmap(-1, 8192) as buffer:
        test.equal("read", 8192, os.preadv(descriptor, [buffer], 0))
        test.equal("its first word but one", (1).to_bytes(4, "little"), buffer[4:8])
        buffer[:] = b"d" * 8192
        test.equal("written", 8192, os.pwritev(descriptor, [buffer], 4096))
    os.close(descriptor)
    test.equal("read back", b"d" * 8192, test.content("large")[4096:12288])


@case("open.noatime")
def no_atime(test):
    os.utime("file", (1000, 1000))
    with test.opened("file", os.O_RDONLY | os.O_NOATIME) as descriptor:
        os.read(descriptor, 10)
    test.equal("atime", 1000, int(os.stat("file").st_atime))


@case("open.cloexec")
def close_on_exec(test):
    with test.opened("file", os.O_RDONLY | os.O_CLOEXEC) as descriptor:
        test.equal("FD_CLOEXEC", fcntl.FD_CLOEXEC, fcntl.fcntl(descriptor, fcntl.F_GETFD))


@case("open.text_busy")
def text_busy(test):
    if os.statvfs(".").f_flag & os.ST_NOEXEC:
        test.skip("mounted noexec")
    shutil.copyfile("/bin/sleep", "program")
    os.chmod("program", 0o755)
    pid = os.posix_spawn("./program", ["program", "20"], {})
    try:
        while os.readlink(f"/proc/{pid}/exe").split("/")[-1] != "program":
            time.sleep(0.001)
        test.fails("ETXTBSY", os.open, "program", os.O_WRONLY)
        test.fails("ETXTBSY", os.truncate, "program", 0)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


@case("open.executes_what_was_written")
def executes(test):
    if os.statvfs(".").f_flag & os.ST_NOEXEC:
        test.skip("mounted noexec")
    shutil.copyfile("/bin/true", "program")
    os.chmod("program", 0o755)
    pid = test.works(os.posix_spawn, "./program", ["program"], {})
    test.equal("exit status", 0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


@case("open.exec.eacces")
def executes_not(test):
    test.fails("EACCES", os.posix_spawn, "./file", ["file"], {})


@case("open.many_handles")
def many(test):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit[1], 4096), limit[1]))
    count = min(limit[1], 4096) - 64
    descriptors = [test.works(os.open, "file", os.O_RDWR) for _ in range(count)]
    os.pwrite(descriptors[0], b"M", 0)
    test.equal("read by the last", b"M123", os.pread(descriptors[-1], 4, 0))
    for descriptor in descriptors:
        os.close(descriptor)
    test.equal("content", b"M123456789", test.content("file"))
