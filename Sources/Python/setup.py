"""The version, which stands in one place: the program's sources; a source distribution has it in PKG-INFO."""

import pathlib
import re

from setuptools import setup

folder = pathlib.Path(__file__).resolve().parent
program = folder.parent / "DatalessControl" / "Version.swift"
if program.exists():
    found = re.search(r'current = "(.*)"', program.read_text())
else:
    found = re.search(r"^Version: (.*)$", (folder / "PKG-INFO").read_text(), re.MULTILINE)
assert found, "no version is found"
setup(version=found.group(1))
