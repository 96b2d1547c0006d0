"""chmod, chown, utimensat, access, and what stat(2) says."""

import os
import stat
import time

import kernel
from kernel import UTIME_NOW, UTIME_OMIT
from suite import PLAYERS, ROOT, USER, case


@case("chmod.file")
def chmod(test):
    for mode in (0, 0o600, 0o444, 0o777, 0o1644, 0o644):
        test.works(os.chmod, "file", mode)
        test.equal("mode", mode, test.mode("file"))


@case("chmod.times")
def chmod_times(test):
    with test.moves(file="c", here=""):
        os.chmod("file", 0o600)
    with test.moves(dir="c", here=""):
        os.chmod("dir", 0o700)


@case("chmod.special_bits")
def special_bits(test):
    for mode in (0o4755, 0o2755, 0o6711, 0o7777):
        test.works(os.chmod, "file", mode)
        test.equal("mode", mode, test.mode("file"))
    os.chmod("dir", 0o3770)
    test.equal("mode of a directory", 0o3770, test.mode("dir"))


@case("chmod.handle")
def fchmod(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.works(os.fchmod, descriptor, 0o600)
        test.equal("mode", 0o600, stat.S_IMODE(os.fstat(descriptor).st_mode))


@case("chmod.through_link")
def chmod_link(test):
    test.works(os.chmod, "link", 0o600)
    test.equal("mode of the file", 0o600, test.mode("file"))
    test.equal("mode of the link", 0o777, test.mode("link"))


@case("chmod.not_owner", PLAYERS)
def not_owner(test):
    with test.be(test.second):
        test.fails("EPERM", os.chmod, "file", 0o666)
        test.fails("EPERM", os.chmod, "dir", 0o777)
    test.equal("mode", 0o644, test.mode("file"))


@case("chmod.setgid_of_foreign_group", PLAYERS)
def foreign_group(test):
    os.chown("file", test.first, test.third)
    with test.be(test.first):
        test.works(os.chmod, "file", 0o2755)
    test.equal("mode", 0o755, test.mode("file"))
    with test.be(test.first, groups=[test.third]):
        os.chmod("file", 0o2755)
    test.equal("mode for a member", 0o2755, test.mode("file"))


@case("chown.root", ROOT)
def chown(test):
    with test.moves(file="c", here=""):
        test.works(os.chown, "file", 1234, 5678)
    state = os.stat("file")
    test.equal("owner and group", (1234, 5678), (state.st_uid, state.st_gid))
    os.chown("file", -1, 99)
    os.chown("file", 98, -1)
    state = os.stat("file")
    test.equal("one by one", (98, 99), (state.st_uid, state.st_gid))


@case("chown.large_numbers", ROOT)
def large_numbers(test):
    test.works(os.chown, "file", 2**32 - 2, 2**31)
    state = os.stat("file")
    test.equal("owner and group", (2**32 - 2, 2**31), (state.st_uid, state.st_gid))


@case("chown.link", ROOT)
def chown_link(test):
    os.lchown("link", 11, 12)
    test.equal("the link's", (11, 12), (os.lstat("link").st_uid, os.lstat("link").st_gid))
    test.equal("the file's", (0, 0), (os.stat("file").st_uid, os.stat("file").st_gid))
    os.chown("link", 13, 14)
    test.equal("the file's then", (13, 14), (os.stat("file").st_uid, os.stat("file").st_gid))


@case("chown.refused", USER)
def chown_refused(test):
    test.fails("EPERM", os.chown, "file", 0, -1)
    test.fails("EPERM", os.chown, "file", -1, 0)
    test.works(os.chown, "file", test.uid, test.gid)


@case("chown.own_groups", PLAYERS)
def own_groups(test):
    with test.be(test.first, groups=[test.third]):
        test.works(os.chown, "file", -1, test.third)
        test.fails("EPERM", os.chown, "file", test.second, -1)
        test.fails("EPERM", os.chown, "file", -1, test.second)
    test.equal("group", test.third, os.stat("file").st_gid)
    with test.be(test.second, groups=[test.third]):
        test.fails("EPERM", os.chown, "file", -1, test.second)


@case("chown.clears_bits", ROOT)
def chown_clears(test):
    for old, new in ((0o6755, 0o755), (0o4711, 0o711), (0o6744, 0o2744), (0o2745, 0o2745)):
        os.chmod("file", old)
        os.chown("file", 1, 1)
        test.equal(f"mode after chown of {oct(old)}", oct(new), oct(test.mode("file")))
    os.chmod("dir", 0o6755)
    os.chown("dir", 1, 1)
    test.equal("mode of a directory", 0o6755, test.mode("dir"))


@case("chown.clears_bits_of_owner", PLAYERS)
def owner_clears(test):
    os.chmod("file", 0o6755)
    with test.be(test.first, groups=[test.third]):
        os.chown("file", -1, test.third)
    test.equal("mode", 0o755, test.mode("file"))


@case("utimensat.given")
def given(test):
    for atime, mtime in (((1, 5), (2, 7)), ((10**9, 123_456_789), (10**9 + 1, 999_999_999)), ((0, 0), (0, 0))):
        with test.moves(here=""):
            test.works(kernel.utimensat, "file", atime, mtime)
        state = os.stat("file")
        test.equal("atime", atime[0] * 10**9 + atime[1], state.st_atime_ns)
        test.equal("mtime", mtime[0] * 10**9 + mtime[1], state.st_mtime_ns)
        test.true("ctime is now", abs(state.st_ctime - time.time()) < 1)


@case("utimensat.range")
def years(test):
    for seconds in (-1, -2**31, 2**31, 2**32 + 5):
        test.works(kernel.utimensat, "file", (seconds, 0), (seconds, 0))
        test.equal("mtime", seconds * 10**9, os.stat("file").st_mtime_ns)
        test.equal("atime", seconds * 10**9, os.stat("file").st_atime_ns)


@case("utimensat.omit")
def omits(test):
    kernel.utimensat("file", (5, 0), (6, 0))
    kernel.utimensat("file", (7, 0), (0, UTIME_OMIT))
    test.equal("mtime stays", 6, int(os.stat("file").st_mtime))
    kernel.utimensat("file", (0, UTIME_OMIT), (8, 0))
    test.equal("atime stays", 7, int(os.stat("file").st_atime))
    with test.moves(file=""):
        kernel.utimensat("file", (0, UTIME_OMIT), (0, UTIME_OMIT))


@case("utimensat.now")
def to_now(test):
    kernel.utimensat("file", (5, 0), (6, 0))
    kernel.utimensat("file", (0, UTIME_NOW), (0, UTIME_OMIT))
    state = os.stat("file")
    test.true("atime is now", abs(state.st_atime - time.time()) < 1, state.st_atime)
    test.equal("mtime stays", 6, int(state.st_mtime))
    kernel.utimensat("file", (5, 0), (0, UTIME_NOW))
    state = os.stat("file")
    test.equal("atime", 5, int(state.st_atime))
    test.true("mtime is now", abs(state.st_mtime - time.time()) < 1, state.st_mtime)


@case("utimensat.handle")
def by_handle(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.works(kernel.futimens, descriptor, (3, 0), (4, 0))
        test.equal("times", (3, 4), (int(os.fstat(descriptor).st_atime), int(os.fstat(descriptor).st_mtime)))


@case("utimensat.link")
def of_link(test):
    before = os.stat("file").st_mtime_ns
    test.works(kernel.utimensat, "link", (3, 0), (4, 0), kernel.AT_SYMLINK_NOFOLLOW)
    test.equal("mtime of the link", 4, int(os.lstat("link").st_mtime))
    test.equal("mtime of the file", before, os.stat("file").st_mtime_ns)


@case("utimensat.directory")
def of_directory(test):
    test.works(kernel.utimensat, "dir", (3, 0), (4, 0))
    test.equal("mtime", 4, int(os.stat("dir").st_mtime))


@case("utimensat.errors")
def utime_errors(test):
    test.fails("EINVAL", kernel.utimensat, "file", (0, 10**9), (0, 0))
    test.fails("EINVAL", kernel.utimensat, "file", (0, 0), (0, -1))


@case("utimensat.permissions", PLAYERS)
def utime_permissions(test):
    with test.be(test.second):
        test.fails("EPERM", kernel.utimensat, "file", (1, 0), (1, 0))
        test.fails("EACCES", os.utime, "file")
        test.fails("EPERM", kernel.utimensat, "file", (0, UTIME_NOW), (0, UTIME_OMIT))
    os.chmod("file", 0o666)
    with test.be(test.second):
        test.works(os.utime, "file")
        test.fails("EPERM", kernel.utimensat, "file", (1, 0), (1, 0))


@case("access.bits", USER)
def access(test):
    for mode, expected in ((0o700, (True, True, True)), (0o400, (True, False, False)), (0o077, (False, False, False))):
        os.chmod("file", mode)
        got = tuple(os.access("file", kind) for kind in (os.R_OK, os.W_OK, os.X_OK))
        test.equal(f"what {oct(mode)} lets its owner do", expected, got)


@case("access.root_execution", ROOT)
def root_execution(test):
    os.chmod("file", 0)
    test.equal("read and write", (True, True), (os.access("file", os.R_OK), os.access("file", os.W_OK)))
    test.equal("execute", False, os.access("file", os.X_OK))
    os.chmod("file", 0o001)
    test.equal("execute if anybody may", True, os.access("file", os.X_OK))


@case("stat.blocks_and_block_size")
def blocks(test):
    test.true("block size is a power of two", os.stat("file").st_blksize.bit_count() == 1, os.stat("file").st_blksize)
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        os.write(descriptor, bytes(1000) + b"x" * 199_000)
        os.fsync(descriptor)
        test.true("blocks cover it", os.fstat(descriptor).st_blocks * 512 >= 190_000, os.fstat(descriptor).st_blocks)


@case("stat.inodes_differ")
def inodes(test):
    for number in range(50):
        test.make(f"dir/{number}")
    numbers = [os.lstat(name).st_ino for name in ("file", "large", "empty", "dir", "full", "link", "full/child")]
    numbers += [os.lstat(f"dir/{number}").st_ino for number in range(50)]
    test.equal("numbers", len(numbers), len(set(numbers)))
    test.equal("devices", 1, len({os.lstat(name).st_dev for name in ("file", "dir", "dir/1", ".")}))


@case("stat.inode_stays")
def inode_stays(test):
    before = {name: os.lstat(name).st_ino for name in ("file", "large", "dir", "link")}
    with test.opened("file") as descriptor:
        os.write(descriptor, b"changed")
    os.chmod("file", 0o600)
    os.rename("large", "moved")
    os.rename("moved", "large")
    os.link("link", "second", follow_symlinks=False)
    test.equal("inodes", before, {name: os.lstat(name).st_ino for name in before})


@case("stat.birth")
def birth(test):
    test.make("new")
    born = kernel.birth_time("new")
    if born is not None:
        test.true("is born now", abs(born - time.time()) < 2, born)
