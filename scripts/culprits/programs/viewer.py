import os
import sys


def load_thumbnail(path):
    file = os.open(path, os.O_RDONLY)
    return os.read(file, 1)  # culprit


def draw(path):
    return load_thumbnail(path)


draw(sys.argv[1])
