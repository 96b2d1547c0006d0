#!/usr/bin/env python3
"""A text editor and a sync program that save the same document, with coordination and without: what is lost.

    saves.py [--coordinated] [--rounds 1000] DOCUMENT

Both read the document, add one to its version, and save it: the editor writes it anew in its place, the sync program
renames a new file over it. A version is lost when one saves over what it has not read; a read is torn when it finds a
document that is not whole.
"""

import argparse
import contextlib
import multiprocessing
import os
import sys

import dataless

#: Enough that a save takes several calls.
LINES = 400


def text(version):
    return "".join(f"line {line} of version {version}\n" for line in range(LINES))


def read(path):
    """The version, or None of a document that is not whole."""
    with open(path) as file:
        lines = file.read().splitlines()
    versions = {line.rsplit(" ", 1)[-1] for line in lines}
    if len(lines) != LINES or len(versions) != 1:
        return None
    return int(versions.pop())


def save_in_place(path, content):
    with open(path, "r+") as file:
        file.truncate(0)
        for start in range(0, len(content), 1024):
            file.write(content[start : start + 1024])
            file.flush()


def save_by_rename(path, content):
    with open(path + ".new", "w") as file:
        file.write(content)
    os.rename(path + ".new", path)


def work(path, rounds, save, access, results):
    torn = saved = 0
    while saved < rounds:
        with access(path):
            version = read(path)
            if version is None:
                torn += 1
                continue
            save(path, text(version + 1))
            saved += 1
    results.put(torn)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("document")
    parser.add_argument("--coordinated", action="store_true")
    parser.add_argument("--rounds", type=int, default=1000)
    options = parser.parse_args()

    def access(path):
        return dataless.coordinate(write=[path]) if options.coordinated else contextlib.nullcontext()

    with open(options.document, "w") as file:
        file.write(text(0))
    results = multiprocessing.Queue()
    savers = [
        multiprocessing.Process(target=work, args=(options.document, options.rounds, save, access, results))
        for save in (save_in_place, save_by_rename)
    ]
    for saver in savers:
        saver.start()
    torn = sum(results.get() for _ in savers)
    for saver in savers:
        saver.join()
    lost = 2 * options.rounds - (read(options.document) or 0)
    print(f"{2 * options.rounds} saves: {lost} versions lost, {torn} torn reads")
    return 0 if lost == torn == 0 else 1


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    sys.exit(main())
