"""Copies the FMUs of git repositories into one folder, each content once, for `sweep.py`.

    python benchmarks/fmu/collect.py FOLDER REPOSITORY …

A repository is a clone, bare or not; its present commit counts. Taken are FMUs with a library for 64-bit
Linux. One that is there already, under whatever name, is left out.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import subprocess
import zipfile
from pathlib import Path

FOR_LINUX = re.compile(r"binaries/(linux64|x86_64-linux)/[^/]+\.so$")


def git(repository: Path, *words: str) -> bytes:
    """The output of git; empty if git fails."""
    command = ["git", "-C", str(repository), "-c", "safe.directory=*", *words]
    return subprocess.run(command, capture_output=True, check=False).stdout


def runs_on_linux(data: bytes) -> bool:
    """Whether it is an archive with a library for 64-bit Linux."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(FOR_LINUX.match(name) for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def main() -> None:
    """A line for each repository that has some."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("repositories", type=Path, nargs="+")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    digests = {hashlib.sha256(path.read_bytes()).digest() for path in arguments.folder.glob("*.fmu")}
    for repository in arguments.repositories:
        count = 0
        for line in git(repository, "ls-tree", "-r", "-z", "HEAD").split(b"\0"):
            about, _, name = line.decode("utf-8", "replace").partition("\t")
            if not name.endswith(".fmu"):
                continue
            data = git(repository, "cat-file", "blob", about.split()[2])
            digest = hashlib.sha256(data).digest()
            if digest in digests or not runs_on_linux(data):
                continue
            digests.add(digest)
            target = arguments.folder / f"{Path(name).stem}-{digest.hex()[:8]}.fmu"
            target.write_bytes(data)
            count += 1
        if count:
            print(f"{repository}: {count}", flush=True)
    print(f"{len(digests)} FMUs")


if __name__ == "__main__":
    main()
