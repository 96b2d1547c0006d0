"""rename(2) and renameat2(2)."""

import os

import kernel
from suite import USER, case


@case("rename.file")
def renames(test):
    inode = os.stat("file").st_ino
    os.link("file", "dir/second")
    with test.moves(here="mc", dir__second="c", dir=""):
        test.works(os.rename, "file", "moved")
    test.absent("file")
    test.equal("inode", inode, os.stat("moved").st_ino)
    test.equal("content", b"0123456789", test.content("moved"))


@case("rename.into_directory")
def into(test):
    with test.moves(here="mc", dir="mc"):
        test.works(os.rename, "file", "dir/moved")
    test.equal("content", b"0123456789", test.content("dir/moved"))
    with test.moves(here="mc", dir="mc"):
        os.rename("dir/moved", "file")
    test.equal("names", [], test.names("dir"))


@case("rename.over_file")
def over(test):
    os.link("large", "kept")
    with test.moves(kept="c", here="mc"):
        test.works(os.rename, "file", "large")
    test.equal("content", b"0123456789", test.content("large"))
    test.equal("links of what was there", 1, test.links("kept"))
    test.absent("file")


@case("rename.over_open_file")
def over_open(test):
    with test.opened("large") as descriptor:
        os.rename("file", "large")
        test.equal("links", 0, os.fstat(descriptor).st_nlink)
        test.equal("old content", (1).to_bytes(4, "little"), os.pread(descriptor, 4, 4))
        os.pwrite(descriptor, b"x", 0)
    test.equal("new content", b"0123456789", test.content("large"))


@case("rename.fresh_over")
def editors(test):
    """How editors save: a new file over the old one."""
    for round_number in range(20):
        test.make("temporary", b"version %d" % round_number)
        test.works(os.rename, "temporary", "file")
        test.equal("content", b"version %d" % round_number, test.content("file"))


@case("rename.same_file")
def same(test):
    os.link("file", "second")
    with test.moves(here=""):
        test.works(os.rename, "file", "second")
        test.works(os.rename, "file", "file")
    test.equal("both are there", 2, test.links("file"))
    test.equal("names", ["dir", "empty", "file", "full", "large", "link", "second"], test.names())


@case("rename.directory")
def directory(test):
    with test.moves(here="mc"):
        test.works(os.rename, "full", "moved")
    test.equal("content", b"child", test.content("moved/child"))
    test.absent("full")


@case("rename.directory_parents")
def parents(test):
    here, there = test.links("."), test.links("dir")
    test.works(os.rename, "full", "dir/moved")
    test.equal("links of the old parent", here - 1, test.links("."))
    test.equal("links of the new parent", there + 1, test.links("dir"))
    test.equal("its ..", os.stat("dir").st_ino, os.stat("dir/moved/..").st_ino)
    test.equal("content", b"child", test.content("dir/moved/child"))


@case("rename.directory_over_empty")
def over_empty(test):
    links = test.links(".")
    test.works(os.rename, "full", "dir")
    test.equal("names", ["child"], test.names("dir"))
    test.equal("links of the parent", links - 1, test.links("."))


@case("rename.directory_over_full")
def over_full(test):
    test.fails("ENOTEMPTY EEXIST", os.rename, "dir", "full")
    test.equal("names", ["child"], test.names("full"))


@case("rename.directory_over_itself_empty")
def over_removed(test):
    with test.opened("dir", os.O_RDONLY) as descriptor:
        os.rename("full", "dir")
        test.equal("links of what was there", 0, os.fstat(descriptor).st_nlink)


@case("rename.kinds")
def kinds(test):
    test.fails("EISDIR", os.rename, "file", "dir")
    test.fails("ENOTDIR", os.rename, "dir", "file")
    test.fails("ENOTDIR", os.rename, "dir", "link")
    test.works(os.rename, "link", "empty")
    test.equal("the link", "file", os.readlink("empty"))


@case("rename.into_itself")
def into_itself(test):
    test.fails("EINVAL", os.rename, "dir", "dir/sub")
    os.mkdir("dir/deep")
    test.fails("EINVAL", os.rename, "dir", "dir/deep/sub")


@case("rename.over_ancestor")
def over_ancestor(test):
    os.mkdir("full/sub")
    test.fails("ENOTEMPTY EEXIST", os.rename, "full/sub", "full")


@case("rename.dots")
def dots(test):
    test.fails("EBUSY EINVAL", os.rename, "dir/.", "other")
    test.fails("EBUSY EINVAL", os.rename, "dir/..", "other")
    test.fails("EBUSY EINVAL ENOTEMPTY", os.rename, "dir", ".")


@case("rename.symlinks_are_not_followed")
def of_links(test):
    test.works(os.rename, "link", "moved")
    test.equal("target", "file", os.readlink("moved"))
    os.symlink("dir", "to_directory")
    test.works(os.rename, "to_directory", "moved")
    test.equal("target", "dir", os.readlink("moved"))
    os.rename("file", "moved")
    test.equal("content", b"0123456789", test.content("moved"))


@case("rename.slashes")
def slashes(test):
    test.fails("ENOTDIR", os.rename, "file/", "moved")
    test.works(os.rename, "dir/", "moved/")
    test.works(os.rename, "moved", "dir/")


