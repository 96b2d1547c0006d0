"""The tree that all tools are tried on: the same names, sizes and content wherever it is built.

Media come from ffmpeg, the work tree from git; both without times, threads or versions in what they write.
"""

import gzip
import hashlib
import io
import lzma
import os
import random
import sqlite3
import subprocess
import tarfile
import zipfile
import zlib

TIME = 1_577_934_245  # 2020-01-02T03:04:05Z: of every file, directory and member of an archive
WORDS = "water stone paper lamp river cloud winter engine letter garden copper signal window harbour".split()

# Files of which one is refused, fails or is slow: the first that the tool reads when it is given all.
VICTIMS = ("docs/guide.txt", "media/back.mp4", "media/photo.jpg", "media/clip.mkv", "media/tone.wav",
           "archives/files.zip", "archives/files.tar", "archives/files.tar.gz", "archives/log.gz", "data/app.sqlite",
           "data/report.pdf", "data/table.xml", "data/config.json", "src/c/util.c", "src/python/walk.py",
           "src/js/server.js", "src/sh/deploy.sh", "repo/module01.txt", "docs/same/a.bin", "docs/pages/02-pages.dat",
           "repo/.git/index", "repo/.git/HEAD")


def text(name, size):
    """Lines of words, chosen by the file's name."""
    chance, lines, length = random.Random(name), [], 0
    while length < size:
        line = " ".join(chance.choice(WORDS) for _ in range(9)) + "\n"
        lines.append(line)
        length += len(line)
    return "".join(lines).encode()[: size - 1] + b"\n" if size else b""


def noise(name, size):
    return random.Random(name).randbytes(size)


def source_of(language, number):
    name = f"part{number:02}"
    return {
        "c": f'/* {name} */\n#include "util.h"\nint {name}(int x)\n{{\n\treturn twice(x) + {number};\n}}\n',
        "python": f'"""{name}"""\nimport os\n\n\ndef {name}(x):\n    return os.path.join("needle", str(x))\n',
        "js": f"// {name}\nexports.{name} = function (x) {{ return x + {number}; }};\n",
    }[language].encode()


def plain_files():
    """{path: content} of what Python alone can make."""
    files = {
        "README": text("README", 3000), "LICENSE": text("LICENSE", 11_000),
        "docs/guide.txt": b"# Guide\nneedle\n" + text("guide", 40_000),
        "docs/empty.txt": b"", "docs/large.bin": noise("large", 1 << 20), "docs/half.bin": noise("half", 300_000),
        "docs/zeros.bin": bytes(50_000),
        "data/table.csv": b"id,name\n" + b"".join(b"%d,row %d\n" % (n, n) for n in range(2000)),
        "data/config.json": b'{"name": "needle", "values": [1, 2, 3]}\n', "data/report.pdf": pdf(),
        "data/table.xml": b"<rows>" + b"".join(b"<row id='%d'/>" % n for n in range(500)) + b"</rows>\n",
        "archives/log.gz": packed(text("log", 60_000)), "archives/files.tar": archive(),
        "archives/files.tar.gz": packed(archive()), "archives/files.tar.xz": lzma.compress(archive()),
        "archives/files.zip": zipped(), "deep/a/b/c/d/leaf.txt": text("leaf", 500),
        "src/c/util.h": b"int twice(int x);\n",
        "src/c/util.c": b'#include "util.h"\nint twice(int x) { return 2 * x; }\n',
        "src/c/main.c": b'#include "util.h"\nint main(void) { return twice(0); }\n',
        "src/c/Makefile": b"$(OUT)/app: main.c util.c util.h\n\tcc -o $@ main.c util.c\n",
        "src/c/CMakeLists.txt": b"cmake_minimum_required(VERSION 3.13)\nproject(app C)\n"
                                b"add_executable(app main.c util.c)\n",
        "src/python/walk.py": b"import os\nfor root, folders, names in os.walk('.'):\n    print(root)  # needle\n",
        "src/js/server.js": b"const fs = require('fs');\nconsole.log(fs.readdirSync('.'));\n",
        "src/js/package.json": b'{"name": "server", "version": "1.0.0", "main": "server.js"}\n',
        "src/sh/deploy.sh": b"#!/bin/sh\nset -e\necho deploy\n",
    }
    for letter in "abcdef":  # equal sizes, of which two have the same content
        files[f"docs/same/{letter}.bin"] = noise("same-" + ("a" if letter == "d" else letter), 20_000)
    for pages in (1, 2, 16, 32):
        files[f"docs/pages/{pages:02}-pages.dat"] = noise(f"pages{pages}", 4096 * pages)
    for size in range(1, 9):
        files[f"docs/tiny/{size}"] = b"abcdefgh"[:size]
    for number in range(1, 5):
        files[f"docs/noextension/letter{number}"] = text(f"letter{number}", 2000 + number)
        for language, suffix in (("c", "c"), ("python", "py"), ("js", "js")):
            files[f"src/{language}/part{number:02}.{suffix}"] = source_of(language, number)
    return files


def pdf():
    parts = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
             b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
             b"<</Length 36>>stream\nBT /F 12 Tf 20 99 Td (needle) Tj ET\nendstream",
             b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj" % number + part + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = len(out)
    return bytes(out + b"xref\n0 6\n0000000000 65535 f \n" + table +
                 b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % end)


