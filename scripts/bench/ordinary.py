"""Row 4: rows 1 to 3, and those of writing, as an ordinary user, who has the page cache and no passthrough.

As root, the benchmark runs itself again as `nobody`. Where /dev/fuse is not open to everybody (0600 on some virtual
machines) it is covered, in a private mount namespace, by a node that is.
"""

import json
import os
import shutil
import sys

from measure import Failed, Result, run
from sides import Skipped

USER = 65534

# $1: a directory of our own; the rest: what to run.
ENTER = """
set -e
if [ "$(stat -c %a /dev/fuse)" != 666 ]; then
  mount -t tmpfs -o mode=755 node "$1"
  mknod "$1/fuse" c 10 229
  chmod 666 "$1/fuse"
  mount --bind "$1/fuse" /dev/fuse
fi
shift
exec "$@"
"""


AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]


def interpreter():
    """A Python that the ordinary user may run: the one of this run can lie in the home of root.

    Through env, because setpriv itself still has root's capabilities when it looks for its program.
    """
    for program in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            run([*AS_USER, "env", program, "-c", ""], 30)
            return program
        except (Failed, OSError):
            continue
    raise Skipped("no Python that an ordinary user may run")


def again_as_user(bench, name):
    if os.geteuid() != 0:
        raise Skipped(f"this run is an ordinary user's: see {name}")
    if shutil.which("setpriv") is None or shutil.which("unshare") is None:
        raise Skipped("no setpriv and unshare (Debian: util-linux)")
    home, node = bench.path("ordinary"), bench.path("node")
    shutil.rmtree(home, ignore_errors=True)
    runtime = os.path.join(home, "run")
    for directory in (home, runtime, node):
        os.makedirs(directory, mode=0o700 if directory == runtime else 0o755, exist_ok=True)
    for directory in (home, runtime):
        os.chown(directory, USER, USER)
    os.chmod(bench.work, 0o755)
    # The executable may lie where the user may not look.
    program = os.path.join(home, "dataless")
    shutil.copy(bench.dataless, program)
    scripts = os.path.join(home, "bench")
    shutil.copytree(bench.here, scripts)
    command = [
        "unshare", "--mount", "--propagation", "private", "bash", "-c", ENTER, "bash", node, *AS_USER, "env",
        "-i", f"PATH={os.environ['PATH']}", f"HOME={home}", f"XDG_RUNTIME_DIR={runtime}", interpreter(),
        os.path.join(scripts, "bench"), "--dataless", program, "--dir", home, "--out", os.path.join(home, "out"),
        "--only", name, "--pairs", str(bench.pair_count), *(["--quick"] if bench.quick else []),
    ]
    out = os.path.join(home, "out")
    try:
        try:
            run(command, 1800)
        except Failed:
            # It also ends with 1 when a target is not met; then it has written its results.
            if not os.path.exists(out):
                raise
        with open(os.path.join(out, sorted(os.listdir(out))[-1]), encoding="utf-8") as file:
            found = json.load(file)["results"][0]
    finally:
        shutil.rmtree(home, ignore_errors=True)
    if found["met"] is None or found["value"] == "failed":
        raise Failed(found["detail"])
    result = Result(f"user-{name}", f"as an ordinary user: {found['what']}", found["target"])
    result.value, result.detail, result.met = found["value"], found["detail"], found["met"]
    result.raw = {key: value for key, value in found.items() if key not in vars(result)}
    return result


CASES = {
    f"user-{name}": lambda bench, name=name: again_as_user(bench, name)
    for name in (
        "sequential-hot", "sequential-cold", "random-1", "random-2", "write-sequential", "write-random",
        "write-sequential-flushed", "write-random-flushed", "write-sequential-limit", "write-random-limit")
}
