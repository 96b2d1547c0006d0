"""S21: tools save over dataless files: truncated, in place, appended to, replaced. Are the old bytes lost when the
write fails, and what is fetched for it?"""

import hashlib
import os

from harness import trees
from harness.report import NOTE, RIGHT, WRONG

TITLE = "Truncate-write"
NEEDS = ("writing",)
OLD, NEW = b"old bytes, and more of them\n" * 2000, b"new bytes\n"

WHOLE, APPENDED, IN_PLACE, EDITED = NEW, OLD + NEW, NEW + OLD[len(NEW):], NEW + OLD.split(b"\n", 1)[1]
READ_PLUS = "import sys; f = open(sys.argv[2], 'r+b'); f.write(open(sys.argv[1], 'rb').read()); f.close()"

# How each saves: words, in which {} is the file and {new} a file with the new bytes; what is then in it; whether the
# content that was there is of use to it.
SAVERS = {
    "bash >": (["-c", 'cat "$1" > "$2"', "-", "{new}", "{}"], WHOLE, False),
    "bash >>": (["-c", 'cat "$1" >> "$2"', "-", "{new}", "{}"], APPENDED, True),
    "cp": (["{new}", "{}"], WHOLE, False),
    "cp --remove-destination": (["--remove-destination", "{new}", "{}"], WHOLE, False),
    "mv": (["{copy}", "{}"], WHOLE, False),
    "dd": (["conv=notrunc", "status=none", "if={new}", "of={}"], IN_PLACE, True),
    "rsync": (["--no-times", "--ignore-times", "{new}", "{}"], WHOLE, False),
    "rsync --inplace": (["--inplace", "--ignore-times", "--whole-file", "{new}", "{}"], WHOLE, False),
    "sed -i": (["-i", "1c new bytes", "{}"], EDITED, True),
    "perl -i": (["-pi", "-e", "$_ = qq(new bytes\\n) if $. == 1", "{}"], EDITED, True),
    "vim": (["-u", "NONE", "-N", "-es", "-c", "1s/.*/new bytes/", "-c", "wq", "{}"], EDITED, True),
    "python3 r+": (["-c", READ_PLUS, "{new}", "{}"], IN_PLACE, True),
}

# These make a file of their own and rename it: if they take a failed read for an end, the loss is theirs alone.
REPLACING = ("cp --remove-destination", "mv", "rsync", "sed -i", "perl -i", "vim")


def build(root):
    for folder in ("good", "victims"):
        for place in range(len(SAVERS)):
            trees.put(root, f"{folder}/f{place:02}.txt", OLD)
    return trees.settle(root)


def save(bench, volume, name, path):
    """The tool's outcome."""
    new, copy = os.path.join(bench.work, "new-bytes"), volume.path(f"fresh-{os.path.basename(path)}")
    with open(new, "wb") as file:
        file.write(NEW)
    if "{copy}" in SAVERS[name][0]:
        bench.run("cp", new, copy)
    words = [word.replace("{}", volume.path(path)).replace("{new}", new).replace("{copy}", copy)
             for word in SAVERS[name][0]]
    return bench.run(name.split(" ")[0], *words)


def is_content(volume, path, *contents):
    """Which of the contents is there; another one, or an errno, is told as text."""
    now = volume.read(path)[0]
    return next((content for content in contents if hashlib.sha256(content).hexdigest() == now), now)


def run(bench):
    source = bench.tree(build)
    before = trees.fingerprint(source)
    for profile in ("macos", "windows"):
        with bench.volume(source, None, "--scratch", "--profile", profile,
                          outcomes=("ok", "EIO")) as volume:
            volume.list_everything()
            for place, name in enumerate(SAVERS):
                if next(bench.available(name.split(" ")[0]), None):
                    good(bench, volume, name, f"good/f{place:02}.txt", profile)
                    victim(bench, volume, name, f"victims/f{place:02}.txt", profile)
            bench.promise("the source stays as it is", trees.fingerprint(source) == before)


def good(bench, volume, name, path, profile):
    _, expected, uses = SAVERS[name]
    mark = volume.mark()
    outcome = save(bench, volume, name, path)
    part = volume.since(mark)
    now = is_content(volume, path, expected)
    bench.promise("what was saved is there", now == expected, f"{name}: {outcome.how()}: {now[:40]!r}")
    tool, fetched = name.split(" ")[0], path in part.materialized
    if fetched and not uses:
        bench.tool(tool, NOTE, f"{name}: fetches content that it throws away", profile)
    else:
        bench.tool(tool, RIGHT, f"{name}: saved, {'with a fetch' if fetched else 'nothing fetched'}", profile)


def victim(bench, volume, name, path, profile):
    fault = volume.command("fault", "add", volume.mountpoint, "EIO", "--path", "victims/**", "--kind", "file")
    outcome = save(bench, volume, name, path)
    volume.command("fault", "remove", volume.mountpoint, fault.output.decode().strip())
    expected = SAVERS[name][1]
    now = is_content(volume, path, OLD, expected)
    if name not in REPLACING:
        bench.promise("after a fetch that failed the content is the old one or the new one", now in (OLD, expected),
                      f"{name}: {now[:40]!r}")
    tool, case = name.split(" ")[0], f"{profile}, fetch fails"
    if now == expected:
        bench.tool(tool, RIGHT, f"{name}: saved without a fetch", case)
    elif now == OLD and not outcome.ok:
        bench.tool(tool, RIGHT, f"{name}: says so ({outcome.how()}), the old bytes are there", case)
    else:
        what = "and nothing was saved" if now == OLD else "and the old bytes are lost"
        bench.tool(tool, WRONG, f"{name}: {outcome.how()}, {what}: '{outcome.message()}'", case)
