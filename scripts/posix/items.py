"""What each test finds in its directory. On a volume these lie in SOURCE, and are dataless, resident or dirty as the
run wants it: a test that is about a file that was there before uses one of them."""

import os

# Above 128 KiB content has a file of its own, and the kernel may read it without asking (passthrough).
LARGE = 300_000
SMALL_CONTENT = b"0123456789"

FILES = ("file", "large", "empty", "full/child")


def large_content():
    return b"".join(index.to_bytes(4, "little") for index in range(LARGE // 4))


def make(directory, uid, gid):
    """All of it, owned by this user."""
    os.mkdir(directory, 0o755)
    for name in ("dir", "full"):
        os.mkdir(os.path.join(directory, name), 0o755)
    for name, content in zip(FILES, (SMALL_CONTENT, large_content(), b"", b"child")):
        descriptor = os.open(os.path.join(directory, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        os.write(descriptor, content)
        os.fchown(descriptor, uid, gid)
        os.close(descriptor)
    os.symlink("file", os.path.join(directory, "link"))
    for name in ("link", "dir", "full", "."):
        os.lchown(os.path.join(directory, name), uid, gid)


def make_dirty(directory):
    """Changes each file without changing what is in it."""
    for name in FILES:
        descriptor = os.open(os.path.join(directory, name), os.O_RDWR)
        first = os.pread(descriptor, 1, 0)
        if first:
            os.pwrite(descriptor, first, 0)
        else:
            os.ftruncate(descriptor, 1)
            os.ftruncate(descriptor, 0)
        os.close(descriptor)
