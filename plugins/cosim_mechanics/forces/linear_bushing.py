"""Linear bushing: six springs and dampers between two frames."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.contracts import Law
from cosim_mechanics.forces.bushing_limits import (
    NEARLY_SINGULAR,
    NOTICE,
    require_no_flip,
    require_no_turn,
    require_regular,
)
from cosim_mechanics.spatial import (
    ABOUT_AND_ALONG,
    NO_POSE,
    POSE_UNITS,
    add_force_at,
    add_torque,
    angle_rates_123,
    angles_123,
    angular,
    compose,
    compose_inverse,
    compose_shift,
    cross,
    inverse,
    is_pose,
    is_turned,
    linear,
    minus,
    moment_123,
    plus,
    point_velocity,
    pose_parameter,
    position,
    put3,
    put6,
    put12,
    rotate,
    rotate_inverse,
    scaled,
)

COORDINATE = ["rad"] * 3 + ["m"] * 3
VELOCITY = ["rad/s"] * 3 + ["m/s"] * 3
FORCE = ["N.m"] * 3 + ["N"] * 3


class LinearBushing(contracts.ForceElement):
    """Rubber mount: massless, compliant, with linear stiffness and damping between two frames.

    Frame F is fixed on body 1, frame M on body 2.

    Law: with the six coordinates q = (qx, qy, qz, px, py, pz), the body-fixed x-y-z Euler angles of M in F
    and the position p_FM of M's origin in F, each coordinate has a spring and a damper of its own,

        f_i = -(k_i q_i + c_i qdot_i).

    Frames and signs
    ----------------
    f is what would act on the coordinates of a joint from F to M: positive values push M, on body 2, toward
    larger q. f[3:6] is a vector in F: the force on M's origin. f[0:3] act about the three axes of the angle
    sequence, which are not orthogonal, so they are no vector; as a moment m they do the same work,
    m . w_FM = f[0:3] . qdot[0:3]. The forces on the two bodies are equal and opposite about any common point.
    The translational springs are aligned with F, so exchanging the bodies gives another element.

    Limits
    ------
    Meant for small displacements; correct for large ones, too. The angles do not count full turns: qx and qz
    lie in [-pi, pi], and a run in which one of them jumps from one end to the other, while it has stiffness,
    is stopped with an error at the end of that step. Where the middle angle qy is near +-pi/2, the rates of
    the other two angles, and the moments, grow like 1/cos(qy): `status` is 1, and the Simulator notes it,
    from 6 degrees away, unless all rotational stiffness and damping is zero. At that very angle (cos(qy) at
    most four machine epsilons) the angles are no longer unique, qz is then set to zero, and a moment stops
    the computation with an error. For motion of many revolutions use a bushing joint and act on its
    coordinates.

    Parameters
    ----------
    body1, body2 : body
        Any two bodies; either may be Ground.
    frame_on_body1 : pose, default identity
        X_B1F, the pose of F on body 1: three numbers (a position, m), a dict with position and angles, or
        twelve reals.
    frame_on_body2 : pose, default identity
        X_B2M, the pose of M on body 2.
    stiffness : array_like, shape (6,), ["N.m/rad"]*3 + ["N/m"]*3, >= 0, rotation first
    damping : array_like, shape (6,), ["N.m.s/rad"]*3 + ["N.s/m"]*3, >= 0, rotation first
    dissipated_energy : float, J, default 0
        Start value of the dissipated energy.

    Returns
    -------
    Readable once the State is realized to the stage: at POSITION ``X_GF``, ``X_GM``, ``X_FM`` (12 reals
    each: rotation by rows, then position, m), ``q`` (6, rad and m), ``potential_energy`` (J), ``status`` (0,
    or 1 near the singular angle); at VELOCITY
    ``V_GF``, ``V_GM`` (6, of the frame's origin, in Ground), ``V_FM`` (6, of M's origin in F, expressed in
    F), ``qdot`` (6); at DYNAMICS ``f`` (6, N.m and N), ``F_GM`` (6, spatial force on body 2 about M's
    origin, in Ground), ``F_GF`` (6, on body 1 about F's origin, in Ground), ``power_dissipation`` (W).
    ``dissipated_energy`` (J) is a state and readable at any time.

    Raises
    ------
    ModelError
        A negative stiffness or damping, a wrong shape, a frame that is not a pose.
    SimulationError
        The middle angle is +-pi/2 to rounding and there is a moment; another angle has jumped by a turn.

    Stage
    -----
    Parameters belong to INSTANCE and may differ between States.

    Energy
    ------
    Stored: sum k_i q_i^2 / 2. Dissipated at the rate sum c_i qdot_i^2 >= 0, integrated in the auxiliary state
    `dissipated_energy`, so that with bushings alone kinetic + potential + dissipated energy is constant.

    References
    ----------
    Simbody 3.7, ``Force::LinearBushing``: the same law, coordinates and signs.

    Examples
    --------
    >>> mount = LinearBushing(body1="ground", body2="engine", frame_on_body1=(0.3, 0, 0),
    ...                       stiffness=[0, 0, 0, "120 N/mm", "120 N/mm", "240 N/mm"],
    ...                       damping=[0, 0, 0, 300, 300, 600])
    >>> mount.stiffness.tolist()
    [0.0, 0.0, 0.0, 120000.0, 120000.0, 240000.0]

    The kernel functions are pure and can be called with plain arrays:

    >>> import numpy as np
    >>> q, qdot, f = np.array([0, 0, 0, 0.001, 0, 0]), np.zeros(6), np.zeros(6)
    >>> LinearBushing.coordinate_forces(q, qdot, mount.stiffness, mount.damping, f, np.zeros(1), np.zeros(1))
    >>> float(f[3])
    -120.0
    """

    laws = Law.INTERNAL | Law.FRAME_INDIFFERENT | Law.PASSIVE | Law.ZERO_AT_REST_POSE

    frame_on_body1 = pose_parameter("X_B1F, pose of frame F on body 1")
    frame_on_body2 = pose_parameter("X_B2M, pose of frame M on body 2")
    stiffness = cosim.parameter(
        unit=["N.m/rad"] * 3 + ["N/m"] * 3,
        shape=6,
        minimum=0.0,
        description="against rotation, then translation. For translation alone write [0, 0, 0, kx, ky, kz].",
        elements=ABOUT_AND_ALONG,
    )
    damping = cosim.parameter(
        unit=["N.m.s/rad"] * 3 + ["N.s/m"] * 3,
        shape=6,
        minimum=0.0,
        description="of rotation, then translation. For translation alone write [0, 0, 0, cx, cy, cz].",
        elements=ABOUT_AND_ALONG,
    )
    dissipated_energy = contracts.dissipated_energy()

    frames_turned = cosim.cache_slot(
        shape=2, internal=True, description="1 for a frame that is turned against its body"
    )
    X_GF = cosim.cache_slot(unit=POSE_UNITS, shape=12, description="pose of F in Ground")
    X_GM = cosim.cache_slot(unit=POSE_UNITS, shape=12, description="pose of M in Ground")
    X_FM = cosim.cache_slot(unit=POSE_UNITS, shape=12, description="pose of M in F")
    q = cosim.cache_slot(unit=COORDINATE, shape=6, description="angles of M in F (x-y-z), then p_FM in F")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the springs")
    status = cosim.cache_slot(description="1 near the singular angle, otherwise 0", notice=NOTICE)
    last_angles = cosim.discrete(
        shape=3, unit="rad", internal=True, invalidates=cosim.Stage.INFINITY, description="of the last step"
    )
    V_GF = cosim.cache_slot(unit=VELOCITY, shape=6, description="velocity of F in Ground, of F's origin")
    V_GM = cosim.cache_slot(unit=VELOCITY, shape=6, description="velocity of M in Ground, of M's origin")
    V_FM = cosim.cache_slot(unit=VELOCITY, shape=6, description="velocity of M in F, of M's origin, in F")
    qdot = cosim.cache_slot(unit=VELOCITY, shape=6, description="derivatives of q")
    f = cosim.cache_slot(unit=FORCE, shape=6, description="forces on the six coordinates")
    F_GM = cosim.cache_slot(
        unit=FORCE, shape=6, description="spatial force on body 2 about M's origin, in Ground"
    )
    F_GF = cosim.cache_slot(
        unit=FORCE, shape=6, description="spatial force on body 1 about F's origin, in Ground"
    )
    power_dissipation = cosim.cache_slot(unit="W", description="power lost in the dampers")

    @cosim.kernel(refuses=[NO_POSE])
    def frames(frame_on_body1, frame_on_body2):
        return 0.0 if is_pose(frame_on_body1) and is_pose(frame_on_body2) else 1.0

    @cosim.kernel
    def turning(frame_on_body1, frame_on_body2, frames_turned):
        frames_turned[0] = 1.0 if is_turned(frame_on_body1) else 0.0
        frames_turned[1] = 1.0 if is_turned(frame_on_body2) else 0.0

    @cosim.kernel
    def pose(X_GB1, X_GB2, frame_on_body1, frame_on_body2, frames_turned, X_GF, X_GM, X_FM, q):
        if frames_turned[0] != 0.0:
            put12(X_GF, compose(X_GB1, frame_on_body1))
        else:
            put12(X_GF, compose_shift(X_GB1, frame_on_body1))
        if frames_turned[1] != 0.0:
            put12(X_GM, compose(X_GB2, frame_on_body2))
        else:
            put12(X_GM, compose_shift(X_GB2, frame_on_body2))
        X = compose_inverse(X_GF, X_GM)
        put12(X_FM, X)
        put6(q, angles_123(X), position(X))

    @cosim.kernel
    def energy(q, stiffness, potential_energy):
        e = 0.0
        for i in range(6):
            e += 0.5 * stiffness[i] * q[i] * q[i]
        potential_energy[0] = e

    @cosim.kernel
    def watch(q, stiffness, damping, status):
        holds = max(stiffness[0], stiffness[1], stiffness[2], damping[0], damping[1], damping[2])
        status[0] = 1.0 if holds > 0.0 and math.cos(q[1]) < NEARLY_SINGULAR else 0.0

    @cosim.kernel
    def velocity(X_GB1, V_GB1, X_GB2, V_GB2, X_GF, X_GM, q, V_GF, V_GM, V_FM, qdot):
        p_GM = position(X_GM)
        v_GM = point_velocity(V_GB2, X_GB2, p_GM)
        put6(V_GF, angular(V_GB1), point_velocity(V_GB1, X_GB1, position(X_GF)))
        put6(V_GM, angular(V_GB2), v_GM)
        # The velocity of M in F is measured against the point of body 1 that coincides with M's origin.
        w_FM = rotate_inverse(X_GF, minus(angular(V_GB2), angular(V_GB1)))
        v_FM = rotate_inverse(X_GF, minus(v_GM, point_velocity(V_GB1, X_GB1, p_GM)))
        put6(V_FM, w_FM, v_FM)
        put6(qdot, angle_rates_123(q, w_FM), v_FM)

    @cosim.kernel
    def coordinate_forces(q, qdot, stiffness, damping, f, power_dissipation, dissipated_energy_dot):
        power = 0.0
        for i in range(6):
            f[i] = -(stiffness[i] * q[i] + damping[i] * qdot[i])
            power += damping[i] * qdot[i] * qdot[i]
        power_dissipation[0] = power
        dissipated_energy_dot[0] = power

    @cosim.kernel
    def force(X_GB1, X_GB2, X_GF, X_GM, q, f, F_GM, F_GF, F_GB1, F_GB2):
        m_F = (0.0, 0.0, 0.0)
        # Without moments the element has no singular angle.
        if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0:
            require_regular(q)
            m_F = moment_123(q, f)
        m_G = rotate(X_GF, m_F)
        f_G = rotate(X_GF, linear(f))
        p_GM = position(X_GM)
        p_FM_G = minus(p_GM, position(X_GF))
        put6(F_GM, m_G, f_G)
        put6(F_GF, scaled(-1.0, plus(m_G, cross(p_FM_G, f_G))), scaled(-1.0, f_G))
        add_torque(F_GB2, m_G)
        add_force_at(F_GB2, X_GB2, p_GM, f_G)
        add_torque(F_GB1, scaled(-1.0, m_G))
        add_force_at(F_GB1, X_GB1, p_GM, scaled(-1.0, f_G))

    # Start values, and changes by handlers and users, are not a turn: only ends of steps are compared.
    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def _start(q, last_angles_next):
        put3(last_angles_next, q)

    @cosim.update
    def follow(q, side, stiffness, last_angles, last_angles_next):
        if side == 0.0 and (stiffness[0] > 0.0 or stiffness[2] > 0.0):
            require_no_flip(last_angles, q)
        for i in range(3):
            if side == 0.0 and stiffness[i] > 0.0:
                require_no_turn(last_angles[i], q[i])
        put3(last_angles_next, q)

    def rest_pose(self) -> Sequence[float]:
        """The pose in which M lies on F."""
        X_B1F, X_B2M = (self.values.numbers[name] for name in ("frame_on_body1", "frame_on_body2"))
        return compose(X_B1F, inverse(X_B2M))
