"""What the library's own tests share."""

import os
import pathlib
import sys
import tempfile
import time

import pytest

import dataless
from dataless._workspace import workspaces

pytest_plugins = ["pytester"]
collect_ignore = ["stress"]

#: Where programs of these tests stand when they wait: the Python function, of versions whose structures are known
#: (docs/EVENTS.md), else some function of the interpreter.
LOOP = "<module> (<string>:3)" if (3, 10) <= sys.version_info < (3, 14) else "read"


def _mounts():
    folder = os.path.realpath(tempfile.gettempdir()) + "/"
    with open("/proc/self/mountinfo") as file:
        return [line.split()[4] for line in file if line.split()[4].startswith(folder)]


def close_all():
    """Ends what this process has, as its end does."""
    dataless._close()
    workspaces.close()


class Ours:
    """What this user's test processes have: folders and mounts."""

    def __init__(self):
        self.parent = pathlib.Path(os.path.realpath(tempfile.gettempdir()), f"dataless-tests-{os.geteuid()}")

    def folders(self):
        return sorted(path.name for path in self.parent.iterdir()) if self.parent.exists() else []

    def mounts(self):
        return [path for path in _mounts() if path.startswith(str(self.parent) + "/")]

    def wait_for(self, folders, seconds=30):
        """Waits until there are these folders, and no mount outside of them."""
        until = time.monotonic() + seconds
        while True:
            stray = [m for m in self.mounts() if pathlib.Path(m).relative_to(self.parent).parts[0] not in folders]
            if self.folders() == folders and not stray:
                return
            assert time.monotonic() < until, (self.folders(), stray)
            time.sleep(0.02)


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """A place for temporary files of this test alone."""
    close_all()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield Ours()
    close_all()
