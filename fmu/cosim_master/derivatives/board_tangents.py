"""The tangents of the values on the board of a co-simulation, which were read or set last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_master.exchange.coupled_participants import CoupledParticipants

Reals = NDArray[np.float64]


class BoardTangents:
    """Tangents of the last outputs read of each participant, and of the last inputs set in it.

    Parameters
    ----------
    coupled : CoupledParticipants
    directions : int

    Attributes
    ----------
    outputs : dict of str to ndarray, shape (directions, outputs)
        Tangents of the outputs in `CoupledParticipants.reads`, by participant.
    inputs : dict of str to ndarray, shape (directions, inputs)
        Tangents of the connected inputs, by participant.
    """

    def __init__(self, coupled: CoupledParticipants, directions: int) -> None:
        self._coupled, self.directions, self.size = coupled, directions, len(coupled.interface.places)
        self.outputs = _zeros(directions, coupled.reads)
        self.inputs = _zeros(directions, coupled.interface.input_names)

    @property
    def paths(self) -> list[str]:
        """``participant.variable`` of each column of `row`."""
        coupled = self._coupled
        return [
            f"{name}.{v}"
            for names in (coupled.reads, coupled.interface.input_names)
            for name in names
            for v in names[name]
        ]

    def row(self) -> Reals:
        """A copy of all tangents, shape (directions, columns), by the `paths`."""
        columns = [np.zeros((self.directions, 0)), *self.outputs.values(), *self.inputs.values()]
        return np.concatenate(columns, axis=1)

    def put_row(self, row: Reals) -> None:
        """Restore all tangents from an array that `row` returned."""
        at = 0
        for columns in (*self.outputs.values(), *self.inputs.values()):
            columns[:] = row[:, at : at + columns.shape[1]]
            at += columns.shape[1]

    def interface(self) -> Reals:
        """The tangents of the interface, shape (directions, values)."""
        columns = [self.outputs[name][:, place] for name, place in self._coupled.interface.places]
        return np.array(columns).T.reshape(self.directions, self.size)

    def put_interface(self, dots: Reals) -> None:
        """Write tangents of the interface, shape (directions, values)."""
        for k, (name, place) in enumerate(self._coupled.interface.places):
            self.outputs[name][:, place] = dots[:, k]

    def input_dots(self, name: str, interface_dots: Reals | None = None) -> Reals:
        """The tangents of the connected inputs of a participant, from the board or from an interface."""
        feeds = self._coupled.interface.feeds[name]
        dots = np.zeros((self.directions, len(feeds)))
        for j, feed in enumerate(feeds):
            if feed.link.table is not None or feed.link.kind is not float:
                continue  # integers and values from a table do not vary
            if interface_dots is None or feed.interface_place < 0:
                read = self.outputs[feed.source][:, feed.place]
            else:
                read = interface_dots[:, feed.interface_place]
            dots[:, j] = feed.link.factor * read
        return dots


def _zeros(directions: int, names: Mapping[str, Sequence[str]]) -> dict[str, Reals]:
    return {name: np.zeros((directions, len(variables))) for name, variables in names.items()}
