"""One command on a fresh volume: ``dataless run``."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence

from ._errors import DatalessError, ExpectationUnknown, ExpectationViolated, ProgramTimeout
from ._executable import Executable
from ._options import Options, Scenario, Source, write_files


@dataclass(frozen=True)
class Run:
    """How a command ended, and what it materialized."""

    #: Of ``dataless run``: the command's own, or see docs/EXPECTATIONS.md.
    exit_status: int
    #: Why it is that (``reason`` of docs/JSON.md).
    reason: str
    #: What ``dataless run --json`` has written (docs/schemas/run.schema.json).
    answer: Dict[str, Any]
    stdout: str
    #: What the command and ``dataless run`` have written.
    stderr: str

    def check(self) -> None:
        """Raises what pytest shows: a violated expectation, one of which nobody knows, a command that failed."""
        verdict = self.answer.get("verdict", {})
        if self.reason in ("budget_exceeded", "expectation_violated"):
            raise ExpectationViolated(self.stderr.strip(), verdict)
        if self.reason in ("cut_short", "expectation_unknown"):
            raise ExpectationUnknown(self.stderr.strip(), verdict)
        if self.exit_status != 0:
            raise DatalessError(f"exit status {self.exit_status} ({self.reason}): {self.stderr.strip()}")


def run(
    source: Source,
    command: Sequence[str],
    scenario: Optional[Scenario] = None,
    *,
    timeout: float = 60,
    executable: Optional[str] = None,
    **options: Any,
) -> Run:
    """Runs a command on a fresh volume, where ``{}`` in its words is the mountpoint; ``check()`` judges it.

    Bounds and options are those of ``mount``. What counts is what the command and its descendants do.
    """
    found = Executable(executable)
    made = Options.of(scenario, **options)
    with tempfile.TemporaryDirectory(prefix="dataless-run-") as folder:
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
        else:
            path = os.path.join(folder, "source")
            os.mkdir(path)
            write_files(source, path)
        answer = os.path.join(folder, "answer.json")
        words = [found.path, "run", path, "--json", answer, "--log", os.path.join(folder, "log.jsonl"), *made.mount]
        words += [*_scenario(made, folder), *made.bounds, "--", *command]
        return _finish(words, answer, timeout)


def _scenario(options: Options, folder: str) -> List[str]:
    """The scenario of the run as one file, with what it expects."""
    if options.scenario_file is not None:
        if options.scenario or options.expect:
            raise DatalessError("with a scenario file, settings, rules and expect belong into the file.", "usage")
        return ["--scenario", options.scenario_file]
    path = os.path.join(folder, "scenario.json")
    whole = {"version": 1, **options.scenario}
    if options.expect:
        whole["expect"] = list(options.expect)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(whole, file)
    return ["--scenario", path]


def _finish(words: List[str], answer: str, timeout: float) -> Run:
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        # It ends its volume and what the command has left.
        process.terminate()
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        raise ProgramTimeout(f"{words[-1]}: not done within {timeout:g} s.", "timed_out", "ETIMEDOUT") from None
    try:
        with open(answer, encoding="utf-8") as file:
            line = json.load(file)
    except (OSError, ValueError):
        raise DatalessError(stderr.strip() or f"dataless run: exit status {process.returncode}") from None
    if "error" in line:
        raise DatalessError.of(line["error"])
    return Run(line["exit_status"], line["reason"], line, stdout, stderr)
