"""What two surfaces that touch in a point do to each other."""

from __future__ import annotations

import math
from typing import ClassVar

import cosim
from cosim_mechanics.contracts.contact_law import (
    APART,
    LEAST_RESTITUTION,
    NO_RESTITUTION,
    SLIDES,
    STICKS,
    STOPS,
    YIELDING,
    YIELDS,
    bristle_speed,
    damped_force,
    damping_ratio_of,
    direction_of,
    hertz_force,
    hertz_stiffness,
    locates_touches,
    mindlin_stiffness,
    share_followed,
    sliding_direction,
    sticking_force,
    tangential_part,
)
from cosim_mechanics.contracts.law import Law
from cosim_mechanics.contracts.surfaces import Surfaces
from cosim_mechanics.spatial import (
    add_force_at,
    dot,
    minus,
    norm,
    plus,
    point_velocity,
    rotate,
    rotate_inverse,
    scaled,
)


class Contact(Surfaces):
    """Base of contacts in a point: Hertz, restitution, Hunt and Crossley, Coulomb friction that sticks.

    Law: with the depth x > 0 of the surfaces in each other, its rate x_dot, k = 4/3 E sqrt(R), the effective
    mass m = 1 / (1 / m1 + 1 / m2) of the bodies and zeta the damping ratio of the restitution e,

        f_normal = max(0, k x^(3/2) (1 + 3/2 c x_dot) + zeta sqrt(5 m k) x^(1/4) x_dot)
        sticking: f_friction = -k_t s - 2 zeta_t sqrt(k_t m) v_t, at most mu_s f_normal long, s_dot = v_t
        sliding:  f_friction = -(mu_d f_normal + mu_v f_normal |v_t|) v_t / |v_t|

    where k_t = 4 (1 - nu) / (2 - nu) E sqrt(R x) is Mindlin's tangential stiffness and s the stretch of the
    bristle between the surfaces. Surfaces slide when |k_t s + zeta_t sqrt(k_t m) v_t| > mu_s f_normal. They
    come to rest when v_t does; they stick then if mu_s f_normal holds them, else they slide back. These are
    events, as are touching and parting, unless there is damping and no static friction (`locates_touches`).
    Touching surfaces begin to stick if |v_t| <= 2/3 mu_s x_dot k_n / k_t, else to slide: that is what the
    bristle would do.

    Frames and signs
    ----------------
    The normal points from body 1 to body 2; x_dot > 0 going in. f_normal pushes body 2 along the normal; both
    forces act on body 2, the opposite ones on body 1, at the same point. `stretch` and `direction` are
    expressed in the frame of body 1.

    Limits
    ------
    As in Hertz' theory: smooth surfaces, depths small against R. A bristle gives way by up to mu_s f_normal /
    k_t, and a slowly growing push makes it slide zeta_t / sqrt(k_t / m) late. Surfaces that touch again have
    an unstretched bristle. There is no friction against rolling and spinning.

    Stage
    -----
    Depth at POSITION, its rate and the slip velocity at VELOCITY, forces at DYNAMICS.

    Energy
    ------
    Stored: 2/5 k x^(5/2). What damping and friction take is dissipated, the energy of the stretched bristle
    (k_t s^2 / 2, at most mu_s f_normal |s| / 2) included, integrated in `dissipated_energy`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapters 4 and 7. K. H. Hunt, F. R. E. Crossley, J. Appl. Mech.
    42 (1975). D. Antypov, J. A. Elliott, EPL 94 (2011).
    """

    contract_kit: ClassVar[str] = "cosim_mechanics.testing.contact_contract:ContactContract"
    laws: ClassVar[Law] = Law.INTERNAL | Law.FRAME_INDIFFERENT

    stiffness = cosim.parameter(
        unit="N/m2",
        minimum=0.0,
        description="effective modulus E, 1 / E = (1 - nu1^2) / E1 + (1 - nu2^2) / E2",
    )
    restitution = cosim.parameter(
        default=1.0, above=0.0, maximum=1.0, description="share of the speed that an impact leaves"
    )
    dissipation = cosim.parameter(
        unit="s/m", default=0.0, minimum=0.0, description="Hunt-Crossley damping, c"
    )
    static_friction = cosim.parameter(default=0.0, minimum=0.0, description="of surfaces that stick")
    dynamic_friction = cosim.parameter(default=0.0, minimum=0.0, description="of surfaces that slide")
    viscous_friction = cosim.parameter(
        unit="s/m", default=0.0, minimum=0.0, description="friction coefficient per slip velocity"
    )
    poisson_ratio = cosim.parameter(
        default=0.3, minimum=0.0, maximum=0.5, description="for the tangential stiffness"
    )
    stick_damping = cosim.parameter(default=1.0, minimum=0.0, description="damping ratio of the bristle")

    stretch = cosim.auxiliary_state(
        unit="m", shape=3, nominal=1e-6, description="of the bristle, in the frame of body 1"
    )
    dissipated_energy = cosim.auxiliary_state(
        unit="J", description="energy dissipated since the start", diagnostic=True
    )
    regime = cosim.discrete(dtype=int, description="0: apart, 1: sticks, 2: slides, 3: yields")
    direction = cosim.discrete(
        shape=3, internal=True, description="in which sliding began, in the frame of body 1"
    )

    effective_mass = cosim.cache_slot(unit="kg", internal=True, description="of both bodies")
    damping_ratio = cosim.cache_slot(internal=True, description="of an impact")
    curvature_radius = cosim.cache_slot(unit="m", description="effective radius, 1 / R = 1 / R1 + 1 / R2")
    elastic_force = cosim.cache_slot(unit="N", description="of Hertz")
    tangential_stiffness = cosim.cache_slot(unit="N/m", description="of Mindlin")
    normal_force = cosim.cache_slot(unit="N", description="pushes the bodies apart")
    friction = cosim.cache_slot(unit="N", shape=3, description="on body 2, in Ground")
    friction_force = cosim.cache_slot(unit="N", description="length of the friction")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the contact")

    @cosim.kernel(
        refuses=[
            "the static friction is below the dynamic one: exchange them, or give both",
            NO_RESTITUTION,
        ]
    )
    def coefficients(static_friction, dynamic_friction, restitution):
        if restitution < LEAST_RESTITUTION:
            return 2.0
        return 1.0 if static_friction < dynamic_friction else 0.0

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def impact(restitution, inverse_mass1, inverse_mass2, effective_mass, damping_ratio):
        inverse = inverse_mass1 + inverse_mass2
        effective_mass[0] = 1.0 / inverse if inverse > 0.0 else 0.0
        damping_ratio[0] = damping_ratio_of(restitution)

    @cosim.kernel
    def store(
        depth, curvature_radius, stiffness, poisson_ratio,
        elastic_force, tangential_stiffness, potential_energy,
    ):  # fmt: skip
        push = hertz_force(stiffness, curvature_radius, depth)
        elastic_force[0] = push
        tangential_stiffness[0] = mindlin_stiffness(stiffness, curvature_radius, depth, poisson_ratio)
        potential_energy[0] = 0.4 * push * depth

    @cosim.kernel
    def push(
        stiffness, dissipation, effective_mass, damping_ratio, curvature_radius, depth, elastic_force,
        depth_rate, normal_force,
    ):  # fmt: skip
        normal_force[0] = damped_force(
            elastic_force,
            dissipation,
            damping_ratio,
            effective_mass * hertz_stiffness(stiffness, curvature_radius),
            depth,
            depth_rate,
        )

    @cosim.kernel
    def rub(s):
        if s.normal_force == 0.0:
            f = (0.0, 0.0, 0.0)
        elif s.regime == STICKS:
            f = sticking_force(
                s.tangential_stiffness,
                2.0 * s.stick_damping * math.sqrt(s.tangential_stiffness * s.effective_mass),
                tangential_part(rotate(s.X_GB1, s.stretch), s.normal),
                s.slip_velocity,
                s.static_friction * s.normal_force,
            )
        else:
            along = sliding_direction(s.slip_velocity, rotate(s.X_GB1, s.direction))
            speed = norm(s.slip_velocity)
            coefficient = (
                s.static_friction if s.regime == YIELDS else s.dynamic_friction + s.viscous_friction * speed
            )
            f = scaled(-s.normal_force * coefficient, along)
        for i in range(3):
            s.friction[i] = f[i]
        s.friction_force = norm(f)

    @cosim.kernel
    def force(s):
        f = (
            s.normal_force * s.normal[0] + s.friction[0],
            s.normal_force * s.normal[1] + s.friction[1],
            s.normal_force * s.normal[2] + s.friction[2],
        )
        add_force_at(s.F_GB2, s.X_GB2, s.point, f)
        add_force_at(s.F_GB1, s.X_GB1, s.point, scaled(-1.0, f))
        s.dissipated_energy_dot = (s.normal_force - s.elastic_force) * s.depth_rate - dot(
            s.friction, s.slip_velocity
        )
        rate = rotate_inverse(s.X_GB1, scaled(share_followed(s.regime, s.depth), s.slip_velocity))
        for i in range(3):
            s.stretch_dot[i] = rate[i]

    @cosim.witness(direction="falling")
    def change(s):
        if not locates_touches(s.static_friction, s.restitution, s.dissipation):
            return 1.0
        if s.regime == APART:
            return -s.depth
        if s.static_friction == 0.0:
            return s.depth
        strength = s.static_friction * s.normal_force
        if s.regime == STICKS:
            half = s.stick_damping * math.sqrt(s.tangential_stiffness * s.effective_mass)
            pulled = tangential_part(rotate(s.X_GB1, s.stretch), s.normal)
            pull = plus(scaled(s.tangential_stiffness, pulled), scaled(half, s.slip_velocity))
            return min(
                s.depth, (strength - norm(pull)) / s.tangential_stiffness if s.depth > 0.0 else s.depth
            )
        along = dot(s.slip_velocity, rotate(s.X_GB1, s.direction))
        if s.regime == SLIDES:
            return min(s.depth, along)
        shown = YIELDING * bristle_speed(strength, s.tangential_stiffness, s.effective_mass)
        return min(s.depth, along * (shown - along) / shown if shown > 0.0 else along)

    @cosim.on(change, does="unrestricted")
    def change_regime(s):
        started = rotate(s.X_GB1, s.direction)
        speed = norm(s.slip_velocity)
        along = dot(s.slip_velocity, started)
        bristle = bristle_speed(s.static_friction * s.normal_force, s.tangential_stiffness, s.effective_mass)
        slip_direction = direction_of(s.slip_velocity, scaled(-1.0, started))
        if s.regime == APART:
            ratio = 2.0 * (1.0 - s.poisson_ratio) / (2.0 - s.poisson_ratio)
            holds = speed * ratio <= 2.0 / 3.0 * s.static_friction * s.depth_rate
            s.regime_next = STICKS if holds and s.static_friction > 0.0 else SLIDES
        elif s.depth <= 0.0:
            s.regime_next = APART
        elif s.regime == STICKS:
            pulled = tangential_part(rotate(s.X_GB1, s.stretch), s.normal)
            if dot(pulled, s.slip_velocity) >= 0.0:
                slip_direction = direction_of(pulled, slip_direction)
            s.regime_next = SLIDES
        elif s.regime == SLIDES:
            if along < -0.5 * speed or speed <= STOPS * bristle:
                s.regime_next = YIELDS
        else:
            s.regime_next = STICKS if along <= 0.5 * YIELDING * bristle else SLIDES
        unit = rotate_inverse(s.X_GB1, slip_direction)
        if s.static_friction == 0.0:
            unit = (0.0, 0.0, 0.0)  # no event ends sliding, and viscous friction follows the velocity
        for i in range(3):
            s.stretch_next[i] = 0.0
            s.direction_next[i] = unit[i]

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(s):
        touches = s.regime == APART and s.depth > 0.0
        if touches and s.static_friction == 0.0:
            s.regime_next = SLIDES if locates_touches(0.0, s.restitution, s.dissipation) else APART
        elif touches:
            # There is no friction yet, so what accelerates the surfaces is what it has to hold.
            drift = tangential_part(
                minus(point_velocity(s.A_GB2, s.X_GB2, s.point), point_velocity(s.A_GB1, s.X_GB1, s.point)),
                s.normal,
            )
            bristle = bristle_speed(
                s.static_friction * s.normal_force, s.tangential_stiffness, s.effective_mass
            )
            rests = norm(s.slip_velocity) <= YIELDING * bristle
            s.regime_next = SLIDES
            slip_direction = direction_of(s.slip_velocity, drift)
            if rests:
                s.regime_next = YIELDS if norm(drift) > 0.0 else STICKS
                slip_direction = direction_of(drift, drift)
            unit = rotate_inverse(s.X_GB1, slip_direction)
            for i in range(3):
                s.direction_next[i] = unit[i]
