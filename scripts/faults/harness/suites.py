"""Runs tests in the copy with one fault on, until the first that fails."""

import os
import re
import select
import shutil
import signal
import subprocess
import time

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# What a test says that fails, and what it says when it begins.
FAILED = re.compile(r"✘ Test \"?(.+?)\"?(?:\(\))? (?:recorded an issue|failed)")
STARTED = re.compile(r"◇ Test \"?(.+?)\"?(?:\(\))? started")
CRASHED = re.compile(r"Fatal error|: error: Exited with|Program crashed|signal code")
PASSED = re.compile(r"Test run with (\d+) tests?.* passed")


# A fault may do anything, and the tests run as root. So they run in mount and pid namespaces of their own, in which what the
# machine needs is read-only, and runtime directories, caches, logs and temporary files are fresh: nothing of another run's, or
# of a volume that is in use, can be reached. Daemons and mounts of tests that were cut short end with the namespaces.
# "$1" is the copy, "$2" an empty directory on a disk.
CAGE = """
tree=$1 fresh=$2; shift 2
for directory in /tmp /var/tmp /var/cache /var/log; do
  [ -d $directory ] || continue
  mkdir -p "$fresh$directory" && chmod --reference=$directory "$fresh$directory" || exit 125
done
for directory in /dev /etc /usr /home /root /opt /srv /boot /var; do
  [ -d $directory ] || continue
  mount --bind $directory $directory && mount -o remount,bind,ro $directory || exit 125
done
mount -t devpts -o mode=620,ptmxmode=666,newinstance none /dev/pts && mount -t tmpfs none /dev/shm || exit 125
# Where they lie in one of those.
mount --bind "$tree" "$tree" && mount -o remount,bind,rw "$tree" || exit 125
mount --bind "$fresh" "$fresh" && mount -o remount,bind,rw "$fresh" && cd "$fresh" || exit 125
for directory in /tmp /var/tmp /var/cache /var/log; do
  [ ! -d $directory ] || mount --bind ".$directory" $directory || exit 125
done
mount -t tmpfs -o mode=755 none /run && cd "$tree" || exit 125
# Not by exec: whoever is the first process has to reap what others leave.
"$@"
exit $?
"""
CAGED = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
         CAGE, "sh"]


class Suites:
    class Broken(Exception):
        """The tests fail without a fault, or cannot be run."""

    def __init__(self, copy, results, end):
        self.copy, self.results, self.end = copy, results, end
        self.cages = 0
        if os.geteuid() == 0 and self._in_cage(["true"], subprocess.run).returncode != 0:
            raise Suites.Broken("cannot make namespaces in which faults do no harm; see above")

    def run(self, fault, suites):
        limit = self._baseline(suites) * 4 + 30
        self._check_time()
        outcome, test, seconds = self._tests(suites, fault.id, limit)
        if outcome == "passed":
            self.results.note_survived(fault, suites)
            print(f"{fault.id}: survived {suites} ({seconds:.0f} s)", flush=True)
        else:
            self.results.killed(fault, test, outcome, suites, seconds)
            print(f"{fault.id}: {test} ({outcome}, {seconds:.0f} s)", flush=True)

    def _check_time(self):
        if self.end is not None and time.monotonic() > self.end:
            raise TimeoutError

    def _baseline(self, suites):
        """Runs them without a fault once."""
        known = self.results.baseline(suites)
        if known is not None:
            return known
        self._check_time()
        outcome, test, seconds = self._tests(suites, "", 600)
        if outcome != "passed":
            raise Suites.Broken(f"without a fault, of '{suites}': {test} ({outcome})")
        self.results.note_baseline(suites, seconds)
        return seconds

    def _tests(self, suites, fault, limit):
        """(passed | failed | crashed | hangs, the test, seconds)"""
        # The bundle itself: `swift test` plans the build anew before each run.
        command = [self.copy.bundle, "--testing-library", "swift-testing", "--no-parallel", "--filter", suites]
        environment = {**os.environ, "DATALESS_PLANTED_FAULT": fault, "NO_COLOR": "1"}
        started = time.monotonic()
        def start(command):
            return subprocess.Popen(
                command, cwd=self.copy.tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, start_new_session=True)
        process = self._in_cage(command, start) if os.geteuid() == 0 else start(command)
        try:
            outcome, test = self._watch(process, started + limit)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            process.stdout.close()
        return outcome, test, time.monotonic() - started

    def _in_cage(self, command, start):
        """Starts a command where it can do no harm, on directories of its own; those of the run before are removed."""
        folder = os.path.join(self.copy.tree, ".build", "cage")
        shutil.rmtree(folder, ignore_errors=True)
        self.cages += 1
        fresh = os.path.join(folder, str(self.cages))
        os.makedirs(fresh)
        return start([*CAGED, self.copy.tree, fresh, *command])

    @staticmethod
    def _watch(process, deadline):
        current, rest, passed = "no test", b"", None
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "hangs", current
            if not select.select([process.stdout], [], [], left)[0]:
                continue
            data = os.read(process.stdout.fileno(), 65536)
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            for line in (COLOUR.sub("", line.decode(errors="replace")) for line in lines):
                if match := FAILED.search(line):
                    return "failed", match.group(1)
                if match := STARTED.search(line):
                    current = match.group(1)
                if CRASHED.search(line):
                    return "crashed", current
                if match := PASSED.search(line):
                    passed = int(match.group(1))
            if not data:
                status = process.wait()
                if status == 0 and passed:
                    return "passed", ""
                return ("crashed", current) if passed is None else ("failed", f"{passed} tests ran")
