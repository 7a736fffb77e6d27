"""The integral of a signal over time."""

from __future__ import annotations

from typing import Any

import cosim
from cosim import Stage


class Integrate(cosim.Measure):
    """The integral of a signal over time, as a state of the system.

    Law: d(value)/dt = source, from its start value on; the derivatives are those of the source, one order
    higher. The value is a state of the system: it needs no computation, and error control takes account of
    it. The unit is that of the source times s.

    Parameters
    ----------
    source : measure or path of a signal
        What is integrated.
    value : float, or one for each element
        Start value.
    initial : measure or path of a signal, optional
        What the integral is when the simulation is initialized, instead of the start value.

    Examples
    --------
    >>> Integrate(source="power", value=-0.25).value
    -0.25
    """

    known_as = ("integrator", "integral")
    source = cosim.source(description="what is integrated")
    initial = cosim.source(unit="{value}", optional=True, description="start value, from a signal")
    value = cosim.auxiliary_state(unit="{source}.s", description="the integral so far")
    value_dot = None
    value_dot4 = cosim.cache_slot(description="its fourth time derivative")

    @cosim.kernel
    def derivative(source, value_dot):
        value_dot[0] = source

    @cosim.kernel
    def second_derivative(source_dot, value_dot2):
        value_dot2[0] = source_dot

    @cosim.kernel
    def third_derivative(source_dot2, value_dot3):
        value_dot3[0] = source_dot2

    @cosim.kernel
    def fourth_derivative(source_dot3, value_dot4):
        value_dot4[0] = source_dot3

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(initial, value_next):
        if initial == initial:
            value_next[0] = initial

    def depends_on_stage(self, system: cosim.System, order: int = 0) -> Stage:
        """The value is known at any stage, a derivative when that of the source is."""
        if order == 0 or not self.is_in(system):
            return super().depends_on_stage(system, order)
        return system.stage_of(system.signal(self._source(system, order - 1)).slot)

    def read(self, state: cosim.State, order: int = 0) -> Any:
        """The integral, or one of its time derivatives, which are those of the source."""
        if order == 0 or order > self.number_of_derivatives():
            return super().read(state, order)
        return state[self._source(state.system, order - 1)]

    def _source(self, system: cosim.System, order: int) -> str:
        source = self.values.attachments["source"]
        signal = system.signal(source.name if isinstance(source, cosim.Component) else source)
        return f"{signal.part}.{signal.name}" + ("", "_dot", "_dot2", "_dot3")[order]
