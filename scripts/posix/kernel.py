"""System calls that Python's os module does not have, each raising OSError as those of os do."""

import ctypes
import errno
import fcntl
import os
import struct

_libc = ctypes.CDLL(None, use_errno=True)

AT_FDCWD, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW, AT_EMPTY_PATH = -100, 0x100, 0x400, 0x1000
RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = 1, 2, 4
FALLOC_KEEP_SIZE, FALLOC_PUNCH_HOLE, FALLOC_COLLAPSE, FALLOC_ZERO, FALLOC_INSERT = 1, 2, 8, 16, 32
UTIME_NOW, UTIME_OMIT = 0x3FFFFFFF, 0x3FFFFFFE
F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW = 36, 37, 38
PR_SET_DUMPABLE, CLONE_NEWNS = 4, 0x20000
FICLONE = 0x40049409
# Of statx(2): which field is the time of birth.
STATX_BTIME = 0x800
# Where a number has two names on Linux, the better known one.
KNOWN_AS = {errno.EOPNOTSUPP: "EOPNOTSUPP", errno.EDEADLK: "EDEADLK", errno.EAGAIN: "EAGAIN"}


def _bytes(path):
    return os.fsencode(path)


def _checked(result):
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def renameat2(old, new, flags):
    _checked(_libc.renameat2(AT_FDCWD, _bytes(old), AT_FDCWD, _bytes(new), ctypes.c_uint(flags)))


def exchange(old, new):
    renameat2(old, new, RENAME_EXCHANGE)


def rename_noreplace(old, new):
    renameat2(old, new, RENAME_NOREPLACE)


def fallocate(descriptor, mode, offset, length):
    _checked(_libc.fallocate64(descriptor, mode, ctypes.c_int64(offset), ctypes.c_int64(length)))


def utimensat(path, atime, mtime, flags=0):
    """Each time is (seconds, nanoseconds); the nanoseconds may be UTIME_NOW or UTIME_OMIT."""
    times = struct.pack("qqqq", *atime, *mtime)
    _checked(_libc.utimensat(AT_FDCWD, _bytes(path), times, flags))


def futimens(descriptor, atime, mtime):
    _checked(_libc.futimens(descriptor, struct.pack("qqqq", *atime, *mtime)))


def link(old, new):
    """link(2), which os.link is not: that one calls linkat(2) as it likes."""
    _checked(_libc.link(_bytes(old), _bytes(new)))


def link_descriptor(descriptor, new):
    """linkat(2) with AT_EMPTY_PATH, which needs CAP_DAC_READ_SEARCH (or, since 6.10, an opener's own descriptor)."""
    _checked(_libc.linkat(descriptor, b"", AT_FDCWD, _bytes(new), AT_EMPTY_PATH))


def link_by_proc(descriptor, new):
    """How an ordinary user gives a file of O_TMPFILE a name."""
    path = _bytes(f"/proc/self/fd/{descriptor}")
    _checked(_libc.linkat(AT_FDCWD, path, AT_FDCWD, _bytes(new), AT_SYMLINK_FOLLOW))


def syncfs(descriptor):
    _checked(_libc.syncfs(descriptor))


def sync_file_range(descriptor, offset, length, flags):
    _checked(_libc.sync_file_range(descriptor, ctypes.c_int64(offset), ctypes.c_int64(length), ctypes.c_uint(flags)))


def birth_time(path):
    """Seconds, or None where the file system does not keep it."""
    buffer = ctypes.create_string_buffer(256)
    _checked(_libc.statx(AT_FDCWD, _bytes(path), 0, STATX_BTIME, buffer))
    mask, = struct.unpack_from("I", buffer.raw, 0)
    return struct.unpack_from("q", buffer.raw, 80)[0] if mask & STATX_BTIME else None


def getdents(descriptor, size=4096):
    """One getdents64(2): a list of (inode, position behind it, type, name). Empty at the end."""
    buffer = ctypes.create_string_buffer(size)
    count = _checked(_libc.getdents64(descriptor, buffer, ctypes.c_size_t(size)))
    entries, place = [], 0
    while place < count:
        inode, position, length, kind = struct.unpack_from("=QqHB", buffer.raw, place)
        name = buffer.raw[place + 19:place + length].split(b"\0", 1)[0]
        entries.append((inode, position, kind, name))
        place += length
    return entries


def ofd_lock(descriptor, command, kind, start, length):
    """fcntl(2) with a lock of the open file description; what F_OFD_GETLK answered as (type, start, length)."""
    flock = struct.pack("hhxxxxqqixxxx", kind, os.SEEK_SET, start, length, 0)
    answer = struct.unpack("hhxxxxqqixxxx", fcntl.fcntl(descriptor, command, flock))
    return answer[0], answer[2], answer[3]


def posix_lock_owner(descriptor, kind, start, length):
    """F_GETLK: (type, start, length, pid) of the lock that is in the way; type F_UNLCK if none is."""
    flock = struct.pack("hhxxxxqqixxxx", kind, os.SEEK_SET, start, length, 0)
    answer = struct.unpack("hhxxxxqqixxxx", fcntl.fcntl(descriptor, fcntl.F_GETLK, flock))
    return answer[0], answer[2], answer[3], answer[4]


def make_dumpable():
    """After a change of user, so that /proc/self stays the process's own."""
    _libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def error_name(error):
    if not isinstance(error, OSError):
        return type(error).__name__
    return KNOWN_AS.get(error.errno) or errno.errorcode.get(error.errno, str(error.errno))
