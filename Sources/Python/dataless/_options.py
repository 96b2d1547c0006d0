"""What a volume is made of and what is expected of it, from the keywords that a test gives."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._errors import DatalessError

#: A source made for the test: content by path; text is UTF-8, a number is a size. A path with "/" at its end is a
#: folder.
Files = Mapping[str, Union[bytes, str, int]]
#: Such files, a folder, or ``synthetic:files=N,...``.
Source = Union[Files, str, "os.PathLike[str]"]
#: A scenario: a mapping, or the path of a YAML or JSON file (docs/SCENARIOS.md).
Scenario = Union[Mapping[str, Any], str, "os.PathLike[str]"]

#: Bounds of docs/EXPECTATIONS.md, which are keywords.
BOUNDS = (
    "max_files",
    "max_bytes",
    "max_dirs",
    "max_wait",
    "max_main_thread",
    "max_needless",
    "max_refusals",
    "max_parallel",
    "min_parallel",
    "max_repeated",
    "max_serial_waits",
    "forbid_unneeded_blocking",
    "max_together",
    "forbid",
    "allow",
    "baseline",
)
#: Those that take a record of every open.
READS = ("max_needless", "forbid_unneeded_blocking", "max_together")
#: Set to anything, it has every ``baseline`` written anew instead of held against.
UPDATE_BASELINE = "DATALESS_UPDATE_BASELINE"


def bounds(keywords: Mapping[str, Any]) -> List[str]:
    """Options of ``dataless check-log`` for keywords that are ``BOUNDS``."""
    options: List[str] = []
    for key, value in keywords.items():
        if key not in BOUNDS:
            raise DatalessError(f"there is no expectation {key!r}. There are: {', '.join(BOUNDS)}.", "usage")
        if key == "forbid_unneeded_blocking":
            options += ["--forbid-unneeded-blocking"] if value else []
            continue
        several = isinstance(value, (list, tuple)) and key in ("forbid", "allow")
        for one in value if several else [value]:
            options += ["--" + key.replace("_", "-"), os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
        if key == "baseline" and os.environ.get(UPDATE_BASELINE):
            options.append("--update-baseline")
    return options


@dataclass
class Options:
    """How a volume is mounted, what is simulated on it, and what is expected."""

    #: A mapping, as in a scenario file, with settings and rules; what ``scenario_file`` has is changed by it.
    scenario: Dict[str, Any] = field(default_factory=dict)
    scenario_file: Optional[str] = None
    #: Options of ``dataless mount`` that a mounted volume cannot change.
    mount: List[str] = field(default_factory=list)
    #: Options of ``dataless check-log``.
    bounds: List[str] = field(default_factory=list)
    #: Entries of a scenario's section ``expect``.
    expect: List[Mapping[str, Any]] = field(default_factory=list)
    #: Files with such a section.
    expect_files: List[str] = field(default_factory=list)

    @property
    def expects(self) -> bool:
        return bool(self.bounds or self.expect or self.expect_files)

    @classmethod
    def of(
        cls,
        scenario: Optional[Scenario] = None,
        *,
        rules: Sequence[Mapping[str, Any]] = (),
        expect: Sequence[Mapping[str, Any]] = (),
        scratch: bool = False,
        allow_other: bool = False,
        cross_mounts: bool = False,
        **keywords: Any,
    ) -> Options:
        """Keywords are bounds (``max_files=3``), and settings of a scenario (``latency="200ms"``)."""
        made = cls(expect=list(expect))
        if isinstance(scenario, Mapping):
            made.scenario = dict(scenario)
            made.expect += made.scenario.pop("expect", [])
        elif scenario is not None:
            made.scenario_file = os.path.abspath(scenario)
            if _has_expectations(made.scenario_file):
                made.expect_files.append(made.scenario_file)
        expected = {key: keywords.pop(key) for key in BOUNDS if key in keywords}
        made.bounds = bounds(expected)
        made.scenario.update(keywords)
        if rules:
            made.scenario["rules"] = [*rules, *made.scenario.get("rules", ())]
        made._observe(expected)
        flags = {"--scratch": scratch, "--allow-other": allow_other, "--cross-mounts": cross_mounts}
        made.mount = [flag for flag, wanted in flags.items() if wanted]
        return made

    def _observe(self, expected: Mapping[str, Any]) -> None:
        """What a failure has to tell: the stack; and what was read of each file, where that is asked for.

        Who is blocked for no time has no stack, and looking for it in vain takes as long.
        """
        if self.expects and self.scenario_file is None and "latency" in self.scenario:
            self.scenario.setdefault("stacks", "first")
        if any(key in entry for key in READS for entry in [expected, *self.expect]):
            self.scenario.setdefault("observe", "reads")

    def scenario_text(self) -> bytes:
        return json.dumps({"version": 1, **self.scenario}).encode()


def _has_expectations(path: str) -> bool:
    """Whether a scenario file has a section ``expect``; it is not parsed here, as the standard library has no YAML."""
    try:
        with open(path, encoding="utf-8") as file:
            return re.search(r"^expect\s*:|[{,]\s*\"?expect\"?\s*:", file.read(), re.MULTILINE) is not None
    except OSError as error:
        raise DatalessError(f"the scenario {path} cannot be read: {error.strerror}.", "failed") from error


def write_files(files: Files, folder: str) -> None:
    """Makes the files of a source. A file that is given by its size has text in it: a hole would be read as zeros."""
    for name, content in files.items():
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.isabs(name) or not path.startswith(folder + os.sep):
            raise DatalessError(f"the file {name!r} does not lie in the source. Give a relative path.", "usage")
        if name.endswith("/"):
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, int):
            content = (b"dataless\n" * (content // 9 + 1))[:content]
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