def packed(content):
    return gzip.compress(content, mtime=TIME)


def archive():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for number in range(6):
            member = tarfile.TarInfo(f"member{number}.txt")
            member.mtime, content = TIME, text(member.name, 9000)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(6):
            file.writestr(zipfile.ZipInfo(f"member{number}.txt", (2020, 1, 2, 3, 4, 4)), text(f"zip{number}", 30_000))
    return out.getvalue()


def database(path):
    with sqlite3.connect(path) as base:
        base.execute("create table item (id integer primary key, name text)")
        base.executemany("insert into item values (?, ?)", ((n, "row " * 10 + str(n)) for n in range(4000)))
        base.execute("create index name on item (name)")
    base.close()


def png():
    rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(192)) for y in range(64))

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\0\0\0\x40\0\0\0\x40\x08\x02\0\0\0") +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def media(root, run):
    """Two films that differ in where their index (moov) is, and what else ffmpeg makes of its test pictures."""
    exact = ["-threads", "1", "-fflags", "+bitexact", "-flags", "+bitexact", "-map_metadata", "-1"]
    picture, sound = ["-f", "lavfi", "-i", "testsrc=s=320x240:d=3"], ["-f", "lavfi", "-i", "sine=d=3"]
    film = [*picture, *sound, "-c:v", "mpeg4", "-b:v", "900k", "-c:a", "aac", *exact]
    for arguments, name in (
        (film, "back.mp4"), ([*film, "-movflags", "+faststart"], "front.mp4"), (film, "clip.mkv"),
        ([*picture, "-frames:v", "1", *exact], "photo.jpg"), ([*sound, *exact], "tone.wav"),
    ):
        run(["ffmpeg", "-v", "error", "-y", *arguments, os.path.join(root, "media", name)])


def work_tree(root, run):
    """A git work tree, clean, with the index as git left it."""
    place = os.path.join(root, "repo")
    for number in range(12):
        write(root, f"repo/module{number:02}.txt", text(f"module{number}", 3000 + 50 * number))
    write(root, "repo/.gitignore", b"*.o\n")
    set_times(place)
    git = ["git", "-C", place, "-c", "init.templateDir=", "-c", "core.untrackedCache=false", "-c", "gc.auto=0"]
    run([*git, "init", "-q", "-b", "main"])
    run([*git, "add", "."])
    run([*git, "commit", "-q", "-m", "First"])


def write(root, name, content):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def set_times(root):
    for folder, _, names in os.walk(root, topdown=False):
        for name in [*names, ""]:
            os.utime(os.path.join(folder, name), (TIME, TIME), follow_symlinks=False)


def build(root, environment):
    """Makes the tree in an empty directory. Raises CalledProcessError when ffmpeg or git fail."""
    def run(command):
        dates = {"GIT_AUTHOR_DATE": f"{TIME} +0000", "GIT_COMMITTER_DATE": f"{TIME} +0000"}
        subprocess.run(command, env=environment | dates, check=True, stdin=subprocess.DEVNULL, timeout=120)

    for name, content in plain_files().items():
        write(root, name, content)
    write(root, "media/icon.png", png())
    os.chmod(os.path.join(root, "src/sh/deploy.sh"), 0o755)
    database(os.path.join(root, "data/app.sqlite"))
    media(root, run)
    work_tree(root, run)
    os.mkdir(os.path.join(root, "links"))
    os.link(os.path.join(root, "docs/half.bin"), os.path.join(root, "links/hard.txt"))
    for target, name in (("../docs/guide.txt", "file"), ("../docs/same", "folder"), ("../nowhere", "dangling")):
        os.symlink(target, os.path.join(root, "links", name))
    set_times(root)
    run(["git", "-C", os.path.join(root, "repo"), "update-index", "-q", "--refresh"])
    set_times(os.path.join(root, "repo"))
    # Written later than the files that it lists: otherwise git reads them all to be sure.
    os.utime(os.path.join(root, "repo/.git/index"), (TIME + 60, TIME + 60))


class Contents:
    """What is in the tree: who is a file with content, which names are one file, and where directories are."""

    def __init__(self, root):
        self.root, self.sizes, self.directories, self.sums = root, {}, set(), {}
        self._first = {}
        for folder, folders, names in sorted(os.walk(root)):
            self.directories.add(os.path.relpath(folder, root))
            for name in sorted(names):
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    relative = os.path.relpath(path, root)
                    inode = os.stat(path).st_ino
                    self._first.setdefault(inode, relative)
                    self.sizes[relative] = os.path.getsize(path)
                    with open(path, "rb") as file:
                        self.sums[relative] = hashlib.sha256(file.read()).hexdigest()
        self.names = {name: self._first[os.stat(os.path.join(root, name)).st_ino] for name in self.sizes}
        self.files = {name for name, size in self.sizes.items() if size and self.names[name] == name}
        self.linked = {first for name, first in self.names.items() if name != first}
        self.bytes = sum(self.sizes[name] for name in self.files)

    def one_name(self, path):
        """The name that stands for a file with several."""
        return self.names.get(path, path)
