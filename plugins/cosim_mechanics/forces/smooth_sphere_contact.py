"""Contact of a sphere with a half-space as in Simbody, smooth everywhere."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.gauss import NODES, WEIGHTS
from cosim_mechanics.forces.sphere_on_half_space import SphereOnHalfSpace, above_half_space
from cosim_mechanics.spatial import add_force_at, dot, minus, plus, scaled, station


def hertz_force(depth: float, stiffness: float, radius: float, flattening: float, steepness: float) -> float:
    """Elastic force of the contact at a depth (m, negative above the surface), N.

    >>> round(hertz_force(0.01, 1e6, 0.1, 0.0, 1e9), 6)
    149.071198
    """
    k = 0.5 * math.pow(stiffness, 2.0 / 3.0)
    size = math.pow(depth * depth + flattening, 0.75)
    return 4.0 / 3.0 * k * math.sqrt(radius * k) * size * (0.5 + 0.5 * math.tanh(steepness * depth))


class SmoothSphereContact(SphereOnHalfSpace):
    """Simbody's smooth contact between a half-space on body 1 and a sphere on body 2.

    Law: with the depth x of the sphere below the surface, its rate x_dot, k = E^(2/3) / 2,

        f_hertz = 4/3 k sqrt(R k) (x^2 + eps_x)^(3/4) (1 + tanh(b_x x)) / 2
        f_normal = f_hertz (1 + 3/2 c x_dot) (1 + tanh(b_v (x_dot + 2 / (3 c)))) / 2
        f_friction = f_normal (min(s, 1) (mu_d + 2 (mu_s - mu_d) / (1 + s^2)) + mu_v v_slip)

    where v_slip = sqrt(|v_t|^2 + eps_v) and s = v_slip / v_transition. The friction acts against the sliding
    velocity v_t, times |v_t| / v_slip.

    Frames and signs
    ----------------
    The half-space is what lies at z < 0 in frame F on body 1; its surface looks along F's z axis. x > 0
    inside, x_dot > 0 going in. f_normal pushes the sphere out. Both forces act half-way between the surface
    and the deepest point of the sphere, equal and opposite on the two bodies.

    Limits
    ------
    Forces reach a few 1/b_x above the surface, so a body rests above it: a ball of 1 kg and 0.1 m by 8.0 mm
    with E = 1e7 N/m2 and 17.5 mm with 1e9, where the law without smoothing has 0.35 mm and 16 µm of depth. A
    finding says so; `SphereContact` has no smoothing. Friction is a function of speed, so nothing sticks:
    under a steady push it creeps, with at most about v_transition. A small v_transition or a large E makes
    the model stiff. The tanh of the damping can give back energy where b_v / c is small: keep b_v / c above
    30 (as with the default b_v and c <= 1.6 s/m).

    Parameters
    ----------
    body1, body2 : body
        The one with the half-space, the one with the sphere.
    frame_on_body1 : pose, default identity
        X_B1F.
    center_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        Centre of the sphere.
    radius : float, m, > 0
        R.
    stiffness : float, N/m2, >= 0
        E, the plane strain modulus of both materials.
    dissipation : float, s/m, >= 0, default 0
        c. The part of the speed that is lost in a slow impact is about c times it.
    static_friction, dynamic_friction : float, >= 0, default 0
        mu_s, mu_d.
    viscous_friction : float, s/m, >= 0, default 0
        mu_v.
    transition_velocity : float, m/s, > 0, default 0.01
    depth_smoothing : float, m2, >= 0, default 1e-5
        eps_x.
    slip_smoothing : float, m2/s2, > 0, default 1e-5
        eps_v.
    hertz_steepness : float, 1/m, > 0, default 300
        b_x.
    dissipation_steepness : float, s/m, > 0, default 50
        b_v.

    Returns
    -------
    ``depth`` (m), ``elastic_force`` (N) at POSITION; ``depth_rate`` (m/s), ``slip_velocity`` (3, m/s, in
    Ground) at VELOCITY; ``normal_force``, ``friction_force`` (N) at DYNAMICS; ``potential_energy`` (J) at
    REPORT, since it takes longer than all the rest.

    Energy
    ------
    Stored: the integral of f_hertz over the depth, by Gauss-Legendre quadrature to about 1e-7 of it. What
    damping and friction take is dissipated, integrated in `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``SmoothSphereHalfSpaceForce``: the same forces (half-space at x > 0 of its frame there, one
    number for eps_x and eps_v, an approximate energy).

    Examples
    --------
    >>> SmoothSphereContact(body1="ground", body2="ball", radius=0.1, stiffness="1 MPa").stiffness
    1000000.0
    """

    known_as = ("smooth_sphere_half_space_force",)
    laws = contracts.Law.INTERNAL | contracts.Law.FRAME_INDIFFERENT

    stiffness = cosim.parameter(unit="N/m2", minimum=0.0, description="plane strain modulus")
    dissipation = cosim.parameter(unit="s/m", default=0.0, minimum=0.0, description="Hunt-Crossley damping")
    static_friction = cosim.parameter(default=0.0, minimum=0.0, description="at the transition velocity")
    dynamic_friction = cosim.parameter(default=0.0, minimum=0.0, description="at larger velocities")
    viscous_friction = cosim.parameter(
        unit="s/m", default=0.0, minimum=0.0, description="friction coefficient per slip velocity"
    )
    transition_velocity = cosim.parameter(
        unit="m/s", default=0.01, minimum=1e-12, description="slip velocity of the full static friction"
    )
    depth_smoothing = cosim.parameter(unit="m2", default=1e-5, minimum=0.0, description="rounds f_hertz at 0")
    slip_smoothing = cosim.parameter(
        unit="m2/s2", default=1e-5, minimum=1e-300, description="rounds the friction at rest"
    )
    hertz_steepness = cosim.parameter(
        unit="1/m", default=300.0, minimum=1e-12, description="how fast the force sets in"
    )
    dissipation_steepness = cosim.parameter(
        unit="s/m", default=50.0, minimum=1e-12, description="how fast the force ends on the way out"
    )
    dissipated_energy = cosim.auxiliary_state(
        unit="J", description="energy dissipated since the start", diagnostic=True
    )

    elastic_force = cosim.cache_slot(unit="N", description="f_hertz")
    normal_force = cosim.cache_slot(unit="N", description="pushes the sphere out")
    friction_force = cosim.cache_slot(unit="N", description="against the slip velocity")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the contact")
    floats = cosim.cache_slot(
        description="1 where the smoothing alone carries the sphere",
        notice=(
            "the smoothing of the contact carries the sphere above the surface, where Hertz has no force: "
            "make depth_smoothing smaller and hertz_steepness larger, or take mechanics.sphere_contact"
        ),
    )

    @cosim.kernel
    def place(
        X_GB1, X_GB2, frame_on_body1, center_on_body2, radius, stiffness, depth_smoothing, hertz_steepness,
        depth, normal, point, elastic_force,
    ):  # fmt: skip
        center = station(X_GB2, center_on_body2)
        x, n = above_half_space(X_GB1, frame_on_body1, center, radius)
        p = plus(center, scaled(0.5 * x - radius, n))
        depth[0] = x
        for i in range(3):
            normal[i] = n[i]
            point[i] = p[i]
        elastic_force[0] = hertz_force(x, stiffness, radius, depth_smoothing, hertz_steepness)

    @cosim.kernel
    def force(s):
        push = s.elastic_force * (1.0 + 1.5 * s.dissipation * s.depth_rate)
        if s.dissipation > 0.0:
            leaving = s.depth_rate + 2.0 / (3.0 * s.dissipation)
            push = push * (0.5 + 0.5 * math.tanh(s.dissipation_steepness * leaving))
        slip = math.sqrt(dot(s.slip_velocity, s.slip_velocity) + s.slip_smoothing)
        ratio = slip / s.transition_velocity
        coefficient = s.dynamic_friction + 2.0 * (s.static_friction - s.dynamic_friction) / (
            1.0 + ratio * ratio
        )
        friction = push * (min(ratio, 1.0) * coefficient + s.viscous_friction * slip)
        f = minus(scaled(push, s.normal), scaled(friction / slip, s.slip_velocity))
        s.normal_force = push
        s.friction_force = friction
        add_force_at(s.F_GB2, s.X_GB2, s.point, f)
        add_force_at(s.F_GB1, s.X_GB1, s.point, scaled(-1.0, f))
        rubbing = friction / slip * dot(s.slip_velocity, s.slip_velocity)
        s.dissipated_energy_dot = (push - s.elastic_force) * s.depth_rate + rubbing

    @cosim.kernel
    def check_smoothing(
        depth, depth_rate, elastic_force, radius, stiffness, depth_smoothing, hertz_steepness,
        transition_velocity, floats,
    ):  # fmt: skip
        felt = 0.01 * hertz_force(0.0, stiffness, radius, depth_smoothing, hertz_steepness)
        rests = depth < 0.0 and abs(depth_rate) < transition_velocity and elastic_force > felt
        floats[0] = 1.0 if rests else 0.0

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def energy(depth, radius, stiffness, depth_smoothing, hertz_steepness, potential_energy):
        # Above the first panel there is no force; beyond the tanh the panels grow with the depth.
        total = 0.0
        width = 2.0 / hertz_steepness
        low = -9.0 * width
        for panel in range(60):
            if low >= depth:
                break
            if panel >= 18:
                width = 2.0 * width
            high = min(low + width, depth)
            half = 0.5 * (high - low)
            for i in range(10):
                at = low + half * (1.0 + NODES[i])
                total += (
                    half * WEIGHTS[i] * hertz_force(at, stiffness, radius, depth_smoothing, hertz_steepness)
                )
            low = high
        potential_energy[0] = total
