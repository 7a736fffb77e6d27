"""Runs of an ensemble in the workers of an executor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np

from cosim.kit import FailedRun, failures
from cosim_ensembles.block import Block
from cosim_ensembles.changes import Changes
from cosim_ensembles.chunks import run_in_chunks

Ensemble = Any
"""`cosim_ensembles.batch_ensemble.BatchEnsemble`, which imports this."""


def run_in_executor(
    ensemble: Ensemble,
    changes: Changes,
    block: Block,
    executor: Executor,
    progress: Callable[[int, int], Any] | None,
    chunk: int | None,
    parts: Any,
    take: Callable[[int, int, dict[str, Any]], None],
) -> bool:
    """Do the runs of a block in the workers of an executor; whether `progress` has stopped them.

    Results are written by number, so each run counts once. Values over time that go to `parts` are written
    by the workers, and do not come here. `take` gets a span and the block of its runs, as `vars`.
    """
    job = ensemble.job_for(executor)

    def arguments_of(first: int, last: int) -> tuple[Any, ...]:
        values = {path: column[first:last] for path, column in changes.given.items()}
        return values, last - first, None if parts is None else parts.some(first, last)

    def fail(run: int, reason: str) -> None:
        lost = ensemble.new_block(1)
        lost.codes[0] = failures.FAILED
        lost.failures[0] = FailedRun(0, np.nan, reason)
        lost.series = None if parts is not None else lost.series
        take(run, run + 1, vars(lost))

    def goes_on() -> bool:
        return progress is None or progress(int((block.codes >= 0).sum()), block.runs) is not False

    most = None if block.series is not None else ensemble.plan.most_runs
    return not run_in_chunks(job, block.runs, arguments_of, take, fail, goes_on, chunk, most)
