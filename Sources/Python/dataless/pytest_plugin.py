"""Fixtures and a marker for pytest (docs/TESTLIBS.md)."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Callable, Dict, Generator, List, Optional

import pytest

from . import _close, _mounter
from ._errors import DatalessError, ExpectationFailed
from ._mounting import Mounter
from ._options import Options, Source
from ._volume import Volume

#: Rows of the log that a failed test shows.
_LOG_ROWS = 20


class _Volumes:
    """The volumes of one test."""

    def __init__(self, item: pytest.Item, logs: Path) -> None:
        self._item = item
        self._logs = logs
        self._all: List[Volume] = []

    def mount(self, source: Source, **options: Any) -> Volume:
        scenario = options.pop("scenario", None)
        if isinstance(scenario, (str, os.PathLike)):
            scenario = self._item.path.parent / scenario
        number = f"-{len(self._all) + 1}" if self._all else ""
        volume = self._mounter().mount(source, Options.of(scenario, **options), self._item.name + number)
        self._all.append(volume)
        return volume

    def check(self) -> None:
        """Holds what was expected of each volume against its log."""
        for volume in self._all:
            if volume.expects:
                volume.check()

    def report(self, judged: bool) -> None:
        """Has the report of a test that failed tell what happened on the volumes. ``judged``: it failed for that."""
        for volume in self._all:
            try:
                story = self._story(volume, judged)
            except (DatalessError, OSError) as error:
                story = str(error)
            self._item.add_report_section("call", f"dataless {volume.path}", story)

    def _story(self, volume: Volume, judged: bool) -> str:
        parts = []
        waiting = volume.who_waits()
        if waiting:
            parts.append(f"Who waits:\n{waiting}")
        violated = "" if judged else volume.violated_so_far()
        if violated:
            parts.append(violated)
        rows = volume.log_text().splitlines()
        if len(rows) > _LOG_ROWS:
            rows = [rows[0], f"({len(rows) - _LOG_ROWS} rows more, see the log)", *rows[-_LOG_ROWS + 1 :]]
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", volume.name)[:100] + ".jsonl"
        return "\n".join([*parts, *rows, f"log: {volume.keep_log(self._logs / name)}"])

    def close(self) -> None:
        """Ends the volumes, without waiting for it: the next test can begin."""
        for volume in self._all:
            self._mounter().retire(volume)
        self._all.clear()

    def _mounter(self) -> Mounter:
        config = self._item.config
        return _mounter(config.getoption("--dataless") or config.getini("dataless_executable") or None)


_volumes_key = pytest.StashKey[_Volumes]()


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "the executable of dataless (default: the environment's DATALESS, else the one on PATH)"
    parser.getgroup("dataless").addoption("--dataless", metavar="EXECUTABLE", default=None, help=words)
    parser.addini("dataless_executable", words, default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "dataless(scenario=None, *, files=None, source=None, **options): what the volume of `dataless_volume` is made "
        "of, its settings (latency='200ms'), and what is expected of the test (max_files=3).",
    )


def pytest_unconfigure() -> None:
    _close()


def _options(item: pytest.Item) -> Dict[str, Any]:
    """What the markers of a test say, the nearest first."""
    options: Dict[str, Any] = {}
    for marker in reversed(list(item.iter_markers("dataless"))):
        if len(marker.args) > 1:
            raise pytest.UsageError("@pytest.mark.dataless takes one scenario; all else by keyword.")
        options.update(marker.kwargs)
        if marker.args:
            options["scenario"] = marker.args[0]
    return options


@pytest.fixture
def _dataless_volumes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[_Volumes, None, None]:
    item = request.node
    volumes = _Volumes(item, tmp_path_factory.getbasetemp() / "dataless")
    item.stash[_volumes_key] = volumes
    yield volumes
    del item.stash[_volumes_key]
    volumes.close()


@pytest.fixture
def dataless_source(request: pytest.FixtureRequest) -> Source:
    """What `dataless_volume` presents: `files` or `source` of the marker. Redefine it to make the source by code.

    A relative `source` begins at the folder of the test's file.
    """
    options = _options(request.node)
    if "source" in options:
        source = options["source"]
        if isinstance(source, str) and source.startswith("synthetic:"):
            return source
        folder: Path = request.node.path.parent / source
        return folder
    files: Source = options.get("files", {})
    return files


@pytest.fixture
def dataless_volume(
    request: pytest.FixtureRequest, dataless_source: Source, _dataless_volumes: _Volumes
) -> Volume:
    """A volume of its own for this test, as the marker `dataless` says. What the marker expects is held against the
    whole log when the test has passed."""
    options = _options(request.node)
    for name in ("files", "source"):
        options.pop(name, None)
    return _dataless_volumes.mount(dataless_source, **options)


@pytest.fixture
def dataless_mount(_dataless_volumes: _Volumes) -> Callable[..., Volume]:
    """Mounts more volumes, as `dataless.mount` does; they end with the test, and what they expect is held as well."""
    return _dataless_volumes.mount


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    volumes: Optional[_Volumes] = item.stash.get(_volumes_key, None)
    if volumes is None:
        return
    if outcome.excinfo is not None:
        if not issubclass(outcome.excinfo[0], pytest.skip.Exception):
            volumes.report(judged=False)
        return
    try:
        volumes.check()
    except (ExpectationFailed, DatalessError) as error:
        _force(outcome, pytest.fail.Exception(str(error), pytrace=False))
        volumes.report(judged=True)


def _force(outcome: Any, failure: BaseException) -> None:
    """Has a test fail that did not; pluggy before 1.1 has no word for it."""
    if hasattr(outcome, "force_exception"):
        outcome.force_exception(failure)
    else:
        outcome._excinfo = (type(failure), failure, failure.__traceback__)
