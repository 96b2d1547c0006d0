"""What system calls say that a command read of a tree, from the files of `strace -ff -y`."""

import os
import re

# Calls that strace is asked for: what reads content or names, what looks a name up, and what changes where a
# relative path begins.
CALLS = ("%file,%desc,clone,clone3,fork,vfork,execve,chdir,fchdir,mmap,read,pread64,readv,preadv,preadv2,getdents,"
         "getdents64,copy_file_range,sendfile,splice")

LINE = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+|\?)")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
DESCRIPTOR = re.compile(r"(?:\d+|AT_FDCWD)<((?:[^>\\]|\\.)*)>")
# Which of the descriptors among the arguments is read from.
READS = {"read": 0, "pread64": 0, "readv": 0, "preadv": 0, "preadv2": 0, "copy_file_range": 0, "sendfile": 1,
         "splice": 0}
CHILDREN = ("clone", "clone3", "fork", "vfork")
BY_LINK = re.compile(r"AT_SYMLINK_NOFOLLOW|O_NOFOLLOW")
ABOUT_ITSELF = {"lstat", "readlink", "readlinkat", "lgetxattr", "llistxattr", "unlink", "unlinkat", "rename",
                "renameat", "renameat2", "symlink", "symlinkat", "mkdir", "mkdirat", "lchown"}


def unquoted(text):
    """The bytes of a string as strace prints them."""
    def letter(found):
        if found[1][0] in "01234567":
            return chr(int(found[1], 8))
        return {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1])

    return re.sub(r"\\([0-7]{1,3}|.)", letter, text)


class Reads:
    """Sets of absolute paths: `read` (content came), `mapped` (it may have), `listed`, and `looked` (the paths that
    were looked up)."""

    def __init__(self, start):
        self.read, self.mapped, self.listed, self.looked = set(), set(), set(), set()
        self._start = start

    def add(self, folder):
        """All processes, each with a file of its own; children begin where their parents are."""
        logs = {int(name.rpartition(".")[2]): os.path.join(folder, name) for name in os.listdir(folder)}
        children, waiting = set(), {}
        for pid in sorted(logs):
            with open(logs[pid], encoding="utf-8", errors="surrogateescape") as file:
                waiting[pid] = file.read().splitlines()
            for line in waiting[pid]:
                if line.split("(", 1)[0] in CHILDREN and (found := re.search(r"= (\d+)", line)):
                    children.add(int(found[1]))
        queue = [(pid, self._start) for pid in sorted(logs) if pid not in children]
        while queue:
            pid, place = queue.pop()
            for line in waiting.pop(pid, ()):
                place, child = self.call(line, place)
                if child:
                    queue.append((child, place))

    def call(self, line, place):
        """Takes in one call; where the process is then, and the child that it started."""
        found = LINE.match(line)
        if not found:
            return place, None
        name, rest, value = found.groups()
        if name in CHILDREN:
            return place, int(value) if value.isdigit() else None
        descriptors = [unquoted(path) for path in DESCRIPTOR.findall(STRING.sub('""', rest))]
        worked = not value.startswith("-") and value != "?"
        if name in READS and worked and value != "0" and len(descriptors) > READS[name]:
            self.read.add(descriptors[READS[name]])
        elif name == "mmap" and descriptors and worked:
            self.mapped.add(descriptors[0])
        elif name in ("getdents", "getdents64") and descriptors:
            self.listed.add(descriptors[0])
        elif name == "fchdir" and worked and descriptors:
            place = descriptors[0]
        elif not name.startswith(("read", "write", "pread", "pwrite")) or name.startswith("readlink"):
            place = self._paths(name, rest, descriptors, place, worked)
        return place, None

    def _paths(self, name, rest, descriptors, place, worked):
        strings = [unquoted(text) for text in STRING.findall(rest)]
        strings = strings[:2] if "link" in name or "rename" in name else strings[:1]
        if name in ("symlink", "symlinkat"):
            return place
        base = descriptors[0] if rest.startswith("AT_FDCWD<") or rest[:1].isdigit() and descriptors else place
        for path in strings:
            if not path:
                continue
            path = os.path.join(base, path)
            follow = not BY_LINK.search(rest) and name not in ABOUT_ITSELF
            self.looked.add((path, follow or path.endswith("/")))
            if name == "chdir" and worked:
                place = os.path.realpath(path)
            if name == "execve" and worked:
                self.read.add(os.path.realpath(path))
        return place


def folders_of(path, follow, root, seen=()):
    """The directories below `root` in which names are looked up on the way to a path, links followed, and where it
    leads (None when a name on the way is not there)."""
    place, found = "/", set()
    parts = [part for part in path.split("/") if part and part != "."]
    for number, part in enumerate(parts):
        if part == "..":
            place = os.path.dirname(place)
            continue
        if os.path.isdir(place) and (place == root or place.startswith(root + "/")):
            found.add(place)
        here = os.path.join(place, part)
        if os.path.islink(here) and (follow or number < len(parts) - 1) and len(seen) < 40:
            more, place = folders_of(os.path.join(place, os.readlink(here)), True, root, (*seen, here))
            found |= more
            if place is None:
                return found, None
        else:
            place = here
            if not os.path.lexists(place):
                return found, None
    return found, place


def within(paths, root):
    """Of absolute paths those in the tree, relative to it."""
    return {os.path.relpath(path, root) for path in paths if path == root or path.startswith(root + "/")}
