"""Calls that meet: mappings beside truncation and fork, direct asynchronous I/O, parked writes and signals, thousands
of handles."""

import contextlib
import mmap
import os
import resource
import shutil
import signal
import subprocess
import time

from attacked import Attacked, Child, LeftOut, Wrong, eventually, holds, pattern, read_file, same, works, write_file

BIG = 3 << 20


def _gated(options, count):
    """A volume whose files wait at a gate, `g`."""
    def fill(source):
        for number in range(count):
            write_file(os.path.join(source, f"file-{number}"), pattern(number, 200_000))

    scenario = os.path.join("/tmp", f"adversary-{os.getpid()}.yaml")
    write_file(scenario, b'rules:\n  - {match: {path: "file-*"}, gate: g}\n')
    return Attacked(options, fill, "--scenario", scenario)


def _parked(volume, count):
    eventually(f"{count} callers wait", lambda: f"{count} caller" in volume.told("gate", "list", volume.root).decode())


def _pwrite(path):
    descriptor = os.open(path, os.O_RDWR)
    return os.pwrite(descriptor, b"changed", 100)


def _open_truncated(path):
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))


def _allocate(path):
    os.posix_fallocate(os.open(path, os.O_RDWR), 0, 300_000)


def _store(path):
    descriptor = os.open(path, os.O_RDWR)
    mmap.mmap(descriptor, 4096)[0:4] = b"MMAP"


def _append(path):
    os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"more")


def _truncate(path):
    os.truncate(path, 10)


CHANGES = (_pwrite, _open_truncated, _allocate, _store, _append, _truncate)


def signals_to_parked_writers(options):
    """Who is killed while his first write waits has changed nothing; who is not killed has written."""
    numbers = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
    count = len(CHANGES) * len(numbers)
    with _gated(options, count + 1) as volume:
        children = [Child(change, volume.path(f"file-{index * len(numbers) + which}"))
                    for index, change in enumerate(CHANGES) for which in range(len(numbers))]
        last = Child(_pwrite, volume.path(f"file-{count}"))
        _parked(volume, count + 1)
        for place, child in enumerate(children):
            child.signal(numbers[place % len(numbers)])
        hanging = [child.name for child in children if not child.wait(10)]
        if hanging:
            raise Wrong(f"{hanging} do not end by a signal while they wait")
        if last.wait(0.2):
            raise Wrong(f"a writer ended without its content: {last.answer}")
        volume.told("gate", "release", volume.root, "g")
        volume.told("gate", "open", volume.root, "g")
        same("the writer that was let go", True, last.wait())
        same("its answer", ["ok", 7], last.answer)
        for number in range(count):
            holds(volume.path(f"file-{number}"), pattern(number, 200_000))
        expected = bytearray(pattern(count, 200_000))
        expected[100:107] = b"changed"
        holds(volume.path(f"file-{count}"), expected)
        eventually("nobody waits", lambda: not volume.status().get("in_flight"))
        volume.end()


def many_parked_writers(options):
    """300 first writes of 1 MiB wait; the volume ends under them, and nobody hangs."""
    def write_much(path):
        os.pwrite(os.open(path, os.O_WRONLY), b"x" * (1 << 20), 0)

    with _gated(options, 300) as volume:
        before = volume.memory()
        children = [Child(write_much, volume.path(f"file-{number}")) for number in range(300)]
        eventually("they wait", lambda: sum(child.is_in("DS") for child in children) == 300, 60)
        time.sleep(1)
        grown = volume.memory() - before
        works(os.listdir, volume.root)
        works(write_file, volume.path("new"), b"new")
        volume.end(60)
        hanging = sum(not child.wait(10) for child in children)
        for child in children:
            child.kill()
        same("writers that hang", 0, hanging)
        return f"the daemon grew by {grown / 2**20:.0f} MiB for 300 MiB of parked writes"


