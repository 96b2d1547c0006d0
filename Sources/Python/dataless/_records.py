"""What the log and the daemon tell of programs: records, callers, and what was not to be."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional


@dataclass(frozen=True)
class Frame:
    """One function on a stack."""

    function: str
    file: str
    line: Optional[int]

    def __str__(self) -> str:
        place = os.path.basename(self.file) + (f":{self.line}" if self.line else "")
        return f"{self.function} ({place})" if place else self.function


def frames(stack: Optional[Mapping[str, Any]]) -> List[Frame]:
    """The functions of a ``CallerStack``, innermost first: those of the interpreted program where there are any."""
    if not stack:
        return []
    interpreted = stack.get("interpreted") or {}
    if interpreted.get("frames"):
        return [Frame(f["function"], f["file"], f.get("line")) for f in interpreted["frames"]]
    return [
        Frame(f.get("symbol") or hex(f["offset"]), f.get("file") or f["module"], f.get("line")) for f in stack["frames"]
    ]


@dataclass(frozen=True)
class Process:
    """A process, as far as it is known."""

    pid: Optional[int]
    comm: Optional[str]
    exe: Optional[str]
    script: Optional[str]

    @classmethod
    def of(cls, value: Optional[Mapping[str, Any]]) -> Process:
        value = value or {}
        return cls(value.get("pid"), value.get("comm"), value.get("exe"), value.get("script"))

    def is_called(self, name: str) -> bool:
        """Whether ``name`` is its command name, its executable (with or without the folder), or its script."""
        exe = self.exe or ""
        return name in (self.comm, exe, os.path.basename(exe), self.script)

    def __str__(self) -> str:
        name = os.path.basename(self.exe or "") or self.comm or "?"
        # The program behind an interpreter's name, as `dataless log` prints it.
        words = f"{name} {self.script}" if self.script and self.script != name else name
        return f"{words}[{self.pid}]" if self.pid else words


@dataclass(frozen=True)
class Caller:
    """A thread that waits for a volume right now."""

    path: str
    process: Process
    tid: int
    main_thread: bool
    trigger: str
    blocked_ns: int
    frames: List[Frame]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Caller:
        """From a ``BlockedCaller`` of docs/openapi.yaml."""
        waiter = value["waiter"]
        return cls(
            path=value["path"],
            process=Process.of(waiter),
            tid=waiter["tid"],
            main_thread=waiter["main_thread"],
            trigger=waiter["trigger"],
            blocked_ns=waiter["blocked_ns"],
            frames=frames(value.get("stack")),
        )

    def __str__(self) -> str:
        thread = "main thread" if self.main_thread else f"thread {self.tid}"
        text = f"{self.path or '.'} by {self.process} {thread} {self.trigger}, for {self.blocked_ns / 1e6:.0f} ms"
        return text + ("\n    at " + " < ".join(map(str, self.frames)) if self.frames else "")


class Record(Mapping[str, Any]):
    """One record of the log, as ``dataless log --json`` prints it: a mapping (docs/EVENTS.md)."""

    def __init__(self, value: Dict[str, Any]) -> None:
        self._value = value

    def __getitem__(self, key: str) -> Any:
        return self._value[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __len__(self) -> int:
        return len(self._value)

    def __repr__(self) -> str:
        return f"Record({self._value!r})"

    @property
    def type(self) -> str:
        return str(self._value["type"])

    @property
    def path(self) -> str:
        """Relative to the volume's root; empty for the root itself, and where the record is about no item."""
        return str(self._value.get("path", ""))


def paths(records: Iterable[Record]) -> List[str]:
    """The paths of records, each once, sorted."""
    return sorted({record.path for record in records})
