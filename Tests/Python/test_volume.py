"""The verbs, on real volumes."""

import os
import subprocess
import sys
import threading
import time

import pytest

import dataless
from conftest import LOOP

FILES = {"a.txt": "one", "b.txt": "two", "deep/c.txt": 5000}
#: Reads the files that it is given, one after the other, in its main thread.
READER = [sys.executable, "-c", "import sys\nfor name in sys.argv[1:]:\n    print(open(name).read(3), flush=True)"]


def test_a_volume_has_the_files_and_ends_with_its_block(ours):
    with dataless.mount(FILES) as volume:
        assert sorted(os.listdir(volume.path)) == ["a.txt", "b.txt", "deep"]
        assert (volume.path / "a.txt").read_text() == "one"
        assert volume.materialized() == ["a.txt"]
        assert str(volume.path) in ours.mounts()
        folder = volume._folder
    assert not os.path.exists(folder) and str(volume.path) not in ours.mounts()


def test_the_next_volume_has_its_own_files_and_settings():
    for number in range(4):
        with dataless.mount({f"{number}/x": str(number)}, latency=f"{number + 1}ms") as volume:
            assert os.listdir(volume.path) == [str(number)]
            assert (volume.path / str(number) / "x").read_text() == str(number)
            assert volume.status()["options"]["latency_ns"] == (number + 1) * 1_000_000


def test_a_folder_is_a_source(tmp_path):
    (tmp_path / "x").write_text("x")
    with dataless.mount(tmp_path, scratch=True) as volume:
        (volume.path / "y").write_text("y")
        assert (volume.path / "x").read_text() == "x"
    assert os.listdir(tmp_path) == ["x"]


def test_a_synthetic_source():
    with dataless.mount("synthetic:files=10") as volume:
        assert sum(len(files) for _, _, files in os.walk(volume.path)) == 10


def test_what_a_program_materialized_is_told_by_its_name():
    with dataless.mount(FILES) as volume:
        done = volume.run(["cat", "{}/a.txt"], check=True)
        assert done.stdout == "one"
        (volume.path / "b.txt").read_text()
        assert volume.materialized(by="cat") == ["a.txt"]
        assert volume.materialized(by="/usr/bin/none") == []
        assert volume.materialized() == ["a.txt", "b.txt"]
        volume.materialize("deep")
        assert volume.materialized() == ["a.txt", "b.txt"]
        assert [record["outcome"] for record in volume.log("materialization.finished", path="deep/*")] == ["ok"]


def test_who_waits_behind_many_others_is_named_too():
    with dataless.mount({"a": "x" * 48_000}, rules=[{"match": {"path": "a"}, "gate": "g"}]) as volume:
        others = [volume.start(["cat", "{}/a"]) for _ in range(64)]
        volume.gate("g").wait(64, timeout=30)
        last = volume.start(["head", "-c1", "{}/a"])
        volume.gate("g").wait(65, timeout=30)
        volume.gate("g").open()
        for program in [*others, last]:
            program.wait(30)
        assert volume.materialized(by="head") == volume.materialized(by=last) == ["a"]
        assert volume.materialized(by="tail") == []


def test_a_test_may_change_its_environment(monkeypatch, tmp_path):
    for runtime in (tmp_path, None):
        if runtime is None:
            monkeypatch.delenv("XDG_RUNTIME_DIR")
        else:
            monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
        with dataless.mount(FILES, max_files=1) as volume:
            assert volume.run(["cat", "{}/a.txt"]).stdout == "one"
            assert volume.materialized(by="cat") == ["a.txt"]


def test_a_script_has_the_name_of_its_file(tmp_path):
    script = tmp_path / "a-script-with-a-long-name.py"
    script.write_text("import subprocess, sys\nsubprocess.run(['cat', sys.argv[1]])\n")
    with dataless.mount(FILES, rules=[{"match": {"path": "a.txt"}, "gate": "g"}]) as volume:
        program = volume.start([sys.executable, str(script), "{}/a.txt"])
        volume.gate("g").wait()
        # Arguments are read beside the caller, who may have ended before that: not while it waits.
        until = time.monotonic() + 30
        while not any(record.get("script") == script.name for record in volume.log("process.seen")):
            assert time.monotonic() < until
        volume.gate("g").open()
        assert program.wait().stdout == "one"
        (volume.path / "b.txt").read_text()
        assert volume.materialized(by=script.name) == volume.materialized(by=program) == ["a.txt"]


