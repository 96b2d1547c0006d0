"""Tools that take a tree away (copies, archives, backups, a repository) and can give it back.

Each is told as commands: words with {source}, {store} (private to the job), {restored} and {here} (this folder)
replaced. `save` runs in {source} unless it says otherwise, `restore` in {restored}.
"""

import hashlib
import os
import shutil

from . import process
from .tools import TOOLS, base
from .trees import fingerprint

NODE_COPY = "require('fs').cpSync(process.argv[1], process.argv[2], {recursive: true})"
PYTHON_COPY = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2], symlinks=True, dirs_exist_ok=True)"
CPIO_SAVE = 'find . -depth -print0 | cpio --quiet --null -o -H newc > "$0"'
RCLONE = ("rclone", "--config", "/dev/null", "--stats", "0", "--links")
GIT = ("git", "--git-dir", "{store}/git")

COPIERS = {
    "cp": {"save": ["cp", "-a", ".", "{restored}"]},
    "cp --sparse": {"save": ["cp", "-a", "--sparse=always", ".", "{restored}"]},
    "cp -u": {"save": ["cp", "-au", ".", "{restored}"]},
    "tar -g": {
        "save": ["tar", "-cf", "{store}/{label}.tar", "-g", "{store}/snapshot", "."],
        "restore": ["bash", "-c", 'for f in "$0"/run*.tar; do tar -xf "$f" -g /dev/null; done', "{store}"],
    },
    "tar": {"save": ["tar", "-cf", "{store}/a.tar", "."], "restore": ["tar", "-xf", "{store}/a.tar"]},
    "tar -S": {"save": ["tar", "-S", "-cf", "{store}/a.tar", "."], "restore": ["tar", "-xf", "{store}/a.tar"]},
    "bsdtar": {"save": ["bsdtar", "-cf", "{store}/a.tar", "."], "restore": ["bsdtar", "-xf", "{store}/a.tar"]},
    "cpio": {
        "save": ["bash", "-o", "pipefail", "-c", CPIO_SAVE, "{store}/a.cpio"],
        "restore": ["bash", "-c", 'cpio --quiet -idm < "$0"', "{store}/a.cpio"],
    },
    "zip": {"save": ["zip", "-qry", "{store}/a.zip", "."], "restore": ["unzip", "-qo", "{store}/a.zip"]},
    "7zip": {
        "save": ["7zip", "a", "-bd", "-mx=1", "-snl", "{store}/a.7z", "."],
        "restore": ["7zip", "x", "-bd", "-y", "-snld", "{store}/a.7z"],
    },
    "rsync": {"save": ["rsync", "-a", "./", "{restored}/"]},
    "rsync -S": {"save": ["rsync", "-aS", "./", "{restored}/"]},
    "rsync --delete": {"save": ["rsync", "-a", "--delete", "./", "{restored}/"]},
    "rsync -H": {"save": ["rsync", "-aH", "./", "{restored}/"]},
    "rclone": {"save": [*RCLONE, "copy", "{source}", "{restored}"]},
    "borg": {
        "prepare": ["borg", "init", "--encryption=none", "{store}/repository"],
        "save": ["borg", "create", "--list", "--filter=EAMU?", "{store}/repository::{label}", "."],
        "restore": ["borg", "extract", "{store}/repository::{label}"],
    },
    "borg --sparse": {
        "prepare": ["borg", "init", "--encryption=none", "{store}/repository"],
        # It looks for holes with chunks of one size only.
        "save": ["borg", "create", "--sparse", "--chunker-params=fixed,65536", "{store}/repository::{label}", "."],
        "restore": ["borg", "extract", "{store}/repository::{label}"],
    },
    "restic": {
        "prepare": ["restic", "init"],
        "save": ["restic", "backup", "."],
        "restore": ["restic", "restore", "latest", "--target", "{restored}"],
    },
    "git": {
        "prepare": [*GIT, "init", "--quiet"],
        "save": [*GIT, "--work-tree", "{source}", "add", "--all", "--force", "."],
        "restore": [*GIT, "--work-tree", "{restored}", "checkout-index", "--all", "--force"],
    },
    "python3": {"save": ["python3", "-c", PYTHON_COPY, "{source}", "{restored}"]},
    "node": {"save": ["node", "-e", NODE_COPY, "{source}", "{restored}"]},
}

