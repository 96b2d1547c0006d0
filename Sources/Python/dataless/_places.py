"""Which volume a path lies on, and where its daemon is reached: nothing at or below a mountpoint is asked for."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from typing import BinaryIO, List, Optional, Tuple

_LINKS_MAX = 40


@dataclass(frozen=True)
class Place:
    """A mounted volume."""

    mountpoint: bytes
    device: str
    owner: int
    #: Whether the mount says that it is a volume: others of FUSE may be some that look like another file system.
    is_named_so: bool

    def socket(self) -> bytes:
        """Of coordinated accesses (docs/COORDINATION.md). Raises ``OSError``: EACCES, ENOTCONN, ENODATA."""
        places = ["/run/dataless"] if self.owner == 0 else []
        # What others have mounted is theirs, whether its daemon runs or not.
        is_denied = os.geteuid() not in (0, self.owner)
        variable = os.environ.get("XDG_RUNTIME_DIR", "")
        if self.owner == os.geteuid() and variable.startswith("/"):
            places.append(f"{variable}/dataless")
        places += [f"/run/user/{self.owner}/dataless", f"/tmp/dataless-{self.owner}"]
        for place in places:
            path = os.fsencode(f"{place}/{self.device}/coordination.sock")
            try:
                if stat.S_ISSOCK(os.lstat(path).st_mode):
                    return path
            except PermissionError:
                is_denied = True
            except OSError:
                continue
        number = errno.ENOTCONN if self.is_named_so else errno.ENODATA
        if self.is_named_so and is_denied:
            number = errno.EACCES
        raise OSError(number, os.strerror(number), os.fsdecode(self.mountpoint))


@dataclass(frozen=True)
class _Mount:
    point: bytes
    place: Optional[Place]


def _decode(text: bytes) -> bytes:
    if b"\\" not in text:
        return text
    parts = text.split(b"\\")
    return parts[0] + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in parts[1:])


def _open_mountinfo() -> BinaryIO:
    try:
        # /proc/self is the main thread, which may have ended.
        return open("/proc/thread-self/mountinfo", "rb")
    except FileNotFoundError:
        return open("/proc/self/mountinfo", "rb")


def _mounts() -> List[_Mount]:
    mounts = []
    with _open_mountinfo() as file:
        for line in file.read().splitlines():
            before, _, after = line.partition(b" - ")
            fields, rest = before.split(b" "), after.split(b" ")
            point = _decode(fields[4])
            place = None
            if rest[0].startswith(b"fuse."):
                owner = [option[8:] for option in rest[-1].split(b",") if option.startswith(b"user_id=")]
                place = Place(
                    point, fields[2].decode(), int(owner[0]) if owner else -1, rest[0] == b"fuse.dataless"
                )
            mounts.append(_Mount(point, place))
    return mounts


def _below(point: bytes, path: bytes) -> Optional[bytes]:
    root = b"" if point == b"/" else point
    if path == root or path.startswith(root + b"/"):
        return path[len(root) :].lstrip(b"/")
    return None


def _covering(mounts: List[_Mount], path: bytes) -> Optional[_Mount]:
    found = None
    for mount in mounts:
        if _below(mount.point, path) is not None and (found is None or len(mount.point) >= len(found.point)):
            found = mount
    return found


def place_of(path: bytes) -> Tuple[Place, bytes]:
    """The volume of a path, and the path from its root. Links on the way to the mountpoint are followed.

    Raises ``OSError``: ENODATA if it lies on no volume, ELOOP.
    """
    absolute = path if path.startswith(b"/") else os.getcwdb() + b"/" + path
    mounts = _mounts()
    reached: List[bytes] = []
    left = [name for name in absolute.split(b"/") if name not in (b"", b".")]
    links = 0
    while True:
        here = b"/" + b"/".join(reached)
        mount = _covering(mounts, here)
        if mount is not None and mount.place is not None:
            below = _below(mount.point, here) or b""
            return mount.place, b"/".join(([below] if below else []) + left)
        if not left:
            raise OSError(errno.ENODATA, "not on a volume of dataless", os.fsdecode(path))
        name = left.pop(0)
        if name == b"..":
            reached = reached[:-1]
            continue
        reached.append(name)
        mount = _covering(mounts, b"/" + b"/".join(reached))
        if mount is not None and mount.place is not None:
            continue
        try:
            target = os.readlink(b"/" + b"/".join(reached))
        except OSError:
            continue
        links += 1
        if links > _LINKS_MAX:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fsdecode(path))
        reached = [] if target.startswith(b"/") else reached[:-1]
        left = [part for part in target.split(b"/") if part not in (b"", b".")] + left
