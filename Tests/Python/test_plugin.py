"""The pytest plugin, by running pytest on small tests."""

import pytest

from conftest import LOOP


@pytest.fixture
def run(pytester, ours):
    def run(text, *arguments):
        pytester.makepyfile(text)
        # In a process of its own, as whoever types `pytest` has it.
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments, timeout=120)

    yield run
    ours.wait_for([])


def test_a_volume_is_a_fixture(run):
    result = run(
        """
        import pytest

        @pytest.mark.dataless(files={"a.txt": "one", "b.txt": 5000}, latency="1ms", max_files=1)
        def test_reads(dataless_volume):
            assert (dataless_volume.path / "a.txt").read_text() == "one"
            assert dataless_volume.materialized() == ["a.txt"]

        def test_without_a_marker(dataless_volume):
            assert list(dataless_volume.path.iterdir()) == []
        """,
        "-Werror",
        "--strict-markers",
    )
    result.assert_outcomes(passed=2)


def test_a_violation_fails_the_test_with_who_what_and_where(run):
    result = run(
        """
        import pytest, subprocess, sys

        CODE = "import sys\\ndef load(name):\\n  open(name).read()\\nfor name in sys.argv[1:]: load(name)"

        @pytest.mark.dataless(files={"a.txt": "one", "b.txt": "two"}, latency="200ms", max_files=1)
        def test_reads(dataless_volume):
            dataless_volume.run([sys.executable, "-c", CODE, "{}/a.txt", "{}/b.txt"], check=True)
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*VIOLATED  max_files: at most 1 file materialized; 2 files",
            "*b.txt by python*main thread read",
            "*at load (<string>:3) < <module> (<string>:4)" if LOOP.startswith("<module>") else "*at *read*",
            "*dataless */mnt*",
            "*python*read*ok*a.txt",
            "log: */dataless/test_reads.jsonl",
        ]
    )


def test_a_test_that_fails_for_itself_tells_what_happened(run):
    result = run(
        """
        import pytest

        @pytest.mark.dataless(files={"a.txt": "one"}, rules=[{"match": {"path": "a.txt"}, "gate": "g"}], max_files=0)
        def test_reads(dataless_volume):
            dataless_volume.start(["cat", "{}/a.txt"])
            dataless_volume.gate("g").wait()
            assert False, "of itself"
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*of itself*", "*Who waits:*", "*a.txt by cat*main thread read*"])


def test_markers_of_classes_and_tests_add_up(run):
    result = run(
        """
        import pytest

        pytestmark = pytest.mark.dataless(latency="7ms")

        @pytest.mark.dataless(files={"a": "1"}, latency="8ms")
        class TestOne:
            def test_inherited(self, dataless_volume):
                assert dataless_volume.status()["options"]["latency_ns"] == 8_000_000

            @pytest.mark.dataless(files={"b": "2"})
            def test_own(self, dataless_volume):
                assert [path.name for path in dataless_volume.path.iterdir()] == ["b"]
        """
    )
    result.assert_outcomes(passed=2)


def test_sources_and_scenarios_lie_beside_the_test(run, pytester):
    pytester.mkdir("fixtures").joinpath("x").write_text("of the folder")
    pytester.path.joinpath("slow.yaml").write_text("latency: 9ms\nexpect: [{max_files: 0}]\n")
    result = run(
        """
        import pytest

        @pytest.mark.dataless("slow.yaml", source="fixtures")
        def test_folder(dataless_volume):
            assert dataless_volume.status()["options"]["latency_ns"] == 9_000_000
            assert (dataless_volume.path / "x").read_text() == "of the folder"
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*VIOLATED  expect-1.max_files*"])


def test_a_source_is_made_by_code_and_more_volumes_too(run):
    result = run(
        """
        import pytest

        @pytest.fixture
        def dataless_source(tmp_path):
            (tmp_path / "made").write_text("by code")
            return tmp_path

        @pytest.mark.dataless
        def test_code(dataless_volume, dataless_mount):
            assert (dataless_volume.path / "made").read_text() == "by code"
            other = dataless_mount({"y": "z"}, max_files=0)
            assert (other.path / "y").read_text() == "z"
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*VIOLATED  max_files: at most 0*"])


def test_what_cannot_be_mounted_is_an_error_with_a_reason(run):
    result = run(
        """
        import pytest

        @pytest.mark.dataless(latencey="7ms")
        def test_setting(dataless_volume):
            pass

        @pytest.mark.dataless(source="nowhere")
        def test_source(dataless_volume):
            pass
        """
    )
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*unknown field 'latencey'*", "*nowhere*"])


def test_skipped_and_expected_failures_stay_so(run):
    result = run(
        """
        import pytest

        @pytest.mark.dataless(files={"a": "1"}, max_files=0)
        def test_skipped(dataless_volume):
            pytest.skip("not today")

        @pytest.mark.xfail(strict=True)
        @pytest.mark.dataless(files={"a": "1"}, max_files=0)
        def test_violates(dataless_volume):
            (dataless_volume.path / "a").read_text()
        """
    )
    result.assert_outcomes(skipped=1, xfailed=1)


def test_processes_of_xdist_have_volumes_of_their_own(run):
    result = run(
        """
        import pytest

        @pytest.mark.parametrize("number", range(12))
        @pytest.mark.dataless(files={"a": "1"}, max_files=1)
        def test_reads(number, dataless_volume):
            (dataless_volume.path / "a").read_text()
        """,
        "-n3",
    )
    result.assert_outcomes(passed=12)
