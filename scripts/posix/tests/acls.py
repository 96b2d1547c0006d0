"""POSIX ACLs, by the xattrs in which Linux has them."""

import errno
import os
import struct

from suite import PLAYERS, case

ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32
NOBODY = 0xFFFFFFFF


def acl(*entries):
    """Of (tag, permissions) and (tag, permissions, id)."""
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", entry[0], entry[1], entry[2] if len(entry) > 2 else NOBODY) for entry in entries)


def entries(value):
    return [(tag, bits) if number == NOBODY else (tag, bits, number)
            for tag, bits, number in struct.iter_unpack("<HHI", value[4:])]


def supported(test):
    try:
        os.setxattr("file", ACCESS, acl((USER_OBJ, 6), (GROUP_OBJ, 4), (OTHER, 4)))
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            test.skip("no POSIX ACLs here")
        raise


def named(test, bits=6, mask=6, other=0):
    return acl((USER_OBJ, 6), (USER, bits, test.second), (GROUP_OBJ, 0), (MASK, mask), (OTHER, other))


@case("acl.minimal_is_the_mode")
def minimal(test):
    supported(test)
    os.setxattr("file", ACCESS, acl((USER_OBJ, 7), (GROUP_OBJ, 5), (OTHER, 1)))
    test.equal("mode", 0o751, test.mode("file"))
    test.fails("ENODATA", os.getxattr, "file", ACCESS)


@case("acl.named_user", PLAYERS)
def named_user(test):
    supported(test)
    os.setxattr("file", ACCESS, named(test))
    test.equal("mode shows the mask as the group's", 0o660, test.mode("file"))
    test.equal("as it was set", entries(named(test)), entries(os.getxattr("file", ACCESS)))
    with test.be(test.second), test.opened("file", os.O_RDWR) as descriptor:
        test.equal("the named user writes", 1, os.write(descriptor, b"x"))
    with test.be(test.third):
        test.fails("EACCES", os.open, "file", os.O_RDONLY)


@case("acl.named_group", PLAYERS)
def named_group(test):
    supported(test)
    os.setxattr("file", ACCESS, acl((USER_OBJ, 6), (GROUP_OBJ, 0), (GROUP, 4, test.third), (MASK, 4), (OTHER, 0)))
    with test.be(test.second, groups=[test.third]):
        test.equal("a member reads", b"0123456789", test.content("file"))
        test.fails("EACCES", os.open, "file", os.O_WRONLY)
    with test.be(test.second):
        test.fails("EACCES", os.open, "file", os.O_RDONLY)


@case("acl.mask_limits", PLAYERS)
def mask(test):
    supported(test)
    os.setxattr("file", ACCESS, named(test, mask=4))
    with test.be(test.second):
        test.fails("EACCES", os.open, "file", os.O_WRONLY)
        test.equal("reads", b"0123456789", test.content("file"))


@case("acl.chmod_sets_the_mask", PLAYERS)
def chmod(test):
    supported(test)
    os.setxattr("file", ACCESS, named(test))
    os.chmod("file", 0o614)  # without any bit of the group Linux does not look at the ACL
    test.equal("mask and others", [(MASK, 1), (OTHER, 4)], entries(os.getxattr("file", ACCESS))[-2:])
    with test.be(test.second):
        test.fails("EACCES", os.open, "file", os.O_RDONLY)
    os.chmod("file", 0o660)
    test.equal("all of it", entries(named(test)), entries(os.getxattr("file", ACCESS)))
    with test.be(test.second):
        test.equal("reads", b"0123456789", test.content("file"))


@case("acl.removed")
def removed(test):
    supported(test)
    os.setxattr("file", ACCESS, named(test))
    test.works(os.removexattr, "file", ACCESS)
    test.fails("ENODATA", os.getxattr, "file", ACCESS)
    test.equal("mode", 0o660, test.mode("file"))


