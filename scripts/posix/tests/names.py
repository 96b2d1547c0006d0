"""Names: which there can be, links of both kinds, and removal."""

import os
import stat

import kernel
from suite import ROOT, USER, case


@case("names.every_byte")
def every_byte(test):
    names = [b"n" + bytes([byte]) for byte in range(1, 256) if byte != ord("/")]
    for name in names:
        with test.opened(b"dir/" + name, os.O_CREAT | os.O_EXCL | os.O_WRONLY) as descriptor:
            os.write(descriptor, name)
    test.equal("listed", sorted(names), sorted(os.listdir(b"dir")))
    for name in names:
        test.equal(f"content of {name!r}", name, test.content(b"dir/" + name))
        os.rename(b"dir/" + name, b"dir/" + name + b"-moved")
        os.unlink(b"dir/" + name + b"-moved")
    test.equal("left", [], os.listdir(b"dir"))


@case("names.single_bytes")
def single_bytes(test):
    names = [bytes([byte]) for byte in range(1, 256) if byte not in b"/."]
    for name in names:
        test.works(os.mkdir, b"dir/" + name)
    test.equal("listed", sorted(names), sorted(os.listdir(b"dir")))


@case("names.differ")
def differ(test):
    names = ["a", "A", "a ", " a", "a.", "...", "\u00e4", "a\u0308", "\u212b", "\u00c5", "a\n", "-rf", "*", "\\", "~"]
    for name in names:
        test.make("dir/" + name, name.encode())
    for name in names:
        test.equal(f"content of {name!r}", name.encode(), test.content("dir/" + name))
    test.equal("listed", sorted(names), test.names("dir"))


@case("symlink.new")
def symlink(test):
    with test.moves(here="mc"):
        test.works(os.symlink, "some/where", "new")
    state = os.lstat("new")
    test.equal("type and mode", stat.S_IFLNK | 0o777, state.st_mode)
    test.equal("size", 10, state.st_size)
    test.equal("owner and group", (test.uid, test.gid), (state.st_uid, state.st_gid))
    test.equal("target", "some/where", os.readlink("new"))


@case("symlink.lengths")
def lengths(test):
    for length in (1, 59, 60, 255, 256, 1023, 4094, 4095):
        test.works(os.symlink, "t" * length, f"dir/{length}")
        test.equal(f"target of {length} bytes", "t" * length, os.readlink(f"dir/{length}"))
        test.equal("its size", length, test.size(f"dir/{length}"))
    test.fails("ENAMETOOLONG", os.symlink, "t" * 4096, "new")


@case("symlink.bytes")
def target_bytes(test):
    target = bytes(range(1, 256))
    test.works(os.symlink, target, b"new")
    test.equal("target", target, os.readlink(b"new"))


@case("symlink.empty")
def empty_target(test):
    test.fails("ENOENT", os.symlink, "", "new")


@case("symlink.followed")
def followed(test):
    os.symlink("full", "to_directory")
    test.equal("through it", b"child", test.content("to_directory/child"))
    os.symlink("../file", "full/up")
    test.equal("upwards", b"0123456789", test.content("full/up"))
    os.symlink(os.path.abspath("file"), "absolute")
    test.equal("absolute", b"0123456789", test.content("absolute"))


@case("symlink.readlink_errors")
def readlink_errors(test):
    test.fails("EINVAL", os.readlink, "file")
    test.fails("EINVAL", os.readlink, "dir")


@case("symlink.permissions_do_not_matter")
def link_permissions(test):
    os.lchown("link", os.geteuid(), os.getegid())
    with test.umask(0o777):
        os.symlink("file", "new")
    test.equal("mode", 0o777, test.mode("new"))
    test.equal("through it", b"0123456789", test.content("new"))


@case("mknod.fifo")
def fifo(test):
    with test.moves(here="mc"):
        os.mkfifo("fifo", 0o640)
    test.equal("type and mode", stat.S_IFIFO | 0o640, os.lstat("fifo").st_mode)


@case("mknod.regular")
def regular(test):
    test.works(os.mknod, "new", stat.S_IFREG | 0o600)
    test.equal("type and mode", stat.S_IFREG | 0o600, os.lstat("new").st_mode)
    with test.opened("new") as descriptor:
        os.write(descriptor, b"x")
    test.equal("content", b"x", test.content("new"))


@case("mknod.devices", ROOT)
def devices(test):
    for kind, name in ((stat.S_IFCHR, "char"), (stat.S_IFBLK, "block")):
        test.works(os.mknod, name, kind | 0o600, os.makedev(12, 345))
        state = os.lstat(name)
        test.equal("type and mode", kind | 0o600, state.st_mode)
        test.equal("number", (12, 345), (os.major(state.st_rdev), os.minor(state.st_rdev)))


