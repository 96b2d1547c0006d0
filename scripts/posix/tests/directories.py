"""mkdir, rmdir, and directories that are gone or renamed while they are open."""

import os
import stat

import kernel
from suite import case


@case("mkdir.new")
def makes(test):
    with test.moves(here="mc"):
        test.works(os.mkdir, "sub", 0o750)
    state = os.lstat("sub")
    test.equal("type and mode", stat.S_IFDIR | 0o750, state.st_mode)
    test.equal("owner and group", (test.uid, test.gid), (state.st_uid, state.st_gid))
    test.equal("names in it", [], test.names("sub"))


@case("mkdir.links")
def links(test):
    before = test.links(".")
    os.mkdir("sub")
    test.equal("links of the new directory", 2, test.links("sub"))
    test.equal("links of its parent", before + 1, test.links("."))
    os.mkdir("sub/one")
    os.mkdir("sub/two")
    test.equal("links with two subdirectories", 4, test.links("sub"))
    os.rmdir("sub/one")
    test.equal("links with one", 3, test.links("sub"))
    test.make("sub/file")
    test.equal("links beside a file", 3, test.links("sub"))


@case("mkdir.dots")
def dots(test):
    test.fails("EEXIST", os.mkdir, ".")
    test.fails("EEXIST", os.mkdir, "..")
    test.fails("EEXIST", os.mkdir, "dir/.")


@case("mkdir.dangling_link")
def over_link(test):
    os.symlink("nowhere", "dangling")
    test.fails("EEXIST", os.mkdir, "dangling")


@case("mkdir.deep")
def deep(test):
    start = os.getcwd()
    for _ in range(200):
        os.mkdir("d")
        os.chdir("d")
    test.make("bottom", b"x")
    test.equal("the working directory's end", "d", os.getcwd().rsplit("/", 1)[1])
    os.chdir(start)
    test.equal("content at the bottom", b"x", test.content("d/" * 200 + "bottom"))


@case("rmdir.empty")
def removes(test):
    before = test.links(".")
    with test.moves(here="mc"):
        test.works(os.rmdir, "dir")
    test.absent("dir")
    test.equal("links of its parent", before - 1, test.links("."))


@case("rmdir.enotempty")
def not_empty(test):
    test.fails("ENOTEMPTY EEXIST", os.rmdir, "full")
    os.mkdir("dir/sub")
    test.fails("ENOTEMPTY EEXIST", os.rmdir, "dir")
    os.rmdir("dir/sub")
    test.works(os.rmdir, "dir")


@case("rmdir.dots")
def removes_dots(test):
    test.fails("EINVAL", os.rmdir, "dir/.")
    test.fails("ENOTEMPTY EEXIST", os.rmdir, "full/..")


@case("rmdir.not_a_directory")
def not_a_directory(test):
    test.fails("ENOTDIR", os.rmdir, "file")
    test.fails("ENOTDIR", os.rmdir, "link")
    os.symlink("dir", "to_dir")
    test.fails("ENOTDIR", os.rmdir, "to_dir")


@case("rmdir.emptied")
def emptied(test):
    os.unlink("full/child")
    test.works(os.rmdir, "full")


@case("rmdir.working_directory")
def working_directory(test):
    os.chdir("dir")
    test.works(os.rmdir, "../dir")
    test.fails("ENOENT", os.open, "new", os.O_CREAT | os.O_WRONLY)
    test.fails("ENOENT", os.mkdir, "sub")
    test.fails("ENOENT", os.symlink, "a", "b")
    test.equal("names", [], test.names("."))
    test.equal("links", 0, os.stat(".").st_nlink)


@case("rmdir.open")
def removed_while_open(test):
    with test.opened("dir", os.O_RDONLY) as descriptor:
        os.rmdir("dir")
        test.equal("links", 0, os.fstat(descriptor).st_nlink)
        names = [entry[3] for entry in kernel.getdents(descriptor)] if still_listed(descriptor) else []
        test.true("at most the dots are listed", set(names) <= {b".", b".."}, names)
        os.mkdir("dir")
        test.true("the new one is another", os.stat("dir").st_ino != os.fstat(descriptor).st_ino)
        os.fsync(descriptor)


def still_listed(descriptor):
    try:
        kernel.getdents(descriptor)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return True
    except FileNotFoundError:
        return False


@case("directory.read")
def reads_directory(test):
    with test.opened("dir", os.O_RDONLY) as descriptor:
        test.fails("EISDIR", os.read, descriptor, 10)
        test.fails("EBADF EISDIR", os.write, descriptor, b"x")
        test.fails("EINVAL EBADF EISDIR", os.ftruncate, descriptor, 0)


@case("directory.truncate")
def truncates_directory(test):
    test.fails("EISDIR", os.truncate, "dir", 0)


@case("directory.handle_survives_rename")
def renamed_directory(test):
    with test.opened("full", os.O_RDONLY) as descriptor:
        os.rename("full", "moved")
        test.equal("names", ["child"], os.listdir(descriptor))
        inner = test.works(lambda: os.open("child", os.O_RDONLY, dir_fd=descriptor))
        test.equal("content", b"child", os.read(inner, 10))
        os.close(inner)
