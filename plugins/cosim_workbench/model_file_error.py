"""The error of a model file."""

from __future__ import annotations

import cosim


class ModelFileError(cosim.ModelError):
    """Faults of a model file, each with file and line, and how many there are."""

    def __str__(self) -> str:
        count = len(self.problems)
        lines = [_aligned(problem) for problem in self.problems]
        return "\n".join([*lines, f"{count} problem{'s' * (count != 1)}, nothing was run."])


def _aligned(problem: cosim.Problem) -> str:
    """Further lines of a text stand below the label of the first."""
    place = problem.where.rpartition(": ")[0]
    margin = " " * (len(place) + 2)
    return str(problem).replace("\n", f"\n{margin}")
