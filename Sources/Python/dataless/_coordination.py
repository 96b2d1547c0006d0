"""Coordinated accesses: programs that use the same files come one after the other (docs/COORDINATION.md)."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import fcntl
import os
import select
import socket
import struct
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generator, Iterable, List, Optional, Tuple, Type, Union

from ._places import Place, place_of

_Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
#: One, or several.
_Paths = Union[_Path, Iterable[_Path]]

_MAGIC, _VERSION = 0x31636C64, 1
_REQUEST = struct.Struct("<IHHIIQQ")
_ANSWER = struct.Struct("<IHHiIQqq")
_TAKEN_AWAY = 2
_NEWS = 3
_OF_ANSWER, _OF_PRESENTER, _OF_END = 0x4000, 0x8000, 0xC000
_WORDS = ["", "read", "write", "move", "delete", "replace", "ended", "evicted", "changed", "renamed", "evict", "change"]
_INLINE_MAX = 64 << 10
#: How long a connection waits for its turn.
_TURN_SECONDS = 2
_SEALS = 0x1 | 0x2 | 0x4 | 0x8

_NAMES = [
    "ok",
    "coordination_deadlock",
    "coordination_busy",
    "coordination_too_many_paths",
    "coordination_bad_path",
    "coordination_through_link",
    "coordination_outer_not_held",
    "coordination_taken_away",
    "coordination_volume_ended",
    "coordination_failed",
    "coordination_bad_request",
    "coordination_not_allowed",
]

#: Which volume a connection leads to: its device, and its daemon's process id. Another one may be mounted at the same
#: place, and another daemon may get the same device: numbers of intents mean nothing there.
_Volume = Tuple[str, int]


@dataclass(frozen=True)
class _Entered:
    """An intent whose block was entered, and the one around it. What is copied with a context stays as it was."""

    intent: Intent
    outer: Optional[_Entered]


#: The innermost block. Its intent may have ended, in another thread or task, or be that of a parent process.
_current: contextvars.ContextVar[Optional[_Entered]] = contextvars.ContextVar("dataless_intent", default=None)


def _held(entered: Optional[_Entered]) -> Optional[_Entered]:
    """The innermost block whose intent is still held, by this very process."""
    while entered is not None and not entered.intent._is_held():
        entered = entered.outer
    return entered


def _implied(volume: _Volume) -> int:
    """The number of the intent that one on this volume is within, as it is asked for in its block; 0 for none."""
    entered = _held(_current.get())
    while entered is not None and entered.intent._volume != volume:
        entered = _held(entered.outer)
    return 0 if entered is None else entered.intent.number


class CoordinationError(OSError):
    """An intent that is not granted, or was taken away. ``code`` is its name, such as ``coordination_deadlock``."""

    def __init__(self, code: str, number: int, message: str) -> None:
        super().__init__(number, f"{message} ({code})")
        self.code = code


class Intent:
    """What is to be read and written, asked for at once. ``with`` waits until it is granted, and gives it back.

    Nothing of it runs on another thread: ``fileno()`` becomes readable when there is an answer. ``await`` and ``async
    with`` wait without a thread. An intent that is made inside the block of another one on the same volume, on the same
    thread or in the same task, is *within* that one as long as it is held: it is not kept from anything by it, and a
    deadlock of the two is found.
    """

    def __init__(
        self,
        read: _Paths = (),
        write: _Paths = (),
        *,
        without_materialization: bool = False,
        metadata_only: bool = False,
        moving: bool = False,
        deleting: bool = False,
        replacing: bool = False,
        within: Union[Intent, News, None] = None,
    ) -> None:
        place, text, count = _collect(
            [(path, b"r") for path in _listed(read)] + [(path, b"w") for path in _listed(write)]
        )
        options = [without_materialization, metadata_only, moving, deleting, replacing]
        flags = sum(1 << bit for bit, isset in enumerate(options) if isset)
        self._socket, self._volume = _connect(place)
        self._process = os.getpid()
        #: Its number in the volume's log; 0 until it is granted.
        self.number: int = 0
        #: How long it waited for others, in seconds, and how many files and listings were made local for it.
        self.waited = 0.0
        self.materialized = 0
        try:
            _send(self._socket, text, flags, count, self._outer(within))
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """Readable when there is an answer, and again when the intent is taken away."""
        return self._socket.fileno()

    @property
    def granted(self) -> bool:
        """Whether it is granted. Never waits; raises ``CoordinationError`` if it is refused or was taken away."""
        self._receive()
        return self.number != 0

    def wait(self, seconds: Optional[float] = None) -> Intent:
        """Waits until it is granted. Raises ``CoordinationError``, or ``TimeoutError`` and goes on asking."""
        while not self.granted:
            _wait(self.fileno(), seconds, "not granted")
        return self

    def end(self) -> None:
        """Gives it back, or gives it up. Raises ``CoordinationError`` if it was refused, or taken away, before."""
        if self._socket.fileno() < 0:
            return
        try:
            self._receive()
        finally:
            # For copies in children, too: the daemon tells them.
            _say_end(self._socket, socket.SHUT_WR)
            self._socket.close()

    def _receive(self) -> None:
        while True:
            message = _receive(self._socket, 1024)
            if message is None:
                return
            _, kind, code, number, _, intent, waited, materialized = _ANSWER.unpack_from(message)
            if kind == _TAKEN_AWAY or number != 0:
                raise _error(code, number or errno.ECANCELED, message[_ANSWER.size :])
            self.number, self.waited, self.materialized = intent, waited / 1e9, materialized

    def _outer(self, within: Union[Intent, News, None]) -> int:
        """The number of the intent that this one is to be within; 0 for none."""
        if within is None:
            return _implied(self._volume)
        # News that a program has made itself is of no volume that is known.
        if within._volume not in (None, self._volume):
            raise _outer_not_held("the intent it was to be within is one of another volume")
        number = within.intent if isinstance(within, News) else within._granted_number()
        if number == 0:
            # It would be asked for within nothing.
            raise _outer_not_held("the intent it was to be within is not granted, or there is none")
        return number

    def _granted_number(self) -> int:
        """Its number; 0 if it is not granted by now. What is looked at stays for those who wait for it."""
        if self.number == 0 and self._is_held():
            try:
                message = _look(self._socket, 1024)
            except CoordinationError:
                return 0
            if message is not None and not _is_final(message):
                return int(_ANSWER.unpack_from(message)[5])
        return self.number

    # ---- Blocks

    def _is_held(self) -> bool:
        """Whether it is not given back, and this process', not that of a parent from which it has a copy."""
        return self._socket.fileno() >= 0 and self._process == os.getpid()

    def _enter(self) -> Intent:
        # Blocks that nobody has left in this context, as they were left in another, are not kept for ever.
        _current.set(_Entered(self, _held(_current.get())))
        return self

    def _leave(self, failed: bool) -> None:
        if self._process != os.getpid():
            # A child leaves the block that its parent has entered, and is still in.
            self._socket.close()
            return
        try:
            self.end()
        except CoordinationError:
            # What went wrong inside says more.
            if not failed:
                raise
        finally:
            # Without a token of `set`: a block may be left in another context than it was entered in, and in any order.
            _current.set(_held(_current.get()))

    def __enter__(self) -> Intent:
        try:
            self.wait()
        except BaseException:
            self._socket.close()
            raise
        return self._enter()

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._leave(kind is not None)

    def __await__(self) -> Generator[Any, None, Intent]:
        return self._granted().__await__()

    async def _granted(self) -> Intent:
        loop = asyncio.get_running_loop()
        while not self.granted:
            ready: asyncio.Future[None] = loop.create_future()
            loop.add_reader(self.fileno(), _wake, ready)
            try:
                await ready
            finally:
                loop.remove_reader(self.fileno())
        return self

    async def __aenter__(self) -> Intent:
        try:
            await self
        except BaseException:
            self._socket.close()
            raise
        return self._enter()

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._leave(kind is not None)


