#!/usr/bin/python3
"""Makes a thumbnail of each photo below a folder: here, of its first byte."""

import pathlib
import sys


def thumbnail(path):
    return path.read_bytes()[:1]


def main(folder):
    for path in sorted(pathlib.Path(folder, "photos").iterdir()):
        thumbnail(path)


main(sys.argv[1])
