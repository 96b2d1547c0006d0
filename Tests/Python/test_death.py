"""A test process that dies in the middle leaves nothing, and the next one starts clean."""

import fcntl
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import dataless
from conftest import close_all

BEGINNING = """
    import os, sys, time, dataless
    volume = dataless.mount({"a": "x"}, rules=[{"match": {"path": "a"}, "gate": "g"}])
    program = volume.start(["cat", "{}/a"])
    volume.gate("g").wait()
"""


def begin(code):
    """A process that has done this, and goes on when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BEGINNING) + code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    line = process.stdout.readline()
    assert line, "the process has ended"
    return process, line.decode().split()


def end(process):
    process.wait(30)
    process.stdin.close()
    process.stdout.close()


def locked(folder):
    """Waits until nobody has the folder: signals take their time, and so does a mount that was begun."""
    with open(folder / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_process_that_is_killed(ours, number):
    process, (program,) = begin("print(program.pid, flush=True); sys.stdin.read()")
    assert len(ours.folders()) == 1 and len(ours.mounts()) >= 1
    process.send_signal(number)
    end(process)
    ours.wait_for([])
    assert not os.path.exists(f"/proc/{program}") or "Z" in open(f"/proc/{program}/stat").read().split()


def test_nothing_is_left_of_a_process_that_exits_at_once(ours):
    process, _ = begin("print(1, flush=True); sys.stdin.read(); os._exit(0)")
    process.stdin.close()
    process.wait(30)
    process.stdout.close()
    ours.wait_for([])


def test_a_child_that_was_forked_holds_nothing_up(ours):
    code = "child = os.fork()\nif child == 0: time.sleep(1000)\nprint(child, flush=True); sys.stdin.read()"
    process, (child,) = begin(code)
    try:
        process.kill()
        end(process)
        ours.wait_for([])
    finally:
        os.kill(int(child), signal.SIGKILL)


def test_the_next_process_removes_what_a_killed_keeper_could_not(ours):
    code = "(one,) = dataless._mounting.workspaces._all.values(); print(one._process.pid, flush=True); sys.stdin.read()"
    process, (keeper,) = begin(code)
    # The keeper waits for its `cat`, which is in the same group.
    os.killpg(int(keeper), signal.SIGKILL)
    process.kill()
    end(process)
    assert len(ours.folders()) == 1 and ours.mounts()
    locked(ours.parent / ours.folders()[0])
    with dataless.mount({"b": "y"}) as volume:
        assert len(ours.folders()) == 1 and str(volume.path).startswith(str(ours.parent / ours.folders()[0]))
        assert (volume.path / "b").read_text() == "y"
    close_all()
    ours.wait_for([])


def test_a_daemon_that_is_killed_does_not_hold_up_the_end(ours):
    volume = dataless.mount({"a": "x"})
    os.kill(volume.pid, signal.SIGKILL)
    volume.close()
    close_all()
    ours.wait_for([])


def test_a_daemon_that_is_stopped_is_made_to_end(ours, monkeypatch):
    monkeypatch.setattr("dataless._volume._END_SECONDS", 0.5)
    volume = dataless.mount({"a": "x"})
    os.kill(volume.pid, signal.SIGSTOP)
    monkeypatch.setattr(volume.client, "post", lambda *_, **__: None)
    with pytest.raises(dataless.DatalessError, match="did not end in time and was killed"):
        volume.close()
    close_all()
    ours.wait_for([])


def test_a_folder_of_somebody_else_is_refused(ours):
    ours.parent.mkdir(mode=0o777)
    ours.parent.chmod(0o777)
    with pytest.raises(dataless.DatalessError, match="is not a folder of this user alone"):
        dataless._mounting.Mounter(dataless._executable.Executable()).mount({}, dataless._options.Options())


def test_a_daemon_that_had_to_be_killed_is_told_of_and_is_no_fault_of_the_next_test(ours, monkeypatch):
    monkeypatch.setattr("dataless._volume._END_SECONDS", 0.5)
    mounter = dataless._mounter()
    volume = dataless.mount({"a": "x"})
    os.kill(volume.pid, signal.SIGSTOP)
    monkeypatch.setattr(volume.client, "post", lambda *_, **__: None)
    mounter.retire(volume)
    with pytest.warns(RuntimeWarning, match="did not end in time and was killed"):
        mounter.close()
    close_all()
    ours.wait_for([])


def test_what_is_written_into_a_folder_while_it_is_removed_is_removed_too(tmp_path):
    """As the daemon of a mount that was killed does, until it has noticed."""
    folder = tmp_path / "folder"
    cache = folder / "v1" / "cache"
    cache.mkdir(parents=True)
    (folder / "v1" / "mnt").mkdir()
    code = """
        import sys, time
        print(flush=True)
        for number in range(3000):
            open(f"{sys.argv[1]}/{number}", "w").close()
            time.sleep(0.01)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(cache)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
        writer.stdout.readline()
        keeper = ["/bin/sh", dataless._workspace._KEEPER, str(folder), "/bin/false"]
        subprocess.run(keeper, stdin=subprocess.DEVNULL, timeout=40)
        # It fails when its directory is gone.
        assert writer.wait(60) == 1
    assert not folder.exists()


