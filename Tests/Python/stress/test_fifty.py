"""Fifty tests, each with a volume of its own, for `make python-stress`."""

import pytest


@pytest.mark.parametrize("number", range(50))
@pytest.mark.dataless(latency="2ms", max_files=2, stacks="off")
def test_volume(number, dataless_volume):
    names = sorted(path.name for path in dataless_volume.path.iterdir())
    assert names == [f"{number}.txt", "other.txt"]
    assert (dataless_volume.path / f"{number}.txt").read_text() == f"content of {number}"
    if number % 5 == 0:
        assert dataless_volume.materialized() == [f"{number}.txt"]
    if number % 7 == 0:
        dataless_volume.set(latency="1ms")
        (dataless_volume.path / "other.txt").read_bytes()
        dataless_volume.evict()


@pytest.fixture
def dataless_source(number):
    return {f"{number}.txt": f"content of {number}", "other.txt": 5000}
