"""Where tools are tried: folders of their own, an environment without this user's configuration, and a mounted tree."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenarios"))

from harness import process  # noqa: E402
from harness.volume import is_mounted  # noqa: E402

import tree  # noqa: E402

COMMAND_LIMIT = 30


class Trouble(Exception):
    """dataless itself, or the machine, does not do what the survey needs; its text says what."""


def environment(home, **more):
    names = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
             "GIT_CONFIG_VALUE_0": "*", "GIT_OPTIONAL_LOCKS": "0"}
    for who in ("AUTHOR", "COMMITTER"):
        names |= {f"GIT_{who}_NAME": "t", f"GIT_{who}_EMAIL": "t@localhost"}
    return names | {
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": home, "TMPDIR": home, "LC_ALL": "C.UTF-8",
        "TZ": "UTC", "RESTIC_PASSWORD": "x", "GIT_CONFIG_GLOBAL": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1",
        "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes", "XDG_RUNTIME_DIR": home,
    } | more


class Place:
    """The tree, and one folder for all that a case needs; a context that removes both."""

    def __init__(self, dataless):
        self.dataless = dataless
        self.network_off = []

    def __enter__(self):
        self.work = tempfile.mkdtemp(prefix="dataless-survey.")
        # In tmpfs directories are listed in the order in which they were filled: the same on every machine.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else self.work
        self.source = tempfile.mkdtemp(prefix="dataless-survey.", dir=memory)
        self.tree = os.path.join(self.work, "tree")
        os.mkdir(self.tree)
        os.chmod(self.source, 0o755)
        tree.build(self.source, environment(self.fresh("home")))
        self.contents = tree.Contents(self.source)
        if os.geteuid() == 0 and process.run(["unshare", "-n", "true"], 10).ok:
            self.network_off = ["unshare", "-n"]
        return self

    def __exit__(self, *_):
        process.kill_all()
        self.unmount()
        if not is_mounted(self.tree):
            shutil.rmtree(self.work, ignore_errors=True)
        shutil.rmtree(self.source, ignore_errors=True)

    def fresh(self, name):
        """A new empty folder in the place of the old one."""
        path = os.path.join(self.work, name)
        # What a tool left may be without write permission: rm is told to force it, root needs nothing.
        subprocess.run(["rm", "-rf", path], check=False, stderr=subprocess.DEVNULL)
        os.makedirs(path)
        return path

    def mount(self, rules):
        """Mounts the tree, everything dataless; `rules` are those of a scenario."""
        log, scenario = os.path.join(self.fresh("log"), "log.jsonl"), os.path.join(self.work, "scenario.yaml")
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(f"version: 1\nobserve: reads\nrules: [{rules}]\n")
        self.command("mount", self.source, self.tree, "--log", log, "--cache-dir", os.path.join(self.work, "cache"),
                     "--scenario", scenario)
        return log

    def command(self, *arguments, may_fail=False):
        outcome = process.run([self.dataless, *arguments], COMMAND_LIMIT)
        if not outcome.ok and not may_fail:
            raise Trouble(f"dataless {arguments[0]}: {outcome.how()}: {outcome.message()}")
        return outcome

    def unmount(self):
        """Whether the volume went as it should."""
        if not is_mounted(self.tree):
            return True
        ok = self.command("unmount", self.tree, may_fail=True).ok
        if is_mounted(self.tree):
            process.run(["umount", "-l", self.tree], 10)
        return ok

    def folders(self):
        """Fresh folders for a tool, as the variables that its command knows."""
        return environment(self.fresh("home"), T=self.tree, O=self.fresh("out"), R=self.fresh("restored"),
                           DATALESS_SURVEY=self.work)

    def run(self, command, limit, variables):
        """One command of a tool, without network, ended when its limit (seconds) is over."""
        command = [*self.network_off, "sh", "-c", command]
        outcome = process.run(command, limit, cwd=variables["O"], env=variables)
        self.end_left()
        return outcome

    def end_left(self):
        """Ends what a tool left running in a session of its own. Its environment tells that it is one of ours."""
        mark = f"DATALESS_SURVEY={self.work}".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        os.kill(int(pid), signal.SIGKILL)
            except OSError:
                continue