@case("rename.exdev")
def across(test):
    test.fails("EXDEV", os.rename, "file", "/proc/moved")


@case("rename.open_file_follows")
def open_file(test):
    with test.opened("file") as descriptor:
        os.rename("file", "dir/moved")
        os.pwrite(descriptor, b"AB", 0)
    test.equal("content", b"AB23456789", test.content("dir/moved"))


@case("rename.unwritable_parents", USER)
def unwritable(test):
    os.mkdir("other")
    os.chmod("full", 0o555)
    test.fails("EACCES", os.rename, "full/child", "moved")
    test.fails("EACCES", os.rename, "file", "full/moved")
    test.fails("EACCES", os.rename, "file", "full/child")


@case("rename.unwritable_directory", USER)
def unwritable_directory(test):
    """A directory that may not be written cannot get another parent, since its .. would change; a name it can."""
    os.mkdir("other")
    os.chmod("full", 0o555)
    test.fails("EACCES", os.rename, "full", "other/moved")
    test.works(os.rename, "full", "renamed")


@case("rename.noreplace")
def noreplace(test):
    test.works(kernel.rename_noreplace, "file", "moved")
    test.fails("EEXIST", kernel.rename_noreplace, "moved", "large")
    test.fails("EEXIST", kernel.rename_noreplace, "moved", "dir")
    test.fails("EEXIST", kernel.rename_noreplace, "moved", "moved")
    test.equal("content", b"0123456789", test.content("moved"))


@case("rename.exchange")
def exchange(test):
    first, second = os.stat("file").st_ino, os.stat("large").st_ino
    with test.moves(here="mc"):
        test.works(kernel.exchange, "file", "large")
    test.equal("inodes", (second, first), (os.stat("file").st_ino, os.stat("large").st_ino))
    test.equal("content", b"0123456789", test.content("large"))
    test.equal("size", 300_000, test.size("file"))


@case("rename.exchange_across")
def exchange_across(test):
    with test.moves(here="mc", full="mc"):
        test.works(kernel.exchange, "file", "full/child")
    test.equal("contents", (b"child", b"0123456789"), (test.content("file"), test.content("full/child")))


@case("rename.exchange_kinds")
def exchange_kinds(test):
    links = test.links(".")
    test.works(kernel.exchange, "file", "dir")
    test.equal("dir is the file", b"0123456789", test.content("dir"))
    test.equal("names in file", [], test.names("file"))
    test.equal("links of the parent", links, test.links("."))
    test.works(kernel.exchange, "link", "file")
    test.equal("names in link", [], test.names("link"))


@case("rename.exchange_directories")
def exchange_directories(test):
    os.mkdir("dir/sub")
    here, there = test.links("."), test.links("full")
    test.works(kernel.exchange, "dir/sub", "full")
    test.equal("content", b"child", test.content("dir/sub/child"))
    test.equal("links of both parents", (here, 3), (test.links("."), test.links("dir")))
    test.equal("names in full", [], test.names("full"))
    test.equal("its ..", os.stat("dir").st_ino, os.stat("dir/sub/..").st_ino)
    test.equal("links before", 2, there)


@case("rename.exchange_file_and_directory_across")
def exchange_mixed(test):
    here, there = test.links("."), test.links("dir")
    test.make("dir/inner", b"inner")
    test.works(kernel.exchange, "dir/inner", "full")
    test.equal("links of both parents", (here - 1, there + 1), (test.links("."), test.links("dir")))
    test.equal("content", (b"inner", b"child"), (test.content("full"), test.content("dir/inner/child")))


@case("rename.exchange_errors")
def exchange_errors(test):
    test.fails("ENOENT", kernel.exchange, "file", "absent")
    test.fails("ENOENT", kernel.exchange, "absent", "file")
    os.mkdir("dir/sub")
    test.fails("EINVAL", kernel.exchange, "dir", "dir/sub")
    test.fails("EINVAL", kernel.exchange, "dir/sub", "dir")
    test.fails("EXDEV", kernel.exchange, "file", "/proc/self/status")


@case("rename.flags")
def flags(test):
    test.fails("EINVAL", kernel.renameat2, "file", "moved", kernel.RENAME_NOREPLACE | kernel.RENAME_EXCHANGE)
    test.fails("EINVAL", kernel.renameat2, "file", "moved", 0x80)
    test.equal("names", ["dir", "empty", "file", "full", "large", "link"], test.names())


@case("rename.names_come_and_go")
def over_and_over(test):
    for number in range(500):
        os.rename("file", f"dir/{number}")
        test.true("there is one name", len(os.listdir("dir")) == 1)
        os.rename(f"dir/{number}", "file")
    test.equal("content", b"0123456789", test.content("file"))


@case("rename.concurrent_readers_see_one")
def atomic(test):
    """While a name is replaced it is never absent."""
    pid = os.fork()
    if pid == 0:
        for number in range(300):
            test.make("temporary", b"%010d" % number)
            os.rename("temporary", "file")
        os._exit(0)
    looks = 0
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        test.equal("length", 10, len(test.content("file")))
        looks += 1
    test.true("looked", looks > 0)
