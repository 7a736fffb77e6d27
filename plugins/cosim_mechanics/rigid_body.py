"""A body with mass that keeps its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim.kit import Solver
from cosim_mechanics import contracts
from cosim_mechanics.mass_properties import (
    NO_SUCH_BODY,
    TURNING_UNITS,
    central_inertia,
    fault_of_mass_properties,
    inverse_inertia,
    positive_mass,
)
from cosim_mechanics.spatial import (
    POSE_UNITS,
    angular,
    cross,
    dot,
    inertia_times,
    linear,
    plus,
    point_parameter,
    put6,
    rotate,
    rotate_inverse,
)


class RigidBody(cosim.Component):
    """A rigid body: its mass properties, and where it is.

    Law: I w_dot + w x (I w) = tau and m a = f, for the moment about its centre of mass and the force on it.

    The body moves as its joint lets it; the equations of motion belong to the dynamics solver, which fills
    the pose, the velocity and the acceleration.

    Frames and signs
    ----------------
    B is the body's own frame; its origin need not be the centre of mass. `X_GB` is the pose of B in Ground G.
    `V_GB` and `A_GB` are the angular velocity (acceleration) and the velocity (acceleration) of B's origin,
    in G. `F_GB` is the sum of what force elements do to the body: the moment about B's origin and the force,
    in G; joint reactions are not in it.

    Limits
    ------
    The mass is positive. The moments of inertia may be zero (a point mass, a rod about its axis) when a joint
    keeps the body from turning that way; the solver reports where they are needed.

    Parameters
    ----------
    mass : float, kg, > 0
    center_of_mass : array_like, shape (3,), m, default (0, 0, 0)
        From B's origin, expressed in B.
    inertia : array_like, kg.m2
        About the centre of mass, in directions of B's axes: three principal moments (Ixx, Iyy, Izz), six
        numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or the 3x3 matrix. Ixy is the matrix element, minus the sum
        of m x y.

    feels_gravity : 1 or 0 (True or False), default 1
        Whether `Gravity` acts on it, in each State.

    Raises
    ------
    ModelError
        When the mass is not positive, or no body can have these moments: a negative principal moment, or one
        larger than the sum of the other two.

    Stage
    -----
    Pose at POSITION, velocity at VELOCITY, forces at DYNAMICS, acceleration at ACCELERATION,
    ``kinetic_energy`` (J) at REPORT: it costs nothing while the model is integrated.

    Signals
    -------
    ``x y z`` (m), ``vx vy vz`` (m/s), ``ax ay az`` (m/s2) of B's origin, ``wx wy wz`` (rad/s), all in G.

    Examples
    --------
    >>> engine = RigidBody(mass="120 kg", center_of_mass=(0, 0, 0.1), inertia=(4.5, 6.0, 5.2))
    >>> engine.inertia.tolist()
    [4.5, 6.0, 5.2, 0.0, 0.0, 0.0]
    """

    known_as: ClassVar[tuple[str, ...]] = ("body", "mass", "link")
    solved_by: ClassVar[type[Solver] | None] = contracts.DynamicsSolver

    tried_with: ClassVar[Mapping[str, Any]] = {"inertia": (1.0, 1.0, 1.0)}

    mass = cosim.parameter(unit="kg", above=0.0, convert=positive_mass, description="mass")
    center_of_mass = point_parameter("centre of mass in the body's frame")
    inertia = cosim.parameter(
        unit="kg.m2",
        shape=6,
        convert=central_inertia,
        description="moments of inertia about the centre of mass, in the body's axes",
        elements=("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"),
    )

    feels_gravity = cosim.parameter(
        default=True,
        dtype=bool,
        description="0 takes the body out of gravity",
    )
    kinetic_energy = cosim.cache_slot(unit="J", description="kinetic energy of the body")

    inverse_mass = cosim.cache_slot(unit="1/kg", internal=True, description="for contacts")
    turning = cosim.cache_slot(
        unit=TURNING_UNITS,
        shape=9,
        internal=True,
        description="inverse inertia and centre of mass, for contacts",
    )
    X_GB = cosim.cache_slot(unit=POSE_UNITS, shape=12, description="pose of the body in Ground")
    V_GB = cosim.cache_slot(
        unit=["rad/s"] * 3 + ["m/s"] * 3, shape=6, description="velocity of the body's origin in Ground"
    )
    A_GB = cosim.cache_slot(
        unit=["rad/s2"] * 3 + ["m/s2"] * 3, shape=6, description="acceleration of the body's origin in Ground"
    )
    F_GB = cosim.cache_slot(
        unit=["N.m"] * 3 + ["N"] * 3,
        shape=6,
        accumulates=True,
        description="force elements on the body, about its origin, in Ground",
    )

    @cosim.kernel(refuses=NO_SUCH_BODY)
    def properties(mass, inertia):
        # Elements may be written one at a time, so what they make together is judged here once more.
        return fault_of_mass_properties(mass, inertia)

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def invert(mass, inverse_mass):
        inverse_mass[0] = 1.0 / mass

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def invert_inertia(inertia, center_of_mass, turning):
        inverse = inverse_inertia(inertia)
        put6(turning, inverse[0:3], inverse[3:6])
        for i in range(3):
            turning[6 + i] = center_of_mass[i]

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def energy(X_GB, V_GB, mass, center_of_mass, inertia, kinetic_energy):
        w = angular(V_GB)
        v = plus(linear(V_GB), cross(w, rotate(X_GB, center_of_mass)))
        w_B = rotate_inverse(X_GB, w)
        kinetic_energy[0] = 0.5 * (mass * dot(v, v) + dot(w_B, inertia_times(inertia, w_B)))

    signals = {
        "x": ("X_GB", 9, "m", "x coordinate of {part}'s origin in Ground"),
        "y": ("X_GB", 10, "m", "y coordinate of {part}'s origin in Ground"),
        "z": ("X_GB", 11, "m", "z coordinate of {part}'s origin in Ground"),
        "wx": ("V_GB", 0, "rad/s", "angular velocity of {part} about Ground's x axis"),
        "wy": ("V_GB", 1, "rad/s", "angular velocity of {part} about Ground's y axis"),
        "wz": ("V_GB", 2, "rad/s", "angular velocity of {part} about Ground's z axis"),
        "vx": ("V_GB", 3, "m/s", "velocity of {part}'s origin along Ground's x axis"),
        "vy": ("V_GB", 4, "m/s", "velocity of {part}'s origin along Ground's y axis"),
        "vz": ("V_GB", 5, "m/s", "velocity of {part}'s origin along Ground's z axis"),
        "ax": ("A_GB", 3, "m/s2", "acceleration of {part}'s origin along Ground's x axis"),
        "ay": ("A_GB", 4, "m/s2", "acceleration of {part}'s origin along Ground's y axis"),
        "az": ("A_GB", 5, "m/s2", "acceleration of {part}'s origin along Ground's z axis"),
    }
