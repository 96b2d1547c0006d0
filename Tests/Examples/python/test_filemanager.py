"""A file manager shows photos: it may read them, and nothing else, and its window must not wait for any."""

import os
import pathlib

import pytest

EXAMPLE = pathlib.Path(__file__).parent.parent / "filemanager"
FILE_MANAGER = os.environ.get("FILE_MANAGER", str(EXAMPLE / "mended.py"))


@pytest.mark.dataless("../filemanager/expected.yaml", source="../filemanager/fixtures")
def test_reads_photos_alone_and_not_in_the_main_thread(dataless_volume):
    dataless_volume.run([FILE_MANAGER, "{}"], timeout=20, check=True)
    assert dataless_volume.materialized() == ["photos/a.jpg", "photos/b.jpg"]


# The same in the test's own words, on files that are made for it.
@pytest.mark.dataless(
    files={"photos/a.jpg": 48000, "photos/b.jpg": 48000, "photos/notes.txt": "not for the eye\n"},
    latency="200ms",
    max_files=2,
    expect=[{"name": "window", "match": {"kind": "file"}, "max_main_thread": "1ms"}],
)
def test_does_as_little_as_it_can(dataless_volume):
    dataless_volume.run([FILE_MANAGER, "{}"], timeout=20, check=True)


@pytest.mark.dataless("../filemanager/held.yaml", source="../filemanager/fixtures")
def test_shows_names_while_photos_are_on_their_way(dataless_volume):
    photos = dataless_volume.gate("photos")
    manager = dataless_volume.start([FILE_MANAGER, "{}"])
    photos.wait(callers=1)
    assert [caller for caller in dataless_volume.stacks() if caller.main_thread] == []
    photos.open()
    assert manager.wait(timeout=20).stdout.splitlines()[0] == "a.jpg 4500 photo"


@pytest.mark.dataless(source="../filemanager/fixtures")
def test_shows_names_without_a_network(dataless_volume):
    dataless_volume.run(["find", "{}"])  # somebody has been here before: the names are known
    dataless_volume.offline()
    shown = dataless_volume.run([FILE_MANAGER, "{}"], timeout=20).stdout
    assert [line.split()[0] for line in shown.splitlines()] == ["a.jpg", "b.jpg", "notes.txt"]
