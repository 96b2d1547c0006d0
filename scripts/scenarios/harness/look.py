"""Looks at a volume from a process of its own, which can be given up when it blocks.

    look.py fingerprint|identities|blocks|read DIRECTORY-OR-FILES...     prints JSON
"""

import errno
import hashlib
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import trees  # noqa: E402


def blocks(root):
    """{path: (st_blocks, bytes up to the first hole as SEEK_HOLE tells)} of all files with a size."""
    found = {}
    for name, (size, *_) in trees.identities(root).items():
        path = os.path.join(root, name)
        if size and not os.path.islink(path) and os.path.isfile(path):
            descriptor = os.open(path, os.O_RDONLY)
            found[name] = (os.lstat(path).st_blocks, os.lseek(descriptor, 0, os.SEEK_HOLE))
            os.close(descriptor)
    return found


def read(*paths):
    """{path: [sha-256 or the errno's name, seconds]} of whole files read once, without retries."""
    found = {}
    for path in paths:
        started = time.monotonic()
        try:
            descriptor = os.open(path, os.O_RDONLY)
            digest = hashlib.sha256()
            while part := os.read(descriptor, 1 << 20):
                digest.update(part)
            os.close(descriptor)
            answer = digest.hexdigest()
        except OSError as error:
            # Python knows this number by its other name, which Linux has from System V.
            answer = errno.errorcode[error.errno].replace("EDEADLOCK", "EDEADLK")
        found[path] = (answer, time.monotonic() - started)
    return found


LOOKS = {"fingerprint": trees.fingerprint, "identities": trees.identities, "blocks": blocks, "read": read}

if __name__ == "__main__":
    # Names that are not UTF-8 pass as surrogates, which JSON escapes.
    print(json.dumps(LOOKS[sys.argv[1]](*sys.argv[2:])))
