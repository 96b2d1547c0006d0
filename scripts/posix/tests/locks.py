"""Locks: POSIX's, those of open file descriptions, flock, and leases."""

import errno
import fcntl
import os
import signal

import kernel
from suite import case, in_child

READ, WRITE, UNLOCK = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK


def lock(descriptor, kind, start=0, length=0, wait=False):
    fcntl.lockf(descriptor, kind | (0 if wait or kind == fcntl.LOCK_UN else fcntl.LOCK_NB), length, start)


def refused(path, kind, start=0, length=0):
    """0 if another process is refused the lock, 1 if it gets it."""
    def tries():
        descriptor = os.open(path, os.O_RDWR)
        try:
            lock(descriptor, kind, start, length)
            return 1
        except OSError as error:
            return 0 if error.errno in (errno.EAGAIN, errno.EACCES) else 2
    return in_child(tries)


@case("lock.posix.conflict")
def conflict(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX)
        test.equal("another process's lock", 0, refused("file", fcntl.LOCK_EX))
        test.equal("another process's shared lock", 0, refused("file", fcntl.LOCK_SH))
        lock(descriptor, fcntl.LOCK_SH)
        test.equal("shared beside shared", 1, refused("file", fcntl.LOCK_SH))
        test.equal("exclusive beside shared", 0, refused("file", fcntl.LOCK_EX))
        lock(descriptor, fcntl.LOCK_UN)
        test.equal("after unlocking", 1, refused("file", fcntl.LOCK_EX))


@case("lock.posix.ranges")
def ranges(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX, 10, 10)
        test.equal("before it", 1, refused("file", fcntl.LOCK_EX, 0, 10))
        test.equal("behind it", 1, refused("file", fcntl.LOCK_EX, 20, 10))
        test.equal("at its end", 0, refused("file", fcntl.LOCK_EX, 19, 10))
        lock(descriptor, fcntl.LOCK_UN, 12, 2)
        test.equal("in the gap", 1, refused("file", fcntl.LOCK_EX, 12, 2))
        test.equal("over the gap", 0, refused("file", fcntl.LOCK_EX, 11, 3))


@case("lock.posix.getlk")
def getlk(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX, 5, 7)
        parent = os.getpid()

        def looks():
            other = os.open("file", os.O_RDWR)
            kind, start, length, pid = kernel.posix_lock_owner(other, WRITE, 0, 0)
            return 0 if (kind, start, length, pid) == (WRITE, 5, 7, parent) else 1

        test.equal("another process sees lock and owner (0)", 0, in_child(looks))


@case("lock.posix.waiter")
def waiter(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX)
        pid = os.fork()
        if pid == 0:
            other = os.open("file", os.O_RDWR)
            lock(other, fcntl.LOCK_EX, wait=True)
            os.pwrite(other, b"W", 0)
            os._exit(0)
        for _ in range(5):
            test.tick()
        test.equal("it waits", 0, os.waitpid(pid, os.WNOHANG)[0])
        test.equal("nothing is written", b"0", os.pread(descriptor, 1, 0))
        lock(descriptor, fcntl.LOCK_UN)
        os.waitpid(pid, 0)
        test.equal("then it writes", b"W", os.pread(descriptor, 1, 0))


@case("lock.posix.gone_with_close")
def closed(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX)
        os.close(os.open("file", os.O_RDONLY))
        test.equal("any close of the process drops it", 1, refused("file", fcntl.LOCK_EX))


@case("lock.posix.gone_with_process")
def killed(test):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        descriptor = os.open("file", os.O_RDWR)
        lock(descriptor, fcntl.LOCK_EX)
        os.write(writing, b"x")
        signal.pause()
    os.read(reading, 1)
    test.equal("held", 0, refused("file", fcntl.LOCK_EX))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    test.equal("free", 1, refused("file", fcntl.LOCK_EX))


@case("lock.posix.deadlock")
def deadlock(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX, 0, 1)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            other = os.open("file", os.O_RDWR)
            lock(other, fcntl.LOCK_EX, 1, 1)
            os.write(writing, b"x")
            lock(other, fcntl.LOCK_EX, 0, 1, wait=True)
            os._exit(0)
        os.read(reading, 1)
        for _ in range(5):
            test.tick()
        test.fails("EDEADLK", lock, descriptor, fcntl.LOCK_EX, 1, 1, True)
        lock(descriptor, fcntl.LOCK_UN, 0, 1)
        os.waitpid(pid, 0)


