"""One test in a process of its own, with a time limit: a file system that is wrong can also hang, or kill."""

import json
import os
import select
import signal
import time
import traceback

import kernel
from suite import Failure, PLAYERS, Skipped, Test

LIMIT = 30


class Result:
    """`outcome` is ok, failed or skipped."""

    def __init__(self, outcome, call="", expected="", got="", where=""):
        self.outcome, self.call, self.expected, self.got, self.where = outcome, call, expected, got, where
        self.seconds = 0.0


def _become(uid, gid):
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
        kernel.make_dumpable()


def _place(error):
    """The innermost line of a test at which it was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/tests/" in frame.filename]
    if not frames:
        return "", "the test"
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}", frames[-1].line


def _run(function, test):
    try:
        function(test)
        return ("ok",)
    except Skipped as reason:
        return "skipped", "", "", str(reason)
    except Failure as failure:
        return "failed", failure.call, failure.expected, failure.got, _place(failure)[0]
    except Exception as error:  # whatever else a test meets is its failure, too
        where, line = _place(error)
        got = kernel.error_name(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        return "failed", line, "success", got, where


def _child(case, directory, identity, users, pipe):
    status = 1
    try:
        os.setpgid(0, 0)
        os.umask(0o022)
        uid, gid = identity
        if case.who != PLAYERS:
            _become(uid, gid)
        os.chdir(directory)
        result = _run(case.function, Test(uid, gid, users))
        os.write(pipe, json.dumps(result).encode("utf-8", "backslashreplace"))
        status = 0
    except BaseException as error:  # the process must end here, and say why
        os.write(pipe, json.dumps(["failed", "the test's process", "to begin", repr(error)]).encode())
    finally:
        os._exit(status)


def run(case, directory, identity, users):
    """The Result of one test."""
    started = time.monotonic()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(case, directory, identity, users, writing)
    os.close(writing)
    answer = b""
    while time.monotonic() - started < LIMIT:
        if not select.select([reading], [], [], 1)[0]:
            continue
        # One write(2) of less than a pipe holds; what a test left running may keep the pipe open.
        answer = os.read(reading, 65536)
        break
    os.close(reading)
    hung = time.monotonic() - started >= LIMIT
    if hung:
        _kill(pid)
    status = _reap(pid)
    if answer:
        result = Result(*json.loads(answer))
    elif hung:
        result = Result("failed", "the test", f"to end within {LIMIT} s", "killed")
    else:
        result = Result("failed", "the test's process", "an answer", f"status {status}")
    result.seconds = time.monotonic() - started
    return result


def _reap(pid):
    """Ends its process group; one that hangs in the kernel is left behind."""
    descriptor = os.pidfd_open(pid)
    try:
        for limit in (1, 2):
            ended = select.select([descriptor], [], [], limit)[0]
            _kill(pid)
            if ended:
                return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        os.close(descriptor)
    return None


def _kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
