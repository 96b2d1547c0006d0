"""A volume that is attacked, and processes that do not outlive their time limit."""

import errno
import json
import os
import select
import signal
import traceback

from harness import process
from place import Volume

# Long enough for whatever is not parked, on a busy machine.
PROMPT = 20
USERS = (65531, 65532)


class Wrong(Exception):
    """What a volume did that it may not do."""


class LeftOut(Exception):
    """This machine cannot show the case; the text says why."""


class Attacked(Volume):
    """A volume over files that `fill` makes."""

    def __init__(self, options, fill=None, *more):
        super().__init__(options.dataless, "dataless", [*options.mount_option], options.keep, kept=options.state)
        if not options.mount_option and not options.state:
            self.options = ["--scratch", *[word for word in self.options if word != "--scratch"]]
        self.options += more
        self.fill = fill

    def __enter__(self):
        super().__enter__()
        if self.fill:
            self.fill(self.source)
        self.begin()
        return self

    def begin(self):
        self.mount()
        self.daemon = self.status()["pid"]

    def path(self, *names):
        return os.path.join(self.root, *names)

    def status(self):
        return json.loads(self.told("status", self.root, "--json"))

    def told(self, *arguments):
        outcome = process.run([self.dataless, *arguments], PROMPT)
        if not outcome.ok:
            raise Wrong(f"dataless {' '.join(arguments)}: {outcome.how()}: {outcome.message()}")
        return outcome.output

    def end(self, limit=30):
        """Unmounts it in the ordinary way, within the limit."""
        outcome = process.run([self.dataless, "unmount", self.root], limit)
        if not outcome.ok:
            raise Wrong(f"dataless unmount: {outcome.how()} after {outcome.seconds:.1f} s: {outcome.message()}")
        if not process.wait_until(lambda: process.state(self.daemon) in ("", "Z"), limit):
            raise Wrong(f"the daemon, {self.daemon}, is still there")

    def memory(self):
        """Resident bytes of the daemon."""
        with open(f"/proc/{self.daemon}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Child:
    """A function in a process of its own, perhaps as another user. `answer`: what it returned, or its error."""

    def __init__(self, function, *arguments, user=0):
        reading, writing = os.pipe()
        self.reading, self.answer, self.ended = reading, None, False
        self.name = getattr(function, "__name__", "?")
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                os.close(reading)
                os.setpgid(0, 0)
                # A handler, Python's own or the one that unmounts, makes it a signal that ends no wait.
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                if user:
                    os.setgroups([])
                    os.setresgid(user, user, user)
                    os.setresuid(user, user, user)
                result = self._result(function, arguments)
                os.write(writing, json.dumps(result).encode()[:4000])
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        self.descriptor = os.pidfd_open(self.pid)

    @staticmethod
    def _result(function, arguments):
        try:
            return ["ok", function(*arguments)]
        except OSError as error:
            return ["errno", errno.errorcode.get(error.errno, str(error.errno)), str(error)[:300]]
        except Exception:
            return ["raised", traceback.format_exc()[-600:]]

    def wait(self, limit=PROMPT):
        """Whether it ended within the limit."""
        if not self.ended and select.select([self.descriptor], [], [], limit)[0]:
            self.ended = True
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            data = os.read(self.reading, 8192) if select.select([self.reading], [], [], 0)[0] else b""
            self.answer = json.loads(data) if data else ["ended", self.status]
            os.close(self.reading)
            os.close(self.descriptor)
        return self.ended

    def signal(self, number):
        if not self.ended:
            os.kill(self.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)

    def is_in(self, letters):
        """Whether it is in one of these states of the scheduler (D: in a call that cannot be interrupted)."""
        return process.state(self.pid) in letters


def asked(function, *arguments, user=0, limit=PROMPT):
    """The answer of a child that ends in time: ["ok", result], ["errno", name, text]. One that hangs is Wrong."""
    child = Child(function, *arguments, user=user)
    if not child.wait(limit):
        child.kill()
        child.wait(5)
        raise Wrong(f"{child.name}{arguments!r} did not end within {limit} s")
    return child.answer


def works(function, *arguments, user=0, limit=PROMPT):
    answer = asked(function, *arguments, user=user, limit=limit)
    if answer[0] != "ok":
        raise Wrong(f"{function.__name__}{str(arguments)[:300]}: {' '.join(map(str, answer))}")
    return answer[1]


def same(what, expected, got):
    if expected != got:
        raise Wrong(f"{what}: expected {str(expected)[:200]!r}, got {str(got)[:200]!r}")


def eventually(what, condition, limit=PROMPT):
    if not process.wait_until(condition, limit):
        raise Wrong(f"not within {limit} s: {what}")


def write_file(path, content):
    with open(path, "wb") as file:
        file.write(content)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def read_length(path):
    return len(read_file(path))


def _difference(path, expected):
    content = read_file(path)
    if content == expected:
        return None
    place = next((at for at, pair in enumerate(zip(content, expected)) if pair[0] != pair[1]), None)
    if place is None:
        return f"{len(content)} bytes instead of {len(expected)}"
    got, wanted = content[place:place + 20], expected[place:place + 20]
    return f"{len(content)} bytes of {len(expected)}, from {place} on {got!r}, not {wanted!r}"


def holds(path, expected):
    """Its whole content is this; it is read by a process that may hang."""
    if difference := works(_difference, path, bytes(expected)):
        raise Wrong(f"{path}: {difference}")


def pattern(number, length):
    word = b"%08x" % (number * 2654435761 % 2**32)
    return (word * (length // 8 + 1))[:length]
