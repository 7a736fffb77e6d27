"""A rigid body whose moments of inertia are taken as they are written."""

from __future__ import annotations

import cosim
from cosim_mechanics.mass_properties import NO_SUCH_BODY, inertia_as_written
from cosim_mechanics.rigid_body import RigidBody


class UncheckedBody(RigidBody):
    """A `RigidBody` that may have moments of inertia that no distribution of mass has.

    Law: I w_dot + w x (I w) = tau and m a = f, as of `RigidBody`.

    Files of robots have such moments: estimated, rounded, or changed so that a controller works. The
    equations of motion hold as long as the mass matrix of the model is positive definite.

    Limits
    ------
    The mass is positive. Where the mass matrix is not positive definite, the solver reports it, or the motion
    gains energy from nowhere.

    Parameters
    ----------
    mass, center_of_mass, inertia, feels_gravity
        As of `RigidBody`.

    Examples
    --------
    >>> UncheckedBody(mass=1.0, inertia=(1, 1, 5)).inertia.tolist()
    [1.0, 1.0, 5.0, 0.0, 0.0, 0.0]
    """

    known_as = ("robot_link",)

    inertia = cosim.parameter(
        unit="kg.m2",
        shape=6,
        convert=inertia_as_written,
        description="moments of inertia about the centre of mass, in the body's axes",
        elements=("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"),
    )

    @cosim.kernel(refuses=NO_SUCH_BODY[:1])
    def properties(mass):
        return 0.0 if mass > 0.0 else 1.0
