"""The iteration of a closed loop of direct feedthrough inside another algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Course, Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.interface_newton import InterfaceNewton
from cosim_master.algorithms.noted_calls import Call

Vector = NDArray[np.float64]


class LoopIteration(InterfaceNewton):
    """Newton's method on the values of a loop: finds outputs that reproduce themselves as inputs.

    The participants of the loop step with the values at t_{i+1} as inputs, held over the step, and are set
    back until the outputs equal these inputs. All other inputs are those of the board.
    """

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set all to the guess, step all, read all."""
        return [
            (layout.PUT_END, ""),
            *((layout.SET, name) for name in order),
            (layout.ADVANCE_ALL, ""),
            *((layout.READ, name) for name in order),
        ]

    def derivatives_of_result(self, feedthrough: Vector, exchange: Exchange) -> Vector:
        """The derivatives as they are, since all inputs are set before any output is read."""
        return feedthrough


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
        place_of = {name: place for place, name in enumerate(exchange.interface_names)}
        self.places = np.array([place_of[name] for name in loop.values], dtype=np.intp)
        self.interface_owners: Sequence[str] = [exchange.interface_owners[place] for place in self.places]
        self.interface_held: Sequence[bool] = [exchange.interface_held[place] for place in self.places]

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """Set inputs as the whole exchange does."""
        self._exchange.set_inputs(name, course)

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant."""
        self._exchange.advance(name, time, size)

    def restore(self, token: Any) -> None:
        """Restore a saved state."""
        self._exchange.restore(token)

    def advance_all(self, time: float, size: float) -> None:
        """Step the participants of the loop."""
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read outputs as the whole exchange does; `end` are values of the loop."""
        self._exchange.read_outputs(name, None if end is None else self._whole(end))

    def interface(self) -> Vector:
        """The values of the loop."""
        return self._exchange.interface()[self.places]

    def put(self, values: Vector) -> None:
        """Write the values of the loop onto the board."""
        self._exchange.put(self._whole(values))

    def derivatives(self) -> Vector | None:
        """The derivatives of the whole exchange, for the values of the loop."""
        matrix = self._exchange.derivatives()
        return None if matrix is None else matrix[np.ix_(self.places, self.places)]

    def _whole(self, values: Vector) -> Vector:
        whole = self._exchange.interface()
        whole[self.places] = values
        return whole

    def save(self, names: Sequence[str] | None = None) -> Any:
        """The state of the participants of the loop."""
        return self._exchange.save(self.order if names is None else names)
