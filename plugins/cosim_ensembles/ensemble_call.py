"""The runs of one call of an ensemble, and where their results go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cosim_ensembles.batch_result import BatchResult
from cosim_ensembles.block import Block
from cosim_ensembles.changes import Changes
from cosim_ensembles.plan import Plan

Progress = Callable[[int, int], "bool | None"]
"""Receives the number of runs that have ended, and of all runs; False stops them."""


@dataclass(frozen=True)
class EnsembleCall:
    """The runs of one call.

    Attributes
    ----------
    plan : Plan
    changes : Changes
        The differences between the runs.
    block : Block
        The results of the runs.
    progress, parts, each
        As for `Ensemble.run`.
    """

    plan: Plan
    changes: Changes
    block: Block
    progress: Progress | None
    parts: Any
    each: Callable[[int, BatchResult], Any] | None

    def store(self, first: int, last: int, rows: dict[str, Any]) -> None:
        """Store the results of runs `first` … `last` - 1, given as `vars` of a block, and pass them on."""
        self.block.store(first, last, rows)
        if self.each is not None:
            values = self.changes.of_runs(first, last).given
            self.each(first, BatchResult(self.plan, values, Block.of(rows), parts=self.parts))

    def goes_on(self) -> bool:
        """Report how many runs have ended. Returns whether the others are to be made."""
        return self.progress is None or self.progress(self.block.ended, self.block.runs) is not False
