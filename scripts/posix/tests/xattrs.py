"""Extended attributes: namespaces, sizes, flags, listing."""

import os
import struct

from suite import PLAYERS, ROOT, USER, case

CREATE, REPLACE = os.XATTR_CREATE, os.XATTR_REPLACE


@case("xattr.set_and_get")
def set_and_get(test):
    for name in ("file", "large", "dir"):
        test.works(os.setxattr, name, "user.first", b"value")
        test.works(os.setxattr, name, "user.second", b"\0\xff binary")
        test.equal("first", b"value", os.getxattr(name, "user.first"))
        test.equal("second", b"\0\xff binary", os.getxattr(name, "user.second"))
        test.equal("listed", ["user.first", "user.second"], listed(name))


def listed(name):
    return sorted(key for key in os.listxattr(name) if key.startswith("user."))


@case("xattr.replace")
def replaces(test):
    os.setxattr("file", "user.a", b"one")
    os.setxattr("file", "user.a", b"another, and longer")
    test.equal("value", b"another, and longer", os.getxattr("file", "user.a"))
    os.setxattr("file", "user.a", b"")
    test.equal("empty value", b"", os.getxattr("file", "user.a"))
    test.equal("listed", ["user.a"], listed("file"))


@case("xattr.flags")
def flags(test):
    test.fails("ENODATA", os.setxattr, "file", "user.a", b"1", REPLACE)
    test.works(os.setxattr, "file", "user.a", b"1", CREATE)
    test.fails("EEXIST", os.setxattr, "file", "user.a", b"2", CREATE)
    test.works(os.setxattr, "file", "user.a", b"3", REPLACE)
    test.equal("value", b"3", os.getxattr("file", "user.a"))
    test.fails("EINVAL", os.setxattr, "file", "user.a", b"4", 8)


@case("xattr.remove")
def removes(test):
    os.setxattr("file", "user.a", b"1")
    test.works(os.removexattr, "file", "user.a")
    test.fails("ENODATA", os.getxattr, "file", "user.a")
    test.fails("ENODATA", os.removexattr, "file", "user.a")
    test.equal("listed", [], listed("file"))


@case("xattr.absent")
def absent(test):
    test.fails("ENODATA", os.getxattr, "file", "user.absent")
    test.fails("EOPNOTSUPP", os.setxattr, "file", "nonamespace", b"x")
    test.fails("EOPNOTSUPP", os.setxattr, "file", "strange.name", b"x")
    test.fails("EINVAL EOPNOTSUPP", os.setxattr, "file", "user.", b"x")


@case("xattr.name_lengths")
def name_lengths(test):
    longest = "user." + "n" * 250
    test.works(os.setxattr, "file", longest, b"x")
    test.equal("value", b"x", os.getxattr("file", longest))
    test.fails("ERANGE", os.setxattr, "file", longest + "n", b"x")


@case("xattr.value_lengths")
def value_lengths(test):
    """65,536 bytes are Linux's limit; a file system may have a lower one, which it says with ENOSPC."""
    for length in (1, 100, 1000, 2000):
        test.works(os.setxattr, "file", "user.a", b"v" * length)
        test.equal(f"value of {length} bytes", b"v" * length, os.getxattr("file", "user.a"))
    for length in (10_000, 65_536):
        try:
            os.setxattr("file", "user.a", b"w" * length)
            test.equal(f"value of {length} bytes", b"w" * length, os.getxattr("file", "user.a"))
        except OSError as error:
            test.equal("errno", 28, error.errno)
            test.true("the old value is there", len(os.getxattr("file", "user.a")) in (2000, 10_000))
    test.fails("E2BIG", os.setxattr, "file", "user.a", b"v" * 65_537)


@case("xattr.many")
def many(test):
    for number in range(60):
        test.works(os.setxattr, "file", f"user.{number:02}", b"%d" % number)
    test.equal("listed", [f"user.{number:02}" for number in range(60)], listed("file"))
    for number in range(0, 60, 2):
        os.removexattr("file", f"user.{number:02}")
    test.equal("left", [f"user.{number:02}" for number in range(1, 60, 2)], listed("file"))
    test.equal("value", b"59", os.getxattr("file", "user.59"))


