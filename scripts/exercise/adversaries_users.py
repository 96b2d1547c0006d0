"""Another user, who may write, and means no good. As root only."""

import errno
import os
import time

from harness import process
from attacked import Attacked, Child, LeftOut, USERS, Wrong, holds, same, works, write_file

FIRST, SECOND = USERS
# How much of the daemon's memory one user without rights may take, whatever he does.
MOST = 600 << 20


def _shared(source):
    os.mkdir(os.path.join(source, "shared"))
    os.chmod(os.path.join(source, "shared"), 0o1777)
    os.mkdir(os.path.join(source, "mine"))
    os.chown(os.path.join(source, "mine"), FIRST, FIRST)
    write_file(os.path.join(source, "mine", "file"), b"content")
    os.chown(os.path.join(source, "mine", "file"), FIRST, FIRST)


def _volume(options):
    if os.geteuid() != 0:
        raise LeftOut("only root can be two users")
    return Attacked(options, _shared)


def _still_works(volume):
    """The first user can work as before."""
    mine = volume.path("mine")
    works(write_file, os.path.join(mine, "new"), b"new", user=FIRST)
    works(os.setxattr, os.path.join(mine, "new"), "user.name", b"value" * 100, user=FIRST)
    works(os.rename, os.path.join(mine, "new"), os.path.join(mine, "newer"), user=FIRST)
    works(_append, os.path.join(mine, "file"), user=FIRST)
    works(os.symlink, "target", os.path.join(mine, "link"), user=FIRST)
    holds(os.path.join(mine, "newer"), b"new")


def _append(path):
    with open(path, "ab") as file:
        file.write(b"more")


def attributes_without_end(options):
    """Extended attributes until it is enough."""
    def fill(directory):
        size, total, files = 60_000, 0, 0
        stop = time.monotonic() + 40
        # Smaller and smaller ones, until not one byte fits.
        while size and time.monotonic() < stop:
            path = os.path.join(directory, f"file-{files}")
            files += 1
            write_file(path, b"")
            for number in range(4):
                try:
                    os.setxattr(path, f"user.{number}", b"v" * size)
                    total += size
                except OSError as error:
                    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.E2BIG):
                        raise
                    size = size // 4 if number == 0 else size
                    break
        return total, files

    with _volume(options) as volume:
        before = volume.memory()
        total, files = works(fill, volume.path("shared"), user=SECOND, limit=90)
        grown = volume.memory() - before
        same(f"the daemon grew by {grown >> 20} MiB, which is enough", True, grown < MOST)
        _still_works(volume)
        volume.end(60)
        return f"{total >> 20} MiB in {files} files, the daemon grew by {grown >> 20} MiB"


def directories_without_end(options):
    """As many directories in each other as come in 20 s, with long names; then they are refreshed, renamed, removed."""
    def deepen(directory, depth):
        os.chdir(directory)
        stop = time.monotonic() + 20
        for number in range(depth):
            if time.monotonic() > stop:
                return [number, "too slow to go on"]
            try:
                os.mkdir("d" * 200)
            except OSError as error:
                return [number, errno.errorcode[error.errno]]
            os.chdir("d" * 200)
        write_file("bottom", b"bottom")
        return [depth, None]

    with _volume(options) as volume:
        before = volume.memory()
        depth, why = works(deepen, volume.path("shared"), 20_000, user=SECOND, limit=60)
        started = time.monotonic()
        _still_works(volume)
        works(os.rename, volume.path("shared", "d" * 200), volume.path("shared", "renamed"), user=SECOND)
        process.run([volume.dataless, "status", volume.root], 30)
        volume.told("refresh", volume.root)
        took = time.monotonic() - started
        grown = volume.memory() - before
        same(f"the daemon grew by {grown >> 20} MiB, which is enough", True, grown < MOST)
        outcome = process.run(["rm", "-rf", volume.path("shared", "renamed")], 120)
        if not outcome.ok:
            raise Wrong(f"rm -rf: {outcome.how()}: {outcome.message()}")
        volume.end(60)
        return f"{depth} deep{f', then {why}' if why else ''}; others took {took:.1f} s, +{grown >> 20} MiB"


def files_without_end(options):
    """Files with long names, as many as come in 40 s; then others work, and they are removed."""
    def fill(directory):
        stop, number = time.monotonic() + 40, 0
        while time.monotonic() < stop and number < 300_000:
            try:
                os.mknod(os.path.join(directory, f"{number:08}" + "x" * 240), 0o100644)
            except OSError as error:
                return [number, errno.errorcode[error.errno]]
            number += 1
        return [number, None]

    with _volume(options) as volume:
        before = volume.memory()
        count, why = works(fill, volume.path("shared"), user=SECOND, limit=90)
        grown = volume.memory() - before
        _still_works(volume)
        each = grown / max(count, 1)
        same(f"{each:.0f} bytes for each file, which is enough", True, each < 2000)
        volume.end(60)
        return f"{count} files{f', then {why}' if why else ''}; {each:.0f} bytes each"


def names_that_change(options):
    """Two users rename, exchange and replace the same names; a third way goes through them. Nobody gets where he may
    not, and the daemon lives."""
    def change(directory, seed, seconds):
        import random
        chance, stop, done = random.Random(seed), time.monotonic() + seconds, 0
        names = [os.path.join(directory, name) for name in "abcdef"]
        while time.monotonic() < stop:
            one, two, what = chance.choice(names), chance.choice(names), chance.randrange(7)
            try:
                if what == 0:
                    os.mkdir(one)
                elif what == 1:
                    os.symlink(chance.choice(["../mine/file", "/etc/passwd", one, two]), one)
                elif what == 2:
                    os.rename(one, two)
                elif what == 3:
                    os.rename(one, os.path.join(two, "inner"))
                elif what == 4:
                    os.unlink(one)
                elif what == 5:
                    os.rmdir(one)
                else:
                    write_file(os.path.join(one, "inner"), b"mischief")
                done += 1
            except OSError as error:
                if error.errno in (errno.EIO, errno.ENOTCONN, errno.ESTALE):
                    return [done, errno.errorcode[error.errno]]
        return [done, None]

    with _volume(options) as volume:
        os.chmod(volume.path("shared"), 0o777)
        children = [Child(change, volume.path("shared"), number, 8, user=user)
                    for number, user in enumerate((FIRST, SECOND, SECOND, FIRST))]
        for child in children:
            same("a changer ends", True, child.wait(40))
            same("its answer", "ok", child.answer[0])
            same("an error that may not be", None, child.answer[1][1])
        volume.end()
        return f"{sum(child.answer[1][0] for child in children)} changes"
