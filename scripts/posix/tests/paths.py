"""The errors that every operation with a path has in common."""

import os

import kernel
from suite import EVERYBODY, USER, add


def opens(path):
    os.close(os.open(path, os.O_RDONLY))


def creates(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))


def mkfifo(path):
    os.mkfifo(path)


def symlink_to(path):
    os.symlink("anything", path)


def link_from(path):
    os.link(path, "made")


def link_to(path):
    os.link("file", path)


def rename_from(path):
    os.rename(path, "made")


def rename_to(path):
    os.rename("file", path)


def exchange(path):
    kernel.exchange(path, "file")


def chmod(path):
    os.chmod(path, 0o600)


def chown(path):
    os.chown(path, os.geteuid(), os.getegid())


def lchown(path):
    os.lchown(path, os.geteuid(), os.getegid())


def utimensat(path):
    os.utime(path, (1, 2))


def truncate(path):
    os.truncate(path, 3)


def setxattr(path):
    os.setxattr(path, "user.a", b"b")


def getxattr(path):
    os.getxattr(path, "user.a")


def removexattr(path):
    os.removexattr(path, "user.a")


def access(path):
    """access(2) itself, where os.access says False for every error."""
    kernel._checked(kernel._libc.access(os.fsencode(path), os.R_OK))


# Operations on a name that is there; whether they follow a link in its last component.
EXISTING = {
    opens: True, os.stat: True, os.lstat: False, chmod: True, chown: True, lchown: False, utimensat: True,
    truncate: True, access: True, os.statvfs: True, os.listdir: True, os.chdir: True, setxattr: True, getxattr: True,
    os.listxattr: True, removexattr: True, os.readlink: False, os.unlink: False, os.rmdir: False, link_from: False,
    rename_from: False, exchange: False,
}
# Operations that make a name.
MAKING = (creates, os.mkdir, mkfifo, symlink_to, link_to, rename_to)
REMOVING = (os.unlink, os.rmdir, rename_from)
LONGEST_NAME, LONGEST_PATH = 255, 4095


def failing(expected, function, path, prepare=None):
    def run(test):
        if prepare:
            prepare()
        test.fails(expected, function, path)
    return run


def loops():
    os.symlink("second", "first")
    os.symlink("first", "second")


def closed():
    os.chmod("full", 0o600)


def unwritable():
    os.chmod("full", 0o555)
    os.chmod(".", 0o755)


def name_of(function):
    return function.__name__


def makes_longest(function):
    def run(test):
        name = "n" * LONGEST_NAME
        test.works(function, name)
        test.true("the name is listed", name in os.listdir("."))
        test.works(os.lstat, name)
        if os.path.isdir(name):
            test.works(os.rmdir, name)
        else:
            test.works(os.unlink, name)
        test.absent(name)
    return run


def long_path(function):
    def run(test):
        path = "dir/../" * 600 + "made"
        test.true("the path is too long", len(path) > LONGEST_PATH)
        test.fails("ENAMETOOLONG", function, path)
    return run


for operation in (*EXISTING, *MAKING):
    name = name_of(operation)
    add(f"path.{name}.enotdir", failing("ENOTDIR", operation, "file/below"))
    add(f"path.{name}.no_parent", failing("ENOENT", operation, "absent/below"))
    add(f"path.{name}.empty", failing("ENOENT", operation, ""))
    add(f"path.{name}.name_too_long", failing("ENAMETOOLONG", operation, "n" * (LONGEST_NAME + 1)))
    add(f"path.{name}.parent_too_long", failing("ENAMETOOLONG", operation, "n" * (LONGEST_NAME + 1) + "/below"))
    add(f"path.{name}.path_too_long", long_path(operation))
    add(f"path.{name}.eloop_in_parent", failing("ELOOP", operation, "first/below", loops))
    add(f"path.{name}.no_search", failing("EACCES", operation, "full/child", closed), USER)
for operation, follows in EXISTING.items():
    name = name_of(operation)
    add(f"path.{name}.absent", failing("ENOENT", operation, "absent"))
    add(f"path.{name}.absent_longest", failing("ENOENT", operation, "n" * LONGEST_NAME))
    if operation is not os.rmdir:
        add(f"path.{name}.slash_after_file", failing("ENOTDIR", operation, "file/"))
    if follows:
        add(f"path.{name}.eloop", failing("ELOOP", operation, "first", loops))
for operation in MAKING:
    name = name_of(operation)
    add(f"path.{name}.longest", makes_longest(operation))
    add(f"path.{name}.unwritable_parent", failing("EACCES", operation, "full/new", unwritable), USER)
    if operation is not creates:
        existing = {os.mkdir: "EEXIST", rename_to: None}.get(operation, "EEXIST")
        if existing:
            for what in ("file", "dir", "link"):
                add(f"path.{name}.exists_{what}", failing(existing, operation, what))
for operation in REMOVING:
    target = "full/child"
    if operation is os.rmdir:
        continue
    add(f"path.{name_of(operation)}.unwritable_parent", failing("EACCES", operation, target, unwritable), USER)
for operation, expected in ((creates, "EISDIR"), (mkfifo, "ENOENT"), (symlink_to, "ENOENT"), (link_to, "ENOENT"),
                            (rename_to, "ENOTDIR")):
    add(f"path.{name_of(operation)}.slash_after_new", failing(expected, operation, "new/"))


def rmdir_unwritable(test):
    os.mkdir("full/sub")
    unwritable()
    test.fails("EACCES", os.rmdir, "full/sub")


add("path.rmdir.unwritable_parent", rmdir_unwritable, USER)


def mkdir_with_slash(test):
    test.works(os.mkdir, "new/")
    test.works(os.rmdir, "new/")


add("path.mkdir.slash_after_new", mkdir_with_slash, EVERYBODY)
