"""Keywords and files; nothing here mounts."""

import json

import pytest

from dataless import DatalessError
from dataless._options import Options, bounds, write_files


def test_bounds_are_options_of_check_log():
    assert bounds({"max_files": 3, "max_main_thread": "1ms"}) == ["--max-files", "3", "--max-main-thread", "1ms"]
    assert bounds({"forbid": ["a", "b/**"]}) == ["--forbid", "a", "--forbid", "b/**"]
    with pytest.raises(DatalessError, match="no expectation 'max_file'"):
        bounds({"max_file": 3})


def test_a_baseline_is_written_anew_when_the_environment_says_so(monkeypatch):
    assert bounds({"baseline": "x"}) == ["--baseline", "x"]
    monkeypatch.setenv("DATALESS_UPDATE_BASELINE", "1")
    assert bounds({"baseline": "x"}) == ["--baseline", "x", "--update-baseline"]


def test_what_is_no_bound_is_a_setting():
    made = Options.of(latency="5ms", max_files=1, rules=[{"gate": "g"}])
    assert made.scenario == {"latency": "5ms", "rules": [{"gate": "g"}], "stacks": "first"}
    assert made.bounds == ["--max-files", "1"] and made.expects
    assert json.loads(made.scenario_text())["version"] == 1


def test_what_is_expected_decides_what_is_recorded():
    assert "stacks" not in Options.of(latency="5ms").scenario
    assert "stacks" not in Options.of(max_files=1).scenario
    assert Options.of(max_files=1, latency="5ms").scenario["stacks"] == "first"
    assert Options.of(max_files=1, stacks="off").scenario["stacks"] == "off"
    assert Options.of(max_needless=0).scenario["observe"] == "reads"
    assert Options.of(expect=[{"max_needless": 0}]).scenario["observe"] == "reads"
    assert Options.of(expect=[{"forbid_unneeded_blocking": True}]).scenario["observe"] == "reads"
    assert Options.of(max_together=0).scenario["observe"] == "reads"
    assert Options.of(max_together=0).bounds == ["--max-together", "0"]
    made = Options.of(forbid_unneeded_blocking=True, max_serial_waits=3)
    assert made.scenario["observe"] == "reads"
    assert sorted(made.bounds) == ["--forbid-unneeded-blocking", "--max-serial-waits", "3"]
    assert Options.of(forbid_unneeded_blocking=False).bounds == []


def test_the_expectations_of_a_scenario_are_taken_out_of_it():
    made = Options.of({"latency": "5ms", "expect": [{"max_files": 1}]}, expect=[{"forbid": "a"}])
    assert made.expect == [{"forbid": "a"}, {"max_files": 1}] and "expect" not in made.scenario


@pytest.mark.parametrize(
    "text, expects",
    [("version: 1\nexpect:\n  - {max_files: 1}\n", True), ('{"expect": []}', True), ("latency: 5ms # expect\n", False)],
)
def test_a_scenario_file_is_asked_for_its_expectations(tmp_path, text, expects):
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    made = Options.of(path, latency="1ms")
    assert made.expects == expects and made.scenario_file == str(path)
    # The file decides about stacks; options change what it says.
    assert made.scenario == {"latency": "1ms"}


def test_a_scenario_file_that_is_not_there_is_said():
    with pytest.raises(DatalessError, match="/nowhere.yaml cannot be read: No such file"):
        Options.of("/nowhere.yaml")


def test_files_are_made_of_bytes_text_and_sizes(tmp_path):
    write_files({"a": b"\xff", "b/c": "\u00e4", "b/d": 20, "e/": b"", "f": 0}, str(tmp_path))
    assert (tmp_path / "a").read_bytes() == b"\xff"
    assert (tmp_path / "b" / "c").read_text("utf-8") == "\u00e4"
    assert (tmp_path / "b" / "d").read_bytes() == b"dataless\ndataless\nda"
    assert (tmp_path / "e").is_dir() and (tmp_path / "f").stat().st_size == 0


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "."])
def test_files_lie_in_the_source(tmp_path, name):
    with pytest.raises(DatalessError, match="does not lie in the source"):
        write_files({name: b""}, str(tmp_path))