def forked_mapping(options):
    """Parent and child store through one mapping; the parent ends first."""
    def write_both(path):
        descriptor = os.open(path, os.O_RDWR)
        area = mmap.mmap(descriptor, BIG)
        os.close(descriptor)
        pid = os.fork()
        for page in range(pid == 0, BIG // 4096, 2):
            area[page * 4096:page * 4096 + 8] = b"child..." if pid == 0 else b"parent.."
        if pid == 0:
            time.sleep(0.2)
            area.flush()
            os._exit(0)
        return pid

    def fill(source):
        write_file(os.path.join(source, "file"), bytes(BIG))

    with Attacked(options, fill) as volume:
        for path in (volume.path("file"), volume.path("made")):
            if path.endswith("made"):
                write_file(path, bytes(BIG))
            pid = works(write_both, path)
            eventually("the grandchild ends", lambda: not os.path.exists(f"/proc/{pid}"))
            pages = [b"child..." if page % 2 else b"parent.." for page in range(BIG // 4096)]
            holds(path, b"".join(page + bytes(4088) for page in pages))
        volume.end()


def _strange_bytes(path):
    return sorted(set(read_file(path)) - {0, 0x61})


def _count_from(path, offset):
    return len(read_file(path)[offset:].strip(b"\0"))


def _lacks(path, word):
    return not read_file(path).startswith(word.encode())


def _check_blocks(path):
    content = read_file(path)
    same("size", os.stat(path).st_size, len(content))
    for place in range(0, len(content), 4096):
        block = content[place:place + 4096]
        if block.strip(b"\0") and block != (b"abcd" * 1024)[:len(block)]:
            raise Wrong(f"the block at {place} has neither the pattern nor zeros: {block[:16]!r}")
    return len(content)


def mapping_beside_truncate(options):
    """Stores beyond the end are SIGBUS and nothing else; what is cut off and made again is zero."""
    def store(path):
        descriptor = os.open(path, os.O_RDWR)
        while True:
            # Python maps no more than there is.
            with contextlib.suppress(ValueError):
                area = mmap.mmap(descriptor, BIG)
                for turn in range(BIG):
                    area[turn * 4099 % BIG] = 0x61

    def cut(path, seconds):
        descriptor, stop, turn = os.open(path, os.O_RDWR), time.monotonic() + seconds, 0
        while time.monotonic() < stop:
            turn += 1
            os.ftruncate(descriptor, turn * 7919 % BIG)
            os.ftruncate(descriptor, BIG)
        return turn

    with Attacked(options, lambda source: write_file(os.path.join(source, "file"), bytes(BIG))) as volume:
        path, died = volume.path("file"), 0
        cutter = Child(cut, path, 5)
        storers = [Child(store, path) for _ in range(2)]
        while not cutter.wait(0.05):
            for place, storer in enumerate(storers):
                if storer.wait(0):
                    same("how a store ended", -signal.SIGBUS, storer.status)
                    died += 1
                    storers[place] = Child(store, path)
        for storer in storers:
            storer.kill()
            same("a killed storer ends", True, storer.wait(10))
        same("the cutter", "ok", cutter.answer[0])
        same("size", BIG, os.stat(path).st_size)
        same("bytes that are neither zero nor stored", [], works(_strange_bytes, path))
        works(os.truncate, path, 5000)
        works(os.truncate, path, 20_000)
        same("bytes of what was cut off", 0, works(_count_from, path, 5000))
        volume.end()
        return f"{cutter.answer[1]} truncations, {died} stores died by SIGBUS"


def direct_io_beside_truncate(options):
    """Asynchronous direct writes beside truncation: the file has the pattern or zeros, as many as it says."""
    if not shutil.which("fio"):
        raise LeftOut("there is no fio")

    def cut(path, seconds):
        descriptor, stop, turn = os.open(path, os.O_RDWR), time.monotonic() + seconds, 0
        while time.monotonic() < stop:
            turn += 1
            os.ftruncate(descriptor, turn * 7919 * 4096 % (16 << 20))
        return turn

    with Attacked(options) as volume:
        path = volume.path("file")
        write_file(path, b"")
        command = ["fio", "--name=v", f"--filename={path}", "--rw=randwrite", "--bs=4k", "--size=16m", "--direct=1",
                   "--ioengine=libaio", "--iodepth=32", "--numjobs=2", "--buffer_pattern=0x61626364", "--time_based",
                   "--runtime=6", "--fallocate=none", "--overwrite=0", "--output=/dev/null"]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as fio:
            turns = works(cut, path, 5, limit=40)
            fio.wait(40)
        length = works(_check_blocks, path)
        volume.end()
        return f"{turns} truncations, {length} bytes in the end"


def many_handles(options):
    """10,000 files open for writing at once, of which 2,000 were dataless."""
    found, made = 2000, 8000

    def hold(root, start):
        resource.setrlimit(resource.RLIMIT_NOFILE, (12_000, max(12_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
        handles = []
        for number in range(found + made):
            name = f"file-{number}" if number < found else f"made-{number}"
            handles.append(os.open(os.path.join(root, name), os.O_RDWR | os.O_CREAT))
            os.pwrite(handles[-1], b"written %d" % number, start)
        for number, handle in enumerate(handles):
            same(f"handle {number}", b"written %d" % number, os.pread(handle, 50, start)[:len(b"written %d" % number)])
        return len(handles)

    def fill(source):
        for number in range(found):
            write_file(os.path.join(source, f"file-{number}"), pattern(number, 1000))

    with Attacked(options, fill) as volume:
        before = volume.memory()
        same("handles", found + made, works(hold, volume.root, 100, limit=180))
        grown = volume.memory() - before
        for number in (0, 1, found - 1):
            content = bytearray(pattern(number, 1000))
            word = b"written %d" % number
            content[100:100 + len(word)] = word
            holds(volume.path(f"file-{number}"), content)
        same("the last one", 100 + len(b"written 9999"), os.stat(volume.path("made-9999")).st_size)
        volume.end(60)
        return f"the daemon grew by {grown / 2**20:.0f} MiB"


def locks_of_the_dead(options):
    """A process that is killed while it holds locks leaves none."""
    import fcntl

    def hold(path):
        descriptor = os.open(path, os.O_RDWR)
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.pwrite(descriptor, b"held", 0)
        time.sleep(60)

    def take(path):
        descriptor = os.open(path, os.O_RDWR)
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    with Attacked(options, lambda source: write_file(os.path.join(source, "file"), b"content")) as volume:
        holder = Child(hold, volume.path("file"))
        eventually("it holds them", lambda: not works(_lacks, volume.path("file"), "held"))
        taker = Child(take, volume.path("file"))
        same("a second one waits", False, taker.wait(0.3))
        holder.kill()
        same("and gets them", True, taker.wait(10))
        same("its answer", "ok", taker.answer[0])
        works(os.unlink, volume.path("file"))
        volume.end()
