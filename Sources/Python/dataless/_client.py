"""The control API of one volume: HTTP/1.1 with JSON on a Unix domain socket (docs/CONTROL-API.md)."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any, Dict, Mapping, Optional
from urllib.parse import urlencode

from ._errors import DatalessError

#: How long a request may take, in seconds, that does not wait for others.
REQUEST_SECONDS = 30.0


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("dataless", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """Requests to one daemon. Every method may be called from several threads at once."""

    def __init__(self, runtime: str, device: str) -> None:
        """``runtime``: the runtime directory (docs/CONTROL-API.md). ``device``: as in /proc/self/mountinfo."""
        self.socket = f"{runtime}/{device}/control.sock"

    def request(
        self,
        method: str,
        path: str,
        body: Optional[Any] = None,
        query: Optional[Mapping[str, Any]] = None,
        seconds: float = REQUEST_SECONDS,
    ) -> Any:
        """The answer's JSON; of a long request, the object ``result`` of its last line.

        ``body`` is sent as JSON; bytes as they are. Raises ``DatalessError``, with the daemon's own words if it has
        answered.
        """
        if query:
            path += "?" + urlencode({key: value for key, value in query.items() if value is not None})
        connection = _Connection(self.socket, seconds)
        try:
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            headers = {"Content-Type": "application/json"} if data is not None else {}
            connection.request(method, path, body=data, headers=headers)
            response = connection.getresponse()
            text = response.read()
            kind = response.getheader("Content-Type", "")
        except socket.timeout as error:
            raise DatalessError(
                f"{method} {path}: the daemon did not answer within {seconds:g} s (ETIMEDOUT).",
                "timed_out",
                "ETIMEDOUT",
            ) from error
        except OSError as error:
            raise DatalessError(
                f"{method} {path}: the daemon does not answer at {self.socket}: {error.strerror or error}. "
                "Is the volume still mounted?",
                "daemon_not_running",
            ) from error
        finally:
            connection.close()
        return self._answer(method, path, response.status, kind or "", text)

    @staticmethod
    def _answer(method: str, path: str, status: int, kind: str, text: bytes) -> Any:
        lines = text.splitlines()
        try:
            answer = json.loads(lines[-1] if "ndjson" in kind and lines else text or b"{}")
        except ValueError as error:
            raise DatalessError(f"{method} {path}: the answer is no JSON.", "malformed") from error
        if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
            raise DatalessError.of(answer["error"])
        if status >= 400:
            raise DatalessError(f"{method} {path}: status {status}.")
        return answer["result"] if "ndjson" in kind else answer

    def get(self, path: str, query: Optional[Mapping[str, Any]] = None) -> Any:
        return self.request("GET", path, query=query)

    def post(self, path: str, body: Optional[Dict[str, Any]] = None, seconds: float = REQUEST_SECONDS) -> Any:
        return self.request("POST", path, body=body, seconds=seconds)
