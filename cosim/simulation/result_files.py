"""Reads and writes files of results with the plugin that is registered for their suffix."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from os import PathLike
from pathlib import Path

from cosim.contracts.result_sink import ResultSink
from cosim.errors import CosimError, NotWrittenError
from cosim.simulation.result import Result

log = logging.getLogger("cosim.simulation")


def result_sink(path: Path, *, reads: bool = False) -> ResultSink:
    """The registered sink for files with this suffix.

    Parameters
    ----------
    path : Path
    reads : bool
        Only sinks that can read.

    Raises
    ------
    CosimError
        No sink has this suffix; the message lists the supported ones.
    """
    from cosim.registration.registry import registry

    entries = registry().entries("result_sink")
    # the plugin that is registered last wins; classes of plugins for other suffixes are not imported
    with_suffix = [entry for entry in entries if path.suffix.lower() in entry.suffixes]
    sink_class = next((e.cls for e in reversed(with_suffix) if not reads or _can_read(e.cls)), None)
    if sink_class is None:
        candidates = [entry for entry in entries if not reads or _can_read(entry.cls)]
        suffixes = sorted({suffix for entry in candidates for suffix in entry.suffixes})
        instead = "" if reads or ".csv" not in suffixes else f": write {path.with_suffix('.csv')}"
        verb = "reads" if reads else "writes"
        raise CosimError(
            f"{path}: no plugin {verb} results that end in '{path.suffix}'. "
            f"There are: {', '.join(suffixes)}{instead}."
        )
    sink: ResultSink = sink_class()
    return sink


def _can_read(sink: type[ResultSink]) -> bool:
    """Whether a sink overrides `ResultSink.read`."""
    return sink.read is not ResultSink.read


def read_result(path: str | PathLike[str]) -> Result:
    """Read a file of results: CSV (written by cosim or by other tools), Parquet.

    Parameters
    ----------
    path : path_like
        The suffix is the format: ``.csv``, ``.parquet`` (a file, or a folder with part files).

    Returns
    -------
    Result

    Raises
    ------
    CosimError
        The file does not exist or is malformed (the message names the line), or no plugin reads this suffix.

    Examples
    --------
    >>> read_result("run.xyz")
    Traceback (most recent call last):
    ...
    cosim.errors.CosimError: run.xyz: no plugin reads results that end in '.xyz'. There are: .csv, .parquet.
    """
    return result_sink(Path(path), reads=True).read(Path(path))


def save_result(sink: ResultSink, result: Result, target: Path, rows: int = 0) -> None:
    """Write results; if that fails, write them to a new temporary folder, as `save_somewhere` does.

    Parameters
    ----------
    sink : ResultSink
    result : Result
    target : Path
    rows : int
        Number of leading rows that are in the file already: only later ones are appended.
    """

    def write(path: Path) -> None:
        if rows and path == target:
            sink.extend(result, path, rows)
        else:
            sink.write(result, path)

    save_somewhere(write, target)


def save_somewhere(write: Callable[[Path], object], target: Path) -> None:
    """Write a file; if that fails, write it to a new temporary folder.

    Parameters
    ----------
    write : callable
        Writes the file of the path that it gets; may raise `CosimError` or `OSError`.
    target : Path

    Raises
    ------
    NotWrittenError
        `target` could not be written; the message names the file in the temporary folder.
    CosimError, OSError
        Neither could be written: the error about `target`.
    """
    try:
        write(target)
        log.info("written %s", target)
    except (CosimError, OSError) as error:
        folder: Path | None = None
        try:
            folder = Path(tempfile.mkdtemp(prefix="cosim-results-"))
            spare = folder / f"{target.stem}{target.suffix or '.csv'}"
            write(spare)
        except (CosimError, OSError):  # the second file cannot be written, either
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
                with suppress(OSError):  # `rmtree` needs a descriptor: without one it removes nothing
                    folder.rmdir()
            raise error from None
        raise NotWrittenError(f"{error}. The results are in {spare}", spare) from error
