"""What a scenario works with: folders, tools, volumes, and its report."""

import os
import shutil

from . import process, trees
from .copiers import Copy, Damage
from .report import SKIPPED
from .tools import TOOLS, base
from .volume import Volume

# A scenario file that an executable takes only if it has the feature.
PROBES = {
    "present.blocks": "present: {blocks: one}", "present.ctime": "present: {ctime: bump}",
    "present.seek": "present: {seek: hole}", "present.subtype": "present: {subtype: probe}",
    "evict rules": "rules: [{evict: {idle: 200ms}}]",
    "hydration": "hydration: progressive",
}
# Options of `mount` that an executable may not have yet.
OPTIONS = {"writing": "--scratch"}


class Bench:
    def __init__(self, dataless, work, scenarios):
        self.dataless, self.work, self.scenarios = dataless, work, scenarios
        self.report, self.volumes = None, []
        self._number, self._features = 0, {}
        home = os.path.join(work, "home")
        os.makedirs(home, exist_ok=True)
        keep = ("PATH", "LD_LIBRARY_PATH", "TMPDIR")
        # Nothing of this user's configuration reaches a tool: the findings are to be the same everywhere.
        self.environment = {name: os.environ[name] for name in keep if name in os.environ} | {
            "HOME": home, "LC_ALL": "C.UTF-8", "TZ": "UTC", "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR", ""),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@localhost",
            "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@localhost",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
            "RESTIC_PASSWORD": "x", "BORG_RELOCATED_REPO_ACCESS_IS_OK": "yes",
            "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
        }
        if not self.environment["XDG_RUNTIME_DIR"]:
            del self.environment["XDG_RUNTIME_DIR"]

    # The report of the scenario that runs.

    def promise(self, text, kept, evidence=""):
        return self.report.promise(text, kept, evidence)

    def tool(self, name, verdict, text, case=None):
        self.report.tool(name, verdict, text, case)

    def skip(self, what):
        self.report.skip(what)

    # Folders.

    def next_number(self):
        self._number += 1
        return self._number

    def fresh(self, name):
        """A new empty folder."""
        path = os.path.join(self.work, f"{name}{self.next_number()}")
        os.makedirs(path)
        return path

    def tree(self, build=trees.mixed, *arguments, **options):
        """A source, built by one of the functions of trees.py."""
        root = self.fresh("source")
        build(root, *arguments, **options)
        return root

    def scenario_file(self, name):
        """The scenario file of that name beside the scenario, or a path."""
        return name if os.path.isabs(name) else os.path.join(self.scenarios, name + ".yaml")

    # Volumes and tools.

    def volume(self, source, scenario=None, *options, **expected):
        return Volume(self, source, scenario, *options, **expected)

    def has(self, feature):
        """Whether the executable has a feature; otherwise says that a part is skipped."""
        if feature not in self._features:
            if feature in PROBES:
                path = os.path.join(self.work, "probe.yaml")
                with open(path, "w", encoding="ascii") as file:
                    file.write(f"version: 1\n{PROBES[feature]}\n")
                outcome = process.run([self.dataless, "scenario", "check", path], 20, env=self.environment)
            elif feature in OPTIONS:
                outcome = process.run([self.dataless, "mount", "--help"], 20, env=self.environment)
            else:
                outcome = process.run([self.dataless, feature, "--help"], 20, env=self.environment)
            # Help for an unknown command is the general help, with exit status 0.
            shows = OPTIONS.get(feature, f"USAGE: dataless {feature}")
            there = outcome.ok and (feature in PROBES or shows in outcome.text)
            self._features[feature] = there
        if not self._features[feature]:
            self.skip(f"this executable has no {feature}")
        return self._features[feature]

    def available(self, *names):
        """Those of the tools that are installed; the others are said to be skipped."""
        for name in names:
            if TOOLS[base(name)].command:
                yield name
            else:
                self.tool(name, SKIPPED, f"not installed (Debian: {TOOLS[base(name)].package})")

    def run(self, tool, *arguments, limit=30, cwd=None, env=None, user=None):
        """Runs a tool by its name in TOOLS."""
        command = [TOOLS[tool].command, *arguments]
        return process.run(command, limit, cwd=cwd, env=self.environment | (env or {}), user=user)

    def start(self, tool, *arguments, cwd=None, env=None):
        return process.Running([TOOLS[tool].command, *arguments], cwd, self.environment | (env or {}))

    def copy(self, name, source):
        return Copy(self, name, source)

    def copies(self, volume, names, expected, limit=30, source=None, restore=True):
        """Lets tools save a volume, one after another, everything dataless for each but listed.

        Yields (name, outcome, damage, part of the log).
        """
        for name in self.available(*names):
            volume.evict()
            volume.list_everything()
            job = self.copy(name, source or volume.mountpoint)
            mark = volume.mark()
            outcome = job.save(limit)
            part = volume.since(mark)
            yield name, outcome, Damage(expected, job.restore() if restore else {}), part
            job.discard()

    # The end.

    def clean_up(self, keep):
        process.kill_all()
        for volume in list(self.volumes):
            volume.unmount()
        # What was in state D until now.
        process.kill_all()
        if not keep:
            # Never through a volume that would not go away.
            with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
                mounted = any(line.split(" ")[4].startswith(self.work + "/") for line in table)
            if not mounted:
                shutil.rmtree(self.work, ignore_errors=True)


def version_of(dataless):
    return process.run([dataless, "--version"], 10).output.decode().strip()
