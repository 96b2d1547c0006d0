"""The listing of directories, while they change, too."""

import os
import stat

import kernel
from suite import USER, case

TYPES = {stat.S_IFDIR: 4, stat.S_IFREG: 8, stat.S_IFLNK: 10, stat.S_IFIFO: 1}


def filled(count):
    names = [f"name-{number:05}" for number in range(count)]
    for name in names:
        os.close(os.open("dir/" + name, os.O_CREAT | os.O_WRONLY, 0o644))
    return [os.fsencode(name) for name in names]


def rest(descriptor, size=4096):
    entries = []
    while batch := kernel.getdents(descriptor, size):
        entries += batch
    return entries


def names_of(entries):
    return sorted(entry[3] for entry in entries if entry[3] not in (b".", b".."))


@case("readdir.all")
def lists_all(test):
    names = filled(3000)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        entries = rest(descriptor)
    test.equal("names", names, names_of(entries))
    test.equal("the dots", 2, len(entries) - len(names))


@case("readdir.kinds_and_inodes")
def kinds(test):
    os.mkfifo("fifo")
    with test.opened(".", os.O_RDONLY) as descriptor:
        entries = {entry[3]: entry for entry in rest(descriptor)}
    for name in (b"file", b"dir", b"link", b"fifo", b"."):
        state = os.lstat(name)
        test.equal(f"inode of {name!r}", state.st_ino, entries[name][0])
        test.true(f"type of {name!r}", entries[name][2] in (0, TYPES[stat.S_IFMT(state.st_mode)]), entries[name][2])
    test.equal("inode of '..'", os.lstat("..").st_ino, entries[b".."][0])


@case("readdir.removed_while_listed")
def removed(test):
    names = filled(1000)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        entries = kernel.getdents(descriptor, 4096)
        seen = set(names_of(entries))
        doomed = [name for name in names if name not in seen][::2]
        for name in doomed:
            os.unlink(b"dir/" + name)
        listed = names_of(entries + rest(descriptor))
    test.equal("names listed twice", [], sorted({name for name in listed if listed.count(name) > 1})[:5])
    lost = set(names) - set(doomed) - set(listed)
    test.equal("names that stayed and were not listed", [], sorted(lost)[:5])


@case("readdir.seen_removed_while_listed")
def removes_what_it_saw(test):
    """rm -r: what was listed is removed before the listing goes on."""
    names, found = filled(2000), []
    with test.opened("dir", os.O_RDONLY) as descriptor:
        while entries := kernel.getdents(descriptor, 4096):
            for name in names_of(entries):
                found.append(name)
                os.unlink(b"dir/" + name)
    test.equal("names", names, sorted(found))
    test.works(os.rmdir, "dir")


@case("readdir.created_while_listed")
def created(test):
    names = filled(1000)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        entries = kernel.getdents(descriptor, 4096)
        for number in range(200):
            test.make(f"dir/later-{number}")
        listed = names_of(entries + rest(descriptor))
    test.equal("listed twice", [], sorted({name for name in listed if listed.count(name) > 1})[:5])
    test.equal("names there before and not listed", [], sorted(set(names) - set(listed))[:5])
    test.equal("all names in a new listing", 1200, len(test.names("dir")))


@case("readdir.renamed_while_listed")
def renamed(test):
    names = filled(500)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        entries = kernel.getdents(descriptor, 2048)
        for name in names[::5]:
            os.rename(b"dir/" + name, b"dir/moved-" + name)
        listed = set(names_of(entries + rest(descriptor)))
    stayed = {name for name in names if name not in names[::5]}
    test.equal("names that stayed and were not listed", [], sorted(stayed - listed)[:5])


@case("readdir.rewind")
def rewinds(test):
    names = filled(300)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        test.equal("first", names, names_of(rest(descriptor)))
        test.make("dir/zz-later")
        os.unlink(b"dir/" + names[0])
        os.lseek(descriptor, 0, os.SEEK_SET)
        test.equal("after rewinddir", [*names[1:], b"zz-later"], names_of(rest(descriptor)))


@case("readdir.seek")
def seeks(test):
    filled(300)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        entries = rest(descriptor, 1024)
        for place in (0, 3, 100, 250, len(entries) - 1):
            os.lseek(descriptor, entries[place][1], os.SEEK_SET)
            expected = [entry[3] for entry in entries[place + 1:]]
            test.equal(f"from entry {place}", expected, [entry[3] for entry in rest(descriptor, 1024)])


@case("readdir.seek_after_removal")
def seeks_in_changed(test):
    filled(300)
    with test.opened("dir", os.O_RDONLY) as descriptor:
        entries = rest(descriptor, 1024)
        for entry in entries[:100]:
            if entry[3] not in (b".", b".."):
                os.unlink(b"dir/" + entry[3])
        os.lseek(descriptor, entries[150][1], os.SEEK_SET)
        test.equal("from entry 150", [entry[3] for entry in entries[151:]], [entry[3] for entry in rest(descriptor)])


@case("readdir.small_buffer")
def small(test):
    with test.opened("dir", os.O_RDONLY) as descriptor:
        test.fails("EINVAL", kernel.getdents, descriptor, 8)


@case("readdir.not_a_directory")
def no_directory(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.fails("ENOTDIR", kernel.getdents, descriptor)


@case("readdir.eacces", USER)
def unreadable(test):
    os.chmod("full", 0o311)
    test.fails("EACCES", os.listdir, "full")
    test.equal("content of what is in it", b"child", test.content("full/child"))


@case("readdir.unsearchable", USER)
def unsearchable(test):
    os.chmod("full", 0o400)
    test.equal("names", ["child"], test.names("full"))
    test.fails("EACCES", os.stat, "full/child")


@case("directory.many_files")
def come_and_go(test):
    for rounds in range(3):
        names = filled(1500)
        test.equal(f"names in round {rounds}", len(names), len(os.listdir("dir")))
        for name in names:
            os.unlink(b"dir/" + name)
        test.equal("names after their removal", [], os.listdir("dir"))
