"""The folder in which compiled kernels are kept from one run to the next.

One folder for each digest of everything that the code depends on, so that nothing stale can be found
there. A damaged entry is compiled again, an unwritable folder is used without, entries that nobody
used for a while are removed. The files are numba's pickles: therefore the folder belongs to the user
alone (mode 0700), and one that does not is not used.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import stat
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger("cosim.native")

KEEP_DAYS = 60
DAY = 86400.0


@functools.cache
def folder() -> Path | None:
    """The cache folder (``COSIM_CACHE_DIR``, or the platform's place), or None when it cannot be used."""
    if "COSIM_CACHE_DIR" in os.environ:
        root = Path(os.environ["COSIM_CACHE_DIR"])
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "cosim" / "cache"
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches" / "cosim"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cosim"
    path = root / "kernels"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if sys.platform != "win32":
            status = path.stat()
            if status.st_uid != os.getuid():
                raise PermissionError("it belongs to somebody else")
            if stat.S_IMODE(status.st_mode) & 0o077:
                path.chmod(0o700)
        probe = path / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        log.warning("compiled kernels are not kept: %s: %s", path, error)
        return None
    prune(path)
    return path


def entry(digest: str) -> Path | None:
    """The folder of one digest (which may not exist yet), or None where nothing is kept."""
    root = folder()
    if root is None:
        return None
    path = root / digest
    try:
        if path.exists() and time.time() - path.stat().st_mtime > DAY:
            os.utime(path)
    except OSError as error:
        log.debug("noting the use of %s: %s", path, error)
    return path


def text(digest: str, make: Callable[[], str]) -> str:
    """The text that is kept under a digest, with a digest of its own: a damaged one is made again."""
    root = entry(digest)
    file = None if root is None else root / "text"
    if file is not None and file.is_file():
        try:
            head, _, kept = file.read_text("utf-8").partition("\n")
            if hashlib.sha256(kept.encode()).hexdigest() == head:
                return kept
        except (OSError, UnicodeDecodeError) as error:
            log.warning("%s: %s", file, error)
    made = make()
    if file is not None:
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = file.with_name(f"text-{os.getpid()}-{threading.get_ident()}")
            part.write_text(f"{hashlib.sha256(made.encode()).hexdigest()}\n{made}", "utf-8")
            part.replace(file)
        except OSError as error:
            log.warning("code is not kept: %s: %s", file, error)
    return made


def prune(path: Path) -> None:
    """Remove entries that were not used for `KEEP_DAYS` days; looks at most once a day."""
    stamp = path / ".pruned"
    now = time.time()
    try:
        if stamp.exists() and now - stamp.stat().st_mtime < DAY:
            return
        stamp.touch()
        for entry in path.iterdir():
            if entry.is_dir() and now - entry.stat().st_mtime > KEEP_DAYS * DAY:
                shutil.rmtree(entry, ignore_errors=True)
    except OSError as error:
        log.debug("pruning: %s", error)
