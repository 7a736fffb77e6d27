"""Choosing where results go."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim.kit import result_sink
from cosim_workbench.atomic_file import check_folder
from cosim_workbench.parquet_results import ParquetResults, check_parquet


def sink_for(path: Path) -> cosim.ResultSink:
    """The registered sink that writes files with this ending.

    Raises
    ------
    CosimError
        When there is none, or the folder is not there.
    """
    if path.suffix.lower() in ParquetResults.suffixes:
        check_parquet(path)
    else:
        check_folder(path)
    return result_sink(path)
