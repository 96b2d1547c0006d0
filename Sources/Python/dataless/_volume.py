"""One mounted volume, and the verbs of a test on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Type, Union

from . import _verdict
from ._client import Client
from ._errors import DatalessError, ExpectationFailed, ExpectationViolated, GateTimeout
from ._executable import Executable
from ._options import Options, Scenario, bounds
from ._programs import Program, ends_within
from ._records import Caller, Process, Record, paths
from ._workspace import remove_folder

#: How long a daemon may take to end before it is made to, in seconds.
_END_SECONDS = 20.0

AnyPath = Union[str, "os.PathLike[str]"]


class Gate:
    """A gate that a rule of the scenario names: it holds what matches until it is told to let go."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self.name = name

    def wait(self, callers: int = 1, timeout: float = 10) -> None:
        """Waits until so many callers are blocked here. ``GateTimeout`` after ``timeout`` seconds says who is."""
        body = {"gate": self.name, "callers": callers, "timeout_ms": max(1, int(timeout * 1000))}
        answer = self._client.post("/v1/gates/wait", body, seconds=timeout + 30)
        if not answer["reached"]:
            held = "".join(f"\n  {line}" for line in self._held())
            raise GateTimeout(
                f"gate {self.name}: {answer['callers']} of {callers} callers after {timeout:g} s.{held}",
                "timed_out",
                "ETIMEDOUT",
            )

    def release(
        self, count: Optional[int] = None, *, errno: Optional[str] = None, path: Optional[str] = None
    ) -> int:
        """Lets what is held go on, or fail with ``errno`` (a name): all, the oldest ``count``, or a glob of paths.

        How many attempts and accesses that were.
        """
        body: Dict[str, Any] = {"gate": self.name}
        body.update({k: v for k, v in {"count": count, "errno": errno, "path": path}.items() if v is not None})
        return int(self._client.post("/v1/gates/release", body).get("released", 0))

    def open(self) -> None:
        """Lets go what it holds, and lets everything pass from now on."""
        self._client.post("/v1/gates/open", {"gate": self.name})

    def close(self) -> None:
        """Holds again what comes."""
        self._client.post("/v1/gates/close", {"gate": self.name})

    def status(self) -> Dict[str, Any]:
        """What it holds (``GateStatus`` of docs/openapi.yaml)."""
        for gate in self._client.get("/v1/gates")["gates"]:
            if gate["name"] == self.name:
                return dict(gate)
        raise DatalessError(f"no rule names a gate {self.name!r}.", "not_found", "ENOENT")

    def _held(self) -> Iterator[str]:
        for attempt in self.status()["held"]:
            waiters = ", ".join(str(Process.of(waiter)) for waiter in attempt["waiters"])
            yield f"{attempt['path'] or '.'} by {waiters}"


class _Offline:
    """As ``with volume.offline():``, the store is reachable again behind it."""

    def __init__(self, volume: Volume) -> None:
        self._volume = volume

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self._volume.online()


