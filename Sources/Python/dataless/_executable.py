"""The program ``dataless``: where it is, and how it is called."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ._errors import DatalessError

#: How long a command may take, in seconds, that does not wait for others.
COMMAND_SECONDS = 60.0
_RUNTIME = "XDG_RUNTIME_DIR"


class Output(NamedTuple):
    """What a command said."""

    status: int
    answers: List[Dict[str, Any]]
    error: Optional[Dict[str, Any]]


class Executable:
    """Calls of ``dataless``. Neither needs a shell, nor reads standard input."""

    def __init__(self, path: Optional[str] = None) -> None:
        """``path``: the executable; else that of the environment's ``DATALESS``, else the one on ``PATH``."""
        wanted = path or os.environ.get("DATALESS") or "dataless"
        found = shutil.which(wanted)
        if found is None:
            raise DatalessError(
                f"there is no executable {wanted!r}. Install dataless, or name it: DATALESS=/path/to/dataless.",
                "not_found",
                "ENOENT",
            )
        self.path = os.path.abspath(found)
        # A test may change its environment; its volumes stay where they are.
        self._runtime = os.environ.get(_RUNTIME)

    @property
    def runtime(self) -> str:
        """Where the daemons that this starts have their sockets (docs/CONTROL-API.md)."""
        # Root of a user namespace does not own /run.
        if os.geteuid() == 0 and os.stat("/run").st_uid == 0:
            return "/run/dataless"
        return f"{self._runtime}/dataless" if self._runtime else f"/tmp/dataless-{os.geteuid()}"

    def environment(self) -> Dict[str, str]:
        """That of this process, but for where sockets are. GitHub Actions does not read what is printed here."""
        environment = {key: value for key, value in os.environ.items() if key not in (_RUNTIME, "GITHUB_ACTIONS")}
        if self._runtime is not None:
            environment[_RUNTIME] = self._runtime
        return environment

    def text(self, arguments: Sequence[str], seconds: float = COMMAND_SECONDS) -> str:
        """Its standard output, whatever the exit status."""
        return self._run(arguments, seconds).stdout

    def json(self, arguments: Sequence[str], seconds: float = COMMAND_SECONDS) -> Output:
        """The lines that it prints with ``--json``; ``error`` apart from answers."""
        process = self._run([*arguments, "--json"], seconds)
        answers: List[Dict[str, Any]] = []
        error: Optional[Dict[str, Any]] = None
        for line in process.stdout.splitlines():
            value = json.loads(line)
            if "error" in value:
                error = value["error"]
            else:
                answers.append(value)
        if process.returncode != 0 and error is None:
            error = {"code": "failed", "message": process.stderr.strip() or f"exit status {process.returncode}"}
        return Output(process.returncode, answers, error)

    def _run(self, arguments: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self.path, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env=self.environment(),
                timeout=seconds,
            )
        except subprocess.TimeoutExpired as error:
            raise DatalessError(
                f"dataless {' '.join(arguments)}: not done within {seconds:g} s.", "timed_out", "ETIMEDOUT"
            ) from error