def test_a_violation_names_who_what_and_where():
    with dataless.mount(FILES, latency="200ms") as volume:
        volume.set(stacks="first")
        volume.run([*READER, "{}/a.txt", "{}/b.txt"], check=True)
        volume.expect(max_files=2, forbid="deep/**")
        with pytest.raises(dataless.ExpectationViolated) as caught:
            volume.expect(max_files=1)
    text = str(caught.value)
    assert "VIOLATED  max_files: at most 1 file materialized; at least 2 files" in text
    assert "b.txt by python" in text and "main thread" in text and "\n    at " in text and LOOP in text
    assert caught.value.verdict["violations"][0]["path"] == "b.txt"


def test_what_was_expected_is_held_at_the_end():
    with pytest.raises(dataless.ExpectationViolated, match="secret"):
        with dataless.mount({"secret": "x"}, forbid="secret") as volume:
            (volume.path / "secret").read_text()
    with pytest.raises(ZeroDivisionError):
        with dataless.mount({"secret": "x"}, forbid="secret") as volume:
            (volume.path / "secret").read_text()
            raise ZeroDivisionError


def test_entries_of_a_scenario_are_expected(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text("expect:\n  - {name: notes, match: {path: '*.txt'}, max_files: 1}\n")
    with pytest.raises(dataless.ExpectationViolated, match="notes.max_files"):
        with dataless.mount(FILES, path, latency="1ms") as volume:
            assert volume.status()["options"]["latency_ns"] == 1_000_000
            volume.run(["cat", "{}/a.txt", "{}/b.txt"])


def test_a_gate_holds_a_program_until_it_is_released():
    with dataless.mount(FILES, rules=[{"match": {"path": "*.txt", "kind": "file"}, "gate": "g"}]) as volume:
        gate = volume.gate("g")
        program = volume.start([*READER, "{}/a.txt", "{}/b.txt"])
        gate.wait(callers=1)
        (caller,) = volume.stacks()
        assert caller.path == "a.txt" and caller.main_thread and caller.process.pid == program.pid
        assert LOOP in str(caller.frames[0])
        assert program.running and gate.release(count=1) == 1
        gate.wait(callers=1)
        gate.release(errno="EIO")
        done = program.wait()
        assert done.returncode == 1 and done.stdout == "one\n" and "Input/output error" in done.stderr


def test_a_gate_says_who_came_and_who_did_not():
    with dataless.mount(FILES, rules=[{"match": {"path": "a.txt"}, "gate": "g"}]) as volume:
        volume.start(["cat", "{}/a.txt"])
        volume.gate("g").wait()
        with pytest.raises(dataless.GateTimeout, match=r"1 of 2 callers after 0.1 s.\n  a.txt by cat\["):
            volume.gate("g").wait(callers=2, timeout=0.1)
        with pytest.raises(dataless.DatalessError) as caught:
            volume.gate("none").open()
        assert caught.value.errno == "ENOENT"


def test_a_program_that_does_not_end_is_explained_and_ended():
    with dataless.mount(FILES, rules=[{"match": {"path": "a.txt"}, "gate": "g"}]) as volume:
        with pytest.raises(dataless.ProgramTimeout) as caught:
            volume.run([*READER, "{}/a.txt"], timeout=0.5)
        assert "a.txt by python" in str(caught.value) and LOOP in str(caught.value)


def test_programs_end_with_the_volume():
    with dataless.mount(FILES) as volume:
        program = volume.start(["sh", "-c", "sleep 1000 & echo $!; wait"])
        while not program._text(program._output):
            pass
        child = int(program._text(program._output))
    with pytest.raises(ProcessLookupError):
        while True:
            # A zombie until somebody waits for it.
            if open(f"/proc/{child}/stat").read().rpartition(")")[2].split()[0] == "Z":
                raise ProcessLookupError
            os.kill(child, 0)


def test_offline_ends_with_its_block():
    with dataless.mount(FILES) as volume:
        os.listdir(volume.path)
        with volume.offline():
            with pytest.raises(TimeoutError):
                (volume.path / "a.txt").read_text()
        assert (volume.path / "a.txt").read_text() == "one"


def test_eviction_makes_files_dataless_again():
    with dataless.mount(FILES) as volume:
        for _ in range(2):
            (volume.path / "a.txt").read_text()
            assert volume.evict("a.txt")["files"] == 1
        assert len(volume.log("materialization.finished", path="a.txt")) == 2
        with open(volume.path / "b.txt") as file:
            file.read()
            with pytest.raises(dataless.DatalessError, match="b.txt"):
                volume.evict(volume.path / "b.txt")


def test_scenarios_rules_and_items(tmp_path):
    with dataless.mount(FILES) as volume:
        volume.scenario({"latency": "3ms"})
        name = volume.add_rule({"match": {"path": "b.txt"}, "fault": "EIO"})
        with pytest.raises(OSError):
            (volume.path / "b.txt").read_text()
        volume.remove_rule(name)
        assert (volume.path / "b.txt").read_text() == "two"
        path = tmp_path / "s.yaml"
        path.write_text("latency: 4ms\n")
        volume.scenario(path)
        assert volume.status()["options"]["latency_ns"] == 4_000_000
        states = {item["path"]: item["state"] for item in volume.items()}
        assert states["b.txt"] == "resident" and states["a.txt"] == "dataless"


def test_a_wrong_setting_is_said_in_the_daemons_words():
    with pytest.raises(dataless.DatalessError, match="latencey") as caught:
        dataless.mount(FILES, latencey="5ms")
    assert caught.value.code == "invalid_scenario" and caught.value.problems


def test_a_source_that_is_not_there_is_said(tmp_path):
    with pytest.raises(dataless.DatalessError, match="nowhere"):
        dataless.mount(tmp_path / "nowhere")


def test_no_executable_is_said():
    with pytest.raises(dataless.DatalessError, match="there is no executable '/nowhere'"):
        dataless.mount(FILES, executable="/nowhere")


def test_run_counts_what_a_command_did():
    made = dataless.run(FILES, ["cat", "{}/a.txt", "{}/b.txt"], max_files=1)
    assert made.stdout == "onetwo" and made.exit_status == 90
    with pytest.raises(dataless.ExpectationViolated, match="b.txt by cat"):
        made.check()
    dataless.run(FILES, ["true"], {"latency": "1ms"}, expect=[{"max_files": 0}]).check()
    with pytest.raises(dataless.DatalessError, match="exit status 1"):
        dataless.run(FILES, ["false"]).check()
    with pytest.raises(dataless.ProgramTimeout):
        dataless.run(FILES, ["sleep", "1000"], timeout=0.5)


def test_volumes_of_several_threads():
    failures = []

    def use(number):
        try:
            with dataless.mount({"n": str(number)}) as volume:
                assert (volume.path / "n").read_text() == str(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_descriptors_do_not_become_more():
    def use():
        with dataless.mount(FILES, max_files=9) as volume:
            volume.run(["cat", "{}/a.txt"])

    use()
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        use()
    assert len(os.listdir("/proc/self/fd")) == len(before)


def test_a_child_leaves_its_parents_volume_alone():
    with dataless.mount(FILES) as volume:
        child = os.fork()
        if child == 0:
            try:
                volume.close()
                with dataless.mount({"x": "of the child"}) as other:
                    same = (other.path / "x").read_text() == "of the child"
                dataless._close()
                dataless._mounting.workspaces.close()
                os._exit(0 if same else 1)
            except BaseException:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert (volume.path / "a.txt").read_text() == "one"
        assert subprocess.run(["cat", volume.path / "b.txt"], stdout=subprocess.PIPE).stdout == b"two"
