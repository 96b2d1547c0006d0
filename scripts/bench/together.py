"""What it costs that a volume knows who else has a file open when it is written to (docs/FINDINGS.md, `together`)."""

import select
import statistics
import subprocess

from measure import Failed
from mounts import Dataless
from sides import compare, row, sample
from writing import SIZE, empty, writer

FILES = 20_000
# The first of them, which another process has open, too: fewer than are looked at in a second.
HELD = 64


class Holder:
    """Another process that has some files open."""

    def __init__(self, bench):
        self.process = subprocess.Popen(
            [writer(bench), "hold", bench.mountpoint, str(HELD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def __enter__(self):
        # It says so, or ends.
        ready, _, _ = select.select([self.process.stdout], [], [], 30)
        if not ready or not self.process.stdout.readline():
            self.__exit__()
            raise Failed("the files could not be held open")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def opened(bench, count, server):
    """Two times: of all files, and of those that are held."""
    return sample([writer(bench), "open", bench.mountpoint, str(count), str(HELD)], 120, server, True)


def together_open(bench):
    count = FILES // 10 if bench.quick else FILES
    result = row(
        "together-open", f"open, write and close of {count:,} resident files, --scratch: time while another process has"
        f" {HELD} of them open / while nobody has", "reported")
    held = {"alone": [], "beside": []}

    def noted(side, measured):
        held[side].append(measured.extra[1] / HELD * 1e6)
        return measured

    def alone():
        return noted("alone", opened(bench, count, pid))

    def beside():
        with Holder(bench):
            return noted("beside", opened(bench, count, pid))

    with Dataless(bench, empty(bench), "--scratch") as volume:
        pid = volume.status()["pid"]
        sample([writer(bench), "create", bench.mountpoint, str(count), str(SIZE)], 120, pid, True)
        # Of what has no target the second side's time stands above the first one's.
        compare(result, min(bench.pair_count, 9), alone, beside, most=9)
    medians = {side: statistics.median(times) for side, times in held.items()}
    result.detail += (
        f"; each of the {HELD}: {medians['alone']:.1f} us alone, {medians['beside']:.1f} us beside the other process"
    )
    result.raw["held_us"] = held
    return result


CASES = {"together-open": together_open}
