"""Ground: the body that does not move."""

from __future__ import annotations

import cosim
from cosim_mechanics.mass_properties import TURNING_UNITS
from cosim_mechanics.spatial import IDENTITY, POSE_UNITS, clear, put12


class Ground(cosim.Component):
    """The inertial frame G as a body that other parts can be attached to.

    Law: X_GB is the identity, V_GB and A_GB are zero. Forces on Ground are summed up like those on any other
    body (`F_GB`) and have no effect.

    Frames and signs
    ----------------
    G is right-handed; which way is up is decided by the direction of gravity alone.

    Stage
    -----
    INSTANCE: pose, velocity and acceleration never change.

    Examples
    --------
    >>> Ground().values.numbers
    {}
    """

    X_GB = cosim.cache_slot(unit=POSE_UNITS, shape=12, description="pose of the body in Ground: the identity")
    V_GB = cosim.cache_slot(unit=["rad/s"] * 3 + ["m/s"] * 3, shape=6, description="zero")
    A_GB = cosim.cache_slot(unit=["rad/s2"] * 3 + ["m/s2"] * 3, shape=6, description="zero")
    inverse_mass = cosim.cache_slot(unit="1/kg", internal=True, description="zero")
    turning = cosim.cache_slot(unit=TURNING_UNITS, shape=9, internal=True, description="zero")
    F_GB = cosim.cache_slot(
        unit=["N.m"] * 3 + ["N"] * 3,
        shape=6,
        accumulates=True,
        description="force elements on Ground, about its origin",
    )

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def rest(X_GB, V_GB, A_GB, inverse_mass, turning):
        put12(X_GB, IDENTITY)
        inverse_mass[0] = 0.0
        clear(turning, 9)
        for i in range(6):
            V_GB[i] = 0.0
            A_GB[i] = 0.0
