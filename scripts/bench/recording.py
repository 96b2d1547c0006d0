"""Row 15: what the event log bears. Through the kernel, and through `dataless materialize`, which needs no kernel."""

import os
import statistics
import subprocess
import time

from measure import Failed, run
from mounts import Dataless
from native import tool
from sides import cpu_of, row


def writer_cpu(pid):
    """Seconds that the log's own thread has been on a processor."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{thread}"
        with open(f"{folder}/comm", encoding="utf-8", errors="replace") as file:
            if file.read().strip() != "dl-log":
                continue
        with open(f"{folder}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9
    raise Failed("the daemon has no thread 'dl-log'")


def lines_of(path):
    count = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            count += block.count(b"\n")
    return count


def recorded(bench, files, work):
    """One run: mounts, lists, works, flushes; returns what was recorded and what it cost."""
    with Dataless(bench, f"synthetic:files={files},depth=1,size=512..512,seed=1") as volume:
        run(["find", bench.mountpoint, "-size", "+1k"], 300)
        run([bench.dataless, "mark", bench.mountpoint, "before"], 60)
        pid = volume.status()["pid"]
        lines, writer, daemon = lines_of(volume.log), writer_cpu(pid), cpu_of(pid)
        started = time.perf_counter()
        worked = work()
        # A mark is answered when its line is in the file, hence all lines before it are.
        run([bench.dataless, "mark", bench.mountpoint, "after"], 60)
        seconds = time.perf_counter() - started
        records = lines_of(volume.log) - lines
        status = volume.status()
        if status["items"]["files_resident"] != files:
            raise Failed(f"{status['items']['files_resident']} of {files} files are resident")
        return {
            "records": records, "seconds": seconds, "work_s": worked, "dropped": status["log_dropped"],
            "writer_us": (writer_cpu(pid) - writer) / records * 1e6, "daemon_s": cpu_of(pid) - daemon,
            "log_bytes": os.path.getsize(volume.log),
        }


def summary(result, runs, files):
    rate = statistics.median(one["records"] / one["seconds"] for one in runs)
    materialized = statistics.median(files / one["work_s"] for one in runs)
    writer = statistics.median(one["writer_us"] for one in runs)
    dropped = max(one["dropped"] for one in runs)
    daemon = statistics.median(one["daemon_s"] / files for one in runs) * 1e6
    result.value = f"{rate:,.0f} events/s, {dropped} dropped"
    result.detail = (
        f"{len(runs)} runs; {materialized:,.0f} files/s; {runs[0]['records'] / files:.1f} records a file; writer "
        f"{writer:.2f} us of processor a record (alone: {1e6 / writer:,.0f} events/s); daemon {daemon:.1f} us a file"
    )
    result.raw = {"runs": runs}
    return rate, materialized, dropped


def through_kernel(bench):
    files, threads = (20_000 if bench.quick else 100_000), 4
    result = row(
        "recording", f"{files:,} files of 512 bytes, each read by one of {threads} threads, no latency: events/s",
        ">= 20,000 files/s, 0 dropped",
    )

    def work():
        found = [os.path.join(folder, name) for folder, _, names in os.walk(bench.mountpoint) for name in names]
        lines = b"".join(os.fsencode(path) + b"\n" for path in found)
        with open(bench.path("paths"), "wb") as file:
            file.write(lines)
        command = ["bash", "-c", '"$0" files "$1" < "$2"', tool(bench, "reader"), str(threads), bench.path("paths")]
        return int(run(command, 300, stdout=subprocess.PIPE)[1]) / 1e9

    runs = [recorded(bench, files, work) for _ in range(1 if bench.quick else 5)]
    for one in runs:
        # The listing of the paths is not part of it.
        one["seconds"] = max(one["work_s"], 1e-9)
    _, materialized, dropped = summary(result, runs, files)
    result.met = materialized >= 20_000 and dropped == 0
    return result


def by_command(bench):
    files = 50_000 if bench.quick else 500_000
    result = row(
        "recording-command", f"dataless materialize of {files:,} files of 512 bytes: events/s until all are in the file",
        ">= 200,000/s, 0 dropped",
    )
    work = [bench.dataless, "materialize", bench.mountpoint]
    runs = [recorded(bench, files, lambda: run(work, 600)[0]) for _ in range(1 if bench.quick else 5)]
    rate, _, dropped = summary(result, runs, files)
    result.met = rate >= 200_000 and dropped == 0
    return result


CASES = {"recording": through_kernel, "recording-command": by_command}
