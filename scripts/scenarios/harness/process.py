"""Running programs with a time limit, so that whatever a volume does to them ends."""

import os
import select
import signal
import subprocess
import tempfile
import time

# How long a killed process may take to go. One in state D goes when its volume is unmounted, not before.
DEATH_LIMIT = 3.0


class Outcome:
    """What a program did: exit status, signal, text, time."""

    def __init__(self, command, returncode, output, errors, seconds, timed_out):
        self.command, self.returncode, self.seconds, self.timed_out = command, returncode, seconds, timed_out
        self.output, self.errors = output, errors

    @property
    def ok(self):
        return self.returncode == 0 and not self.timed_out

    @property
    def signal(self):
        """Name of the signal that ended it, also when a shell or a parent process passed it on as 128 + n."""
        number = -self.returncode if self.returncode < 0 else self.returncode - 128
        crashes = (signal.SIGBUS, signal.SIGSEGV, signal.SIGABRT)
        if self.timed_out or (self.returncode >= 0 and number not in crashes):
            return None
        return signal.Signals(number).name

    @property
    def text(self):
        return (self.errors + b"\n" + self.output[-200_000:]).decode("utf-8", "replace")

    def how(self):
        """In a few words, for a report."""
        if self.timed_out:
            return f"did not end in {self.seconds:.0f} s"
        return f"killed by {self.signal}" if self.signal else f"exit status {self.returncode}"

    def message(self, *words):
        """The first line of the text that has one of the words (default: the last line), cut to a readable length."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        found = [line for line in lines if any(word in line for word in words)] if words else lines[-1:]
        return (found or lines[-1:] or [""])[0][:160]


# Programs that may still be there, for a run that is ended from outside.
_running = set()


def kill_all():
    for running in list(_running):
        running.kill()


class Running:
    """A started program. Its output goes to files: a pipe that a stuck child holds open has no end."""

    def __init__(self, command, cwd=None, env=None, user=None):
        self.command = [os.fspath(word) for word in command]
        self._files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self._files[0], stderr=self._files[1], cwd=cwd, env=env,
            user=user, group=user, extra_groups=None if user is None else [], start_new_session=True,
        )
        self.pid = self.process.pid
        _running.add(self)

    def ended(self):
        return self.process.poll() is not None

    def wait(self, limit):
        """Waits; ends the whole process group when the limit is over."""
        timed_out = not self._wait(limit)
        seconds = time.monotonic() - self.started
        self.kill()
        status = self.process.returncode
        return Outcome(
            self.command, 0 if status is None else status, self._text(0), self._text(1), seconds, timed_out
        )

    def kill(self):
        """Seconds that SIGKILL took for the program itself; None if it is still there. Children go with it."""
        before = time.monotonic()
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if not self._wait(DEATH_LIMIT):
            return None
        _running.discard(self)
        return time.monotonic() - before

    def _wait(self, limit):
        """Whether it has ended within the limit; told by the kernel, where Popen.wait would poll."""
        if self.process.poll() is None:
            descriptor = os.pidfd_open(self.pid)
            try:
                select.select([descriptor], [], [], max(0.0, limit))
            finally:
                os.close(descriptor)
        return self.process.poll() is not None

    def text(self):
        """All that it has written so far."""
        return self._text(1) + self._text(0)

    def _text(self, index):
        size = os.fstat(self._files[index].fileno()).st_size
        return os.pread(self._files[index].fileno(), size, 0)


def run(command, limit, cwd=None, env=None, user=None):
    """Runs a program to its end or to the limit, in seconds. Never raises for what the program does."""
    return Running(command, cwd, env, user).wait(limit)


def wait_until(condition, limit, pause=0.01):
    """Whether the condition came true within the limit, in seconds."""
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def state(pid):
    """The letter of /proc/PID/stat: R, S, D, Z (its parent is slow to ask), ...; empty without such a process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