@dataclass(frozen=True)
class News:
    """What a presenter is told.

    ``what``: ``read``, ``write``, ``move``, ``delete``, ``replace``, ``evict`` or ``change`` (what SOURCE has changed
    is taken over) is about to happen and waits for ``answer()``, 5 s at most; ``ended``: that is over; ``evicted``,
    ``changed`` (that was taken over) and ``renamed`` have happened.
    """

    what: str
    #: The number of the intent it is about; 0 for none.
    intent: int
    #: What is used, from the volume's root; of ``renamed``, the new name.
    path: str
    #: Paths of the intent beside this one.
    others: int
    #: That of the presenter which was told.
    _volume: Optional[_Volume] = field(default=None, repr=False, compare=False)

    @property
    def waits(self) -> bool:
        """Whether an answer is waited for."""
        if self.what == "unknown":
            # What a later version asks nobody here can do anything about.
            return self.intent != 0
        return self.what in _WORDS[1:6] or self.what in ("evict", "change")


class Presenter:
    """Presents a name, and is told before others who coordinate use it, or what is below it. ``with`` ends it.

    Nothing of it runs on another thread: ``fileno()`` becomes readable when there is news.
    """

    def __init__(self, path: _Path) -> None:
        place, text, count = _collect([(os.fsencode(path), b"r")])
        self._socket, self._volume = _connect(place)
        try:
            _send(self._socket, text, _OF_PRESENTER, count, 0)
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """Readable when there is news."""
        return self._socket.fileno()

    def next(self, seconds: Optional[float] = None) -> News:
        """Waits for the next news. Raises ``TimeoutError``, or ``CoordinationError`` if there will be none."""
        while True:
            news = self.look()
            if news is not None:
                return news
            _wait(self.fileno(), seconds, "no news")

    def look(self) -> Optional[News]:
        """The next news. Never waits."""
        while True:
            message = _receive(self._socket, 4096)
            if message is None:
                return None
            _, kind, code, number, _, intent, _, others = _ANSWER.unpack_from(message)
            text = message[_ANSWER.size :]
            if kind == _NEWS:
                word = _WORDS[code] if code < len(_WORDS) else "unknown"
                return News(word, intent, os.fsdecode(text), others, self._volume)
            if number != 0:
                raise _error(code, number, text)

    def answer(self, news: News) -> None:
        """What is about to happen may happen. Raises ``CoordinationError`` if the volume has ended."""
        message = _REQUEST.pack(_MAGIC, _VERSION, _OF_ANSWER, 0, 0, news.intent, 0)
        try:
            self._socket.send(message, socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError):
            raise _ended() from None

    def save(self, news: News, path: _Path) -> Intent:
        """An intent to write before what is about to happen does: to be ended before ``answer()``."""
        # An eviction and a change hold nothing that an intent could be within.
        return Intent(write=[path], within=None if news.what in ("evict", "change") else news)

    def end(self) -> None:
        """Presents no more."""
        if self._socket.fileno() >= 0:
            _say_end(self._socket, socket.SHUT_RDWR)
            self._socket.close()

    def __enter__(self) -> Presenter:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.end()


