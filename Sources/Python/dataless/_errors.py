"""What can go wrong, in words: what is wrong, where, what to do."""

from __future__ import annotations

from typing import Any, Dict, List, Optional


class DatalessError(Exception):
    """A request, or a command, that failed.

    ``code`` is a stable word (docs/JSON.md), ``errno`` the name of an errno where there is one, such as ``ENOENT``;
    ``problems`` has each problem of a scenario with its place.
    """

    def __init__(
        self,
        message: str,
        code: str = "failed",
        errno: Optional[str] = None,
        problems: Optional[List[Dict[str, Any]]] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.errno = errno
        self.problems = problems or []

    @classmethod
    def of(cls, error: Dict[str, Any]) -> DatalessError:
        """From the object ``error`` of an answer."""
        return cls(
            str(error.get("message", "no message")),
            code=str(error.get("code", "failed")),
            errno=error.get("errno"),
            problems=error.get("problems"),
        )


class GateTimeout(DatalessError):
    """Not so many callers came to a gate in time."""


class ProgramTimeout(DatalessError):
    """A program did not end in time; the message says who waits for what, and where."""


class ExpectationFailed(AssertionError):
    """What was expected of the programs on a volume is not known to hold."""

    def __init__(self, text: str, verdict: Dict[str, Any]) -> None:
        super().__init__(text)
        self.text = text
        #: As ``dataless check-log --json`` prints it (docs/schemas/verdict.schema.json).
        self.verdict = verdict


class ExpectationViolated(ExpectationFailed):
    """Something that was expected does not hold."""


class ExpectationUnknown(ExpectationFailed):
    """The log does not tell whether it holds: no alarm, and no pass."""