class Volume:
    """A volume of dataless files. ``with`` unmounts it, and holds what is expected against its log."""

    def __init__(
        self, executable: Executable, folder: str, answer: Mapping[str, Any], options: Options, name: str
    ) -> None:
        self._executable = executable
        self._folder = folder
        self._options = options
        self._owner = os.getpid()
        self._programs: List[Program] = []
        self._state = "mounted"
        self.name = name
        #: The mountpoint.
        self.path = Path(answer["mountpoint"])
        #: What is mounted: a folder, or a synthetic specification.
        self.source = str(answer["source"])
        #: The event log, as long as the volume's folder is there: see ``keep_log``.
        self.log_path = Path(answer["log"])
        self.session = str(answer["session"])
        #: The daemon's.
        self.pid = int(answer["pid"])
        self._ended = os.pidfd_open(self.pid)
        self.client = Client(executable.runtime, answer["device"])

    def __repr__(self) -> str:
        return f"<dataless.Volume {self.path} {self._state}>"

    # Programs

    def start(
        self,
        command: Sequence[str],
        *,
        input: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[AnyPath] = None,
    ) -> Program:
        """Starts a program; ``{}`` in its words is the mountpoint. It ends with the volume at the latest."""
        program = Program(
            command,
            mountpoint=str(self.path),
            folder=self._folder,
            explain=self.who_waits,
            input=input,
            env=env,
            cwd=None if cwd is None else os.fspath(cwd).replace("{}", str(self.path)),
        )
        self._programs.append(program)
        return program

    def run(
        self,
        command: Sequence[str],
        *,
        timeout: float = 60,
        check: bool = False,
        input: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[AnyPath] = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end: ``start`` and ``wait``. ``check`` raises for a status that is not 0."""
        done = self.start(command, input=input, env=env, cwd=cwd).wait(timeout)
        if check:
            done.check_returncode()
        return done

    # What is simulated

    def scenario(self, scenario: Scenario) -> None:
        """Puts another scenario in the place of this one: a mapping, or the path of a file."""
        options = Options.of(scenario)
        if options.scenario_file is not None:
            output = self._executable.json(["scenario", "apply", str(self.path), options.scenario_file])
            if output.error:
                raise DatalessError.of(output.error)
        else:
            self.client.request("PUT", "/v1/scenario", options.scenario_text(), {"name": "scenario"})

    def set(self, **settings: Any) -> None:
        """Changes settings: ``volume.set(latency="2s", concurrency=4)``."""
        self.client.post("/v1/scenario/settings", {"settings": settings})

    def add_rule(self, rule: Mapping[str, Any], position: str = "first") -> str:
        """Adds a rule before all others, or behind them (``last``); its name."""
        return str(self.client.post("/v1/scenario/rules", {"rule": dict(rule), "position": position})["rule"])

    def remove_rule(self, name: str) -> None:
        self.client.request("DELETE", "/v1/scenario/rules", query={"name": name})

    def gate(self, name: str) -> Gate:
        """A gate that a rule names: ``rules=[{"match": {"path": "*.jpg"}, "gate": "photos"}]``."""
        return Gate(self.client, name)

    def offline(self) -> _Offline:
        """Makes the store unreachable, until ``online``, or to the end of ``with volume.offline():``."""
        self.set(offline=True)
        return _Offline(self)

    def online(self) -> None:
        self.set(offline=False)

    # What is there

    def evict(self, *where: AnyPath) -> Dict[str, Any]:
        """Makes files dataless again, folders with all below; without a path all. What is refused is an error."""
        return self._transfer("/v1/evict", where)

    def materialize(self, *where: AnyPath) -> Dict[str, Any]:
        """Brings content in, of folders with all below; without a path all. Counts as nobody's doing."""
        return self._transfer("/v1/materialize", where)

    def refresh(self, *where: AnyPath) -> Dict[str, Any]:
        """Lists known folders of the source again."""
        return self._transfer("/v1/refresh", where)

    def items(self, path: AnyPath = "", recursive: bool = True) -> List[Dict[str, Any]]:
        """Items as the volume knows them (``Item`` of docs/openapi.yaml); touches nothing."""
        found: List[Dict[str, Any]] = []
        after: Optional[str] = None
        while True:
            query = {"path": self._relative(path), "recursive": 1 if recursive else None, "after": after}
            page = self.client.get("/v1/items", query)
            found += page["items"]
            after = page.get("next")
            if after is None:
                return found

    def status(self) -> Dict[str, Any]:
        """Options, counts, what is in flight (``VolumeStatus`` of docs/openapi.yaml)."""
        return dict(self.client.get("/v1/status"))

    # What happened

    def log(self, *types: str, **conditions: Any) -> List[Record]:
        """Records of the log: of these types, and as ``dataless log`` has conditions:
        ``volume.log("materialization", path="*.jpg", process="rsync", blocked=">100ms", main_thread=True)``."""
        words: List[str] = []
        for name in types:
            words += ["--type", name]
        for key, value in conditions.items():
            option = "--" + key.replace("_", "-")
            if value is True:
                words.append(option)
            elif value is not None and value is not False:
                words += [option, str(value)]
        output = self._executable.json(["log", self._log_target(), *words])
        if output.error:
            raise DatalessError.of(output.error)
        return [Record(answer) for answer in output.answers]

    def log_text(self) -> str:
        """The log as ``dataless log`` prints it: a row for each materialization."""
        return self._executable.text(["log", self._log_target()])

    def _log_target(self) -> str:
        return str(self.path if self._state == "mounted" else self.log_path)

    def materialized(self, by: Union[str, Program, None] = None) -> List[str]:
        """Paths of files of which content became local for programs, sorted: for all of them, or for a program that the
        test has started or that has this name (command, executable or script), and what it started."""
        records = self.log("materialization.finished")
        # Of an attempt for which many waited at once, their own records alone name all.
        waits: Dict[int, List[Record]] = {
            record["attempt"]: [] for record in records if record["waiter_count"] > len(record.get("waiters", ()))
        }
        for wait in self.log("wait.finished") if waits else ():
            if wait["attempt"] in waits:
                waits[wait["attempt"]].append(wait)
        return paths(record for record in records if self._brought(record, by, waits.get(record["attempt"], [])))

    @staticmethod
    def _brought(record: Record, by: Union[str, Program, None], waits: Sequence[Mapping[str, Any]] = ()) -> bool:
        if record["kind"] != "file" or (record["outcome"] != "ok" and record["bytes"] == 0):
            return False
        for waiter in (*record.get("waiters", ()), *waits):
            # What `materialize` and policies bring is nobody's.
            if waiter["trigger"] in ("command", "eager"):
                continue
            caller = waiter["process"] or {}
            them = [Process.of(one) for one in (caller, *caller.get("parents", ()))]
            if by is None or any(one.is_called(by) if isinstance(by, str) else one.pid == by.pid for one in them):
                return True
        return False

    def stacks(self, pid: Optional[int] = None) -> List[Caller]:
        """Who waits right now, and where: everybody, or the threads of one process."""
        answer = self.client.request("GET", "/v1/stacks", query={"pid": pid}, seconds=60)
        return [Caller.of(caller) for caller in answer["callers"]]

    def who_waits(self) -> str:
        """The same in words, a line for each caller and one for its stack; empty when nobody waits."""
        if self._state != "mounted":
            return ""
        try:
            return "\n".join(f"  {caller}" for caller in self.stacks())
        except DatalessError as error:
            return f"  {error.message}"

    def mark(self, label: str) -> None:
        """Writes a mark into the log."""
        self.client.post("/v1/mark", {"label": label})

    def expect(self, *entries: Mapping[str, Any], **expected: Any) -> None:
        """Holds what has happened so far against bounds (docs/EXPECTATIONS.md), or against entries of a scenario's
        section ``expect``: ``volume.expect(max_files=3, forbid="secret/**")``. ``ExpectationViolated`` names who, what
        and the stack. While the volume is mounted, what is not violated yet holds."""
        options = Options(bounds=bounds(expected), expect=list(entries))
        self._judge(options)

    @property
    def expects(self) -> bool:
        """Whether something was expected when the volume was made."""
        return self._options.expects

    def check(self) -> None:
        """Unmounts, and holds what was expected when the volume was made against the whole log."""
        self.unmount()
        self._judge(self._options)

    def violated_so_far(self) -> str:
        """What is violated by now of what was expected when the volume was made; empty if nothing is."""
        try:
            self._judge(self._options)
        except ExpectationFailed as failure:
            return failure.text
        return ""

    def _judge(self, options: Options) -> None:
        if not options.expects:
            return
        if self._state != "mounted":
            return _verdict.check(self._executable, str(self.log_path), options, self._folder)
        self.client.post("/v1/log/flush")
        try:
            _verdict.check(self._executable, str(self.log_path), options, self._folder, live=True)
        except ExpectationViolated as failure:
            if not self._stacks_come(failure.verdict):
                raise
            _verdict.check(self._executable, str(self.log_path), options, self._folder, live=True)

    def _stacks_come(self, verdict: Mapping[str, Any]) -> bool:
        """Waits for stacks that a verdict lacks and that are being read: at most 3 s. Whether there are more by now."""
        if self.status()["options"].get("stacks", "off") == "off":
            return False
        lacking = {(v["attempt"], v.get("tid")) for v in verdict["violations"] if "stack" not in v and "attempt" in v}
        until = time.monotonic() + 3
        while lacking and time.monotonic() < until:
            lacking -= {(r.get("attempt"), r.get("tid")) for r in self.log("wait.stack")}
        return True

    def keep_log(self, path: AnyPath) -> Path:
        """Copies the log as it is to ``path``, since it goes with the volume."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.log_path, target)
        self.log_path = target
        return target

    # The end

    def unmount(self) -> None:
        """Ends programs and the volume. Does nothing the second time, nor in a child of the process that made it."""
        if self._state in ("unmounted", "closed") or os.getpid() != self._owner:
            return
        self.begin_unmount()
        if not ends_within(self._ended, _END_SECONDS):
            output = self._executable.json(["unmount", str(self.path)])
            if output.error:
                raise DatalessError.of(output.error)
        self._state = "unmounted"

    def begin_unmount(self) -> None:
        """Ends programs, and asks the daemon to end, without waiting for it."""
        if self._state != "mounted" or os.getpid() != self._owner:
            return
        self._state = "ending"
        for program in self._programs:
            program.close()
        try:
            self.client.post("/v1/unmount")
        except DatalessError:
            # It has ended already, or will be made to.
            pass

    @property
    def has_ended(self) -> bool:
        return ends_within(self._ended, 0)

    def close(self) -> None:
        """Unmounts, and removes all of it, the log included."""
        if self._state == "closed" or os.getpid() != self._owner:
            return
        try:
            self.unmount()
        finally:
            self._state = "closed"
            os.close(self._ended)
            if not remove_folder(self._folder):
                # Still mounted: the daemon was killed, or did not end in time.
                self._executable.json(["unmount", str(self.path)])
                remove_folder(self._folder)

    def __enter__(self) -> Volume:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        try:
            if error is None:
                self.check()
        finally:
            self.close()

    # Details

    def _transfer(self, call: str, where: Sequence[AnyPath]) -> Dict[str, Any]:
        body = {"paths": [{"path": self._relative(path)} for path in where or [""]]}
        result = dict(self.client.post(call, body, seconds=600))
        if result.get("failure_count"):
            failures = [
                f"{failure.get('path') or '.'}: {failure.get('message') or failure.get('errno')}"
                for failure in result.get("failures", [])[:20]
            ]
            raise DatalessError(
                f"{call[4:]}: {result['failure_count']} refused or failed: " + "; ".join(failures), "incomplete"
            )
        return result

    def _relative(self, path: AnyPath) -> str:
        """A path on the volume, relative to its root, without looking at it."""
        text = os.fspath(path)
        root = str(self.path)
        if text == root or text.startswith(root + "/"):
            text = text[len(root) :]
        return "" if text in (".", "/") else text.strip("/")