USUAL = ("cp", "tar", "bsdtar", "cpio", "zip", "7zip", "rsync", "rclone", "borg", "restic", "git", "python3", "node")
INCREMENTAL = ("rsync", "rclone", "borg", "restic", "git")


class Copy:
    """One tool's job on one source: save it, perhaps several times, and restore."""

    def __init__(self, bench, name, source):
        self.bench, self.name, self.source = bench, name, source
        self.store = bench.fresh("store")
        self.restored = bench.fresh("restored")
        self.runs = 0
        if "prepare" in COPIERS[name]:
            self._prepare()

    def _prepare(self):
        """Making a repository takes a second for some: it is made once, and copied."""
        template = os.path.join(self.bench.work, "template-" + base(self.name))
        if not os.path.exists(template):
            store, self.store = self.store, template
            os.mkdir(template)
            outcome = self._run("prepare", template, 60)
            if not outcome.ok:
                shutil.rmtree(template)
                raise RuntimeError(f"{self.name}: {outcome.message()}")
            self.store = store
        shutil.copytree(template, self.store, dirs_exist_ok=True)

    def words(self, step):
        values = {
            "source": self.source, "store": self.store, "restored": self.restored, "label": f"run{self.runs}",
        }
        command, *rest = COPIERS[self.name][step]
        if command in TOOLS:
            command = TOOLS[command].command
        return [command, *(word if "{recursive" in word else word.format(**values) for word in rest)]

    def environment(self):
        return self.bench.environment | {
            "BORG_BASE_DIR": os.path.join(self.store, "borg"), "RESTIC_REPOSITORY": os.path.join(self.store, "restic"),
            "RESTIC_CACHE_DIR": os.path.join(self.store, "restic-cache"),
        }

    def _run(self, step, cwd, limit):
        return process.run(self.words(step), limit, cwd=cwd, env=self.environment())

    def start(self, user=None):
        """The save, in the background."""
        self.runs += 1
        return process.Running(self.words("save"), cwd=self.source, env=self.environment(), user=user)

    def save(self, limit=30):
        return self.start().wait(limit)

    def restore(self):
        """{path: (size, sha-256)} of what the tool gives back."""
        if "restore" in COPIERS[self.name]:
            self._run("restore", self.restored, 30)
        top = self.restored
        if self.name == "restic":
            # It restores below the absolute path of what was saved.
            inner = os.path.join(top, self.source.lstrip("/"))
            top = inner if os.path.isdir(inner) else top
        return fingerprint(top)

    def discard(self):
        for folder in (self.store, self.restored):
            shutil.rmtree(folder, ignore_errors=True)


class Damage:
    """How what came back differs from what was there."""

    def __init__(self, expected, found):
        self.missing = sorted(set(expected) - set(found))
        self.wrong = sorted(name for name in expected if name in found and found[name] != expected[name])
        self.intact = len(expected) - len(self.missing) - len(self.wrong)
        self.expected, self.found = expected, found

    def __bool__(self):
        return bool(self.missing or self.wrong)

    def stand_in(self, name):
        """What is in the place of a file, in words; None when nothing or the right thing is."""
        if name not in self.wrong:
            return None
        size, digest = self.found[name]
        if size == 0:
            return "an empty file"
        if size < self.expected[name][0]:
            return f"a short file ({size:,} of {self.expected[name][0]:,} bytes)"
        return "zeros" if digest == hashlib.sha256(bytes(size)).hexdigest() else "other content"

    def text(self):
        if not self:
            return f"all {self.intact} files byte-exact"
        kinds = {self.stand_in(name) or "?" for name in self.wrong}
        parts = [f"{self.intact} of {len(self.expected)} files byte-exact"]
        if self.missing:
            parts.append(f"{len(self.missing)} missing")
        if self.wrong:
            what = kinds.pop() if len(kinds) == 1 else "other content"
            parts.append(f"{len(self.wrong)} with {what}" if what != "zeros" else f"{len(self.wrong)} of zeros")
        return ", ".join(parts)
