"""Points inside a step that has ended, for histories that keep more than the ends of steps."""

from __future__ import annotations

from cosim.contracts.integrator import Integrator
from cosim.integration.own_past import points_inside
from cosim.system.history_buffer import forget_after
from cosim.system.state import State
from cosim.system.system import System


class StepInterior:
    """Runs the updates "inside" of a system after a step, on the integrator's dense output.

    Parameters
    ----------
    system : System
    """

    def __init__(self, system: System) -> None:
        self.system = system
        first, last = system.update_ranges["inside"]
        self._scratch = system.default_state() if first != last else None

    def remember(self, state: State, integrator: Integrator) -> None:
        """Append the points inside the last step, which ended at the State's time, to histories.

        All points are computed before the first one is remembered: a step that looks into itself has left
        its own past in the histories, which is replaced.

        Raises
        ------
        SimulationError
            A component cannot be evaluated there.
        """
        scratch = self._scratch
        if scratch is None or not integrator.previous_time < state.time:
            return
        system, start = self.system, integrator.previous_time
        mine, theirs = scratch._arrays, state._arrays
        for name in "pdkh":
            mine[name] = theirs[name]
        count = points_inside(integrator.capabilities.dense_order)
        times = [start + (state.time - start) * i / (count + 1) for i in range(1, count + 1)]
        computed = []
        for time in times:
            mine["c"] = theirs["c"].copy()
            integrator.interpolate(time, mine["y"])
            scratch._time = time
            failed = system.walk(scratch, *system.derivative_range)
            if failed:
                raise system.failure(scratch, failed - 1)
            computed.append(mine["c"])
        for ring in system.rings:
            forget_after(theirs["h"], theirs["k"][ring.offset : ring.offset + ring.size], start)
        for time, cache in zip(times, computed, strict=True):
            mine["c"], scratch._time = cache, time
            system.run_auto_updates(scratch, -1.0, at="inside")
        theirs["h"] = mine["h"]
