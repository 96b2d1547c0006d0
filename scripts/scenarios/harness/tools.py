"""The real programs: which Debian package has each, and what version is here."""

import re
import shutil
import sys

from . import process


class Tool:
    def __init__(self, name, package, version=("--version",), commands=()):
        self.name, self.package, self.version_arguments = name, package, version
        self.commands = commands or (name,)

    @property
    def command(self):
        """Its executable; None when it is not installed."""
        if self.name == "python3":
            # What runs this also runs the Python scripts on the volume: no wrapper of a version manager in between.
            return sys.executable
        return next((found for found in map(shutil.which, self.commands) if found), None)

    @property
    def version(self):
        if self.command is None:
            return None
        text = process.run([self.command, *self.version_arguments], 10).text
        found = re.search(r"\d+\.\d[\w.]*", text)
        return found.group(0) if found else "?"


TOOLS = {tool.name: tool for tool in (
    Tool("bash", "bash"), Tool("borg", "borgbackup"), Tool("bsdtar", "libarchive-tools"), Tool("cat", "coreutils"),
    Tool("cp", "coreutils"), Tool("cpio", "cpio"), Tool("dd", "coreutils"), Tool("diff", "diffutils"),
    Tool("du", "coreutils"), Tool("mv", "coreutils"), Tool("perl", "perl"), Tool("rm", "coreutils"),
    Tool("sed", "sed"), Tool("vim", "vim"),
    Tool("file", "file"), Tool("find", "findutils"), Tool("git", "git"), Tool("grep", "grep"),
    Tool("inotifywait", "inotify-tools", ("--help",)), Tool("jdupes", "jdupes", ("-v",)), Tool("ls", "coreutils"),
    Tool("make", "make"), Tool("node", "nodejs"), Tool("python3", "python3"), Tool("rclone", "rclone", ("version",)),
    Tool("restic", "restic", ("version",)), Tool("rg", "ripgrep"), Tool("rsync", "rsync"),
    Tool("sqlite3", "sqlite3"), Tool("stat", "coreutils"), Tool("tail", "coreutils"), Tool("tar", "tar"),
    Tool("unzip", "unzip", ("-v",)), Tool("zip", "zip", ("-v",)), Tool("7zip", "7zip", ("i",), ("7zz", "7z")),
    Tool("findmnt", "mount"), Tool("sha256sum", "coreutils"),
)}


def base(name):
    """The tool behind a variant such as `tar -S`."""
    return name.split(" ")[0]
