"""Which tools are there, and how Debian's packages come to be there."""

import os
import shutil
import subprocess


def missing(tool):
    """Why a tool cannot be run; None if it can."""
    if shutil.which(tool.program, path="/usr/bin:/bin:/usr/sbin:/sbin"):
        return None
    return f"Debian's package {tool.package} is not installed, or has no {tool.program}"


def install(tools):
    packages = sorted({tool.package for tool in tools if missing(tool)} | (
        set() if shutil.which("ffmpeg") else {"ffmpeg"}))
    apt = ([] if os.geteuid() == 0 else ["sudo"]) + ["apt-get", "-qq"]
    if packages:
        print(f"installing {' '.join(packages)}", flush=True)
        subprocess.run([*apt, "update"], check=False, stdout=subprocess.DEVNULL)
    for package in packages:  # one by one: one that Debian does not have does not keep the others away
        subprocess.run([*apt, "install", "--yes", "--no-install-recommends", package], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                       env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
