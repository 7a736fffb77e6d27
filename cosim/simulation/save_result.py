"""Results that have been computed are not lost because a disk is full."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cosim.errors import CosimError
from cosim.simulation.result import Result

if TYPE_CHECKING:
    from cosim.contracts.result_sink import ResultSink

log = logging.getLogger("cosim.simulation")


def save_result(sink: ResultSink, result: Result, target: Path, rows: int = 0) -> None:
    """Write results; where that fails, elsewhere, and say where.

    Parameters
    ----------
    sink : ResultSink
    result : Result
    target : Path
    rows : int
        How many of its rows the sink has written there before.

    Raises
    ------
    CosimError
        They could not be written to `target`; the message says where they are.
    """
    try:
        if rows:
            sink.extend(result, target, rows)
        else:
            sink.write(result, target)
        log.info("written %s", target)
    except (CosimError, OSError) as error:
        try:
            folder = Path(tempfile.mkdtemp(prefix="cosim-results-"))
            spare = folder / f"{target.stem}{target.suffix or '.csv'}"
            sink.write(result, spare)
        except (CosimError, OSError):
            raise error from None  # nor elsewhere
        raise CosimError(f"{error}. The results are in {spare}") from error
