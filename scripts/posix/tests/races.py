"""Several processes at once: what one operation does is done wholly or not, and by one of them."""

import errno
import os

import kernel
from suite import case

PROCESSES, ROUNDS = 4, 120


def together(test, work):
    """Runs `work(process)` in several processes, which begin at one moment; the numbers they returned (0 to 250)."""
    gate, opening = os.pipe()
    pids = []
    for process in range(PROCESSES):
        pid = os.fork()
        if pid == 0:
            status = 255
            try:
                os.close(opening)
                os.read(gate, 1)
                status = work(process)
            except OSError as error:
                os.write(2, f"# {error}\n".encode())
            finally:
                os._exit(status)
        pids.append(pid)
    os.close(opening)
    numbers = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    os.close(gate)
    test.true("all processes came to their end", 255 not in numbers, numbers)
    return numbers


def wins(function, *arguments, losing=(errno.EEXIST,)):
    """1 if the call works, 0 if it is refused as that of a loser."""
    try:
        function(*arguments)
        return 1
    except OSError as error:
        if error.errno not in losing:
            raise
        return 0


@case("race.excl")
def exclusive(test):
    def work(process):
        return sum(wins(lambda: os.close(os.open(f"dir/{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY)))
                   for name in range(ROUNDS))

    test.equal("files made", ROUNDS, sum(together(test, work)))
    test.equal("files there", ROUNDS, len(os.listdir("dir")))


@case("race.mkdir")
def mkdir(test):
    test.equal("directories made", ROUNDS,
               sum(together(test, lambda process: sum(wins(os.mkdir, f"dir/{name}") for name in range(ROUNDS)))))
    test.equal("links of their parent", 2 + ROUNDS, test.links("dir"))


@case("race.unlink")
def unlink(test):
    for name in range(ROUNDS):
        test.make(f"dir/{name}")
    gone = together(test, lambda process: sum(wins(os.unlink, f"dir/{name}", losing=(errno.ENOENT,))
                                              for name in range(ROUNDS)))
    test.equal("files removed", ROUNDS, sum(gone))
    test.works(os.rmdir, "dir")


@case("race.rename_source")
def rename_source(test):
    for name in range(ROUNDS):
        test.make(f"dir/{name}", b"%d" % name)
    moved = together(test, lambda process: sum(wins(os.rename, f"dir/{name}", f"full/{name}-{process}",
                                                    losing=(errno.ENOENT,)) for name in range(ROUNDS)))
    test.equal("files moved", ROUNDS, sum(moved))
    test.equal("files there", ROUNDS + 1, len(os.listdir("full")))
    test.equal("left", [], os.listdir("dir"))


@case("race.rename_target")
def rename_target(test):
    """All replace one name: in the end it is one of theirs, and nothing else is left."""
    def work(process):
        for number in range(ROUNDS):
            test.make(f"dir/{process}", b"%d %d" % (process, number))
            os.rename(f"dir/{process}", "file")
        return 0

    together(test, work)
    test.true("one of the last", test.content("file") in [b"%d %d" % (each, ROUNDS - 1) for each in range(PROCESSES)])
    test.equal("left", [], os.listdir("dir"))
    test.equal("links", 1, test.links("file"))


@case("race.exchange")
def exchange(test):
    """Two names are exchanged all the time: nobody ever misses one."""
    def work(process):
        for _ in range(ROUNDS * 3):
            if process < 2:
                kernel.exchange("file", "full/child")
            elif {len(test.content("file")), len(test.content("full/child"))} - {5, 10}:
                return 1
        return 0

    test.equal("readers that saw anything else", 0, sum(together(test, work)))
    test.equal("contents", {b"0123456789", b"child"}, {test.content("file"), test.content("full/child")})


@case("race.links")
def links(test):
    def work(process):
        for number in range(ROUNDS):
            os.link("file", f"dir/{process}-{number}")
            if number % 2:
                os.unlink(f"dir/{process}-{number}")
        return 0

    together(test, work)
    test.equal("links", 1 + PROCESSES * ROUNDS // 2, test.links("file"))
    test.equal("names", PROCESSES * ROUNDS // 2, len(os.listdir("dir")))


@case("race.rmdir_and_create")
def rmdir_and_create(test):
    """A directory is removed, or has got a file, and not both."""
    def work(process):
        made = 0
        for number in range(ROUNDS):
            if process % 2:
                wins(os.rmdir, "dir/sub", losing=(errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST))
                continue
            wins(os.mkdir, "dir/sub")
            path = f"dir/sub/{process}"
            if wins(lambda: os.close(os.open(path, os.O_CREAT | os.O_WRONLY)), losing=(errno.ENOENT,)):
                os.unlink(path)
                made += 1
        return min(made, 250)

    together(test, work)
    test.true("names in dir", set(os.listdir("dir")) <= {"sub"}, os.listdir("dir"))
    test.equal("links", 2 + len(os.listdir("dir")), test.links("dir"))


@case("race.no_cycle")
def no_cycle(test):
    """Two directories are moved into each other: one of both is refused."""
    for _ in range(30):
        os.makedirs("dir/a")
        os.makedirs("dir/b")
        together(test, lambda process: wins(os.rename, *(("dir/a", "dir/b/a") if process % 2 else ("dir/b", "dir/a/b")),
                                            losing=(errno.EINVAL, errno.ENOENT)))
        found = [os.path.join(place, name) for place, names, _ in os.walk("dir") for name in names]
        test.equal("directories that can be reached", 2, len(found))
        for path in sorted(found, key=len, reverse=True):
            os.rmdir(path)


@case("race.write_and_truncate")
def write_and_truncate(test):
    """Each byte is zero or was written; the size is that of a write or of a truncation."""
    def work(process):
        with test.opened("large") as descriptor:
            for number in range(ROUNDS):
                if process == 0:
                    os.ftruncate(descriptor, 1000)
                else:
                    os.pwrite(descriptor, bytes([200 + process]) * 5000, process * 50_000)
        return 0

    together(test, work)
    data = test.content("large")
    test.true("its size", len(data) in (1000, 55_000, 105_000, 155_000), len(data))
    for process in range(1, PROCESSES):
        piece = data[process * 50_000:process * 50_000 + 5000]
        test.true("a write is there wholly or not", set(piece) <= {0} or set(piece) <= {200 + process}, piece[:20])


@case("race.disjoint_writes")
def disjoint_writes(test):
    """Neighbours in one page do not take each other's bytes away."""
    def work(process):
        with test.opened("large") as descriptor:
            for place in range(process * 10, 100_000, PROCESSES * 10):
                os.pwrite(descriptor, bytes([process + 1]) * 10, place)
        return 0

    together(test, work)
    data = test.content("large")
    expected = b"".join(bytes([place // 10 % PROCESSES + 1]) * 10 for place in range(0, 100_000, 10))
    test.true("all bytes are there", data[:100_000] == expected)
    test.equal("size", 300_000, len(data))


@case("race.growing_writes")
def growing_writes(test):
    """Writers beyond each other's end: the size is the largest, and nothing is cut off."""
    def work(process):
        with test.opened("file") as descriptor:
            for number in range(ROUNDS):
                os.pwrite(descriptor, bytes([process + 1]) * 100, (number * PROCESSES + process) * 100)
        return 0

    together(test, work)
    test.true("content", test.content("file") == b"".join(
        bytes([process + 1]) * 100 for _ in range(ROUNDS) for process in range(PROCESSES)))


@case("race.list_while_changing")
def list_while_changing(test):
    """Who lists sees each name that stays exactly once, whatever comes and goes beside it."""
    stays = sorted(f"stays-{number:03}" for number in range(200))
    for name in stays:
        test.make("dir/" + name)

    def work(process):
        for number in range(ROUNDS):
            if process < 2:
                test.make(f"dir/{process}-{number}")
                os.unlink(f"dir/{process}-{number}")
            elif sorted(name for name in os.listdir("dir") if name.startswith("stays")) != stays:
                return 1
        return 0

    test.equal("listings that were wrong", 0, sum(together(test, work)))
    test.equal("left", stays, test.names("dir"))