@case("acl.inherited_by_files")
def inherited(test):
    supported(test)
    os.setxattr("dir", DEFAULT, acl((USER_OBJ, 7), (USER, 7, 4321), (GROUP_OBJ, 5), (MASK, 7), (OTHER, 0)))
    with test.umask(0o077):
        os.close(os.open("dir/new", os.O_CREAT | os.O_WRONLY, 0o664))
    test.equal("mode: umask does not count", 0o660, test.mode("dir/new"))
    test.equal("its ACL", [(USER_OBJ, 6), (USER, 7, 4321), (GROUP_OBJ, 5), (MASK, 6), (OTHER, 0)],
               entries(os.getxattr("dir/new", ACCESS)))


@case("acl.inherited_by_directories")
def inherited_directory(test):
    supported(test)
    default = acl((USER_OBJ, 7), (USER, 7, 4321), (GROUP_OBJ, 5), (MASK, 7), (OTHER, 5))
    os.setxattr("dir", DEFAULT, default)
    os.mkdir("dir/sub", 0o750)
    test.equal("its default", entries(default), entries(os.getxattr("dir/sub", DEFAULT)))
    test.equal("its mode", 0o750, test.mode("dir/sub"))
    test.equal("its ACL", [(USER_OBJ, 7), (USER, 7, 4321), (GROUP_OBJ, 5), (MASK, 5), (OTHER, 0)],
               entries(os.getxattr("dir/sub", ACCESS)))
    os.mkfifo("dir/sub/fifo", 0o666)
    test.equal("mode of a FIFO in it", 0o664, test.mode("dir/sub/fifo"))


@case("acl.inherited_minimal")
def inherited_minimal(test):
    supported(test)
    os.setxattr("dir", DEFAULT, acl((USER_OBJ, 7), (GROUP_OBJ, 5), (OTHER, 0)))
    with test.umask(0o077):
        os.close(os.open("dir/new", os.O_CREAT | os.O_WRONLY, 0o666))
    test.equal("mode", 0o640, test.mode("dir/new"))
    test.fails("ENODATA", os.getxattr, "dir/new", ACCESS)


@case("acl.default_only_on_directories")
def default_on_file(test):
    supported(test)
    test.fails("EACCES", os.setxattr, "file", DEFAULT, acl((USER_OBJ, 7), (GROUP_OBJ, 5), (OTHER, 0)))


@case("acl.default_grants_nothing", PLAYERS)
def default_grants_nothing(test):
    supported(test)
    os.chmod("dir", 0o700)
    os.setxattr("dir", DEFAULT, acl((USER_OBJ, 7), (USER, 7, test.second), (GROUP_OBJ, 5), (MASK, 7), (OTHER, 0)))
    test.equal("mode of the directory", 0o700, test.mode("dir"))
    with test.be(test.second):
        test.fails("EACCES", os.listdir, "dir")


@case("acl.invalid")
def invalid(test):
    supported(test)
    for value in (b"", b"\x02\0\0", acl((USER_OBJ, 6)), acl((USER_OBJ, 6), (GROUP_OBJ, 4), (OTHER, 9)),
                  acl((USER_OBJ, 6), (USER, 6, 5), (GROUP_OBJ, 4), (OTHER, 0)), struct.pack("<I", 3)):
        if value:
            test.fails("EINVAL EOPNOTSUPP", os.setxattr, "file", ACCESS, value)
    test.equal("mode", 0o644, test.mode("file"))


@case("acl.not_owner", PLAYERS)
def not_owner(test):
    supported(test)
    with test.be(test.second):
        test.fails("EPERM", os.setxattr, "file", ACCESS, named(test))


@case("acl.setgid_goes_for_foreign_group", PLAYERS)
def setgid(test):
    supported(test)
    os.chown("file", test.first, test.third)
    os.chmod("file", 0o2755)
    with test.be(test.first):
        os.setxattr("file", ACCESS, acl((USER_OBJ, 7), (GROUP_OBJ, 7), (OTHER, 5)))
    test.equal("mode", 0o775, test.mode("file"))
