"""Results from files."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from cosim.simulation.result import Result
from cosim.simulation.result_sinks import result_sink


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
