"""Coordinated accesses, on real volumes: docs/COORDINATION.md."""

import asyncio
import errno
import os
import select
import subprocess
import sys
import threading

import pytest

import dataless

WRITER = "import dataless, sys\nwith dataless.coordinate(write=sys.argv[1:]): print('in')"
READER = "import dataless, sys\nwith dataless.coordinate(sys.argv[1]): print(open(sys.argv[1]).read())"
FILES = {"a.txt": "one", "b.txt": "two", "d/c.txt": "three"}


def is_ready(intent):
    poll = select.poll()
    poll.register(intent.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def test_writers_come_one_after_the_other():
    with dataless.mount(FILES) as volume:
        path = volume.path / "a.txt"
        with dataless.coordinate(write=[path]) as first:
            assert first.number > 0 and first.materialized == 2
            second = dataless.Intent(read=path)
            third = subprocess.Popen(
                [sys.executable, "-c", WRITER, path],
                stdout=subprocess.PIPE,
                text=True,
            )
        second.wait(30)
        second.end()
        assert third.communicate(timeout=30)[0] == "in\n"


def test_what_is_inside_is_within():
    with dataless.mount(FILES) as volume:
        path = volume.path / "a.txt"
        with dataless.coordinate(read=[path]):
            with dataless.coordinate(write=[path]):
                pass
        finished = volume.log("coordination.finished")
        assert [record["outcome"] for record in finished] == ["ok", "ok"]
        # Both end at once, in no order.
        assert sorted("within" in record for record in finished) == [False, True]


def test_a_deadlock_has_a_name():
    with dataless.mount(FILES) as volume:
        a, b = volume.path / "a.txt", volume.path / "b.txt"
        one, other = dataless.Intent(write=a).wait(), dataless.Intent(write=b).wait()
        waits = dataless.Intent(write=b, within=one)
        with pytest.raises(TimeoutError):
            waits.wait(0)
        with pytest.raises(dataless.CoordinationError) as found:
            dataless.Intent(write=a, within=other).wait()
        assert found.value.code == "coordination_deadlock" and found.value.errno == errno.ECANCELED
        other.end()
        waits.wait().end()
        one.end()


def test_refusals_have_names():
    with dataless.mount(FILES) as volume:
        with pytest.raises(dataless.CoordinationError) as found:
            dataless.Intent(read=volume.path / "absent").wait()
        assert (found.value.code, found.value.errno) == ("coordination_failed", errno.ENOENT)
        with pytest.raises(OSError) as outside:
            dataless.Intent(read="/etc/passwd")
        assert outside.value.errno == errno.ENODATA
        with pytest.raises(dataless.CoordinationError) as dots:
            dataless.Intent(read=f"{volume.path}/d/../a.txt").wait()
        assert dots.value.code == "coordination_bad_path"


def code_of(ask):
    with pytest.raises(dataless.CoordinationError) as found:
        ask()
    return found.value.code


def test_the_last_answer_is_given_again():
    with dataless.mount(FILES) as volume:
        intent = dataless.Intent(write=volume.path / "a.txt").wait(30)
        child = os.fork()
        if child == 0:
            # By its copy of the descriptor: that is taken away from the parent.
            try:
                intent.end()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        # The daemon tells it when it has read what the child has said.
        assert select.select([intent], [], [], 30)[0] == [intent]
        asked = [lambda: intent.wait(30), lambda: intent.granted, intent.end]
        assert [code_of(ask) for ask in asked] == ["coordination_taken_away"] * 3
        refused = dataless.Intent(read=volume.path / "absent")
        asked = [lambda: refused.wait(30), lambda: refused.granted, refused.end]
        assert [code_of(ask) for ask in asked] == ["coordination_failed"] * 3


def test_a_path_with_a_nul_is_not_asked_for():
    with dataless.mount(FILES) as volume:
        path = f"{volume.path}/a\0b"
        for ask in (dataless.Intent, dataless.Presenter):
            with pytest.raises(ValueError, match="embedded null byte in path .*b"):
                ask(path)
        assert volume.log("coordination.started") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user")
def test_another_user_is_not_allowed():
    with dataless.mount(FILES) as volume:
        path = volume.path / "a.txt"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                dataless.Intent(read=path)
            except dataless.CoordinationError as error:
                status = 0 if (error.code, error.errno) == ("coordination_not_allowed", errno.EACCES) else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0


def test_many_paths_are_one_intent():
    with dataless.mount(FILES) as volume:
        paths = [f"{volume.path}/d/{number:06d}" for number in range(20_000)]
        with dataless.coordinate(write=paths) as intent:
            assert intent.number > 0
        started = volume.log("coordination.started")
        assert started[0]["writes"] == 20_000 and len(started[0]["names"]) == 8


def test_tasks_wait_without_threads():
    async def use(path, order, name):
        async with dataless.coordinate(write=[path]):
            order.append(name)
            await asyncio.sleep(0)
            order.append(name)

    async def both(path):
        order = []
        await asyncio.gather(*(use(path, order, name) for name in range(5)))
        return order

    with dataless.mount(FILES) as volume:
        order = asyncio.run(both(volume.path / "a.txt"))
        assert order[::2] == order[1::2] and sorted(order[::2]) == list(range(5))


def test_a_link_to_the_volume_is_followed(tmp_path):
    with dataless.mount(FILES) as volume:
        link = tmp_path / "link"
        os.symlink(volume.path, link)
        held = dataless.Intent(write=[link / "a.txt"]).wait()
        waits = dataless.Intent(read=volume.path / "a.txt")
        assert not waits.granted and not is_ready(waits)
        held.end()
        waits.wait(30).end()


def test_a_presenter_saves_before_it_is_read():
    with dataless.mount(FILES, scratch=True) as volume:
        path = volume.path / "a.txt"
        with dataless.Presenter(path) as presenter:
            # Its own accesses it is not asked about.
            with dataless.coordinate(write=[path]):
                pass
            program = subprocess.Popen([sys.executable, "-c", READER, path], stdout=subprocess.PIPE, text=True)
            news = presenter.next(30)
            assert (news.what, news.path, news.others, news.waits) == ("read", "a.txt", 0, True)
            with presenter.save(news, path):
                path.write_text("saved")
            presenter.answer(news)
            assert program.communicate(timeout=30)[0] == "saved\n"
            assert presenter.next(30).what == "ended"
        answered = volume.log("presenter.answered")
        assert [(record["what"], record["outcome"]) for record in answered] == [("read", "ok")]


def test_a_presenter_is_asked_before_a_change_is_taken_over(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("one")
    with dataless.mount(source, scratch=True) as volume:
        path = volume.path / "a.txt"
        assert path.read_text() == "one"
        with dataless.Presenter(path) as presenter:
            (source / "a.txt").write_text("another version")
            refresh = threading.Thread(target=volume.refresh)
            refresh.start()
            news = presenter.next(30)
            assert (news.what, news.path, news.waits) == ("change", "a.txt", True)
            assert path.read_text() == "one"
            # It holds nothing: who saves before it does so under an intent of its own.
            presenter.save(news, path).wait(30).end()
            presenter.answer(news)
            refresh.join(30)
            # In no order; the content of the version before may be evicted.
            told = set()
            while not told >= {"ended", "changed"}:
                told.add(presenter.next(30).what)
            assert told <= {"ended", "changed", "evicted"} and path.read_text() == "another version"


def test_an_answer_after_the_end_of_the_volume_says_so():
    with dataless.mount(FILES) as volume:
        presenter = dataless.Presenter(volume.path / "a.txt")
        volume.unmount()
        with pytest.raises(dataless.CoordinationError) as found:
            presenter.answer(dataless.News("read", 1, "a.txt", 0))
        assert (found.value.code, found.value.errno) == ("coordination_volume_ended", errno.ETIMEDOUT)
        presenter.end()


EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Examples", "coordination")


def test_the_examples_save_and_show_everything():
    photos = {f"{number:03d}.jpg": 5_000 for number in range(40)}
    with dataless.mount(photos, scratch=True, latency="20ms") as volume:
        shown = [sys.executable, os.path.join(EXAMPLES, "photos.py"), "coordinated", str(volume.path)]
        done = subprocess.run(shown, capture_output=True, text=True, timeout=60)
        assert done.stdout.startswith("40 pictures"), done.stderr
        document = str(volume.path / "document")
        saves = [sys.executable, os.path.join(EXAMPLES, "saves.py"), "--coordinated", "--rounds", "20", document]
        done = subprocess.run(saves, capture_output=True, text=True, timeout=60)
        assert done.stdout == "40 saves: 0 versions lost, 0 torn reads\n", done.stderr
