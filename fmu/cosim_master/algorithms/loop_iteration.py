"""One communication step of the participants on a closed loop of direct feedthrough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Course, Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.programmed_algorithm import Call
from cosim_master.algorithms.waveform_iteration import InterfaceNewton

Vector = NDArray[np.float64]


class LoopIteration(InterfaceNewton):
    """Finds the outputs on a loop such that the inputs that they become lead to them.

    The participants of the loop step with the values at t_{i+1} as inputs, held over the step, and are set
    back until what comes out is what went in: Newton's method on the values of the loop. All other inputs are
    what they are on the board.
    """

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set all to what is expected, step all, read all."""
        return [
            (layout.PUT_END, ""),
            *((layout.SET, name) for name in order),
            (layout.ADVANCE_ALL, ""),
            *((layout.READ, name) for name in order),
        ]

    def answer(self, through: Vector, exchange: Exchange) -> Vector:
        """All inputs are set before any output is read."""
        return through


class LoopExchange:
    """The part of an exchange that belongs to a loop: its participants, and its values as interface.

    Parameters
    ----------
    exchange : Exchange
    loop : FeedthroughLoop
    """

    loops: Sequence[FeedthroughLoop] = ()
    bonds: Sequence[tuple[int, int]] = ()

    def __init__(self, exchange: Exchange, loop: FeedthroughLoop) -> None:
        self._exchange = exchange
        self.can_restore = exchange.can_restore
        self.order: Sequence[str] = loop.participants
        self.interface_names: Sequence[str] = loop.values
        known = {name: place for place, name in enumerate(exchange.interface_names)}
        self.places = np.array([known[name] for name in loop.values], dtype=np.intp)
        self.interface_owners: Sequence[str] = [exchange.interface_owners[place] for place in self.places]
        self.interface_held: Sequence[bool] = [exchange.interface_held[place] for place in self.places]

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """As the whole exchange does."""
        self._exchange.set_inputs(name, course)

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant."""
        self._exchange.advance(name, time, size)

    def restore(self, token: Any) -> None:
        """Go back to a saved state."""
        self._exchange.restore(token)

    def advance_all(self, time: float, size: float) -> None:
        """Step the participants of the loop."""
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """As the whole exchange does; `end` are values of the loop."""
        self._exchange.read_outputs(name, None if end is None else self._whole(end))

    def interface(self) -> Vector:
        """The values of the loop."""
        return self._exchange.interface()[self.places]

    def put(self, values: Vector) -> None:
        """Write the values of the loop onto the board."""
        self._exchange.put(self._whole(values))

    def derivatives(self) -> Vector | None:
        """As the whole exchange, of the values of the loop."""
        found = self._exchange.derivatives()
        return None if found is None else found[np.ix_(self.places, self.places)]

    def _whole(self, values: Vector) -> Vector:
        whole = self._exchange.interface()
        whole[self.places] = values
        return whole

    def save(self, names: Sequence[str] | None = None) -> Any:
        """The state of the participants of the loop."""
        return self._exchange.save(self.order if names is None else names)
