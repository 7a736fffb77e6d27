"""Choosing where results go."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim_workbench.atomic_file import check_folder


def sink_for(path: Path) -> cosim.ResultSink:
    """The registered sink that writes files with this ending.

    Raises
    ------
    CosimError
        When there is none, or the folder is not there.
    """
    check_folder(path)
    suffixes: list[str] = []
    for entry in cosim.registry().entries("result_sink"):
        suffixes += entry.cls.suffixes
        if path.suffix.lower() in entry.cls.suffixes:
            sink: cosim.ResultSink = entry.cls()
            return sink
    known = ", ".join(dict.fromkeys(suffixes))
    raise cosim.CosimError(
        f"{path}: no plugin writes results that end in '{path.suffix}'. There are: {known}."
    )
