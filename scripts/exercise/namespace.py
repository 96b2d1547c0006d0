"""Random operations on names, each done to a directory and to its model; what differs is a Difference."""

import collections
import errno
import os
import stat

from tree import DIRECTORY, FIFO, FILE, LINK, Node, Tree

# Few names, so that operations meet; one that is as long as a name may be, and one that is no text.
NAMES = ["a", "b", "c", "d", "e", "f", "g.txt", "H", "\u00e9", "x" * 255, os.fsdecode(b"\xff\n")]
XATTRS = ["user.a", "user.b", "user.c"]
MOST, DEEPEST, MOST_HANDLES = 150, 6, 12
TYPES = {FILE: stat.S_IFREG, DIRECTORY: stat.S_IFDIR, LINK: stat.S_IFLNK, FIFO: stat.S_IFIFO}
MASK = 2**64 - 1


class Difference(Exception):
    """What the file system does otherwise than the model."""


def mixed(value):
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def make_pristine(path, number):
    """A small tree, the same for each number, as it lies in a volume's SOURCE."""
    os.mkdir(path)
    os.chmod(path, 0o755)
    for directory in range(4):
        below = os.path.join(path, NAMES[directory])
        os.mkdir(below, 0o755)
        for place in range(3):
            with open(os.path.join(below, NAMES[place + 4]), "wb") as file:
                file.write(b"%d %d %d" % (number, directory, place))
        os.symlink("../e", os.path.join(below, NAMES[8]))
        os.mkdir(os.path.join(below, NAMES[3]), 0o755)
    for place in range(3):
        with open(os.path.join(path, NAMES[place + 4]), "wb") as file:
            file.write(b"%d at the top" % place)
    os.link(os.path.join(path, NAMES[4]), os.path.join(path, NAMES[9]))


def xattrs_of(path):
    return {key: os.getxattr(path, key) for key in os.listxattr(path) if key in XATTRS}


def modelled(path):
    """The model of a tree that is there."""
    tree, known = Tree(path), {}

    def add(directory, real):
        for entry in sorted(os.scandir(real), key=lambda entry: entry.name):
            state = entry.stat(follow_symlinks=False)
            kind = next(kind for kind, bits in TYPES.items() if stat.S_IFMT(state.st_mode) == bits)
            if state.st_ino in known:
                tree.link(known[state.st_ino], directory, entry.name)
                continue
            node = known[state.st_ino] = Node(kind, stat.S_IMODE(state.st_mode))
            node.inode, node.mtime = state.st_ino, state.st_mtime_ns
            if kind == LINK:
                node.content = os.fsencode(os.readlink(entry.path))
            tree.make(directory, entry.name, node)
            if kind == FILE:
                with open(entry.path, "rb") as file:
                    node.content = file.read()
            if kind == DIRECTORY:
                add(node, entry.path)
                node.mtime = state.st_mtime_ns
            if kind in (FILE, DIRECTORY):
                node.xattrs = xattrs_of(entry.path)

    add(tree.root, path)
    return tree


def _shown(word, root):
    text = repr(word).replace(root, "")
    return text if len(text) < 50 else f"{text[:20]}...{text[-10:]} ({len(text)} long)"


class World:
    """One directory, its model, and handles of files in it."""

    def __init__(self, path):
        self.tree = modelled(path)
        self.handles = []
        # What was called last, for the report: function, arguments, errno.
        self.calls = collections.deque(maxlen=30)

    def close(self):
        for descriptor, _ in self.handles:
            os.close(descriptor)
        self.handles = []

    # Choosing by chance.

    def directory(self, chance):
        return self.tree.directories[chance % len(self.tree.directories)]

    def place(self, chance):
        """A directory and a name in it, which is there more often than not."""
        directory = self.directory(chance)
        for turn in range(1, 5):
            if directory.names:
                break
            directory = self.directory(chance >> 4 * turn)
        if directory.names and chance >> 20 & 3:
            return directory, list(directory.names)[(chance >> 24) % len(directory.names)]
        return directory, NAMES[(chance >> 24) % len(NAMES)]

    # Asking.

    def expect(self, expected, function, *arguments):
        """The call's errno is as the model has it, 0 for success; its result."""
        result, got = None, 0
        try:
            result = function(*arguments)
        except OSError as error:
            got = error.errno
        self.calls.append((function, arguments, got))
        if got != expected:
            names = [errno.errorcode.get(number, str(number)) if number else "success" for number in (expected, got)]
            raise Difference(f"{function.__name__}{arguments!r}: expected {names[0]}, got {names[1]}")
        return result

    def told(self):
        """The last calls, as text."""
        root = self.tree.root_path + "/"
        return [f"{function.__name__}({', '.join(_shown(word, root) for word in arguments)})"
                + (f" = {errno.errorcode.get(number, number)}" if number else "")
                for function, arguments, number in self.calls]

    def same(self, what, expected, got):
        if expected != got:
            raise Difference(f"{what}: expected {expected!r}, got {got!r}")

    def check_state(self, path, node, state):
        kind = TYPES[node.kind]
        self.same(f"type and mode of {path}", oct(kind | node.mode), oct(state.st_mode))
        self.same(f"links of {path}", node.links, state.st_nlink)
        if node.inode is None:
            node.inode = state.st_ino
        self.same(f"inode of {path}", node.inode, state.st_ino)
        if node.kind in (FILE, LINK):
            self.same(f"size of {path}", len(node.content), state.st_size)
        if node.mtime is not None:
            self.same(f"mtime of {path}", node.mtime, state.st_mtime_ns)

    def check_node(self, path, node):
        self.check_state(path, node, os.lstat(path))
        if node.kind == FILE:
            with open(path, "rb", 0) as file:
                self.same(f"content of {path}", node.content, file.read())
        if node.kind == LINK:
            self.same(f"target of {path}", node.content, os.fsencode(os.readlink(path)))
        if node.kind in (FILE, DIRECTORY):
            self.same(f"xattrs of {path}", node.xattrs, xattrs_of(path))

    def check_listing(self, directory):
        path = self.tree.path(directory)
        with os.scandir(path) as entries:
            found = {entry.name: entry for entry in entries}
        self.same(f"names in {path}", sorted(directory.names), sorted(found))
        for name, node in directory.names.items():
            if node.inode is not None:
                self.same(f"listed inode of {path}/{name}", node.inode, found[name].inode())

    def check_all(self):
        inodes = {}
        for directory in self.tree.directories:
            self.check_listing(directory)
            self.check_node(self.tree.path(directory), directory)
        for directory, name, node in self.tree.all_names():
            path = self.tree.path(directory, name)
            self.check_node(path, node)
            if inodes.setdefault(node.inode, node) is not node:
                raise Difference(f"{path} has the inode of another file, {node.inode}")
        for descriptor, node in self.handles:
            self.check_state(f"an open file (descriptor {descriptor})", node, os.fstat(descriptor))