@case("mknod.devices_refused", USER)
def devices_refused(test):
    test.fails("EPERM", os.mknod, "char", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    test.fails("EPERM", os.mknod, "block", stat.S_IFBLK | 0o600, os.makedev(1, 3))


@case("mknod.socket")
def socket(test):
    test.works(os.mknod, "socket", stat.S_IFSOCK | 0o600)
    test.equal("type and mode", stat.S_IFSOCK | 0o600, os.lstat("socket").st_mode)


@case("mknod.directory")
def no_directory(test):
    test.fails("EPERM EINVAL", os.mknod, "new", stat.S_IFDIR | 0o755)


@case("link.new")
def links(test):
    with test.moves(file="c", here="mc"):
        test.works(os.link, "file", "second")
    test.equal("links", (2, 2), (test.links("file"), test.links("second")))
    test.equal("inodes are equal", os.stat("file").st_ino, os.stat("second").st_ino)
    with test.opened("second") as descriptor:
        os.write(descriptor, b"by the second")
    test.equal("content by the first", b"by the second", test.content("file"))
    os.chmod("file", 0o600)
    test.equal("mode by the second", 0o600, test.mode("second"))


@case("link.survives")
def survives(test):
    os.link("file", "dir/second")
    with test.moves(dir__second="c", dir="", here="mc"):
        os.unlink("file")
    test.equal("links", 1, test.links("dir/second"))
    test.equal("content", b"0123456789", test.content("dir/second"))


@case("link.many")
def many(test):
    for number in range(300):
        test.works(os.link, "file", f"dir/{number}")
    test.equal("links", 301, test.links("file"))
    for number in range(300):
        os.unlink(f"dir/{number}")
    test.equal("links", 1, test.links("file"))


@case("link.of_symlink")
def of_symlink(test):
    os.link("link", "second", follow_symlinks=False)
    test.true("is a symlink", stat.S_ISLNK(os.lstat("second").st_mode))
    test.equal("links", 2, test.links("link"))


@case("link.of_special")
def of_special(test):
    os.mkfifo("fifo")
    test.works(os.link, "fifo", "second")
    test.equal("links", 2, test.links("fifo"))


@case("link.of_directory")
def of_directory(test):
    test.fails("EPERM", os.link, "dir", "second")


@case("link.exdev")
def across(test):
    test.fails("EXDEV", os.link, "/proc/self/status", "second")


@case("link.of_unlinked", ROOT)
def of_unlinked(test):
    with test.opened("file") as descriptor:
        os.unlink("file")
        test.fails("ENOENT", kernel.link_descriptor, descriptor, "second")


@case("unlink.file")
def unlinks(test):
    with test.moves(here="mc"):
        test.works(os.unlink, "file")
    test.absent("file")
    test.equal("names", ["dir", "empty", "full", "large", "link"], test.names())


@case("unlink.kinds")
def unlinks_kinds(test):
    os.mkfifo("fifo")
    for name in ("fifo", "link", "empty", "large"):
        test.works(os.unlink, name)
        test.absent(name)
    test.equal("what the link led to is there", 10, test.size("file"))


@case("unlink.directory")
def unlinks_directory(test):
    test.fails("EISDIR EPERM", os.unlink, "dir")
    os.symlink("dir", "to_directory")
    test.works(os.unlink, "to_directory")


@case("unlink.again")
def again(test):
    os.unlink("file")
    test.fails("ENOENT", os.unlink, "file")
    test.make("file", b"new")
    test.equal("content", b"new", test.content("file"))


@case("unlink.open")
def unlinked_but_open(test):
    with test.opened("file") as descriptor:
        with test.opened("file", os.O_RDONLY) as reader:
            os.unlink("file")
            test.equal("links", 0, os.fstat(descriptor).st_nlink)
            test.equal("content", b"0123456789", os.pread(reader, 20, 0))
            os.pwrite(descriptor, b"after its end", 8)
            test.equal("written", b"01234567after its end", os.pread(reader, 40, 0))
        os.ftruncate(descriptor, 4)
        os.fchmod(descriptor, 0o600)
        os.fsync(descriptor)
        state = os.fstat(descriptor)
        test.equal("size and mode", (4, 0o600), (state.st_size, stat.S_IMODE(state.st_mode)))
        test.make("file", b"another")
        test.true("the new one is another", os.stat("file").st_ino != state.st_ino)
        test.equal("old content", b"0123", os.pread(descriptor, 20, 0))
    test.equal("new content", b"another", test.content("file"))


@case("unlink.open_large")
def large_but_open(test):
    with test.opened("large") as descriptor:
        os.unlink("large")
        os.pwrite(descriptor, b"x", 299_999)
        test.equal("its end", b"x", os.pread(descriptor, 10, 299_999))


@case("unlink.open_again_by_proc")
def opened_again(test):
    with test.opened("file") as descriptor:
        os.unlink("file")
        with test.opened(f"/proc/self/fd/{descriptor}") as again_opened:
            os.pwrite(again_opened, b"XX", 0)
        test.equal("content", b"XX23456789", os.pread(descriptor, 20, 0))


@case("unlink.sillyrename")
def leaves_nothing(test):
    """A file system may not hide an open file under another name: the directory can be removed."""
    with test.opened("full/child"):
        os.unlink("full/child")
        test.equal("names", [], os.listdir("full"))
        test.works(os.rmdir, "full")


@case("unlink.frees_room")
def frees(test):
    state = os.statvfs(".")
    if state.f_bfree * state.f_frsize < 256 << 20:
        test.skip("less than 256 MiB free")
    with test.opened("new", os.O_CREAT | os.O_RDWR) as descriptor:
        for _ in range(32):
            os.write(descriptor, os.urandom(1 << 20))
        os.fsync(descriptor)
        test.true("its blocks are counted", os.fstat(descriptor).st_blocks * 512 >= 32 << 20)
        os.unlink("new")
        test.true("still there", len(os.pread(descriptor, 10, 31 << 20)) == 10)
