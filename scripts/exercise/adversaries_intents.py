"""Coordinated accesses (docs/COORDINATION.md) that others spoil: strangers, impostors, clients that say nothing or lie, a store that hangs."""

import errno
import os
import random
import shutil
import signal
import socket
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Sources", "Python"))

import dataless  # noqa: E402
from adversaries_ends import _fill, _Hanging  # noqa: E402
from adversaries_users import SECOND, _volume  # noqa: E402
from attacked import Attacked, Child, Wrong, asked, eventually, same, works, write_file  # noqa: E402

SILENT = 3_000


def _hold(seconds, reads, writes=(), by_name=False):
    """Asks, and says whether that was granted within the time."""
    intent = dataless.Intent(reads, writes, without_materialization=by_name)
    try:
        intent.wait(seconds)
        return "granted"
    except TimeoutError:
        return "waits"
    finally:
        intent.end()


def _socket_of(volume):
    return os.path.join(os.path.dirname(volume.status()["socket"]), "coordination.sock")


def _listen(path, seconds):
    """Somebody in the daemon's place, who grants whatever he is asked for."""
    os.makedirs(os.path.dirname(path), mode=0o755)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    os.chmod(path, 0o666)
    listener.listen(16)
    listener.settimeout(seconds)
    heard = 0
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return heard
        # Nothing may be said to him.
        connection.settimeout(2)
        try:
            heard += len(connection.recv(4096)) > 0
        except TimeoutError:
            pass
        connection.close()


def intents_of_a_stranger(options):
    """Another user coordinates nothing; and where no daemon is any more he is not taken for it."""
    with _volume(options) as volume:
        path, real = volume.path("mine", "file"), _socket_of(volume)
        same("the stranger's answer", "errno", asked(_hold, 5, [path], user=SECOND)[0])
        same("connecting to it", ["errno", "EACCES"], asked(_connect, real, user=SECOND)[:2])
        device = os.path.basename(os.path.dirname(real))
        false = f"/tmp/dataless-0/{device}/coordination.sock"
        if os.path.exists(os.path.dirname(os.path.dirname(false))):
            raise Wrong("/tmp/dataless-0 is there already")
        impostor = Child(_listen, false, 8, user=SECOND)
        try:
            eventually("the impostor listens", lambda: os.path.exists(false))
            same("root is served by the daemon", "granted", _hold(5, [path]))
            os.kill(volume.daemon, signal.SIGKILL)
            # Until its last thread has ended, its socket takes connections, and ends them.
            eventually("where the daemon is dead, ENOTCONN", lambda: _failure(path) == errno.ENOTCONN)
            os.unlink(real)
            same("where somebody else listens", errno.EACCES, _failure(path))
            same("the impostor ends", True, impostor.wait(20))
            same("what he was told", ["ok", 0], impostor.answer)
        finally:
            shutil.rmtree("/tmp/dataless-0", ignore_errors=True)
        return None


def _connect(address):
    _connected(address).close()


def _failure(path):
    try:
        return _hold(5, [path])
    except OSError as error:
        return error.errno


def clients_that_say_nothing_or_lie(options):
    """3,000 connections that say nothing, and 2,000 that say anything: others are served, and those are cut off."""
    def fill(source):
        write_file(os.path.join(source, "file"), b"content")

    with Attacked(options, fill) as volume:
        address, path, before = _socket_of(volume), volume.path("file"), volume.memory()
        works(os.stat, path)
        silent = []
        for _ in range(SILENT):
            silent.append(_connected(address))
        began = time.monotonic()
        same("beside the silent", "granted", _hold(5, [path]))
        chance = random.Random(1)
        for number in range(2_000):
            with _connected(address) as liar:
                head = bytes.fromhex("646c6331") + chance.randbytes(28)
                message = chance.choice([head, b"dlc1" + chance.randbytes(28), chance.randbytes(chance.randrange(1, 200)), head + b"rfile\0"])
                liar.send(message)
                if number % 3 == 0:
                    continue
                liar.settimeout(5)
                liar.recv(2048)
        same("beside the liars", "granted", _hold(5, (), [path]))
        took = time.monotonic() - began
        for connection in silent:
            connection.settimeout(20)
            # Why, and then the end.
            while connection.recv(2048):
                pass
            connection.close()
        grown = volume.memory() - before
        same(f"the daemon grew by {grown >> 20} MiB, which is enough", True, grown < 64 << 20)
        volume.end()
        return f"others were served within {took:.1f} s, the daemon grew by {grown >> 20} MiB"


def _connected(address):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(address)
    return connection


def intents_beside_a_hanging_store(options):
    """The store answers nobody any more: an intent for what it has waits, and is given up; others are granted; the volume ends."""
    with _Hanging(options, _fill) as volume:
        at = volume.path
        for name in ("listed", "full"):
            works(os.listdir, at(name))
        works(_hold, 10, [at("listed", "file-0")])
        volume.server.send_signal(signal.SIGSTOP)
        same("of dataless content", "waits", works(_hold, 1, [at("listed", "file-1")]))
        same("of 30 dataless files", "waits", works(_hold, 1, [at("listed", f"file-{number}") for number in range(2, 32)]))
        same("of what is local", "granted", works(_hold, 5, [at("listed", "file-0")]))
        same("of a name", "granted", works(_hold, 5, (), [at("listed", "file-33")], True))
        # Who waits for content keeps those who come after it, until it gives up.
        holder = Child(_hold, 4, (), [at("listed", "file-34")])
        eventually("it is asked for", lambda: volume.status().get("coordination", {}).get("intents"))
        same("behind it", "waits", works(_hold, 1, [at("listed", "file-34")], (), True))
        same("the first gives up", True, holder.wait())
        same("then", "granted", works(_hold, 5, [at("listed", "file-34")], (), True))
        started = time.monotonic()
        volume.end(30)
        return f"unmounted after {time.monotonic() - started:.1f} s"