def coordinate(read: _Paths = (), write: _Paths = (), **options: Any) -> Intent:
    """Asks to read and write files, as ``Intent`` does: ``with dataless.coordinate(write=[path]): ...``"""
    return Intent(read, write, **options)


def _send(connection: socket.socket, text: bytes, flags: int, count: int, outer: int) -> None:
    is_inline = len(text) <= _INLINE_MAX
    head = _REQUEST.pack(
        _MAGIC, _VERSION, flags, count, len(text) if is_inline else 0, outer, 0 if is_inline else len(text)
    )
    try:
        if is_inline:
            connection.send(head + text, socket.MSG_NOSIGNAL)
            return
        memory = os.memfd_create("dataless-paths", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            with open(memory, "wb", closefd=False) as file:
                file.write(text)
            fcntl.fcntl(memory, getattr(fcntl, "F_ADD_SEALS", 1033), _SEALS)
            socket.send_fds(connection, [head], [memory])
        finally:
            os.close(memory)
    except (BrokenPipeError, ConnectionResetError):
        pass  # It was refused before it was read: the answer says why.


def _say_end(connection: socket.socket, how: int) -> None:
    """Says that what a connection is for has ended, whatever comes next: this process may end, too."""
    try:
        connection.send(_REQUEST.pack(_MAGIC, _VERSION, _OF_END, 0, 0, 0, 0), socket.MSG_NOSIGNAL)
        connection.shutdown(how)
    except OSError:
        pass


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _wait(descriptor: int, seconds: Optional[float], what: str) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(None if seconds is None else max(0, int(seconds * 1000))):
        raise TimeoutError(errno.ETIMEDOUT, f"{what} within {seconds:g} s")


def _receive(connection: socket.socket, text: int) -> Optional[bytes]:
    message = _look(connection, text)
    if message is None or _is_final(message):
        # It is there for who asks again, where otherwise the end of the connection would be: that of the volume.
        return message
    return _message(connection, text, 0)


def _look(connection: socket.socket, text: int) -> Optional[bytes]:
    """The next message, which stays where it is."""
    return _message(connection, text, socket.MSG_PEEK)


def _is_final(message: bytes) -> bool:
    """Whether nothing comes after it: a refusal, or that what was granted is taken away."""
    _, kind, _, number = _ANSWER.unpack_from(message)[:4]
    return bool(kind == _TAKEN_AWAY or number != 0)


def _message(connection: socket.socket, text: int, flags: int) -> Optional[bytes]:
    try:
        try:
            message = connection.recv(_ANSWER.size + text, flags)
        except ConnectionResetError:
            # The daemon has closed without reading what it was sent. What it has answered comes after that.
            message = connection.recv(_ANSWER.size + text, flags)
    except BlockingIOError:
        return None
    except ConnectionResetError:
        message = b""
    if len(message) < _ANSWER.size:
        raise _ended()
    return message


def _outer_not_held(message: str) -> CoordinationError:
    return CoordinationError("coordination_outer_not_held", errno.ESRCH, message)


def _ended() -> CoordinationError:
    return CoordinationError(
        "coordination_volume_ended", errno.ETIMEDOUT, "the volume's daemon has ended, or was killed"
    )


def _error(code: int, number: int, text: bytes) -> CoordinationError:
    name = _NAMES[code] if code < len(_NAMES) else "coordination_unknown"
    return CoordinationError(name, number, text.decode("utf-8", "replace"))


def _listed(paths: Any) -> List[bytes]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    return [os.fsencode(path) for path in paths]


def _collect(claims: List[Tuple[bytes, bytes]]) -> Tuple[Place, bytes, int]:
    if not claims:
        raise OSError(errno.EINVAL, "nothing to read or write")
    found: Optional[Place] = None
    parts = []
    for path, kind in claims:
        if b"\0" in path:
            # It would end the path where it is sent.
            raise ValueError(f"embedded null byte in path {os.fsdecode(path)!r}")
        below: Optional[bytes] = None
        if found is not None and path.startswith(found.mountpoint + b"/"):
            below = path[len(found.mountpoint) + 1 :]
        else:
            place, below = place_of(path)
            if found is not None and place != found:
                raise OSError(errno.EXDEV, "the paths lie on several volumes", os.fsdecode(path))
            found = place
        names = [name for name in below.split(b"/") if name not in (b"", b".")]
        parts.append(kind + b"/".join(names) + b"\0")
    assert found is not None
    return found, b"".join(parts), len(parts)


def _connect(place: Place) -> Tuple[socket.socket, _Volume]:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    try:
        try:
            _connect_in_turn(connection, place.socket())
        except PermissionError:
            raise CoordinationError(
                "coordination_not_allowed",
                errno.EACCES,
                f"user {place.owner} has mounted {os.fsdecode(place.mountpoint)}: only that user and root may",
            ) from None
        process, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        # Nothing is said to anybody but the one who mounted it, and root.
        if user not in (0, place.owner):
            raise OSError(errno.EACCES, "somebody else answers in the place of the volume's daemon")
    except BaseException:
        connection.close()
        raise
    return connection, (place.device, process)


def _connect_in_turn(connection: socket.socket, address: bytes) -> None:
    """Waits only when more connections than the kernel keeps wait to be taken up; and not for a daemon that is stopped."""
    until = time.monotonic() + _TURN_SECONDS
    while True:
        try:
            return connection.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            raise OSError(errno.ENOTCONN, "the volume's daemon is not running") from None
        except BlockingIOError:
            if time.monotonic() >= until:
                raise OSError(errno.EAGAIN, "4,096 others wait to be heard by the volume's daemon: is it stopped?") from None
            time.sleep(0.001)
