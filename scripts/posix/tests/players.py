"""Directories that several users share: sticky, setgid, and who owns what."""

import os
import stat

import kernel
from suite import PLAYERS, ROOT, case


@case("users.owner_of_new", PLAYERS)
def owner(test):
    os.chmod("dir", 0o777)
    with test.be(test.second):
        test.make("dir/file")
        os.mkdir("dir/sub")
        os.symlink("x", "dir/link")
        os.mkfifo("dir/fifo")
        with test.opened("dir", os.O_TMPFILE | os.O_RDWR) as descriptor:
            test.equal("owner of an unnamed file", test.second, os.fstat(descriptor).st_uid)
    for name in ("file", "sub", "link", "fifo"):
        state = os.lstat("dir/" + name)
        test.equal(f"owner and group of {name}", (test.second, test.second), (state.st_uid, state.st_gid))


@case("users.private_directory", PLAYERS)
def private(test):
    os.chmod("full", 0o700)
    with test.be(test.second):
        for function, arguments in ((os.listdir, ("full",)), (os.stat, ("full/child",)), (os.unlink, ("full/child",)),
                                    (os.mkdir, ("full/new",)), (os.rename, ("full/child", "full/other"))):
            test.fails("EACCES", function, *arguments)


@case("users.group_permissions", PLAYERS)
def group(test):
    os.chown("file", test.first, test.third)
    os.chmod("file", 0o640)
    with test.be(test.second, groups=[test.third]):
        test.equal("a member reads", b"0123456789", test.content("file"))
        test.fails("EACCES", os.open, "file", os.O_WRONLY)
    with test.be(test.second):
        test.fails("EACCES", os.open, "file", os.O_RDONLY)
    os.chmod("file", 0o604)
    with test.be(test.second, groups=[test.third]):
        test.fails("EACCES", os.open, "file", os.O_RDONLY)


@case("users.sticky.unlink", PLAYERS)
def sticky_unlink(test):
    os.chmod("full", 0o1777)
    with test.be(test.second):
        test.make("full/mine")
        test.fails("EPERM", os.unlink, "full/child")
        test.works(os.unlink, "full/mine")
        test.make("full/mine")
    with test.be(test.third):
        test.fails("EPERM", os.unlink, "full/mine")
    with test.be(test.first):
        test.works(os.unlink, "full/mine")


@case("users.sticky.rmdir", PLAYERS)
def sticky_rmdir(test):
    os.chmod("dir", 0o1777)
    with test.be(test.second):
        os.mkdir("dir/mine")
    with test.be(test.third):
        test.fails("EPERM", os.rmdir, "dir/mine")
    with test.be(test.second):
        test.works(os.rmdir, "dir/mine")


@case("users.sticky.rename", PLAYERS)
def sticky_rename(test):
    os.chmod("full", 0o1777)
    with test.be(test.second):
        test.make("full/mine")
        test.fails("EPERM", os.rename, "full/child", "full/other")
        test.fails("EPERM", os.rename, "full/mine", "full/child")
        test.fails("EPERM", kernel.exchange, "full/mine", "full/child")
        test.works(os.rename, "full/mine", "full/moved")
    test.equal("content", b"child", test.content("full/child"))


@case("users.sticky.link", PLAYERS)
def sticky_link(test):
    os.chmod("full", 0o1777)
    with test.be(test.second):
        test.make("full/mine")
        test.works(os.link, "full/mine", "full/second")


@case("users.setgid.files", PLAYERS)
def setgid_files(test):
    os.chown("dir", test.first, test.third)
    os.chmod("dir", 0o2777)
    with test.be(test.second):
        test.make("dir/file")
        os.symlink("x", "dir/link")
        os.mkfifo("dir/fifo")
        os.mkdir("dir/sub", 0o755)
    for name in ("file", "link", "fifo", "sub"):
        test.equal(f"group of {name}", test.third, os.lstat("dir/" + name).st_gid)
        test.equal(f"owner of {name}", test.second, os.lstat("dir/" + name).st_uid)
    test.equal("mode of the subdirectory", 0o2755, test.mode("dir/sub"))
    test.equal("mode of the file", 0o644, test.mode("dir/file"))


@case("users.setgid.deep", PLAYERS)
def setgid_deep(test):
    os.chown("dir", test.first, test.third)
    os.chmod("dir", 0o2777)
    with test.be(test.second):
        os.makedirs("dir/a/b/c")
        test.make("dir/a/b/c/file")
        test.equal("group", test.third, os.stat("dir/a/b/c/file").st_gid)


@case("users.setgid.stripped_from_file", PLAYERS)
def setgid_stripped(test):
    """A file with group execution and setgid, of a group that its maker is not in."""
    os.chown("dir", test.first, test.third)
    os.chmod("dir", 0o2777)
    with test.be(test.second), test.umask(0):
        os.close(os.open("dir/file", os.O_CREAT | os.O_WRONLY, 0o2775))
    test.equal("mode", 0o775, test.mode("dir/file"))


@case("users.setgid.rename_keeps_group", PLAYERS)
def setgid_rename(test):
    os.chown("dir", test.first, test.third)
    os.chmod("dir", 0o2777)
    os.chmod("file", 0o666)
    os.rename("file", "dir/file")
    test.equal("group", test.first, os.stat("dir/file").st_gid)


@case("users.link_to_foreign", PLAYERS)
def protected_links(test):
    with open("/proc/sys/fs/protected_hardlinks", encoding="ascii") as setting:
        is_protected = setting.read().strip() == "1"
    os.chmod(".", 0o777)
    with test.be(test.second):
        if is_protected:
            test.fails("EPERM", os.link, "file", "second")
        else:
            test.works(os.link, "file", "second")


@case("users.root_does_what_it_wants", ROOT)
def root(test):
    os.chmod("file", 0)
    os.chown("file", test.first, test.first)
    test.equal("reads", b"0123456789", test.content("file"))
    os.chmod("full", 0)
    test.equal("lists", ["child"], test.names("full"))
    test.works(os.unlink, "full/child")


@case("users.open_stays_open", PLAYERS)
def stays_open(test):
    os.chmod("file", 0o666)
    with test.be(test.second):
        descriptor = os.open("file", os.O_RDWR)
    os.chmod("file", 0o600)
    with test.be(test.second):
        test.equal("written", 1, os.pwrite(descriptor, b"x", 0))
        test.equal("read", b"x123456789", os.pread(descriptor, 20, 0))
        test.fails("EACCES", os.open, "file", os.O_RDONLY)
        test.fails("EPERM", os.fchmod, descriptor, 0o666)
    os.close(descriptor)


@case("users.replaced_by_other", PLAYERS)
def replaced(test):
    os.chmod(".", 0o777)
    with test.be(test.second):
        test.make("new", b"mine")
        test.works(os.rename, "new", "file")
    state = os.stat("file")
    test.equal("owner", test.second, state.st_uid)
    test.equal("is a file", True, stat.S_ISREG(state.st_mode))
