"""Trees to mount: the same bytes, sizes and times in every run."""

import gzip
import hashlib
import os
import random
import sqlite3
import struct
import tarfile
import time
import zipfile

MTIME = 1_700_000_000


def content(name, size):
    """Bytes that no compression shrinks and no other name has; never zeros, which would hide a loss."""
    return random.Random(name).randbytes(size)


def put(root, name, data, mode=0o644):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content(name, data) if isinstance(data, int) else data)
    os.chmod(path, mode)
    return path


def settle(root):
    """Gives all entries their own old time: equal times would let a tool take one file for another."""
    entries = [os.path.join(folder, name) for folder, names, found in os.walk(root) for name in names + found]
    for place, path in enumerate(sorted(entries)):
        # ctimes are the kernel's, in ticks of some milliseconds. borg reads all files again that have the newest one,
        # so the last at least has to have its own.
        if len(entries) < 60 or place == len(entries) - 1:
            time.sleep(0.005)
        os.utime(path, (MTIME + 7 * place, MTIME + 7 * place), follow_symlinks=False)
    os.utime(root, (MTIME - 1, MTIME - 1))
    return root


def files(root, count, size, per_directory=10, extension=".dat"):
    """Plain files of one size in numbered folders."""
    for index in range(count):
        put(root, f"d{index // per_directory:03}/f{index:05}{extension}", size)
    return settle(root)


def mixed(root):
    """One of each kind that has broken a tool: small, page-multiple, empty, extensionless, sparse, linked, nested."""
    put(root, "README", 300)
    put(root, "empty.txt", b"")
    put(root, "tiny/one-byte", 1)
    put(root, "tiny/note.txt", 120)
    put(root, "tiny/page.bin", 4096)
    put(root, "pages/two-pages.bin", 8192)
    put(root, "pages/mmap-limit.bin", 32768)
    put(root, "pages/over-limit.bin", 32769)
    put(root, "deep/a/b/c/leaf.dat", 5000)
    put(root, "big/photo.jpg", 300_000)
    put(root, "big/movie.mp4", 1_500_000)
    put(root, "text/story.txt", b"the needle lies in the hay\n" * 400)
    put(root, "text/other.txt", b"only hay in here, and more hay\n" * 400)
    put(root, "names/with space.txt", 700)
    put(root, "names/\u00fcml\u00e4ut.txt", 800)
    os.symlink("../text/story.txt", os.path.join(root, "names/link.txt"))
    return settle(root)


def pairs(root, count=6):
    """Pairs of one size with different bytes, one true pair, and files whose size nothing else has."""
    for index in range(count):
        put(root, f"pairs/a{index}.bin", 10_000 + index * 1000)
        put(root, f"pairs/b{index}.bin", 10_000 + index * 1000)
    for folder in ("x", "y"):
        put(root, f"true/{folder}/same.bin", content("same", 9000))
    for index in range(count * 3):
        put(root, f"unique/u{index:02}.bin", 1001 + index * 37)
    return settle(root)


def movie(size, moov_first):
    """The boxes of an MP4: what a probe looks for (moov) is at the front or at the end."""
    moov = struct.pack(">I4s", 4096, b"moov") + content("moov", 4088)
    data = struct.pack(">I4s", size, b"mdat") + content("mdat", size - 8)
    head = struct.pack(">I4s4sI", 16, b"ftyp", b"isom", 512)
    return head + (moov + data if moov_first else data + moov)


def media(root):
    """What header-only readers look at: media, archives, a document and a database."""
    put(root, "media/first.mp4", movie(7_500_000, True))
    put(root, "media/last.mp4", movie(7_500_000, False))
    put(root, "media/photo.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + content("jpg", 2_000_000))
    put(root, "media/report.pdf", b"%PDF-1.4\n" + content("pdf", 1_000_000) + b"\n%%EOF\n")
    put(root, "archives/big.zip", b"")
    with zipfile.ZipFile(os.path.join(root, "archives/big.zip"), "w") as archive:
        for index in range(4):
            archive.writestr(zipfile.ZipInfo(f"member{index}"), content(f"zip{index}", 800_000))
    with tarfile.open(os.path.join(root, "archives/big.tar"), "w") as archive:
        archive.add(os.path.join(root, "media/photo.jpg"), "photo.jpg")
    with open(os.path.join(root, "archives/text.gz"), "wb") as file:
        file.write(gzip.compress(content("gz", 500_000), mtime=0))
    database(os.path.join(root, "data.sqlite"), 20_000)
    return settle(root)


def database(path, rows):
    """A SQLite database of about 100 bytes a row."""
    connection = sqlite3.connect(path)
    connection.execute("create table notes (id integer primary key, text text)")
    connection.executemany("insert into notes values (?, ?)", ((n, f"note {n} " + "x" * 80) for n in range(rows)))
    connection.commit()
    connection.close()


def fingerprint(root):
    """{path: (size, sha-256)} of all regular files; links and special files are left out."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.path.isfile(path):
                with open(path, "rb") as file:
                    data = file.read()
                found[os.path.relpath(path, root)] = (len(data), hashlib.sha256(data).hexdigest())
    return found


def identities(root):
    """{path: what a backup compares to know a file again}: size, mtime, ctime, inode, mode, owner, link count."""
    found = {}
    for folder, names, files_ in os.walk(root):
        for name in names + files_:
            path = os.path.join(folder, name)
            s = os.lstat(path)
            found[os.path.relpath(path, root)] = (
                s.st_size if name in files_ else 0, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, s.st_mode, s.st_uid,
                s.st_gid, s.st_nlink,
            )
    return found
