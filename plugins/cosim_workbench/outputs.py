"""Choosing where results go."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim.kit import check_folder, result_sink


def sink_for(path: Path) -> cosim.ResultSink:
    """The registered sink that writes files with this ending.

    Raises
    ------
    CosimError
        When there is none, or the folder is not there.
    """
    sink = result_sink(path)
    if type(sink).check is cosim.ResultSink.check:
        check_folder(path)
    sink.check(path)
    return sink
