"""Rows: logs of millions of records, as a daemon writes them for programs that read a tree of small files once."""

import os
import subprocess
import time

from measure import Failed
from sides import row

SESSION = "0123456789ab"
DIRECTORIES = 2_000
PROCESSES = 64


def records(count):
    """Lines without their newline: a session of about `count` records, five a file, each file once."""
    sequence = 0

    def line(nanoseconds, kind, fields):
        nonlocal sequence
        sequence += 1
        seconds, rest = divmod(nanoseconds, 1_000_000_000)
        minutes, seconds = divmod(seconds, 60)
        time = f"2026-01-02T{3 + minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{rest:09}Z"
        return (
            f'{{"v":1,"seq":{sequence},"session":"{SESSION}","time":"{time}","monotonic_ns":{nanoseconds},'
            f'"type":"{kind}",{fields}}}'
        )

    yield line(0, "volume.mounted", '"source":"/src","mountpoint":"/mnt","options":{"observe":"reads"},"pid":99,"read_only":true')
    yield line(0, "process.seen", '"process":1,"pid":10,"start_ticks":1,"comm":"bash","exe":"/usr/bin/bash","uid":0,"gid":0,"parents":[]')
    for process in range(2, PROCESSES + 2):
        fields = (
            f'"process":{process},"pid":{process + 100},"start_ticks":2,"comm":"tool{process % 8}","exe":"/usr/bin/tool{process % 8}",'
            f'"argv":["tool","-r","/mnt"],"uid":0,"gid":0,"parents":[1]'
        )
        yield line(0, "process.seen", fields)
    nanoseconds = 1_000
    for number in range(1, max(1, (count - PROCESSES - 3) // 5) + 1):
        process = 2 + number % PROCESSES
        path = f"directory-{number % DIRECTORIES}/file-with-a-name-{number}.dat"
        who = f'"process":{process},"tid":{process + 100},"main_thread":{"true" if number % 3 else "false"}'
        begin, end = nanoseconds, nanoseconds + 20_000
        yield line(
            begin, "materialization.started",
            f'"attempt":{number},"path":"{path}","inode":{number},"kind":"file","size":4096,"trigger":"read",{who},'
            f'"offset":0,"length":4096,"handle":{number},"open_flags":32768,"io":"direct","file_attempt":1,"in_flight":1,'
            '"prior":{"opens":1,"stats":1,"xattr_calls":0}',
        )
        wait = f'"attempt":{number},{who},"trigger":"read","offset":0,"length":4096'
        yield line(begin, "wait.started", wait)
        yield line(end, "wait.finished", f'{wait},"blocked_ns":{end - begin},"outcome":"ok"')
        yield line(
            end, "materialization.finished",
            f'"attempt":{number},"path":"{path}","kind":"file","bytes":4096,"outcome":"ok","requested_delay_ns":0,"delay_ns":0,'
            f'"held_ns":0,"queued_ns":0,"store_ns":1000,"duration_ns":{end - begin},"waiter_count":1,"waiters":[{{{who},'
            f'"trigger":"read","offset":0,"length":4096,"blocked_ns":{end - begin},"outcome":"ok"}}]',
        )
        yield line(
            end + 5_000, "handle.closed",
            f'"path":"{path}","inode":{number},"handle":{number},"process":{process},"size":4096,"bytes_read":4096,'
            '"covered_bytes":4096,"high_water_mark":4096,"reads":1,"triggered":true,"io":"direct"',
        )
        nanoseconds += 30_000
    yield line(
        nanoseconds, "volume.unmounted",
        '"reason":"unmount","requests_reaching_the_volume":{"lookup":1,"read":1},"items":{"files":1,"directories":1,"bytes":1},'
        '"log_dropped":0',
    )


def write(path, count):
    """Writes a log of about `count` records. - Returns: how many there are, and its bytes."""
    made = 0
    with open(path, "w", encoding="ascii", buffering=1 << 20) as file:
        for made, text in enumerate(records(count), 1):
            file.write(text + "\n")
    return made, os.path.getsize(path)


def measured(command):
    """Seconds and the most resident memory, in bytes, of a command whose output nobody keeps."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command[:2])}: exit status {process.returncode}")
    return time.perf_counter() - started, usage.ru_maxrss * 1024


def over_a_big_log(name, command, target):
    def case(bench):
        count = 500_000 if bench.quick else 10_000_000
        path = bench.path("big.jsonl")
        made, size = (sum(1 for _ in open(path, "rb")), os.path.getsize(path)) if os.path.exists(path) else write(path, count)
        result = row(name, f"dataless {' '.join(command)} of a log of {made:,} records, {size / 1e9:.1f} GB", target)
        # The first reading has the log in the page cache, if there is room for it.
        seconds, memory = min(measured([bench.dataless, *command, path]) for _ in range(2))
        files = made // 5
        result.value = f"{seconds:.1f} s, {memory / 1e6:.0f} MB"
        result.detail = f"{made / seconds:,.0f} records/s, {size / seconds / 1e6:.0f} MB/s; {memory / files:.0f} bytes a file"
        result.raw = {"seconds": seconds, "memory": memory, "records": made, "bytes": size}
        return result

    return case


CASES = {
    "big-log-summary": over_a_big_log("big-log-summary", ["summary"], "reported"),
    "big-log-rows": over_a_big_log("big-log-rows", ["log"], "reported"),
    "big-log-json": over_a_big_log("big-log-json", ["log", "--json"], "reported"),
    "big-log-filter": over_a_big_log(
        "big-log-filter", ["log", "--main-thread", "--blocked", ">100ms"], "reported"),
}
