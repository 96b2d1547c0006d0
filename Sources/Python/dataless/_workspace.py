"""Where the volumes of this process lie, and what ends them when this process does, however it does.

Each process that makes volumes has one folder, ``<TMPDIR>/dataless-tests-<uid>/<pid>-<random>``, with a folder for each
volume. A small shell script, the keeper, waits for the end of a pipe that this process holds open, and the mounts that it
has begun: the kernel closes it when they end, also by SIGKILL. Then the keeper unmounts what is left and removes the folder. A folder whose
keeper was killed, too, is cleaned up by the next process that makes a volume: its lock is free then, which a mount that
was begun has as well, for it makes what it misses in the folder.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
import threading
from typing import Dict, List, Optional, Tuple

from ._errors import DatalessError
from ._executable import Executable

_KEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeper.sh")
_LOCK = "lock"


def _parent() -> str:
    """The folder of all test processes of this user; nobody else may have prepared it."""
    path = os.path.join(os.path.realpath(tempfile.gettempdir()), f"dataless-tests-{os.geteuid()}")
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        words = f"{path} is not a folder of this user alone. Remove it, or set TMPDIR."
        raise DatalessError(words, "forbidden", "EPERM")
    return path


def _keeper(folder: str, executable: Executable, lock: int, stdin: int) -> subprocess.Popen[bytes]:
    """The lock stays taken until the keeper has ended: both have the same open file."""
    return subprocess.Popen(
        ["/bin/sh", _KEEPER, folder, executable.path],
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        env=executable.environment(),
        start_new_session=True,
    )


def _locked(folder: str, is_new: bool = False) -> Optional[int]:
    """A descriptor with the folder's lock; None when somebody has it, or the folder is gone.

    Only who has made the folder makes the lock, once. If others did, one could come to be in a folder that is just
    being removed, and be taken for a sign that nobody else has it.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT | os.O_EXCL if is_new else 0)
    try:
        lock = os.open(os.path.join(folder, _LOCK), flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock).st_nlink > 0:
            return lock
    except OSError:
        pass
    os.close(lock)
    return None


def _remove_leftovers(parent: str, executable: Executable) -> None:
    """Ends and removes what processes have left that were killed together with their keepers."""
    for name in os.listdir(parent):
        folder = os.path.join(parent, name)
        try:
            # Of a process that was killed before it made the lock, or is about to: that takes another folder then.
            os.rmdir(folder)
            continue
        except OSError:
            lock = _locked(folder)
        if lock is None:
            continue
        try:
            _keeper(folder, executable, lock, subprocess.DEVNULL).wait()
        finally:
            os.close(lock)


def _new_folder(parent: str) -> Tuple[str, int]:
    """A folder and its lock. Whoever cleans up may take one away that is not locked yet: then another one."""
    for _ in range(100):
        folder = tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=parent)
        lock = _locked(folder, is_new=True)
        if lock is not None:
            return folder, lock
    raise DatalessError(f"no folder in {parent} can be locked.")


def remove_folder(folder: str) -> bool:
    """Removes a volume's folder, if nothing is mounted in it any more. No path below a mountpoint is looked at."""
    try:
        os.rmdir(os.path.join(folder, "mnt"))
    except FileNotFoundError:
        pass
    except OSError:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


class Workspace:
    """The folder of this process, with its lock and its keeper."""

    def __init__(self, executable: Executable) -> None:
        self.executable = executable
        parent = _parent()
        _remove_leftovers(parent, executable)
        self.folder, self._lock = _new_folder(parent)
        reading, self._pipe = os.pipe()
        try:
            self._process = _keeper(self.folder, executable, self._lock, reading)
        finally:
            os.close(reading)
        self._count = 0
        self._guard = threading.Lock()

    @property
    def held(self) -> Tuple[int, int]:
        """For commands that make something in the folder: nobody removes it until they have ended. The keeper begins
        when nobody has the pipe any more; another process, when nobody has the lock."""
        return self._pipe, self._lock

    def new_folder(self) -> str:
        """A folder for one more volume, with its mountpoint ``mnt``."""
        with self._guard:
            self._count += 1
            folder = os.path.join(self.folder, f"v{self._count}")
        for name in ("", "mnt", "programs"):
            os.mkdir(os.path.join(folder, name), 0o700)
        return folder

    def close(self) -> None:
        """Has the keeper end and remove what is left, and waits for it: at most some 40 s."""
        self.forget()
        try:
            self._process.wait(40)
        except subprocess.TimeoutExpired:
            pass

    def forget(self) -> None:
        """Gives up this process's part: in a child, which has copies of the descriptors."""
        for descriptor in (self._pipe, self._lock):
            os.close(descriptor)


class _Workspaces:
    """The workspaces of this process, one for each executable."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._all: Dict[str, Workspace] = {}

    def get(self, executable: Executable) -> Workspace:
        with self._guard:
            found = self._all.get(executable.path)
            if found is None:
                found = self._all[executable.path] = Workspace(executable)
            return found

    def close(self) -> None:
        for workspace in self._take():
            workspace.close()

    def after_fork(self) -> None:
        self._guard = threading.Lock()
        for workspace in self._take():
            workspace.forget()

    def _take(self) -> List[Workspace]:
        with self._guard:
            taken = list(self._all.values())
            self._all.clear()
        return taken


workspaces = _Workspaces()
atexit.register(workspaces.close)
os.register_at_fork(after_in_child=workspaces.after_fork)
