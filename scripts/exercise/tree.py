"""A tree of names as it ought to be: what each operation changes, and with which errno it is refused."""

import errno

FILE, DIRECTORY, LINK, FIFO = "file", "directory", "link", "fifo"


class Node:
    __slots__ = ("kind", "mode", "links", "content", "names", "xattrs", "mtime", "inode", "parent", "name")

    def __init__(self, kind, mode, content=b""):
        self.kind, self.mode, self.content = kind, mode, content
        self.links = 2 if kind == DIRECTORY else 1
        self.names = {} if kind == DIRECTORY else None
        self.xattrs, self.mtime, self.inode = {}, None, None
        # Of directories only: where they are.
        self.parent, self.name = None, None

    @property
    def is_directory(self):
        return self.kind == DIRECTORY


class Tree:
    """`mtime` of a node is set while it is known: what changes a node makes it `now`, which is None."""

    def __init__(self, root_path):
        self.root_path = root_path
        self.root = Node(DIRECTORY, 0o755)
        self.directories = [self.root]
        self.count = 1

    def path(self, directory, name=None):
        parts = [name] if name is not None else []
        while directory is not self.root:
            parts.append(directory.name)
            directory = directory.parent
        return "/".join([self.root_path, *reversed(parts)])

    def is_within(self, directory, ancestor):
        """Whether it is the ancestor, or below it."""
        while directory is not None:
            if directory is ancestor:
                return True
            directory = directory.parent
        return False

    def all_names(self):
        """(directory, name, node) of every name."""
        for directory in list(self.directories):
            for name, node in list(directory.names.items()):
                yield directory, name, node

    # Changes. Each returns the errno that is expected, 0 for success, and changes the tree only then.

    def _attach(self, directory, name, node):
        directory.names[name] = node
        directory.mtime = None
        if node.is_directory:
            node.parent, node.name = directory, name
            directory.links += 1

    def _detach(self, directory, name):
        node = directory.names.pop(name)
        directory.mtime = None
        if node.is_directory:
            directory.links -= 1
        return node

    def _gone(self, node):
        if node.is_directory:
            self.directories.remove(node)
            node.links = 0
        else:
            node.links -= 1
        self.count -= 1

    def make(self, directory, name, node):
        if name in directory.names:
            return errno.EEXIST
        self._attach(directory, name, node)
        self.count += 1
        if node.is_directory:
            self.directories.append(node)
        return 0

    def link(self, source, directory, name):
        if source is None:
            return errno.ENOENT
        if name in directory.names:
            return errno.EEXIST
        if source.is_directory:
            return errno.EPERM
        self._attach(directory, name, source)
        source.links += 1
        self.count += 1
        return 0

    def unlink(self, directory, name):
        node = directory.names.get(name)
        if node is None:
            return errno.ENOENT
        if node.is_directory:
            return errno.EISDIR
        self._gone(self._detach(directory, name))
        return 0

    def rmdir(self, directory, name):
        node = directory.names.get(name)
        if node is None:
            return errno.ENOENT
        if not node.is_directory:
            return errno.ENOTDIR
        if node.names:
            return errno.ENOTEMPTY
        self._gone(self._detach(directory, name))
        return 0

    def _rename_refused(self, old, directory, new_directory, new, exchange):
        """The errno of what both kinds of rename refuse."""
        if old.is_directory and self.is_within(new_directory, old):
            return errno.EINVAL
        if new is not None and new.is_directory and self.is_within(directory, new):
            return errno.EINVAL if exchange else errno.ENOTEMPTY
        return 0

    def rename(self, directory, name, new_directory, new_name, noreplace=False):
        old, new = directory.names.get(name), new_directory.names.get(new_name)
        if old is None:
            return errno.ENOENT
        if noreplace and new is not None:
            return errno.EEXIST
        if refused := self._rename_refused(old, directory, new_directory, new, False):
            return refused
        if old is new:
            return 0
        if new is not None:
            if old.is_directory and not new.is_directory:
                return errno.ENOTDIR
            if new.is_directory and not old.is_directory:
                return errno.EISDIR
            if new.is_directory and new.names:
                return errno.ENOTEMPTY
            self._gone(self._detach(new_directory, new_name))
        self._detach(directory, name)
        self._attach(new_directory, new_name, old)
        return 0

    def exchange(self, directory, name, new_directory, new_name):
        old, new = directory.names.get(name), new_directory.names.get(new_name)
        if old is None or new is None:
            return errno.ENOENT
        if refused := self._rename_refused(old, directory, new_directory, new, True):
            return refused
        if old is new:
            return 0
        self._detach(directory, name)
        self._detach(new_directory, new_name)
        self._attach(directory, name, new)
        self._attach(new_directory, new_name, old)
        return 0
