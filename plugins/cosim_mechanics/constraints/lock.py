"""A coordinate that is held where it is put."""

from __future__ import annotations

import cosim


class Lock(cosim.Constraint):
    """Holds a coordinate of a joint at a value.

    Law: q = value. It is turned on and off in each State by ``enabled``: ``state["lock.value"] =
    state["hinge.q"][0]; state["lock.enabled"] = 1`` locks it where it is. A speed is locked by
    `mechanics.constant_speed`, an acceleration by `mechanics.constant_acceleration`.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
        One whose rate is its speed (pin, slider, …).
    value : float, SI, default 0

    References
    ----------
    Simbody 3.7, ``MobilizedBody::lock``.

    Examples
    --------
    >>> Lock(coordinate="hinge", value=0.5, enabled=False).enabled
    0.0
    """

    coordinate = cosim.coordinate(description="what is held")
    value = cosim.parameter(default=0.0, description="where it is held")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate)]

    @cosim.kernel
    def position_error(q, value, position_error):
        position_error[0] = q - value
