"""Coordinated accesses (docs/COORDINATION.md): one that nobody is in the way of, and plain reads beside a crowd of them."""

import os
import statistics
import subprocess
import time

from measure import Failed, percentile, run
from mounts import Dataless
from sides import row

LIBRARY = ["coordinate", "coordinate_answer", "coordinate_volume"]


def program(bench):
    """The client with the parts of libcdataless that it needs, compiled once."""
    target = bench.path("coordinate")
    if not os.path.exists(target):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        sources = [f"{root}/Sources/CDataless/{name}.c" for name in LIBRARY]
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coordinate.c")
        run(["cc", "-O2", f"-I{root}/Sources/CDataless/include", "-o", target, here, *sources, "-pthread"], 60)
    return target


def times(command, limit=120):
    return [int(line) / 1e3 for line in run(command, limit, stdout=subprocess.PIPE)[1].split()]


def intent(bench):
    result = row("intent", "an intent to read a resident file, nobody in the way: from asking to the answer", "median <= 60 us")
    count = 2_000 if bench.quick else 20_000
    source = bench.files("coordinated", 4, 4096)
    with Dataless(bench, source):
        file = os.path.join(bench.mountpoint, "d00000", "f000000")
        times([program(bench), "round", file, "100"])
        measured = times([program(bench), "round", file, str(count)])
    median = statistics.median(measured)
    result.value = f"{median:.1f} us, p99 {percentile(measured, 0.99):.1f} us"
    result.detail = f"{count:,} times; least {min(measured):.1f} us"
    result.met = median <= 60
    result.raw = {"median_us": median, "p99_us": percentile(measured, 0.99)}
    return result


class Crowd:
    """Two processes that ask for one file: one alone may have three quarters of all intents at most."""

    def __init__(self, bench, volume, file, count):
        self.volume, self.count = volume, count
        command = [program(bench), "crowd", file, str(count // 2)]
        self.processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
            for _ in range(2)
        ]

    def __enter__(self):
        until = time.monotonic() + 60
        while self.volume.status()["coordination"]["waiting"] < self.count - 1:
            if time.monotonic() > until or any(process.poll() is not None for process in self.processes):
                self.__exit__()
                raise Failed("the crowd could not be asked for")
            time.sleep(0.05)
        return self

    def serve(self):
        """Until the last has been served, in seconds."""
        for process in self.processes:
            process.stdin.close()
        return max(int(process.stdout.read().split()[1]) / 1e9 for process in self.processes)

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def crowd(bench):
    count = 2_000 if bench.quick else 10_000
    reads = 20_000 if bench.quick else 100_000
    result = row(
        "intents-crowd", f"open, read and close of a resident file while {count:,} intents wait: p99 / p99 idle", "<= 1.2"
    )
    source = bench.files("coordinated", 4, 4096)
    ratios, served = [], []
    with Dataless(bench, source) as volume:
        held, read = (os.path.join(bench.mountpoint, "d00000", f"f{index:06}") for index in range(2))
        command = [program(bench), "reads", read, str(reads)]
        times(command)
        for _ in range(3 if bench.quick else 7):
            idle = percentile(times(command), 0.99)
            with Crowd(bench, volume, held, count) as crowd:
                ratios.append(percentile(times(command), 0.99) / idle)
                served.append(crowd.serve())
    median = statistics.median(ratios)
    result.value = f"{median:.2f} [{min(ratios):.2f}, {max(ratios):.2f}]"
    result.detail = (
        f"{len(ratios)} pairs of {reads:,} reads; all {count:,} served one after the other in "
        f"{statistics.median(served):.3f} s, {statistics.median(served) / count * 1e6:.1f} us each"
    )
    result.met = median <= 1.2
    result.raw = {"ratios": ratios, "served_s": served}
    return result


CASES = {"intent": intent, "intents-crowd": crowd}