@case("lock.posix.modes")
def modes(test):
    with test.opened("file", os.O_RDONLY) as descriptor:
        test.fails("EBADF", lock, descriptor, fcntl.LOCK_EX)
        test.works(lock, descriptor, fcntl.LOCK_SH)
    with test.opened("file", os.O_WRONLY) as descriptor:
        test.fails("EBADF", lock, descriptor, fcntl.LOCK_SH)


@case("lock.ofd.conflict")
def ofd(test):
    with test.opened("file") as one, test.opened("file") as other:
        kernel.ofd_lock(one, kernel.F_OFD_SETLK, WRITE, 0, 5)
        test.fails("EAGAIN EACCES", kernel.ofd_lock, other, kernel.F_OFD_SETLK, WRITE, 0, 1)
        test.works(kernel.ofd_lock, other, kernel.F_OFD_SETLK, WRITE, 5, 5)
        test.equal("what is in the way", (WRITE, 0, 5), kernel.ofd_lock(other, kernel.F_OFD_GETLK, READ, 0, 3))
        os.close(os.open("file", os.O_RDONLY))
        test.fails("EAGAIN EACCES", kernel.ofd_lock, other, kernel.F_OFD_SETLK, WRITE, 0, 1)
    with test.opened("file") as descriptor:
        test.works(kernel.ofd_lock, descriptor, kernel.F_OFD_SETLK, WRITE, 0, 0)


@case("lock.ofd.against_posix")
def ofd_against_posix(test):
    with test.opened("file") as one, test.opened("file") as other:
        lock(one, fcntl.LOCK_EX)
        test.fails("EAGAIN EACCES", kernel.ofd_lock, other, kernel.F_OFD_SETLK, READ, 0, 1)


@case("lock.flock.conflict")
def flock(test):
    with test.opened("file") as one, test.opened("file") as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        test.fails("EAGAIN", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        test.fails("EAGAIN", fcntl.flock, other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(one, fcntl.LOCK_SH)
        test.works(fcntl.flock, other, fcntl.LOCK_SH | fcntl.LOCK_NB)
        test.fails("EAGAIN", fcntl.flock, one, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_UN)
        test.works(fcntl.flock, one, fcntl.LOCK_EX | fcntl.LOCK_NB)


@case("lock.flock.gone_with_close")
def flock_closed(test):
    with test.opened("file") as other:
        with test.opened("file") as one:
            fcntl.flock(one, fcntl.LOCK_EX)
            second = os.dup(one)
        test.fails("EAGAIN", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(second)
        test.works(fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)


@case("lock.flock.beside_posix")
def beside(test):
    with test.opened("file") as one, test.opened("file") as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        test.works(kernel.ofd_lock, other, kernel.F_OFD_SETLK, WRITE, 0, 0)


@case("lock.flock.directory")
def flock_directory(test):
    with test.opened("dir", os.O_RDONLY) as one, test.opened("dir", os.O_RDONLY) as other:
        test.works(fcntl.flock, one, fcntl.LOCK_EX)
        test.fails("EAGAIN", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)


@case("lock.does_not_stop_writing")
def advisory(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX)

        def writes():
            other = os.open("file", os.O_RDWR)
            return 0 if os.pwrite(other, b"Z", 0) == 1 else 1

        test.equal("locks are advisory", 0, in_child(writes))
        test.equal("content", b"Z", os.pread(descriptor, 1, 0))


@case("lock.unlinked")
def unlinked(test):
    with test.opened("file") as descriptor:
        lock(descriptor, fcntl.LOCK_EX)
        os.unlink("file")
        test.make("file")
        test.equal("the new file of that name is another", 1, refused("file", fcntl.LOCK_EX))
        test.works(lock, descriptor, fcntl.LOCK_UN)


@case("lock.lease")
def lease(test):
    """F_SETLEASE: who opens for writing breaks a read lease."""
    with test.opened("file", os.O_RDONLY) as descriptor:
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        test.works(fcntl.fcntl, descriptor, fcntl.F_SETLEASE, READ)
        test.equal("the lease", READ, fcntl.fcntl(descriptor, fcntl.F_GETLEASE))
        test.fails("EAGAIN", os.open, "file", os.O_WRONLY | os.O_NONBLOCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, UNLOCK)
        os.close(test.works(os.open, "file", os.O_WRONLY | os.O_NONBLOCK))
