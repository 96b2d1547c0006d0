"""What a test is, and what it can ask. A test is a function with an id, run in a process of its own whose working
directory holds the items of `items.py`."""

import contextlib
import os
import stat
import time

import kernel

# How long until the clock that file systems take their times from has surely moved on: some go by the timer's tick.
TICK = 0.011

# Who a test is run as. PLAYERS: as root, which plays several users (`Test.be`). SMALL_DISK: as root, where the disk may
# be filled; nowhere else.
EVERYBODY, ROOT, USER, PLAYERS, SMALL_DISK = "everybody", "root", "user", "players", "small-disk"

_cases = {}


class Case:
    def __init__(self, identifier, function, who):
        self.identifier, self.function, self.who = identifier, function, who


def case(identifier, who=EVERYBODY):
    """Registers a function as a test."""
    def register(function):
        add(identifier, function, who)
        return function
    return register


def add(identifier, function, who=EVERYBODY):
    if identifier in _cases:
        raise ValueError(f"two tests are named {identifier}")
    _cases[identifier] = Case(identifier, function, who)


def cases():
    return list(_cases.values())


class Failure(Exception):
    """A call, what was expected of it, and what came."""

    def __init__(self, call, expected, got):
        super().__init__(f"{call}: expected {expected}, got {got}")
        self.call, self.expected, self.got = call, expected, got


class Skipped(Exception):
    """This place cannot show the case; the text says why."""


class Permissions(int):
    """A mode, which is shown in octal."""

    def __repr__(self):
        return oct(self)


def _shown(value):
    if isinstance(value, (bytes, str)) and len(value) > 60:
        return f"{value[:40]!r}... ({len(value)} long)"
    return repr(value)


def described(function, arguments):
    name = getattr(function, "__name__", repr(function))
    return f"{name}({', '.join(_shown(argument) for argument in arguments)})"


class Test:
    """What a test function is given: who it is, and its questions."""

    def __init__(self, uid, gid, users):
        self.uid, self.gid = uid, gid
        # Three ordinary users, each with a group of the same number; the first owns the items when players play.
        self.first, self.second, self.third = users

    # Questions. Each raises Failure.

    def fails(self, expected, function, *arguments):
        """The call fails with this errno, or one of several, by name: "EEXIST ENOTEMPTY"."""
        call = described(function, arguments)
        try:
            result = function(*arguments)
        except OSError as error:
            if kernel.error_name(error) not in expected.split():
                raise Failure(call, " or ".join(expected.split()), kernel.error_name(error)) from None
            return
        raise Failure(call, " or ".join(expected.split()), f"success ({_shown(result)})")

    def works(self, function, *arguments):
        """The call's result; its failure is the test's."""
        try:
            return function(*arguments)
        except OSError as error:
            raise Failure(described(function, arguments), "success", kernel.error_name(error)) from None

    def equal(self, what, expected, got):
        if expected != got:
            expected = Permissions(expected) if isinstance(got, Permissions) else expected
            raise Failure(what, _shown(expected), _shown(got))

    def true(self, what, condition, got="not so"):
        if not condition:
            raise Failure(what, "to be so", got if isinstance(got, str) else _shown(got))

    def skip(self, why):
        raise Skipped(why)

    # Looking.

    def content(self, path):
        with open(path, "rb") as file:
            return file.read()

    def mode(self, path):
        return Permissions(stat.S_IMODE(os.lstat(path).st_mode))

    def size(self, path):
        return os.lstat(path).st_size

    def links(self, path):
        return os.lstat(path).st_nlink

    def absent(self, path):
        self.fails("ENOENT", os.lstat, path)

    def names(self, path="."):
        return sorted(os.listdir(path))

    # Making.

    def make(self, path, content=b"", mode=0o644):
        """A new file with exactly this mode."""
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        os.write(descriptor, content)
        os.fchmod(descriptor, mode)
        os.close(descriptor)
        return path

    @contextlib.contextmanager
    def opened(self, path, flags=os.O_RDWR, mode=0o644):
        descriptor = self.works(os.open, path, flags, mode)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def umask(self, mask):
        before = os.umask(mask)
        try:
            yield
        finally:
            os.umask(before)

    @contextlib.contextmanager
    def be(self, uid, gid=None, groups=()):
        """Be another user for a while; for PLAYERS only."""
        os.setgroups(list(groups))
        os.setegid(uid if gid is None else gid)
        os.seteuid(uid)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.setgroups([])

    # Times.

    def tick(self):
        time.sleep(TICK)

    @contextlib.contextmanager
    def moves(self, **expected):
        """Of each named item exactly these of the times `m` and `c` move, and to now. `here` is the working directory;
        `__` in a name stands for a slash."""
        paths = {key: "." if key == "here" else key.replace("__", "/") for key in expected}
        before = {key: os.lstat(path) for key, path in paths.items()}
        self.tick()
        started = time.time()
        yield
        for key, path in paths.items():
            after = os.lstat(path)
            for letter in "mc":
                field = f"st_{letter}time_ns"
                old, new = getattr(before[key], field), getattr(after, field)
                self.equal(f"{field} of {path} moved", letter in expected[key], new != old)
                if new != old:
                    off = new / 1e9 - started
                    self.true(f"{field} of {path} is now", abs(off) < 1, f"{off:.3f} s off")


def in_child(function):
    """Runs it in another process, with the same user; its exit status, or minus the signal that ended it."""
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            status = function() or 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
