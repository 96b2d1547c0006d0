"""S17: a tool's own index, database or settings are dataless and do not come. What does it say, and what does it do?"""

import os

from harness import process, trees
from harness.judge import WORDS
from harness.report import NOTE, RIGHT, WRONG
from harness.tools import TOOLS

TITLE = "Control file evicted"

# What a tool says when it takes a file that does not come for one that is not there, or broken.
MISTAKEN = ("not a git repository", "corrupt", "malformed", "not a database", "Cannot use import statement",
            "No module named", "No targets", "no such table", "No makefile")

INSERT = "create table if not exists notes (id); insert into notes values (1)"


def build(root):
    for name in ("work", "ignoring"):
        git = os.path.join(root, name)
        trees.put(git, "a.txt", 4000)
        trees.put(git, "ignored.log", 4000)
        trees.put(git, ".gitignore", b"*.log\n")
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
            git_run(git, *words)
    trees.put(root, "app/README", 10)
    trees.database(os.path.join(root, "app/notes.sqlite"), 200)
    trees.put(root, "node/package.json", b'{"name": "x", "type": "module"}\n')
    trees.put(root, "node/index.js", b"import os from 'os'; console.log('ran', typeof os)\n")
    trees.put(root, "make/Makefile", b"all:\n\t@echo made\n")
    trees.put(root, "python/main.py", b"import helper\nprint('ran')\n")
    trees.put(root, "python/helper.py", b"value = 1\n")
    trees.put(root, "search/.gitignore", b"build/\n")
    trees.put(root, "search/.git/HEAD", b"ref: refs/heads/main\n")
    trees.put(root, "search/build/out.txt", b"needle\n")
    trees.put(root, "search/src/in.txt", b"needle\n")
    return trees.settle(root)


def git_run(folder, *words):
    environment = os.environ | {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@localhost", "GIT_COMMITTER_NAME": "t",
                                "GIT_COMMITTER_EMAIL": "t@localhost", "GIT_CONFIG_NOSYSTEM": "1"}
    process.run([TOOLS["git"].command, "-C", folder, *words], 20, env=environment)


def starts(volume):
    """tool, what it is asked, folder, arguments, the control file that does not come."""
    yield "git", "status", "work", ["--no-optional-locks", "status", "--porcelain"], ".git/index"
    yield "git", "ls-files (untracked)", "ignoring", ["ls-files", "--others", "--exclude-standard"], ".gitignore"
    yield "sqlite3", "select", "app", ["-readonly", "notes.sqlite", "select count(*) from notes"], "notes.sqlite"
    yield "sqlite3", "insert", "app", ["notes.sqlite", INSERT], "notes.sqlite"
    yield "node", "run an ES module", "node", ["index.js"], "package.json"
    yield "make", "all", "make", ["all"], "Makefile"
    yield "python3", "import", "python", ["-B", "main.py"], "helper.py"
    yield "rg", "search with .gitignore", "search", ["-l", "needle", "."], ".gitignore"


def run(bench):
    if not TOOLS["git"].command:
        bench.skip("git is not installed")
        return
    source = bench.tree(build)
    before = trees.fingerprint(source)
    with bench.volume(source, "s17_control_file", outcomes=("ok", "EDEADLK")) as volume:
        volume.list_everything()
        for tool, what, folder, words, control in starts(volume):
            if next(bench.available(tool), None):
                one(bench, volume, tool, what, folder, words, control)
    bench.promise("the source is as it was", trees.fingerprint(source) == before)


def one(bench, volume, tool, what, folder, words, control):
    mark = volume.mark()
    outcome = bench.run(tool, *words, cwd=volume.path(folder), limit=15)
    part = volume.since(mark)
    path = f"{folder}/{control}"
    results = part.outcomes(path)
    fails = set(results) <= {"EDEADLK"}
    bench.promise("the control file fails as staged whenever it is tried", fails, f"{path}: {results}")
    named = control.rsplit("/", 1)[-1] in outcome.text
    understood = any(word in outcome.text for word in WORDS["EDEADLK"])
    mistaken = [word for word in MISTAKEN if word.lower() in outcome.text.lower()]
    message = outcome.message(*WORDS["EDEADLK"], *MISTAKEN).replace(volume.mountpoint, "VOLUME")[:110]
    if not results:
        bench.tool(tool, NOTE, f"{outcome.how()}; does not read {control}", what)
    elif outcome.signal or outcome.timed_out:
        bench.tool(tool, WRONG, f"{outcome.how()}, says nothing", what)
    elif outcome.returncode == 0:
        bench.tool(tool, WRONG if not understood else NOTE, 
                   f"exit status 0 as if there were no {control}, fetches {len(part.materialized)}: '{message}'", what)
    elif mistaken and not understood:
        bench.tool(tool, WRONG, f"{outcome.how()}, takes it for something else: '{message}'", what)
    else:
        verdict = RIGHT if understood and named else NOTE
        bench.tool(tool, verdict, f"{outcome.how()}: '{message}'", what)
