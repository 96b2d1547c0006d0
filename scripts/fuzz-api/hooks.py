"""What schemathesis has to be told about the control API."""

import collections
import json
import os
import random
import socket
import threading

import schemathesis
import urllib3.util.connection

# As scripts/fuzz-api/run has it: what is there on the volume, so that requests that are right find something.
PATHS = json.loads(os.environ["DATALESS_PATHS"])
SCENARIO = open(os.environ["DATALESS_SCENARIO"], encoding="utf-8").read()
GATES = {"first": "held/one", "second": "held/two"}
RULES = ["hold-first", "hold-second", "slow", "failing"]
SETTINGS = [
    {"latency": "1ms"}, {"latency": 0}, {"concurrency": 4}, {"bandwidth": "1GiB/s"}, {"offline": False}, {"seed": 7},
    {"hydration": "partial"}, {"present.blocks": "one"}, {"give_up_after": "200ms"}, {"profile": "macos"}, {"poll": "1h"},
]
choice = random.Random(os.environ["DATALESS_FUZZ_SEED"])
reached = collections.defaultdict(collections.Counter)


def connect(address, timeout=None, *args, **kwargs):
    """Goes to the control socket, whatever the host: nothing listens on a port, which any user could connect to."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(30)
    connection.connect(os.environ["DATALESS_SOCKET"])
    return connection


urllib3.util.connection.create_connection = connect


@schemathesis.deserializer("application/x-ndjson")
def last_line(ctx, response):
    """A long answer: the line that says what came of it."""
    return json.loads(response.content.splitlines()[-1])


def begin(method, path, body):
    """Sends a request beside those that are generated. Returns the connection and what was answered first."""
    data = body.encode()
    connection = connect(None)
    connection.sendall(
        f"{method} {path} HTTP/1.1\r\nHost: dataless\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
    return connection, connection.recv(65536).decode(errors="replace")


def restore():
    """Rules and gates as they were: generated requests remove them, and others replace the whole scenario."""
    connection, answer = begin("PUT", "/v1/scenario?name=fuzz", SCENARIO)
    connection.close()
    if " 200 " not in answer.splitlines()[0]:
        raise RuntimeError(f"the scenario of the fuzz run is refused: {answer}")


def hold(path):
    """Blocks at a gate, or in a latency, for as long as `give_up_after` lets it. Returns the number of the request."""
    connection, answer = begin("POST", "/v1/materialize", json.dumps({"paths": [{"path": path}]}))

    def drain():
        try:
            while connection.recv(65536):
                pass
        except OSError:
            pass
        connection.close()

    threading.Thread(target=drain, daemon=True).start()
    for line in answer.splitlines():
        if line.lower().startswith("dataless-request:"):
            return int(line.split(":")[1])
    return 1


def hold_at(gate):
    """Has an attempt arrive at a gate: what was held before may still be there, and is given up soon."""
    hold(GATES[gate])
    connection, _ = begin("POST", "/v1/gates/wait", json.dumps({"gate": gate, "callers": 1, "timeout_ms": 200}))
    connection.close()


def wire_path():
    return {"path": choice.choice(PATHS)}


def rule():
    match = choice.choice([{"path": "held/one/*"}, {"path": "*.x"}, {"kind": "directory"}, {"process": "cat"}])
    effect = choice.choice([{"latency": "1ms"}, {"fault": "EIO"}, {"gate": choice.choice(list(GATES))}, {"bandwidth": "1MiB/s"}])
    return {"match": match, **effect}


def is_valid(case):
    """Whether the request is meant to be one that the document allows."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return False
    return all(component.mode.is_positive for component in case.meta.components.values())


def is_short(timeout):
    """Whether a number is no time to be waited for."""
    return isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 100 < timeout <= 86400000


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Half of the requests that are valid name what there is; the others, and those that are not valid, stay as they are."""
    operation = f"{case.method.upper()} {case.path}"
    body = dict(case.body) if isinstance(case.body, dict) else {}
    if operation == "POST /v1/gates/wait" and body.get("gate") in list(GATES) and not is_short(body.get("timeout_ms", 30000)):
        # What is never held would be waited for, half a minute by default, or a day.
        case.body = {**body, "timeout_ms": 20}
    if not is_valid(case) or choice.random() < 0.5:
        return
    query = dict(case.query or {})
    if "/gates/" in operation or operation == "DELETE /v1/scenario/rules":
        restore()
    if "/gates/" in operation:
        body["gate"] = choice.choice(list(GATES))
    if operation == "POST /v1/gates/release":
        hold_at(body["gate"])
        selection = choice.choice([{}, {"count": 1}, {"path": "held/**"}, {"errno": "EIO"}, {"count": 2, "errno": "ETIMEDOUT"}])
        body = {"gate": body["gate"], **selection}
    elif operation == "POST /v1/gates/wait":
        # What is held is waited for; what is not, not long.
        if choice.random() < 0.5:
            hold(GATES[body["gate"]])
        body["callers"] = choice.randrange(3)
        body["timeout_ms"] = choice.randrange(50)
    elif operation == "POST /v1/interrupt":
        restore()
        body["request"] = hold("slow")
    elif operation == "POST /v1/run/finished":
        body = {key: value for key, value in body.items() if key == "exit_status"}
        body = body or {"exit_status": choice.randrange(256)}
    elif operation == "POST /v1/scenario/settings":
        body["settings"] = choice.choice(SETTINGS)
    elif operation == "POST /v1/scenario/rules":
        restore()
        body = {"rule": rule(), "position": choice.choice(["first", "last"])}
    elif operation == "DELETE /v1/scenario/rules":
        query["name"] = choice.choice(RULES)
    elif operation == "PUT /v1/scenario":
        if isinstance(case.body, str):
            case.body = SCENARIO
        return
    elif operation in ("POST /v1/evict", "POST /v1/refresh", "POST /v1/materialize"):
        body["paths"] = [wire_path() for _ in range(choice.randrange(1, 4))]
    elif operation in ("GET /v1/items", "GET /v1/explain"):
        query.pop("path_b64", None)
        query.pop("after", None)
        query["path"] = choice.choice(PATHS)
    if case.method.upper() == "POST" and body:
        case.body = body
    case.query = query


@schemathesis.hook
def after_call(ctx, case, response):
    operation = f"{case.method.upper()} {case.path}"
    # Methods that a path does not have are tried, too.
    if operation != case.operation.label:
        return
    reached[operation][response.status_code] += 1
    # Kept up to date: nobody says when the run is over.
    with open(os.environ["DATALESS_REACHED"], "w", encoding="utf-8") as file:
        json.dump(reached, file)
