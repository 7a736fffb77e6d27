"""A coordinate that is held where it is put."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class Lock(contracts.Constraint):
    """Holds a coordinate of a joint at a value.

    Law: q = value. It is turned on and off in each State: `lock` holds the coordinate where it is, `lock_at`
    at a given value, `unlock` frees it. A speed is locked by `mechanics.constant_speed`, an acceleration by
    `mechanics.constant_acceleration`.

    Limits
    ------
    What moves when it is locked is stopped with the smallest change of speeds in the metric of the mass
    matrix (an inelastic stop) as soon as the State is simulated.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
        One whose rate is its speed (pin, slider, …; of a free joint ``"joint[3]"`` to ``"joint[5]"``, its
        position).
    value : float, SI, default 0

    References
    ----------
    Simbody 3.7, ``MobilizedBody::lock``.

    Examples
    --------
    >>> Lock(coordinate="hinge", value=0.5, enabled=False).enabled
    0.0
    """

    coordinate = contracts.coordinate(description="what is held")
    value = cosim.parameter(unit="{q}", default=0.0, description="where it is held")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate)]

    def lock(self, state: cosim.State) -> None:
        """Hold the coordinate where it is in this State."""
        self.lock_at(state, 0.0)
        state.realize(cosim.Stage.POSITION)
        self.lock_at(state, float(state[f"{self.name}.position_error"][0]))

    def lock_at(self, state: cosim.State, value: float) -> None:
        """Hold the coordinate at a value, rad or m; it goes there as soon as the State is simulated."""
        state[f"{self.name}.value"] = value
        state[f"{self.name}.enabled"] = 1

    def unlock(self, state: cosim.State) -> None:
        """Let the coordinate go."""
        state[f"{self.name}.enabled"] = 0

    def is_locked(self, state: cosim.State) -> bool:
        """Whether the coordinate is held in this State."""
        return bool(state[f"{self.name}.enabled"])

    @cosim.kernel
    def position_error(q, value, position_error):
        position_error[0] = q - value
