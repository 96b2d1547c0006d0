"""Which intent another one is within, when nobody says it: of the same volume, held, and this process' own."""

import asyncio
import contextlib
import errno
import multiprocessing
import os
import select
import threading

import pytest

import dataless

FILES = {"a.txt": "one", "b.txt": "two"}


def is_free(path):
    """Whether nobody holds it."""
    intent = dataless.Intent(write=path)
    try:
        intent.wait(5).end()
        return True
    except TimeoutError:
        return False


def in_child(work):
    """Does it in a child of fork(2); what it returns, or the name of what it raises."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = str(work())
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as file:
        answer = file.read()
    os.waitpid(child, 0)
    return answer


def outer_of(volume, number):
    """What the log says it is within."""
    records = [record for record in volume.log("coordination.started") if record["intent"] == number]
    return records[0].get("within")


def test_blocks_on_two_volumes_are_not_within_each_other():
    with dataless.mount(FILES) as one, dataless.mount(FILES) as other:
        # The first number of each volume: that of one means nothing on the other.
        elsewhere = dataless.Intent(write=other.path / "a.txt").wait(30)
        with dataless.coordinate(read=one.path / "b.txt") as outer:
            assert outer.number == elsewhere.number
            kept = dataless.coordinate(write=other.path / "a.txt")
            with pytest.raises(TimeoutError):
                kept.wait(0.2)
            elsewhere.end()
            kept.wait(30)
            with dataless.coordinate(read=one.path / "a.txt") as inner:
                assert outer_of(one, inner.number) == outer.number
            assert outer_of(other, kept.number) is None
            kept.end()


def test_the_nearest_block_on_the_same_volume_is_the_outer_one():
    with dataless.mount(FILES) as one, dataless.mount(FILES) as other:
        with dataless.coordinate(read=one.path / "a.txt") as outer:
            with dataless.coordinate(read=other.path / "a.txt"):
                with dataless.coordinate(write=one.path / "a.txt") as inner:
                    assert outer_of(one, inner.number) == outer.number


def test_an_outer_one_of_another_volume_is_refused():
    with dataless.mount(FILES) as one, dataless.mount(FILES) as other:
        outer = dataless.Intent(read=one.path / "a.txt").wait(30)
        with pytest.raises(dataless.CoordinationError) as found:
            dataless.Intent(read=other.path / "a.txt", within=outer)
        assert (found.value.code, found.value.errno) == ("coordination_outer_not_held", errno.ESRCH)
        outer.end()


def refusal_within(outer, path):
    """Why what is asked for within it is refused at once."""
    with pytest.raises(dataless.CoordinationError) as found:
        dataless.Intent(write=path, within=outer)
    return (found.value.code, found.value.errno)


def test_an_outer_one_that_is_not_granted_is_refused():
    with dataless.mount(FILES) as volume:
        path, refusal = volume.path / "a.txt", ("coordination_outer_not_held", errno.ESRCH)
        held = dataless.Intent(write=path).wait(30)
        waits = dataless.Intent(write=path)
        assert refusal_within(waits, volume.path / "b.txt") == refusal
        waits.end()
        # Given up before it was granted; refused; and news of what no intent is for.
        assert refusal_within(waits, volume.path / "b.txt") == refusal
        absent = dataless.Intent(read=volume.path / "absent")
        with pytest.raises(TimeoutError):
            dataless.Intent(write=path).wait(0.2)
        assert refusal_within(absent, volume.path / "b.txt") == refusal
        with pytest.raises(dataless.CoordinationError, match="coordination_failed"):
            absent.wait(30)
        assert refusal_within(dataless.News("changed", 0, "a.txt", 0), volume.path / "b.txt") == refusal
        held.end()


def test_an_outer_one_is_granted_when_its_answer_has_come():
    with dataless.mount(FILES) as volume:
        outer = dataless.Intent(write=volume.path / "a.txt")
        select.select([outer], [], [], 30)
        with dataless.Intent(write=volume.path / "a.txt", within=outer).wait(30) as inner:
            assert outer.number == 0
            # The answer is there for who waits for it.
            assert outer_of(volume, inner.number) == outer.wait(30).number
        outer.end()


def test_a_volume_that_is_mounted_again_knows_no_outer_one(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("one")
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(dataless.mount(source))
        block = dataless.coordinate(read=first.path / "a.txt")
        block.__enter__()
        first.unmount()
        with dataless.mount(source) as second:
            with dataless.coordinate(read=second.path / "a.txt") as intent:
                assert intent.number > 0
        with pytest.raises(dataless.CoordinationError):
            block.__exit__(None, None, None)


def test_blocks_are_left_in_any_order():
    with dataless.mount(FILES) as volume:
        one, other = dataless.coordinate(read=volume.path / "a.txt"), dataless.coordinate(read=volume.path / "b.txt")
        one.__enter__()
        other.__enter__()
        one.__exit__(None, None, None)
        with dataless.coordinate(read=volume.path / "a.txt") as intent:
            assert outer_of(volume, intent.number) == other.number
        other.__exit__(None, None, None)
        with dataless.coordinate(read=volume.path / "a.txt") as intent:
            assert outer_of(volume, intent.number) is None


def test_a_block_may_be_left_in_another_task():
    async def both(path):
        stack = contextlib.AsyncExitStack()

        async def enter():
            await stack.enter_async_context(dataless.coordinate(write=path))

        async def leave():
            await stack.aclose()

        await asyncio.create_task(enter())
        await asyncio.create_task(leave())

    with dataless.mount(FILES) as volume:
        asyncio.run(both(volume.path / "a.txt"))
        assert is_free(volume.path / "a.txt")


def test_a_block_may_be_left_on_another_thread():
    def block(path):
        with dataless.coordinate(write=path):
            yield

    with dataless.mount(FILES) as volume:
        steps = block(volume.path / "a.txt")
        thread = threading.Thread(target=lambda: next(steps))
        thread.start()
        thread.join()
        steps.close()
        assert is_free(volume.path / "a.txt")


def test_a_task_may_outlive_the_block_it_was_made_in():
    async def use(volume):
        has_left = asyncio.Event()

        async def later():
            await has_left.wait()
            async with dataless.coordinate(write=volume.path / "b.txt") as intent:
                return intent.number

        async with dataless.coordinate(read=volume.path / "a.txt"):
            task = asyncio.create_task(later())
        has_left.set()
        return await task

    with dataless.mount(FILES) as volume:
        assert outer_of(volume, asyncio.run(use(volume))) is None


def _read(path):
    with dataless.coordinate(read=path) as intent:
        return intent.number


def test_a_child_is_within_nothing_of_its_parent():
    with dataless.mount(FILES) as volume:
        with dataless.coordinate(read=volume.path / "a.txt"):
            number = int(in_child(lambda: _read(volume.path / "b.txt")))
            assert outer_of(volume, number) is None
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert all(number > 0 for number in pool.map(_read, [volume.path / "b.txt"] * 4))


def test_a_child_that_leaves_the_block_does_not_end_it():
    with dataless.mount(FILES) as volume:
        path = volume.path / "a.txt"
        block = dataless.coordinate(write=path)
        with block:
            assert in_child(lambda: block.__exit__(None, None, None)) == "None"
            # The parent's block has it still: what is asked for elsewhere waits.
            other = in_child(lambda: dataless.Intent(read=path).wait(0.2))
            assert other.startswith("TimeoutError")
        assert is_free(path)
