"""The runs of a comparison, by their starts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from cosim_workbench.compared_runs import VerifiedRun

MOVED_BY_ROUNDING = 1e-15
"""A start that was moved by no more was moved by rounding."""


class RunGroups:
    """The runs of a comparison, by their starts; runs that failed are in no group.

    Parameters
    ----------
    runs : sequence of VerifiedRun
        The one that was asked for first.

    Attributes
    ----------
    requested : VerifiedRun
        The one that was asked for.
    opinions : list of VerifiedRun
        Runs from its start.
    moved_by_rounding, moved_by_accuracy : list of VerifiedRun
        Runs from a start that was moved by rounding, or by an accuracy, and has crossed no threshold.
    """

    def __init__(self, runs: Sequence[VerifiedRun]) -> None:
        self.requested = runs[0]
        self.ended = [run for run in runs if not run.failure]
        self.opinions = [run for run in self.ended if not run.start_moved_by]
        moved = [run for run in self.ended if run.start_moved_by and not self.thresholds_crossed(run)]
        self.moved_by_rounding = [run for run in moved if run.start_moved_by <= MOVED_BY_ROUNDING]
        self.moved_by_accuracy = [run for run in moved if run.start_moved_by > MOVED_BY_ROUNDING]

    def thresholds_crossed(self, run: VerifiedRun) -> set[str]:
        """Witnesses on whose wrong side a moved start lies: what happens from there is another matter."""
        return run.wrong_sides - self.requested.wrong_sides

    def counterpart(self, run: VerifiedRun) -> VerifiedRun:
        """The run from the original start that differs from a moved one in its start alone."""
        return next((other for other in self.opinions if other.name == run.counterpart), self.requested)

    @property
    def compared(self) -> list[VerifiedRun]:
        """The runs of all groups."""
        return [*self.opinions, *self.moved_by_rounding, *self.moved_by_accuracy]

    @property
    def pairs(self) -> list[tuple[VerifiedRun, VerifiedRun]]:
        """The runs that are compared with each other: opinions, and each moved run with its counterpart."""
        moved = [*self.moved_by_rounding, *self.moved_by_accuracy]
        return [*combinations(self.opinions, 2), *((self.counterpart(run), run) for run in moved)]
