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
    """Seconds, seconds of processor, and the most resident memory, in bytes, of a command whose output nobody keeps."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command[:2])}: exit status {process.returncode}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def over_a_big_log(name, words, made_by):
    """A row of a command. `made_by`: the words of the command, given the log, and a function for paths beside it."""

    def case(bench):
        count = 500_000 if bench.quick else 10_000_000
        path = bench.path("big.jsonl")
        made, size = (sum(1 for _ in open(path, "rb")), os.path.getsize(path)) if os.path.exists(path) else write(path, count)
        result = row(name, f"dataless {words} of a log of {made:,} records, {size / 1e9:.1f} GB", "reported")
        # The first reading has the log in the page cache, if there is room for it.
        seconds, work, memory = min(measured([bench.dataless, *made_by(path, bench.path)]) for _ in range(2))
        files = made // 5
        result.value = f"{seconds:.1f} s, {memory / 1e6:.0f} MB"
        result.detail = (
            f"{work:.1f} s of processor; {made / seconds:,.0f} records/s, {size / seconds / 1e6:.0f} MB/s; "
            f"{memory / files:.0f} bytes a file"
        )
        result.raw = {"seconds": seconds, "processor_seconds": work, "memory": memory, "records": made, "bytes": size}
        for report in ["big-report", "big-trace"]:
            if os.path.exists(bench.path(report)):
                result.detail += f"; {os.path.getsize(bench.path(report)) / 1e6:.1f} MB written"
                os.unlink(bench.path(report))
        return result

    return case


# Of all kinds but the trace, which grows with the waits.
KINDS = ["html", "junit", "markdown", "json", "collapsed"]

CASES = {
    "big-log-summary": over_a_big_log("big-log-summary", "summary", lambda log, at: ["summary", log]),
    "big-log-rows": over_a_big_log("big-log-rows", "log", lambda log, at: ["log", log]),
    "big-log-json": over_a_big_log("big-log-json", "log --json", lambda log, at: ["log", "--json", log]),
    "big-log-filter": over_a_big_log(
        "big-log-filter", "log --main-thread --blocked '>100ms'",
        lambda log, at: ["log", "--main-thread", "--blocked", ">100ms", log]),
    "big-log-check": over_a_big_log(
        "big-log-check", "check-log --max-files 1e9 --max-wait 1s --max-parallel 64 --forbid 'secret/**'",
        lambda log, at: [
            "check-log", log, "--max-files", "1000000000", "--max-wait", "1s", "--max-parallel", "64", "--forbid", "secret/**",
        ]),
    "big-log-html": over_a_big_log(
        "big-log-html", "summary --report html=", lambda log, at: ["summary", log, "--report", f"html={at('big-report')}"]),
    "big-log-reports": over_a_big_log(
        "big-log-reports", f"summary with the reports {', '.join(KINDS)}",
        lambda log, at: ["summary", log, *(word for kind in KINDS for word in ["--report", f"{kind}={at('big-' + kind)}"])]),
    "big-log-trace": over_a_big_log(
        "big-log-trace", "summary --report trace=", lambda log, at: ["summary", log, "--report", f"trace={at('big-trace')}"]),
    "big-log-diff": over_a_big_log("big-log-diff", "diff with itself", lambda log, at: ["diff", log, log]),
}
