"""The folder in which compiled kernels are kept from one run to the next.

One folder for each digest of everything that the code depends on, so that nothing stale can be found
there. A damaged entry is compiled again, an unwritable folder is used without, entries that nobody
used for a while are removed. The files are numba's pickles: therefore the folder belongs to the user
alone (mode 0700), and one that does not is not used.
"""

from __future__ import annotations

import functools
import logging
import os
import shutil
import stat
import sys
import time
import types
from pathlib import Path
from typing import Any

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


def for_function(function: types.FunctionType, digest: str) -> Any:
    """A numba cache object that keeps this function under its digest, or None without a folder."""
    root = folder()
    if root is None:
        return None
    entry = root / digest
    try:
        if entry.exists() and time.time() - entry.stat().st_mtime > DAY:
            os.utime(entry)
    except OSError:
        pass
    return _cache_class()(function, entry)


@functools.cache
def _cache_class() -> Any:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

    class Locator(_CacheLocator):  # type: ignore[misc]
        """Numba asks where to keep things; the answer is the folder of the digest."""

        def __init__(self, path: Path) -> None:
            self.path = path

        def get_cache_path(self) -> str:
            return str(self.path)

        def get_source_stamp(self) -> str:
            return self.path.name

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, py_func: Any, py_file: Any) -> Any:
            return cls(py_func.__cosim_entry__)

    class Impl(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = [Locator]

    class KernelCache(FunctionCache):  # type: ignore[misc]
        """Falls back to compiling when an entry is damaged, and to not saving when it cannot save."""

        _impl_class = Impl

        def __init__(self, function: Any, entry: Path) -> None:
            function.__cosim_entry__ = entry
            self.missed = False
            super().__init__(function)

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                found = super().load_overload(sig, target_context)
            except Exception as error:
                log.warning("damaged kernel %s is compiled again: %r", self.cache_path, error)
                found = None
            if found is None:
                if not self.missed:
                    log.info("compiling")
                self.missed = True
            return found

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception as error:
                log.warning("kernel is not kept: %s: %s", self.cache_path, error)

    return KernelCache
