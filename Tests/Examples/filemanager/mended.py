#!/usr/bin/env python3
"""The same file manager, mended: it shows names, sizes and kinds at once; photos come later, in a thread of their own."""

import pathlib
import sys
import threading


def thumbnails(photos):
    for path in photos:
        path.read_bytes()


def show(folder):
    paths = sorted(folder.iterdir())
    for path in paths:
        print(path.name, path.stat().st_size, "photo" if path.suffix == ".jpg" else "text", flush=True)
    photos = [path for path in paths if path.suffix == ".jpg"]
    worker = threading.Thread(target=thumbnails, args=(photos,), name="thumbnails")
    worker.start()
    return worker


show(pathlib.Path(sys.argv[1], "photos")).join()
