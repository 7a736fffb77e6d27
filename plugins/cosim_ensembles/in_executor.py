"""Runs of an ensemble in the workers of an executor."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from cosim.kit import FailedRun, failures
from cosim_ensembles.chunks import run_in_chunks
from cosim_ensembles.ensemble_call import EnsembleCall

Ensemble = Any
"""`cosim_ensembles.batch_ensemble.BatchEnsemble`, which imports this."""


def run_in_executor(ensemble: Ensemble, call: EnsembleCall, executor: Executor, chunk: int | None) -> bool:
    """Do the runs of a call in the workers of an executor; whether `progress` has stopped them.

    Results are written by number, so each run counts once. Values over time that go to parts are written
    by the workers, and do not come here.
    """
    job, block, parts = ensemble.job_for(executor), call.block, call.parts

    def arguments_of(first: int, last: int) -> tuple[Any, ...]:
        values = {path: column[first:last] for path, column in call.changes.given.items()}
        return values, last - first, None if parts is None else parts.of_runs(first, last)

    def fail(run: int, reason: str) -> None:
        lost = ensemble.new_block(1)
        lost.codes[0] = failures.FAILED
        lost.failures[0] = FailedRun(0, np.nan, reason)
        lost.series = None if parts is not None else lost.series
        call.store(run, run + 1, vars(lost))

    most = None if block.series is not None else ensemble.plan.most_runs
    return not run_in_chunks(job, block.runs, arguments_of, call.store, fail, call.goes_on, chunk, most)
