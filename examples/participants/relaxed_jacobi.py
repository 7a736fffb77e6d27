"""A master algorithm of one's own, to copy."""

from __future__ import annotations

from typing import ClassVar

import cosim
from cosim.kit import Exchange


class RelaxedJacobi(cosim.MasterAlgorithm):
    """All participants step twice from the same values: the second time with a mean of old and new ones.

    Every participant steps with the outputs of the last communication point; then all go back and step
    again with the mean of what the outputs were and what they have become. The error of the coupling is of
    second order, with weights other than a half of first.

    Parameters
    ----------
    weight : float
        Of the new values, 0 to 1.
    """

    restores: ClassVar[bool] = True  # participants that cannot go back are refused

    def __init__(self, weight: float = 0.5) -> None:
        if not 0.0 <= weight <= 1.0:
            raise cosim.ModelError.of("weight", f"is {weight!r}, needs a number from 0 to 1")
        self.weight = weight
        self.order = 2 if weight == 0.5 else 1  # of the error of the coupling

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of inputs, for `CoSimulation.explain`."""
        return "the mean of its values at t_i and t_{i+1}"

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Step from the communication point `time` to the next one."""
        before, token = exchange.interface(), exchange.save()
        self._step_once(exchange, time, size)
        after = exchange.interface()
        exchange.restore(token)
        exchange.put((1.0 - self.weight) * before + self.weight * after)
        self._step_once(exchange, time, size)

    def _step_once(self, exchange: Exchange, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:  # outputs with direct feedthrough depend on the outputs read so far
            exchange.read_outputs(name, exchange.interface())