@case("xattr.user_on_special")
def on_special(test):
    test.fails("EPERM", lambda: os.setxattr("link", "user.a", b"x", follow_symlinks=False))
    os.mkfifo("fifo")
    test.fails("EPERM", os.setxattr, "fifo", "user.a", b"x")


@case("xattr.through_link")
def through_link(test):
    test.works(os.setxattr, "link", "user.a", b"x")
    test.equal("on the file", b"x", os.getxattr("file", "user.a"))


@case("xattr.trusted", ROOT)
def trusted(test):
    test.works(os.setxattr, "file", "trusted.a", b"secret")
    test.equal("value", b"secret", os.getxattr("file", "trusted.a"))
    test.true("listed", "trusted.a" in os.listxattr("file"))
    test.works(lambda: os.setxattr("link", "trusted.a", b"of the link", follow_symlinks=False))
    test.equal("of the link", b"of the link", os.getxattr("link", "trusted.a", follow_symlinks=False))
    test.works(os.removexattr, "file", "trusted.a")


@case("xattr.trusted_refused", USER)
def trusted_refused(test):
    test.fails("EPERM", os.setxattr, "file", "trusted.a", b"x")
    test.fails("ENODATA", os.getxattr, "file", "trusted.a")


@case("xattr.security", ROOT)
def security(test):
    test.works(os.setxattr, "file", "security.test", b"label")
    test.equal("value", b"label", os.getxattr("file", "security.test"))
    test.works(os.removexattr, "file", "security.test")


@case("xattr.security_refused", USER)
def security_refused(test):
    test.fails("EPERM", os.setxattr, "file", "security.test", b"x")


@case("xattr.permissions", PLAYERS)
def permissions(test):
    os.setxattr("file", "user.a", b"x")
    with test.be(test.second):
        test.equal("readable", b"x", os.getxattr("file", "user.a"))
        test.fails("EACCES", os.setxattr, "file", "user.a", b"y")
        test.fails("EACCES", os.removexattr, "file", "user.a")
    os.chmod("file", 0o600)
    with test.be(test.second):
        test.fails("EACCES", os.getxattr, "file", "user.a")
        test.works(os.listxattr, "file")


@case("xattr.sticky_directory", PLAYERS)
def sticky(test):
    os.chmod("dir", 0o1777)
    with test.be(test.second):
        test.fails("EPERM", os.setxattr, "dir", "user.a", b"x")


def capability():
    """A VFS_CAP_REVISION_2 with cap_net_bind_service."""
    return struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)


@case("xattr.capability_goes_with_write", ROOT)
def capability_write(test):
    for size, name in ((1, "file"), (1, "large"), (200_000, "large")):
        test.works(os.setxattr, name, "security.capability", capability())
        test.equal("value", capability(), os.getxattr(name, "security.capability"))
        with test.opened(name) as descriptor:
            os.write(descriptor, b"x" * size)
        test.fails("ENODATA", os.getxattr, name, "security.capability")


@case("xattr.capability_goes_with_truncate", ROOT)
def capability_truncate(test):
    os.setxattr("file", "security.capability", capability())
    os.truncate("file", 3)
    test.fails("ENODATA", os.getxattr, "file", "security.capability")


@case("xattr.capability_goes_with_chown", ROOT)
def capability_chown(test):
    os.setxattr("file", "security.capability", capability())
    os.chown("file", 1, 1)
    test.fails("ENODATA", os.getxattr, "file", "security.capability")


@case("xattr.survive")
def survive(test):
    os.setxattr("file", "user.a", b"x")
    os.link("file", "second")
    os.rename("file", "dir/moved")
    test.equal("after a rename", b"x", os.getxattr("dir/moved", "user.a"))
    test.equal("by the second name", b"x", os.getxattr("second", "user.a"))
    os.truncate("second", 0)
    test.equal("after truncation", b"x", os.getxattr("second", "user.a"))
    test.make("new")
    os.rename("new", "second")
    test.fails("ENODATA", os.getxattr, "second", "user.a")


@case("xattr.handle")
def by_handle(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.works(os.setxattr, descriptor, "user.a", b"x")
        os.unlink("file")
        test.equal("of the unlinked file", b"x", os.getxattr(descriptor, "user.a"))
        test.works(os.setxattr, descriptor, "user.b", b"y")
