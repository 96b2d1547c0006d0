"""S15: a few bytes are wanted; how many are fetched?"""

from harness import trees
from harness.report import NOTE, RIGHT

TITLE = "Header-only reader"

MOOV = """import struct, sys
with open(sys.argv[1], 'rb') as f:
    at = 0
    while head := f.read(8):
        size, kind = struct.unpack('>I4s', head); print(kind, at)
        if kind == b'moov': break
        at += size; f.seek(at)"""
SELECT = "select text from notes where id = 9"
HEAD = "const fs = require('fs'), fd = fs.openSync(process.argv[1]); console.log(fs.readSync(fd, Buffer.alloc(4096)))"


def readers(volume):
    """tool, what it does, arguments."""
    yield "file", "type of a JPEG", ["media/photo.jpg"], ["{}"]
    yield "file", "type of a movie", ["media/first.mp4"], ["{}"]
    yield "python3", "moov box at the front", ["media/first.mp4"], ["-c", MOOV, "{}"]
    yield "python3", "moov box at the end", ["media/last.mp4"], ["-c", MOOV, "{}"]
    yield "node", "first 4 KiB of a PDF", ["media/report.pdf"], ["-e", HEAD, "{}"]
    yield "unzip", "list of an archive", ["archives/big.zip"], ["-l", "{}"]
    yield "7zip", "list of an archive", ["archives/big.zip"], ["l", "{}"]
    yield "tar", "list of an archive", ["archives/big.tar"], ["-tf", "{}"]
    yield "sqlite3", "one row of a database", ["data.sqlite"], ["-readonly", "{}", SELECT]
    yield "cat", "the whole file", ["media/photo.jpg"], ["{}"]


def run(bench):
    source = bench.tree(trees.media)
    for kind in ("full", "progressive", "partial"):
        if kind == "full":
            measure(bench, source, kind, "s15_header_only")
        elif bench.has("hydration"):
            measure(bench, source, kind, f"s15_header_{kind}")


def measure(bench, source, kind, scenario):
    with bench.volume(source, scenario) as volume:
        for name, wish, (path,), arguments in readers(volume):
            if not next(bench.available(name), None):
                continue
            volume.evict()
            mark = volume.mark()
            words = [volume.path(path) if word == "{}" else word for word in arguments]
            outcome = bench.run(name, *words)
            bench.promise("transfers come to their end", volume.settled(), path)
            part = volume.since(mark)
            handles = [record for record in part.of("handle.closed") if record["path"] == path]
            covered = sum(record["covered_bytes"] for record in handles)
            fetched = part.fetched
            consistent = all(0 < h["covered_bytes"] <= h["high_water_mark"] <= h["size"] and
                             h["covered_bytes"] <= h["bytes_read"] for h in handles if h["reads"])
            what = "what each handle covered is in the log and adds up"
            bench.promise(what, handles and consistent, f"{path}: {handles[:1]}")
            if kind == "full":
                whole = {h["size"] for h in handles} == {fetched}
                bench.promise("the whole file is fetched, once", whole, f"{path}: {fetched}")
            else:
                bench.promise("no less is fetched than was read", fetched >= covered, f"{path}: {fetched} of {covered}")
            ratio = fetched / covered if covered else 0
            text = f"{wish}: read {covered:,} of {fetched:,} bytes fetched, amplification {ratio:,.1f}"
            sparing = wish == "the whole file" or covered < fetched / 5 or kind != "full"
            text += "" if outcome.ok else f"; {outcome.how()}"
            bench.tool(name, RIGHT if outcome.ok and sparing else NOTE, text, kind)