@pytest.fixture
def slow(tmp_path):
    """A process whose second mount has begun, and goes on when ``go`` is there."""
    real = dataless._executable.Executable().path
    slow, begun, go = tmp_path / "slow", tmp_path / "begun", tmp_path / "go"
    waiting = f'[ "$1" != mount ] || {{ : >"{begun}"; while [ ! -e "{go}" ]; do sleep 0.1; done; }}'
    slow.write_text(f'#!/bin/sh\n{waiting}\nexec "{real}" "$@"\n')
    slow.chmod(0o755)
    code = "import threading; threading.Thread(target=lambda: dataless.mount({}, executable=SLOW), daemon=True).start()"
    code += "\nwhile not os.path.exists(BEGUN): time.sleep(0.02)"
    code += "\nall = dataless._mounting.workspaces._all.values()"
    code += "\nprint(*[one._process.pid for one in all], *[os.path.basename(one.folder) for one in all], flush=True)"
    code = code.replace("SLOW", repr(str(slow))).replace("BEGUN", repr(str(begun)))
    return (*begin(code + "\nsys.stdin.read()"), go)


def test_the_keeper_waits_for_a_mount_that_is_being_made(ours, slow):
    process, _, go = slow
    until = time.monotonic() + 30
    process.kill()
    end(process)
    # The folder of the volume that was mounted goes; that of the one that is being mounted stays.
    while len(ours.folders()) > 1:
        assert time.monotonic() < until
        time.sleep(0.02)
    go.touch()
    ours.wait_for([])


def test_the_next_process_leaves_a_mount_that_is_being_made_alone(ours, slow):
    process, (*keepers, mounted, left), go = slow
    for keeper in keepers:
        os.killpg(int(keeper), signal.SIGKILL)
    process.kill()
    end(process)
    assert sorted(ours.folders()) == sorted([mounted, left])
    locked(ours.parent / mounted)
    with dataless.mount({"b": "y"}):
        assert mounted not in ours.folders() and left in ours.folders()
        go.touch()
        locked(ours.parent / left)
        assert any(f"/{left}/v1/mnt" in mount for mount in ours.mounts())
    close_all()
    with dataless.mount({"b": "y"}):
        assert left not in ours.folders()
    close_all()
    ours.wait_for([])


def test_only_who_makes_a_folder_makes_its_lock(tmp_path):
    """Else a lock could come to be in a folder that is just being removed, and whoever has it would take it for his."""
    parent = tmp_path / "parent"
    for name in ("1-empty", "2-begun"):
        (parent / name).mkdir(parents=True)
    (parent / "2-begun" / "v1").mkdir()
    workspace = dataless._workspace
    workspace._remove_leftovers(str(parent), None)
    assert sorted(os.listdir(parent)) == ["2-begun"] and os.listdir(parent / "2-begun") == ["v1"]
    folder, lock = workspace._new_folder(str(parent))
    try:
        assert workspace._locked(folder) is None
        assert workspace._locked(folder, is_new=True) is None
        workspace._remove_leftovers(str(parent), None)
        assert os.path.exists(folder)
    finally:
        os.close(lock)
