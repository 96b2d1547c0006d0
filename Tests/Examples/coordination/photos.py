#!/usr/bin/env python3
"""A photo browser without a window: shows the pictures of a folder, naively, or by coordinated accesses ahead of time.

    photos.py naive|coordinated FOLDER

Both list the folder, as the browser's window would, and then show one picture after the other. The naive one reads each on
its main thread when its turn comes. The other one asks for the next pictures while it shows this one, and only ever shows
what has come: its main thread waits for nothing but its event loop.
"""

import asyncio
import os
import sys
import time

import dataless

#: Pictures that are asked for ahead of the one that is shown.
AHEAD = 64
#: A main thread that does not come back to its loop for longer drops frames.
FRAME = 1 / 60


class Window:
    """What would be on the screen, and how long the main thread was away from its loop."""

    def __init__(self):
        self.shown = 0
        self.hitches = 0
        self.away = 0.0
        self.began = time.monotonic()

    def show(self, path):
        began = time.monotonic()
        with open(path, "rb") as file:
            while file.read(1 << 16):
                pass
        took = time.monotonic() - began
        self.shown += 1
        self.away += took
        self.hitches += took > FRAME

    def report(self):
        took = time.monotonic() - self.began
        print(f"{self.shown} pictures in {took:.2f} s; main thread away {self.away:.2f} s, {self.hitches} hitches")


def naive(paths):
    window = Window()
    for path in paths:
        window.show(path)
    window.report()


async def fetch(path, room):
    """Holds the picture from when it is here until it is shown."""
    async with room:
        intent = dataless.Intent(read=[path])
        await intent
        return path, intent


async def coordinated(paths):
    window = Window()
    room = asyncio.Semaphore(AHEAD)
    for task in asyncio.as_completed([asyncio.ensure_future(fetch(path, room)) for path in paths]):
        path, intent = await task
        window.show(path)
        intent.end()
    window.report()


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("naive", "coordinated"):
        sys.exit(__doc__)
    folder = sys.argv[2]
    paths = sorted(entry.path for entry in os.scandir(folder) if entry.is_file())
    if sys.argv[1] == "naive":
        naive(paths)
    else:
        asyncio.run(coordinated(paths))


if __name__ == "__main__":
    main()
