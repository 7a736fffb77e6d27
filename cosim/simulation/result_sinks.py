"""The plugin that writes or reads a file of results, by the ending of its name."""

from __future__ import annotations

from pathlib import Path

from cosim.contracts.result_sink import ResultSink
from cosim.errors import CosimError


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

    sinks = {
        suffix: entry.cls
        for entry in registry().entries("result_sink")
        if not reads or entry.cls.read is not ResultSink.read
        for suffix in entry.cls.suffixes
    }
    found = sinks.get(path.suffix.lower())
    if found is None:
        does, known = "reads" if reads else "writes", ", ".join(sorted(sinks))
        raise CosimError(f"{path}: no plugin {does} results that end in '{path.suffix}'. There are: {known}.")
    made: ResultSink = found()
    return made
