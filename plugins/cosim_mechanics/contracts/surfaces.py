"""The geometry of two surfaces that touch: place, depth, and velocities there."""

from __future__ import annotations

import cosim
from cosim_mechanics.contracts.force_element import ForceElement
from cosim_mechanics.spatial import dot, minus, point_velocity


class Surfaces(ForceElement):
    """Base of all contacts: the geometry of two surfaces, and how fast they approach and slip.

    A subclass writes ``depth``, ``normal`` and ``point`` from the poses; another base class defines the law
    of the forces (`Contact`, or one of another author).

    Frames and signs
    ----------------
    The normal points from body 1 to body 2. depth > 0 if the surfaces penetrate each other, depth_rate > 0
    while the depth grows. slip_velocity is that of body 2 relative to body 1, along the surfaces.

    Stage
    -----
    Depth, normal and point at POSITION, depth_rate and slip_velocity at VELOCITY.
    """

    depth = cosim.cache_slot(unit="m", description="of the surfaces in each other")
    normal = cosim.cache_slot(shape=3, description="from body 1 to body 2, in Ground")
    point = cosim.cache_slot(unit="m", shape=3, description="where the forces act, in Ground")
    depth_rate = cosim.cache_slot(unit="m/s", description="speed of going in")
    slip_velocity = cosim.cache_slot(unit="m/s", shape=3, description="along the surfaces, in Ground")

    def plane_of_contact(self) -> tuple[float, ...]:
        """The plane on body 1 that this contact shares with others, as a pose X_B1F; by default none.

        Contacts of two bodies in one plane break loose together.
        """
        return ()

    @cosim.kernel
    def velocity(X_GB1, V_GB1, X_GB2, V_GB2, normal, point, depth_rate, slip_velocity):
        v = minus(point_velocity(V_GB2, X_GB2, point), point_velocity(V_GB1, X_GB1, point))
        speed_apart = dot(v, normal)
        depth_rate[0] = -speed_apart
        for i in range(3):
            slip_velocity[i] = v[i] - speed_apart * normal[i]
