"""The operations on names. Each is given the world and three numbers by chance, so that any selection of a run's
operations can be run."""

import errno
import os

import kernel
from namespace import DEEPEST, LINK, FIFO, FILE, DIRECTORY, MOST, MOST_HANDLES, NAMES, XATTRS
from tree import Node

NOW = None


def _makes(world, a):
    """Where something new may go: a directory not too deep in a tree not too large, or None."""
    directory = world.directory(a)
    if world.tree.count >= MOST or world.tree.path(directory).count("/") - world.tree.root_path.count("/") >= DEEPEST:
        return None
    return directory


def create(world, a, b, c):
    directory = _makes(world, a)
    if directory is None:
        return unlink(world, a, b, c)
    name, mode = NAMES[b % len(NAMES)], (0o600, 0o644, 0o755)[c % 3]
    path, node = world.tree.path(directory, name), Node(FILE, mode)
    descriptor = world.expect(world.tree.make(directory, name, node), os.open, path,
                              os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    if descriptor is not None:
        node.content = b"made by %d" % (c % 1000) if c & 8 else b""
        os.write(descriptor, node.content)
        node.inode = os.fstat(descriptor).st_ino
        os.close(descriptor)


def mkdir(world, a, b, c):
    directory = _makes(world, a)
    if directory is None:
        return rmdir(world, a, b, c)
    name, mode = NAMES[b % len(NAMES)], (0o700, 0o755)[c % 2]
    path = world.tree.path(directory, name)
    world.expect(world.tree.make(directory, name, Node(DIRECTORY, mode)), os.mkdir, path, mode)


def symlink(world, a, b, c):
    directory = _makes(world, a)
    if directory is None:
        return unlink(world, a, b, c)
    name, target = NAMES[b % len(NAMES)], "t" * (1 + c % 300)
    node = Node(LINK, 0o777, target.encode())
    world.expect(world.tree.make(directory, name, node), os.symlink, target, world.tree.path(directory, name))


def mkfifo(world, a, b, c):
    directory = _makes(world, a)
    if directory is None:
        return unlink(world, a, b, c)
    name = NAMES[b % len(NAMES)]
    path = world.tree.path(directory, name)
    world.expect(world.tree.make(directory, name, Node(FIFO, 0o644)), os.mkfifo, path, 0o644)


def link(world, a, b, c):
    directory = _makes(world, a)
    if directory is None:
        return unlink(world, a, b, c)
    source_directory, source = world.place(b)
    name = NAMES[c % len(NAMES)]
    old, new = world.tree.path(source_directory, source), world.tree.path(directory, name)
    expected = world.tree.link(source_directory.names.get(source), directory, name)
    world.expect(expected, kernel.link, old, new)


def unlink(world, a, b, c):
    directory, name = world.place(b)
    path = world.tree.path(directory, name)
    world.expect(world.tree.unlink(directory, name), os.unlink, path)


def rmdir(world, a, b, c):
    directory, name = world.place(b)
    path = world.tree.path(directory, name)
    world.expect(world.tree.rmdir(directory, name), os.rmdir, path)


def _two(world, a, b):
    directory, name = world.place(a)
    new_directory, new_name = world.place(b)
    return directory, name, new_directory, new_name


def _too_deep(world, directory, name, new_directory):
    node = directory.names.get(name)
    depth = world.tree.path(new_directory).count("/") - world.tree.root_path.count("/")
    return node is not None and node.is_directory and depth >= 3


def rename(world, a, b, c):
    directory, name, new_directory, new_name = _two(world, a, b)
    if _too_deep(world, directory, name, new_directory):
        return
    old, new = world.tree.path(directory, name), world.tree.path(new_directory, new_name)
    world.expect(world.tree.rename(directory, name, new_directory, new_name), os.rename, old, new)


def rename_noreplace(world, a, b, c):
    directory, name, new_directory, new_name = _two(world, a, b)
    if _too_deep(world, directory, name, new_directory):
        return
    old, new = world.tree.path(directory, name), world.tree.path(new_directory, new_name)
    expected = world.tree.rename(directory, name, new_directory, new_name, noreplace=True)
    world.expect(expected, kernel.rename_noreplace, old, new)


def exchange(world, a, b, c):
    directory, name, new_directory, new_name = _two(world, a, b)
    if _too_deep(world, directory, name, new_directory) or _too_deep(world, new_directory, new_name, directory):
        return
    old, new = world.tree.path(directory, name), world.tree.path(new_directory, new_name)
    world.expect(world.tree.exchange(directory, name, new_directory, new_name), kernel.exchange, old, new)


def _existing(world, a, *kinds):
    """(path, node) of something of these kinds that is there, or (None, None)."""
    directory, name = world.place(a)
    node = directory.names.get(name)
    return (world.tree.path(directory, name), node) if node is not None and node.kind in kinds else (None, None)


def chmod(world, a, b, c):
    path, node = _existing(world, a, FILE, DIRECTORY, FIFO)
    if node:
        node.mode = (0o700, 0o755, 0o711)[b % 3] if node.is_directory else (0o600, 0o640, 0o444, 0o755)[b % 4]
        world.expect(0, os.chmod, path, node.mode)


def utimens(world, a, b, c):
    path, node = _existing(world, a, FILE, DIRECTORY, LINK, FIFO)
    if node:
        node.mtime = (b % 2**31) * 10**9 + c % 10**9
        world.expect(0, kernel.utimensat, path, (5, 0), divmod(node.mtime, 10**9), kernel.AT_SYMLINK_NOFOLLOW)


def setxattr(world, a, b, c):
    path, node = _existing(world, a, FILE, DIRECTORY)
    if node:
        key, value, flags = XATTRS[b % 3], b"v" * (c % 100), (0, os.XATTR_CREATE, os.XATTR_REPLACE)[c % 3]
        expected = errno.EEXIST if flags == os.XATTR_CREATE and key in node.xattrs else 0
        expected = errno.ENODATA if flags == os.XATTR_REPLACE and key not in node.xattrs else expected
        world.expect(expected, os.setxattr, path, key, value, flags)
        if not expected:
            node.xattrs[key] = value


def removexattr(world, a, b, c):
    path, node = _existing(world, a, FILE, DIRECTORY)
    if node:
        key = XATTRS[b % 3]
        world.expect(0 if node.xattrs.pop(key, None) is not None else errno.ENODATA, os.removexattr, path, key)


def write(world, a, b, c):
    path, node = _existing(world, a, FILE)
    if node is None:
        return
    flags, data = ((os.O_TRUNC, os.O_APPEND, 0)[b % 3]), b"%d" % c
    if flags == os.O_APPEND and len(node.content) > 4000:
        return
    descriptor = world.expect(0, os.open, path, os.O_WRONLY | flags)
    os.write(descriptor, data)
    os.close(descriptor)
    node.content = {os.O_TRUNC: data, os.O_APPEND: node.content + data}.get(flags, data + node.content[len(data):])
    node.mtime = NOW


def truncate(world, a, b, c):
    path, node = _existing(world, a, FILE)
    if node:
        size = b % 50
        world.expect(0, os.truncate, path, size)
        node.content = node.content[:size] + bytes(max(0, size - len(node.content)))
        node.mtime = NOW


def look(world, a, b, c):
    directory, name = world.place(a)
    path, node = world.tree.path(directory, name), directory.names.get(name)
    if node is None:
        world.expect(errno.ENOENT, os.lstat, path)
    else:
        world.check_node(path, node)


def listing(world, a, b, c):
    world.check_listing(world.directory(a))


def hold(world, a, b, c):
    path, node = _existing(world, a, FILE)
    if node and len(world.handles) < MOST_HANDLES:
        world.handles.append((world.expect(0, os.open, path, os.O_RDWR), node))


def use(world, a, b, c):
    if not world.handles:
        return
    descriptor, node = world.handles[a % len(world.handles)]
    data = b"<%d>" % (c % 10000)
    if b & 1:
        os.pwrite(descriptor, data, 3)
        node.content = (node.content[:3].ljust(3, b"\0") + data + node.content[3 + len(data):])
        node.mtime = NOW
    world.same("content of an open file", node.content, os.pread(descriptor, 10_000, 0))
    world.check_state("an open file", node, os.fstat(descriptor))


def drop(world, a, b, c):
    if world.handles:
        os.close(world.handles.pop(a % len(world.handles))[0])


WEIGHTS = {create: 18, mkdir: 5, symlink: 4, mkfifo: 2, link: 5, unlink: 12, rmdir: 6, rename: 12, rename_noreplace: 4,
           exchange: 5, chmod: 4, utimens: 4, setxattr: 4, removexattr: 2, write: 8, truncate: 3, look: 14, listing: 3,
           hold: 3, use: 6, drop: 3}
CHANGES = [function for function, weight in WEIGHTS.items() for _ in range(weight)]
