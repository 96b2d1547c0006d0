"""What takes the setuid and setgid bits away."""

import os

import kernel
from suite import PLAYERS, ROOT, case


def clearing(change):
    """An ordinary user changes a file that has the bits: setuid goes, setgid with group execution does, too."""
    def run(test):
        for old, new in ((0o6777, 0o777), (0o4777, 0o777), (0o2777, 0o777), (0o2767, 0o2767)):
            os.chmod("file", old)
            # Without group execution setgid may go, too: Linux took it away for non-members only.
            with test.be(test.second):
                change(test)
            allowed = {new, new & 0o777}
            test.true(f"mode after {oct(old)}", test.mode("file") in allowed, oct(test.mode("file")))
    return run


def writes(test):
    with test.opened("file", os.O_WRONLY) as descriptor:
        os.write(descriptor, b"x")


def truncates(test):
    os.truncate("file", 5)


def ftruncates(test):
    with test.opened("file", os.O_WRONLY) as descriptor:
        os.ftruncate(descriptor, 6)


def opens_truncating(test):
    os.close(os.open("file", os.O_WRONLY | os.O_TRUNC))


def allocates(test):
    with test.opened("file", os.O_RDWR) as descriptor:
        kernel.fallocate(descriptor, 0, 0, 100)


def copies(test):
    with test.opened("large", os.O_RDONLY) as source, test.opened("file", os.O_WRONLY) as target:
        os.copy_file_range(source, target, 100)


for change in (writes, truncates, ftruncates, opens_truncating, allocates, copies):
    case(f"setuid.cleared_by.{change.__name__}", PLAYERS)(clearing(change))


@case("setuid.kept_for_root", ROOT)
def kept_for_root(test):
    os.chmod("file", 0o6755)
    writes(test)
    test.equal("mode", 0o6755, test.mode("file"))


@case("setuid.kept_by_reading", PLAYERS)
def kept_by_reading(test):
    os.chmod("file", 0o6755)
    with test.be(test.second):
        test.content("file")
    test.equal("mode", 0o6755, test.mode("file"))


@case("setuid.large_file", PLAYERS)
def cleared_on_large(test):
    os.chmod("large", 0o6777)
    with test.be(test.second), test.opened("large", os.O_RDWR) as descriptor:
        os.pwrite(descriptor, b"x", 200_000)
    test.equal("mode", 0o777, test.mode("large"))
