"""Programs that a test starts on a volume."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
from typing import IO, Any, Callable, Mapping, Optional, Sequence

from ._errors import ProgramTimeout

#: What stands for the mountpoint in a command, as in ``dataless run``.
PLACEHOLDER = "{}"


def _identity(pid: int) -> str:
    """What tells a process from others that have its number later: boot, pid namespace, and clock ticks at its start."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # Its name may have blanks and brackets; what follows is field 3.
            start = stat.read().rpartition(b")")[2].split()[19].decode()
        return f"{boot} {os.readlink('/proc/self/ns/pid')} {start}\n"
    except OSError:
        return ""


def ends_within(pidfd: int, seconds: float) -> bool:
    """Whether a process has ended after at most so many seconds."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(max(0, seconds) * 1000))


class Program:
    """A program that runs, in a process group of its own: whatever it leaves running ends with the volume."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        mountpoint: str,
        folder: str,
        explain: Callable[[], str],
        input: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[str] = None,
    ) -> None:
        self.command = [os.fspath(word).replace(PLACEHOLDER, mountpoint) for word in command]
        self._explain = explain
        # Files, not pipes: what a program says never holds it up.
        self._output = self._file(folder)
        self._error = self._file(folder)
        stdin: Any = subprocess.DEVNULL
        if input is not None:
            stdin = self._file(folder)
            stdin.write(input)
            stdin.seek(0)
        self._process = subprocess.Popen(
            self.command,
            stdin=stdin,
            stdout=self._output,
            stderr=self._error,
            env={**(os.environ if env is None else env), "DATALESS_MOUNT": mountpoint},
            cwd=cwd,
            start_new_session=True,
        )
        self._ended = os.pidfd_open(self.pid)
        if input is not None:
            stdin.close()
        # By its name, the keeper ends the group should this process be killed.
        self._mark = os.path.join(folder, "programs", str(self.pid))
        with open(self._mark, "w") as mark:
            mark.write(_identity(self.pid))

    @staticmethod
    def _file(folder: str) -> IO[str]:
        """A file without a name, which goes with its last descriptor."""
        return tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace", dir=folder)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return not ends_within(self._ended, 0)

    def wait(self, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        """Waits for its end: status, and what it has written.

        Raises ``ProgramTimeout`` after ``timeout`` seconds, with who waits for the volume and where; the program has
        been ended then.
        """
        if not ends_within(self._ended, timeout):
            waiting = self._explain()
            self.kill()
            raise ProgramTimeout(
                f"{self.command[0]} did not end within {timeout:g} s." + (f" Who waits:\n{waiting}" if waiting else ""),
                "timed_out",
                "ETIMEDOUT",
            )
        # It stays a zombie until `kill`, so that its number, which is that of its group, is given to nobody else.
        status = self._process.returncode
        if status is None:
            end = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            assert end is not None
            status = end.si_status if end.si_code == os.CLD_EXITED else -end.si_status
        return subprocess.CompletedProcess(self.command, status, self._text(self._output), self._text(self._error))

    def kill(self) -> None:
        """Ends it and what it has started, with SIGKILL. Does nothing the second time."""
        if self._process.returncode is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
            self._process.wait()
            os.unlink(self._mark)

    def close(self) -> None:
        """Ends it, and forgets what it has written."""
        self.kill()
        if not self._output.closed:
            os.close(self._ended)
        self._output.close()
        self._error.close()

    @staticmethod
    def _text(file: IO[str]) -> str:
        file.flush()
        file.seek(0)
        return file.read()
