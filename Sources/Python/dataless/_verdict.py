"""Holds a log against what is expected, with ``dataless check-log``, whose words are those of every library."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List

from ._errors import DatalessError, ExpectationUnknown, ExpectationViolated
from ._executable import Executable
from ._options import Options

#: What `check-log` ends with.
_HELD, _VIOLATED, _UNKNOWN = 0, 90, 91


def check(executable: Executable, log: str, options: Options, folder: str, live: bool = False) -> None:
    """Raises ``ExpectationFailed`` for what does not hold.

    ``folder``: where a file may be made meanwhile. ``live``: of a volume that is still mounted only what is violated
    by now fails.
    """
    files = list(options.expect_files)
    if options.expect:
        written = os.path.join(folder, "expect.json")
        with open(written, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "expect": list(options.expect)}, file)
        files.insert(0, written)
    # `check-log` takes one file; bounds go with the first.
    for index in range(max(1, len(files))):
        words = list(options.bounds) if index == 0 else []
        if index < len(files):
            words += ["--expect", files[index]]
        _one(executable, log, words, live)


def _one(executable: Executable, log: str, words: List[str], live: bool) -> None:
    output = executable.json(["check-log", log, *words])
    if not output.answers:
        raise DatalessError.of(output.error or {"message": "check-log has no answer"})
    verdict = output.answers[0]
    if output.status == _HELD or (live and output.status == _UNKNOWN and _holds_so_far(verdict)):
        return
    if output.status not in (_VIOLATED, _UNKNOWN):
        raise DatalessError.of(output.error or {})
    text = executable.text(["check-log", log, *[o for o in words if o != "--update-baseline"]]).strip()
    failure = ExpectationViolated if output.status == _VIOLATED else ExpectationUnknown
    raise failure(text, verdict)


def _holds_so_far(verdict: Dict[str, Any]) -> bool:
    """Whether all that keeps the verdict from being that everything holds is that the volume is still mounted."""
    reasons = [e.get("reason", "") for e in verdict["expectations"] if e["outcome"] == "unknown"]
    return all(reason.startswith("the volume is still mounted") for reason in reasons)
