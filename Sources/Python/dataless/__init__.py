"""Volumes of dataless files for tests: see docs/TESTLIBS.md of the project."""

from __future__ import annotations

import atexit
import threading
from importlib import metadata
from typing import Any, Dict, Optional

from ._coordination import CoordinationError, Intent, News, Presenter, coordinate
from ._errors import (
    DatalessError,
    ExpectationFailed,
    ExpectationUnknown,
    ExpectationViolated,
    GateTimeout,
    ProgramTimeout,
)
from ._executable import Executable
from ._mounting import Mounter
from ._options import Files, Options, Scenario, Source
from ._programs import Program
from ._records import Caller, Frame, Process, Record
from ._runs import Run, run
from ._volume import Gate, Volume

__all__ = [
    "Caller",
    "CoordinationError",
    "DatalessError",
    "ExpectationFailed",
    "ExpectationUnknown",
    "ExpectationViolated",
    "Files",
    "Frame",
    "Gate",
    "GateTimeout",
    "Intent",
    "News",
    "Presenter",
    "Process",
    "Program",
    "ProgramTimeout",
    "Record",
    "Run",
    "Scenario",
    "Source",
    "Volume",
    "coordinate",
    "mount",
    "run",
]

try:
    __version__ = metadata.version("dataless")
except metadata.PackageNotFoundError:
    __version__ = "0"

_mounters: Dict[str, Mounter] = {}
_guard = threading.Lock()


def _mounter(executable: Optional[str] = None) -> Mounter:
    found = Executable(executable)
    with _guard:
        return _mounters.setdefault(found.path, Mounter(found))


def _close() -> None:
    """Ends what volumes are left and ready."""
    with _guard:
        mounters = list(_mounters.values())
    for mounter in mounters:
        mounter.close()


atexit.register(_close)


def mount(
    source: Source, scenario: Optional[Scenario] = None, *, executable: Optional[str] = None, **options: Any
) -> Volume:
    """Mounts a volume, which ``with`` ends.

    ``source``: files by path (``{"a.txt": "text", "b.bin": b"...", "c.jpg": 48000}``), a folder, or
    ``"synthetic:files=1000"``. ``scenario``: a mapping, or the path of a file. ``executable``: of ``dataless``; else
    that of the environment's ``DATALESS``, else the one on ``PATH``. Options are

    - ``rules``, ``expect``: entries as in a scenario file;
    - ``scratch=True``, ``allow_other=True``, ``cross_mounts=True``: as of ``dataless mount``;
    - bounds, held against the log at the end: ``max_files=3``, ``forbid="secret/**"`` (docs/EXPECTATIONS.md);
    - all else is a setting: ``latency="200ms"``, ``stacks="all"`` (docs/SCENARIOS.md).
    """
    return _mounter(executable).mount(source, Options.of(scenario, **options))
