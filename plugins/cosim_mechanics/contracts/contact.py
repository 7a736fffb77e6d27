"""The contract of contacts in a point: normal force, friction, and the events of touching and sliding."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import cosim
from cosim_mechanics.contracts.contact_breakaway import (
    awaits_breakaway,
    begin_touch,
    check_breakaway,
    force_until_check,
    slip_acceleration,
    start_course,
)
from cosim_mechanics.contracts.contact_grip import (
    COUNT,
    HOLDS,
    STIFFNESS,
    add_to_grip,
    friction_limit,
    is_alone,
    is_shared,
    may_hold_more,
    short_of_sliding,
)
from cosim_mechanics.contracts.contact_law import (
    APART,
    GROWS,
    LEAST_DAMPING,
    LEAST_RESTITUTION,
    LOOSE,
    NO_RESTITUTION,
    SLIDES,
    STICKS,
    TURNS,
    bristle_damping,
    damped_force,
    damping_ratio_of,
    hertz_force,
    hertz_stiffness,
    is_kicked,
    limited,
    locates_touches,
    mindlin_stiffness,
    share_held,
    slip_of_foot,
    tangential_part,
)
from cosim_mechanics.contracts.law import Law
from cosim_mechanics.contracts.surfaces import Surfaces
from cosim_mechanics.contracts.touching_body import mass_at_contact, mass_on_bristle, touching_body
from cosim_mechanics.spatial import (
    add_force_at,
    dot,
    minus,
    norm,
    plus,
    rotate,
    rotate_inverse,
    scaled,
)


class Contact(Surfaces):
    """Base of contacts in a point: Hertz, restitution, Hunt and Crossley, Coulomb friction that sticks.

    Law: with the depth x > 0 of the surfaces in each other, its rate x_dot, k = 4/3 E sqrt(R), the effective
    mass m = 1 / (1 / m1 + 1 / m2) of the bodies and zeta the damping ratio of the restitution e,

        f_normal = max(0, k x^(3/2) (1 + 3/2 c x_dot) + zeta sqrt(5 m k) x^(1/4) x_dot)
        load = k_t s + c_t v_t / 2,  pull = load + c_t v_t / 2,  s_dot = v_t - v_s
        v_s = max(0, |load| - mu f_normal) / (c_t / 2 + mu_v f_normal) load / |load|
        sticking: f_friction = -pull,                                            mu = mu_s
        sliding:  f_friction = -pull, at most (mu_d + mu_v |v_s|) f_normal long, mu = mu_d

    where s is the stretch of a bristle between the surfaces, k_t = 4 (1 - nu) / (2 - nu) E sqrt(R x)
    Mindlin's tangential stiffness, c_t = 2 zeta_t sqrt(k_t m_t), and v_s the velocity at which the foot of
    the bristle slips: a spring and a damper, in series with Coulomb's friction. At a constant v_t, v_s
    becomes v_t. m_t is the mass that moves at the contact, with the inertia of free bodies (`TouchingBody`);
    where the bodies touch in several points, it is a share of m (`mass_on_bristle`).

    Surfaces slide when |load| and |pull| are above mu_s f_normal, and stick when |pull| is below mu_d
    f_normal. They break loose, and have mu_d from then on, earlier in two cases (`contact_breakaway`):

    - |pull| reaches mu_s f_normal, and the surfaces are not decelerated.
    - |load| and |pull| rise above mu_d f_normal soon after a stop or a jump of the load, and the
    accelerations
      show that more than mu_s f_normal would be needed to hold the surfaces.

    For this decision the loads and pulls of all contacts of two bodies in one plane are added up. A contact
    whose load is above 2 mu_s f_normal slides by itself, with mu_s while the others hold. These changes are
    events, as are touching and parting, unless there is damping and no static friction (`locates_touches`).
    Without static friction surfaces have no bristle, and f_friction = -mu_v f_normal v_t.

    Surfaces that touch at the start of a run stick, with the stretch that would hold their masses; they slide
    if they move and a bristle would pull harder than mu_s f_normal.

    Frames and signs
    ----------------
    The normal points from body 1 to body 2; x_dot > 0 going in. f_normal pushes body 2 along the normal; both
    forces act on body 2, the opposite ones on body 1, at the same point. `stretch` is expressed in the frame
    of body 1.

    Limits
    ------
    As in Hertz' theory surfaces are smooth, and depths small compared with R. If R changes, energy is not
    conserved. A bristle yields by up to mu_s f_normal / k_t. With mu_d = mu_s a slowly growing load makes a
    contact slide late, by zeta_t / sqrt(k_t / m). While a load changes, surfaces that stick may pull harder
    than mu_s f_normal. A foot slips with a zeta_t of at least 0.1. Surfaces that touch again have an
    unstretched bristle. There is no friction against rolling and spinning.

    Stage
    -----
    Depth at POSITION, its rate and the slip velocity at VELOCITY, forces at DYNAMICS.

    Energy
    ------
    Stored: 2/5 k x^(5/2). Dissipated: the work of damping and friction, with the energy of the stretched
    bristle (k_t s^2 / 2, at most mu_s f_normal |s| / 2), integrated in `dissipated_energy`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapters 4 and 7. K. H. Hunt, F. R. E. Crossley, J. Appl. Mech.
    42 (1975). D. Antypov, J. A. Elliott, EPL 94 (2011).
    """

    contract_kit: ClassVar[str] = "cosim_mechanics.testing.contact_contract:ContactContract"
    laws: ClassVar[Law] = Law.INTERNAL | Law.FRAME_INDIFFERENT

    body1 = touching_body(description="the body that carries frame 1")
    body2 = touching_body(description="the body that carries frame 2")

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
    static_friction = cosim.parameter(
        default=0.0, minimum=0.0, description="of surfaces that stick; if not given, as the dynamic one"
    )
    dynamic_friction = cosim.parameter(
        default=0.0, minimum=0.0, description="of surfaces that slide; if not given, as the static one"
    )
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
    regime = cosim.discrete(dtype=int, description="0: apart, 1: sticks, 2: slides")
    bristle_mass = cosim.discrete(
        unit="kg", internal=True, description="of both bodies at this contact, along the surfaces"
    )
    load_course = cosim.discrete(
        dtype=int,
        internal=True,
        description="load of the bristle, 0: at rest, 1: turns, 2: starts, 3: rises, 4: jumps, 5: loose",
    )
    course_end = cosim.timer(description="when surfaces that stick are checked again")
    course_start = cosim.discrete(unit="s", internal=True, description="when the load's course began")
    course_friction = cosim.discrete(
        unit="N", shape=3, internal=True, description="at that time, in the frame of body 1"
    )
    course_acceleration = cosim.discrete(
        unit="m/s2",
        shape=3,
        internal=True,
        description="of the slip at that time, in the frame of body 1",
    )

    effective_mass = cosim.cache_slot(unit="kg", internal=True, description="of both bodies")
    damping_ratio = cosim.cache_slot(internal=True, description="of an impact")
    curvature_radius = cosim.cache_slot(unit="m", description="effective radius, 1 / R = 1 / R1 + 1 / R2")
    elastic_force = cosim.cache_slot(unit="N", description="of Hertz")
    tangential_stiffness = cosim.cache_slot(unit="N/m", description="of Mindlin")
    normal_force = cosim.cache_slot(unit="N", description="pushes the bodies apart")
    critical_damping = cosim.cache_slot(unit="N.s/m", internal=True, description="half the critical one")
    half_damping = cosim.cache_slot(unit="N.s/m", internal=True, description="half the bristle's damping")
    load = cosim.cache_slot(unit="N", shape=3, internal=True, description="of the foot, in Ground")
    foot_load = cosim.cache_slot(unit="N", internal=True, description="its length")
    pull = cosim.cache_slot(unit="N", internal=True, description="length of what the bristle pulls")
    friction = cosim.cache_slot(unit="N", shape=3, description="on body 2, in Ground")
    friction_force = cosim.cache_slot(unit="N", description="length of the friction")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the contact")

    def __init__(self, **values: Any) -> None:
        frictions = ("static_friction", "dynamic_friction")
        for name, other_name in zip(frictions, reversed(frictions), strict=True):
            if name in values:
                values.setdefault(other_name, values[name])
        super().__init__(**values)

    @cosim.kernel(
        refuses=[
            "the static friction is below the dynamic one: exchange them, or give both",
            NO_RESTITUTION,
        ]
    )
    def check_coefficients(static_friction, dynamic_friction, restitution):
        if restitution < LEAST_RESTITUTION:
            return 2.0
        return 1.0 if static_friction < dynamic_friction else 0.0

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def calc_impact(restitution, inverse_mass1, inverse_mass2, effective_mass, damping_ratio):
        inverse = inverse_mass1 + inverse_mass2
        effective_mass[0] = 1.0 / inverse if inverse > 0.0 else 0.0
        damping_ratio[0] = damping_ratio_of(restitution)

    @cosim.kernel
    def calc_elastic_force(
        depth, curvature_radius, stiffness, poisson_ratio,
        elastic_force, tangential_stiffness, potential_energy,
    ):  # fmt: skip
        push = hertz_force(stiffness, curvature_radius, depth)
        elastic_force[0] = push
        tangential_stiffness[0] = mindlin_stiffness(stiffness, curvature_radius, depth, poisson_ratio)
        potential_energy[0] = 0.4 * push * depth

    @cosim.kernel
    def calc_normal_force(
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

    @cosim.kernel(when="footing2")
    def count_contact(tangential_stiffness, footing2):
        if tangential_stiffness != 0.0:
            footing2[STIFFNESS] += tangential_stiffness
            footing2[COUNT] += 1.0

    @cosim.kernel
    def calc_load(s):
        # A separate kernel: the search for events evaluates what the witness reads many times in a step.
        s.critical_damping = 0.0
        s.half_damping = 0.0
        s.foot_load = 0.0
        s.pull = 0.0
        load = (0.0, 0.0, 0.0)
        if s.static_friction != 0.0 and s.tangential_stiffness != 0.0:
            mass = mass_on_bristle(
                s.tangential_stiffness, s.footing2[STIFFNESS], s.bristle_mass, s.effective_mass
            )
            s.critical_damping = math.sqrt(s.tangential_stiffness * mass)
            s.half_damping = s.stick_damping * s.critical_damping
            half = scaled(s.half_damping, s.slip_velocity)
            drawn = tangential_part(rotate(s.X_GB1, s.stretch), s.normal)
            load = plus(scaled(s.tangential_stiffness, drawn), half)
            s.foot_load = norm(load)
            pull = plus(load, half)
            s.pull = norm(pull)
        for i in range(3):
            s.load[i] = load[i]

    @cosim.kernel(when="grip2")
    def add_grip(s):
        if s.static_friction != 0.0 and s.tangential_stiffness != 0.0:
            slides_with = s.dynamic_friction * s.normal_force
            pull = plus(s.load, scaled(s.half_damping, s.slip_velocity))
            most = friction_limit(s, s.load_course)
            load = plus(s.load, (0.0, 0.0, 0.0))
            bears = min(s.foot_load, s.pull)
            if s.regime == SLIDES:  # a sliding bristle pulls at most with its friction
                pull = scaled(share_held(s.pull, most), pull)
                if s.load_course == LOOSE:
                    load = pull
                    bears = most
            add_to_grip(s.grip2, load, pull, bears, most, slides_with)

    @cosim.kernel
    def calc_friction(s):
        viscosity = s.normal_force * s.viscous_friction
        f = scaled(-viscosity, s.slip_velocity)
        rate = (0.0, 0.0, 0.0)
        if s.static_friction != 0.0 and s.tangential_stiffness != 0.0:
            sticks = s.regime == STICKS and not is_kicked(s.pull, s.normal_force * s.static_friction)
            limit = friction_limit(s, s.load_course)
            if s.regime == STICKS and not sticks:
                limit = s.normal_force * s.dynamic_friction
            damping = max(s.stick_damping, LEAST_DAMPING) * s.critical_damping
            foot = slip_of_foot(s.load, s.foot_load, limit, damping + viscosity)
            share = -1.0
            if not sticks or s.normal_force == 0.0:
                most = limit + viscosity * norm(foot) if viscosity != 0.0 else limit
                share = -share_held(s.pull, most)
            f = scaled(share, plus(s.load, scaled(s.half_damping, s.slip_velocity)))
            if s.regime != APART:
                rate = rotate_inverse(s.X_GB1, minus(s.slip_velocity, foot))
        s.friction_force = norm(f)
        for i in range(3):
            s.friction[i] = f[i]
            s.stretch_dot[i] = rate[i]

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

    @cosim.witness(direction="falling")
    def change(s):
        if not locates_touches(s.static_friction, s.restitution, s.dissipation):
            return 1.0
        if s.regime == APART:
            return -s.depth
        if s.static_friction == 0.0 or s.normal_force == 0.0:
            return s.depth
        short = s.pull - friction_limit(s, s.load_course)
        if s.regime == STICKS:
            short = short_of_sliding(s, s.load_course)
            if is_alone(s) and awaits_breakaway(s):
                short = force_until_check(s, s.load_course)
        return min(s.depth, short / s.tangential_stiffness)

    @cosim.on(change, does="unrestricted")
    def change_regime(s):
        if s.regime == APART:
            begin_touch(s)
        elif s.depth <= 0.0:
            s.regime_next = APART
            for i in range(3):
                s.stretch_next[i] = 0.0
            start_course(s, APART, GROWS)
        elif is_alone(s) and awaits_breakaway(s):
            check_breakaway(s)
        else:
            regime = SLIDES if s.regime == STICKS else STICKS
            s.regime_next = regime
            s.bristle_mass_next = mass_at_contact(s)
            if not awaits_breakaway(s):
                course = s.load_course
                if regime == STICKS:
                    course = TURNS if may_hold_more(s) else GROWS
                start_course(s, regime, course)

    @cosim.witness(direction="falling", when="footing2")
    def question(s):
        # A separate witness: when another contact breaks loose, its value may jump below 0 and hide `change`.
        if s.regime == APART or s.normal_force == 0.0 or not awaits_breakaway(s):
            return 1.0
        return force_until_check(s, s.load_course) / s.tangential_stiffness

    @cosim.on(question, does="unrestricted")
    def change_together(s):
        if s.depth > 0.0:
            check_breakaway(s)

    @cosim.on(course_end, does="unrestricted")
    def choose_next_course(s):
        s.course_end_next = math.inf
        if s.regime != APART:
            check_breakaway(s)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(s):
        touches = s.regime == APART and s.depth > 0.0
        if touches and s.static_friction == 0.0:
            s.regime_next = SLIDES if locates_touches(0.0, s.restitution, s.dissipation) else APART
        elif touches:
            mass = mass_at_contact(s)
            s.bristle_mass_next = mass
            # There is no friction yet, so the acceleration shows the force that it has to hold.
            s.regime_next = STICKS
            holds = s.static_friction * s.normal_force
            if is_shared(s):  # contacts share the mass in proportion to their static friction
                mass = s.effective_mass * holds / s.grip2[HOLDS]
            held = limited(scaled(mass, slip_acceleration(s)), holds)
            damping = bristle_damping(s.stick_damping, s.tangential_stiffness, mass)
            drag = scaled(damping, s.slip_velocity)
            if norm(drag) > 0.0 and norm(plus(held, drag)) > holds:
                # Surfaces that move begin to slide, with a bristle that pulls with dynamic friction.
                s.regime_next = SLIDES
                s.load_course_next = LOOSE
                bears = s.dynamic_friction * s.normal_force / norm(drag)
                held = scaled(bears, drag)
            stretch = rotate_inverse(s.X_GB1, scaled(1.0 / s.tangential_stiffness, held))
            for i in range(3):
                s.stretch_next[i] = stretch[i]
