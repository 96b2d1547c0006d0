#!/usr/bin/env python3
"""A file manager, as many are: what it shows of each file it finds out by reading it, before the window answers."""

import pathlib
import sys


def icon(path):
    return "photo" if path.read_bytes().startswith(b"dataless") else "text"


def show(folder):
    for path in sorted(folder.iterdir()):
        print(path.name, path.stat().st_size, icon(path), flush=True)


show(pathlib.Path(sys.argv[1], "photos"))
