"""Mounts volumes, and keeps one ready.

What takes the time of a test is the start of a daemon and its end. Both can happen while a test runs: of the volumes
whose source is made for the test, the next one is mounted beforehand, over an empty folder, and gets its files and its
scenario when it is wanted. A directory that nobody has listed is read when somebody lists it, so it cannot be seen that
the files came later.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import warnings
from typing import Any, Dict, List, Mapping, Optional

from ._errors import DatalessError
from ._executable import Executable
from ._options import Options, Source, write_files
from ._volume import Volume
from ._workspace import Workspace, remove_folder, workspaces

#: Set to 0, no volume is mounted beforehand.
SPARE = "DATALESS_SPARE"
#: How long a mount may take: what `dataless mount` allows, and some more.
_MOUNT_SECONDS = 60.0
#: What a daemon says whose device number belonged to one that is not quite at its end.
_ENDING = "another daemon holds it"


class _Mounting:
    """A volume that is being mounted."""

    def __init__(self, workspace: Workspace, folder: str, source: str, words: List[str]) -> None:
        executable = workspace.executable
        self._executable = executable
        self._held = workspace.held
        self.folder = folder
        self.source = source
        self._command = [executable.path, "mount", source, os.path.join(folder, "mnt"), "--json", *words]
        # All of it goes with the folder.
        self._command += ["--log", os.path.join(folder, "log.jsonl"), "--cache-dir", os.path.join(folder, "cache")]
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._executable.environment(),
            # Who cleans up waits for it, if this process ends meanwhile; what ends this process is not to end it.
            pass_fds=self._held,
            start_new_session=True,
        )

    def volume(self, options: Options, name: str) -> Volume:
        """The volume, when it answers."""
        try:
            for _ in range(10):
                answer = self._answer()
                if _ENDING not in answer.get("error", {}).get("message", ""):
                    break
                self._process = self._start()
            if "error" in answer:
                raise DatalessError.of(answer["error"])
            return Volume(self._executable, self.folder, answer, options, name)
        except BaseException:
            remove_folder(self.folder)
            raise

    def _answer(self) -> Dict[str, Any]:
        try:
            output, words = self._process.communicate(timeout=_MOUNT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise DatalessError(f"the mount of {self.source} did not end.", "timed_out", "ETIMEDOUT") from None
        lines = output.decode("utf-8", "replace").splitlines()
        answer: Dict[str, Any] = json.loads(lines[-1]) if lines else {}
        if not answer:
            raise DatalessError(words.decode("utf-8", "replace").strip() or "dataless mount said nothing")
        return answer


class Mounter:
    """Mounts volumes with one executable."""

    def __init__(self, executable: Executable) -> None:
        self.executable = executable
        self._guard = threading.Lock()
        self._owner = os.getpid()
        self._spare: Optional[_Mounting] = None
        self._ending: List[Volume] = []

    def mount(self, source: Source, options: Options, name: str = "") -> Volume:
        with self._guard:
            self._remove_ended()
            if isinstance(source, Mapping) and not options.mount and options.scenario_file is None:
                return self._mount_files(source, options, name)
            return self._mount_directly(source, options, name)

    def retire(self, volume: Volume) -> None:
        """Ends a volume whose log nobody wants any more, without waiting for it."""
        with self._guard:
            volume.begin_unmount()
            self._ending.append(volume)

    def close(self) -> None:
        """Ends the spare volume, and waits for all that is ending."""
        with self._guard:
            if self._owner != os.getpid():
                return
            spare, self._spare = self._spare, None
            if spare is not None:
                spare.volume(Options(), "spare").close()
            while self._ending:
                self._close(self._ending.pop())

    def _remove_ended(self) -> None:
        """Those that have ended; and of the others the oldest, so that they do not become many."""
        while self._ending and (self._ending[0].has_ended or len(self._ending) > 4):
            self._close(self._ending.pop(0))

    @staticmethod
    def _close(volume: Volume) -> None:
        """A daemon that had to be killed is no fault of the test that comes next."""
        try:
            volume.close()
        except DatalessError as error:
            warnings.warn(f"{volume.name}: {error.message}", RuntimeWarning, stacklevel=2)

    def _mount_files(self, files: Mapping[str, Any], options: Options, name: str) -> Volume:
        if self._owner != os.getpid():
            self._spare, self._owner = None, os.getpid()
        wanted = os.environ.get(SPARE) != "0"
        spare, self._spare = self._spare, None
        if spare is None:
            spare = self._begin()
        volume = spare.volume(options, name)
        try:
            write_files(files, spare.source)
            volume.client.post("/v1/refresh", {"paths": [{"path": ""}]})
            if options.scenario:
                volume.client.request("PUT", "/v1/scenario", options.scenario_text(), {"name": "options"})
        except BaseException:
            volume.close()
            raise
        if wanted:
            self._spare = self._begin()
        return volume

    def _begin(self) -> _Mounting:
        workspace = workspaces.get(self.executable)
        folder = workspace.new_folder()
        source = os.path.join(folder, "source")
        os.mkdir(source, 0o755)
        return _Mounting(workspace, folder, source, [])

    def _mount_directly(self, source: Source, options: Options, name: str) -> Volume:
        workspace = workspaces.get(self.executable)
        folder = workspace.new_folder()
        if isinstance(source, Mapping):
            path = os.path.join(folder, "source")
            os.mkdir(path, 0o755)
            write_files(source, path)
        else:
            path = os.fspath(source)
        words = list(options.mount)
        if options.scenario_file is not None:
            words += ["--scenario", options.scenario_file]
        volume = _Mounting(workspace, folder, path, words).volume(options, name)
        try:
            self._apply(volume, options)
        except BaseException:
            volume.close()
            raise
        return volume

    @staticmethod
    def _apply(volume: Volume, options: Options) -> None:
        """Settings and rules on top of what the volume was mounted with."""
        if options.scenario_file is None:
            if options.scenario:
                volume.client.request("PUT", "/v1/scenario", options.scenario_text(), {"name": "options"})
            return
        settings = {key: value for key, value in options.scenario.items() if key != "rules"}
        if settings:
            volume.set(**settings)
        for rule in reversed(options.scenario.get("rules", ())):
            volume.add_rule(rule)
