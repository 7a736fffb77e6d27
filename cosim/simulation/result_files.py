"""Files of results: the plugin that writes or reads one, by the ending of its name."""

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
    """The registered sink for files with this ending.

    Parameters
    ----------
    path : Path
    reads : bool
        Whether it has to read them.

    Raises
    ------
    CosimError
        There is none; lists the endings that there are.
    """
    from cosim.registration.registry import registry

    entries = registry().entries("result_sink")
    fitting = [entry for entry in entries if path.suffix.lower() in entry.suffixes]
    sink = next((entry.cls for entry in reversed(fitting) if not reads or _reads(entry.cls)), None)
    if sink is None:
        sinks = {suffix for entry in entries if not reads or _reads(entry.cls) for suffix in entry.suffixes}
        instead = "" if reads or ".csv" not in sinks else f": write {path.with_suffix('.csv')}"
        does, endings = "reads" if reads else "writes", ", ".join(sorted(sinks))
        raise CosimError(
            f"{path}: no plugin {does} results that end in '{path.suffix}'. There are: {endings}{instead}."
        )
    writer: ResultSink = sink()
    return writer


def _reads(sink: type[ResultSink]) -> bool:
    return sink.read is not ResultSink.read


def read_result(path: str | PathLike[str]) -> Result:
    """Read results that a plugin can read: CSV of ours and of other tools, Parquet.

    Parameters
    ----------
    path : path_like
        The ending says what it is: ``.csv``, ``.parquet`` (a file, or a folder with part files).

    Returns
    -------
    Result

    Raises
    ------
    CosimError
        No such file, or one that is none of these, with its line.

    Examples
    --------
    >>> read_result("run.xyz")
    Traceback (most recent call last):
    ...
    cosim.errors.CosimError: run.xyz: no plugin reads results that end in '.xyz'. There are: .csv, .parquet.
    """
    return result_sink(Path(path), reads=True).read(Path(path))


def save_result(sink: ResultSink, result: Result, target: Path, rows: int = 0) -> None:
    """Write results as `save_somewhere` does.

    Parameters
    ----------
    sink : ResultSink
    result : Result
    target : Path
    rows : int
        How many of its rows the sink has written there before.
    """

    def write(path: Path) -> None:
        if rows and path == target:
            sink.extend(result, path, rows)
        else:
            sink.write(result, path)

    save_somewhere(write, target)


def save_somewhere(write: Callable[[Path], object], target: Path) -> None:
    """Write a file; where that fails, since a disk is full, elsewhere, and say where.

    Parameters
    ----------
    write : callable
        Writes the file of a path.
    target : Path

    Raises
    ------
    NotWrittenError
        It could not be written to `target`; the message says where it is.
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
        except (CosimError, OSError):  # nor elsewhere
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
                with suppress(OSError):  # without files that it may open, that has removed nothing
                    folder.rmdir()
            raise error from None
        raise NotWrittenError(f"{error}. The results are in {spare}", spare) from error
