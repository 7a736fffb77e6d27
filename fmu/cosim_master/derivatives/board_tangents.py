"""The tangents of what lies on the board of a co-simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_master.exchange.coupled_participants import CoupledParticipants

Reals = NDArray[np.float64]


class BoardTangents:
    """Tangents of the last values read of each participant, and of the inputs that it was given.

    Parameters
    ----------
    coupled : CoupledParticipants
    directions : int

    Attributes
    ----------
    outputs : dict of str to ndarray, shape (directions, outputs)
        Of what is read of each participant.
    inputs : dict of str to ndarray, shape (directions, inputs)
        Of what each participant holds.
    """

    def __init__(self, coupled: CoupledParticipants, directions: int) -> None:
        self._coupled, self.directions, self.size = coupled, directions, len(coupled.places)
        self.outputs = _zeros(directions, coupled.reads)
        self.inputs = _zeros(directions, coupled.input_names)

    @property
    def paths(self) -> list[str]:
        """``participant.variable`` of each column of `row`."""
        coupled = self._coupled
        return [
            f"{name}.{v}"
            for names in (coupled.reads, coupled.input_names)
            for name in names
            for v in names[name]
        ]

    def row(self) -> Reals:
        """All tangents as they are, shape (directions, columns): a copy."""
        columns = [np.zeros((self.directions, 0)), *self.outputs.values(), *self.inputs.values()]
        return np.concatenate(columns, axis=1)

    def put_row(self, row: Reals) -> None:
        """Make them what `row` returned."""
        at = 0
        for columns in (*self.outputs.values(), *self.inputs.values()):
            columns[:] = row[:, at : at + columns.shape[1]]
            at += columns.shape[1]

    def interface(self) -> Reals:
        """The tangents of the interface, shape (directions, values)."""
        columns = [self.outputs[name][:, place] for name, place in self._coupled.places]
        return np.array(columns).T.reshape(self.directions, self.size)

    def put_interface(self, dots: Reals) -> None:
        """Write tangents of the interface, shape (directions, values)."""
        for k, (name, place) in enumerate(self._coupled.places):
            self.outputs[name][:, place] = dots[:, k]

    def input_dots(self, name: str, lines: Reals | None = None) -> Reals:
        """The tangents of the connected inputs of a participant, from the board or from an interface."""
        feeds = self._coupled.feeds(name)
        dots = np.zeros((self.directions, len(feeds)))
        for j, (source, place, at, link) in enumerate(feeds):
            if link.table is None and link.kind is float:
                read = self.outputs[source][:, place] if lines is None or at < 0 else lines[:, at]
                dots[:, j] = link.factor * read
        return dots

    def is_read(self, name: str, step_index: int) -> bool:
        """Whether a participant has reached the end of a communication step: longer steps end with some."""
        reached = step_index + 1
        return reached % self._coupled.step_multiple[name] == 0 or reached == self._coupled.point_count


def solve(answer: Callable[[Reals], Reals], directions: int, m: int) -> None:
    """Find the guess that is its own answer, which is linear in it; the last call is with this guess.

    Parameters
    ----------
    answer : callable
        Of an array, shape (directions, m).
    directions : int
    m : int
    """
    start = answer(np.zeros((directions, m)))
    matrix = np.zeros((m, m))
    for first in range(0, m, directions):
        columns = range(first, min(first + directions, m))
        units = np.zeros((directions, m))
        units[range(len(columns)), columns] = 1.0
        matrix[:, columns] = (answer(units) - start)[: len(columns)].T
    with np.errstate(all="ignore"):
        try:
            ends: Reals = np.asarray(np.linalg.solve(np.eye(m) - matrix, start.T).T, dtype=np.float64)
        except np.linalg.LinAlgError:
            ends = np.full((directions, m), np.nan)
    answer(ends)


def _zeros(directions: int, names: Mapping[str, Sequence[str]]) -> dict[str, Reals]:
    return {name: np.zeros((directions, len(of))) for name, of in names.items()}
