"""Contacts of all shapes on the bodies of a model, found while it runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim.kit import Argument, Assembly, Slot
from cosim_mechanics import contracts
from cosim_mechanics.contracts.bodies_attachment import BodiesAttachment
from cosim_mechanics.contracts.body_attachment import BODY
from cosim_mechanics.contracts.contact_law import (
    damped_force,
    damping_ratio_of,
    hertz_force,
    hertz_stiffness,
    mindlin_stiffness,
    sticking_force,
    tangential_part,
)
from cosim_mechanics.forces.capsule_contact import closest_places
from cosim_mechanics.forces.convex_contact import depth_on_capsule
from cosim_mechanics.forces.neighbour_cells import LEVELS, list_pairs, sort_by_size
from cosim_mechanics.forces.rim_contact import steepest_direction
from cosim_mechanics.forces.solids import (
    CONTACT,
    CYLINDER,
    DEPTH,
    FEATURE,
    FEATURES,
    FIRST_SHAPE,
    HALF_SPACE,
    MESH,
    NORMAL,
    POINT,
    RADIUS,
    ROUND,
    SECOND_SHAPE,
    extent_of,
    free_slot,
    is_listed,
    put_contact,
    search_solid,
    slot_of,
)
from cosim_mechanics.spatial import (
    IDENTITY,
    Reals,
    add_force_at,
    angular,
    compose,
    cross,
    dot,
    inverse,
    is_pose,
    minus,
    norm,
    plus,
    point_velocity,
    rotate,
    rotate_inverse,
    scaled,
    station,
)

ROOM = 8
"""Contacts for each shape: equal balls touch 12 others at most, so there are 6 for each."""


def effective_mass(inverse_mass: float) -> float:
    """Of two bodies, from the sum of 1 / mass; 0 where neither moves.

    >>> effective_mass(4.0), effective_mass(0.0)
    (0.25, 0.0)
    """
    return 1.0 / inverse_mass if inverse_mass > 0.0 else 0.0


def held_stretch(stretch: Reals, normal: Reals, longest: float) -> tuple[float, float, float]:
    """The stretch of a bristle that the cone of friction lets it keep: along the surfaces, not too long.

    >>> held_stretch((3.0, 0.0, 4.0), (0.0, 0.0, 1.0), 1.5)
    (1.5, 0.0, 0.0)
    >>> held_stretch((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 1.0)
    (0.0, 0.0, 0.0)
    """
    along = tangential_part(stretch, normal)
    size = norm(along)
    if size <= longest:
        return along
    return scaled(longest / size, along)


def place_shapes(s: Any) -> None:
    """Compute poses and middles of all shapes."""
    for i in range(len(s.reaches)):
        X = compose(pose_of(s, int(s.owners[i])), s.frames[12 * i : 12 * i + 12])
        for k in range(12):
            s.poses[12 * i + k] = X[k]
        for k in range(3):
            s.middles[3 * i + k] = X[9 + k]


def is_ignored(s: Any, i: int, j: int) -> bool:
    """Whether the bodies of two shapes do not touch."""
    owner1 = min(s.owners[i], s.owners[j])
    owner2 = max(s.owners[i], s.owners[j])
    return owner1 == owner2 or is_listed(s.ignored, owner1, owner2)


def corners_of(s: Any, j: int) -> int:
    """How many points of a solid a half-space may touch: ends, ends of two lines of a cylinder, corners."""
    if s.kinds[j] == ROUND:
        is_sphere = s.sizes[4 * j] == 0.0 and s.sizes[4 * j + 1] == 0.0 and s.sizes[4 * j + 2] == 0.0
        return 1 if is_sphere else 2
    if s.kinds[j] == CYLINDER:
        return 4
    return int(s.sizes[4 * j + 3]) if s.kinds[j] == MESH else 8


def corner_of(s: Any, j: int, corner: int, n: Reals) -> Reals:
    """The middle of the rounding at a corner of a solid, in Ground; of a cylinder towards `-n`."""
    X = s.poses[12 * j : 12 * j + 12]
    r = s.roundings[j]
    sizes = s.sizes[4 * j : 4 * j + 4]
    first = 1.0 if corner % 2 == 1 else -1.0
    second = 1.0 if corner // 2 % 2 == 1 else -1.0
    if s.kinds[j] == ROUND:
        return station(X, scaled(first, sizes))
    if s.kinds[j] == CYLINDER:
        axis = (X[2], X[5], X[8])
        out = steepest_direction(axis, n, (X[1], X[4], X[7]))
        on_axis = plus(X[9:12], scaled(first * (0.5 * sizes[1] - r), axis))
        return plus(on_axis, scaled(-second * (sizes[0] - r), out))
    if s.kinds[j] == MESH:
        at = 3 * (int(sizes[2]) + corner)
        return station(X, s.vertices[at : at + 3])
    third = 1.0 if corner // 4 == 1 else -1.0
    return station(
        X, (first * (0.5 * sizes[0] - r), second * (0.5 * sizes[1] - r), third * (0.5 * sizes[2] - r))
    )


def touch_half_space(s: Any, i: int, j: int, number: int) -> int:
    """Append where a solid touches a half-space; how many contacts there are then."""
    plane = s.poses[12 * i : 12 * i + 12]
    n = (plane[2], plane[5], plane[8])
    r = s.roundings[j]
    for corner in range(corners_of(s, j)):
        center = corner_of(s, j, corner, n)
        x = r - dot(n, minus(center, plane[9:12]))
        if x > 0.0:
            number = put_contact(s.places, number, i, j, corner, x, r, n, minus(center, scaled(r, n)))
    return number


def touch_half_spaces(s: Any, number: int) -> int:
    """Append where solids touch half-spaces; how many contacts there are then."""
    count = len(s.reaches)
    for place in range(int(s.bounded), count):
        i = int(s.order[place])
        plane = s.poses[12 * i : 12 * i + 12]
        n = (plane[2], plane[5], plane[8])
        height = dot(n, plane[9:12])
        for j in range(count):
            if dot(n, s.middles[3 * j : 3 * j + 3]) - height < s.reaches[j] and not is_ignored(s, i, j):
                number = touch_half_space(s, i, j, number)
    return number


def touch_round(s: Any, i: int, j: int, number: int) -> int:
    """Append where two spheres or capsules touch."""
    X1 = s.poses[12 * i : 12 * i + 12]
    X2 = s.poses[12 * j : 12 * j + 12]
    d1 = rotate(X1, s.sizes[4 * i : 4 * i + 3])
    d2 = rotate(X2, s.sizes[4 * j : 4 * j + 3])
    at1, at2 = closest_places(X1[9:12], d1, X2[9:12], d2)
    near = plus(X1[9:12], scaled(at1, d1))
    between = minus(plus(X2[9:12], scaled(at2, d2)), near)
    distance = norm(between)
    r1 = s.roundings[i]
    r2 = s.roundings[j]
    x = r1 + r2 - distance
    if x > 0.0:
        if distance == 0.0:
            raise ValueError("the centres of two shapes meet, so their contact has no direction")
        n = scaled(1.0 / distance, between)
        point = plus(near, scaled(r1 - 0.5 * x, n))
        number = put_contact(s.places, number, i, j, 0, x, r1 * r2 / (r1 + r2), n, point)
    return number


def touch_convex(s: Any, i: int, j: int, number: int) -> int:
    """Append where a sphere or capsule (the second) touches a box, cylinder or mesh."""
    X_GF = s.poses[12 * i : 12 * i + 12]
    X2 = s.poses[12 * j : 12 * j + 12]
    sizes = s.sizes[4 * i : 4 * i + 4]
    triangles = s.triangles[0:0]
    if s.kinds[i] == MESH:
        triangles = s.triangles[9 * int(sizes[0]) : 9 * int(sizes[1])]
    solid = (s.kinds[i], (sizes[0], sizes[1], sizes[2]), s.roundings[i], triangles)
    center = station(inverse(X_GF), X2[9:12])
    axis = rotate_inverse(X_GF, rotate(X2, s.sizes[4 * j : 4 * j + 3]))
    bulge = s.crown * s.roundings[j]
    share, distance, away = search_solid(solid, center, axis, bulge)
    radii = s.roundings[i] + s.roundings[j]
    x = depth_on_capsule(radii, distance, 0.5 * bulge * share * share, dot(axis, axis) == 0.0)
    if not x <= 0.0:
        n = rotate(X_GF, away)
        middle = station(X_GF, plus(center, scaled(share, axis)))
        point = minus(middle, scaled(s.roundings[j] - 0.5 * x, n))
        number = put_contact(s.places, number, i, j, 0, x, s.roundings[j], n, point)
    return number


def pose_of(s: Any, owner: int) -> Any:
    """Pose of a body in Ground, 0 for body 1."""
    if owner == 0:
        return s.X_GB1[0:12]
    return s.X_GB[12 * owner - 12 : 12 * owner]


def velocity_of(s: Any, owner: int) -> Any:
    """Spatial velocity of a body in Ground, 0 for body 1."""
    if owner == 0:
        return s.V_GB1[0:6]
    return s.V_GB[6 * owner - 6 : 6 * owner]


def inverse_mass_of(s: Any, owner: int) -> float:
    """1 / mass of a body, 0 for what does not move."""
    if owner == 0:
        return float(s.inverse_mass1)
    return float(s.inverse_mass[owner - 1])


def point_of(contact: Reals) -> tuple[float, float, float]:
    """Where the forces of a contact act."""
    return (contact[POINT], contact[POINT + 1], contact[POINT + 2])


def normal_of(contact: Reals) -> tuple[float, float, float]:
    """From the first shape to the second."""
    return (contact[NORMAL], contact[NORMAL + 1], contact[NORMAL + 2])


def velocity_at(s: Any, contact: Reals) -> tuple[float, float, float]:
    """Velocity of the second body on the first at a contact."""
    p = point_of(contact)
    owner1 = int(s.owners[int(contact[FIRST_SHAPE])])
    owner2 = int(s.owners[int(contact[SECOND_SHAPE])])
    v1 = point_velocity(velocity_of(s, owner1), pose_of(s, owner1), p)
    return minus(point_velocity(velocity_of(s, owner2), pose_of(s, owner2), p), v1)


def push_of(s: Any, contact: Reals, rate: float) -> tuple[float, float, float]:
    """Effective mass, elastic force and normal force of a contact whose surfaces approach at a rate."""
    inverse_mass = inverse_mass_of(s, int(s.owners[int(contact[FIRST_SHAPE])]))
    mass = effective_mass(inverse_mass + inverse_mass_of(s, int(s.owners[int(contact[SECOND_SHAPE])])))
    strength = mass * hertz_stiffness(s.stiffness, contact[RADIUS])
    elastic = hertz_force(s.stiffness, contact[RADIUS], contact[DEPTH])
    push = damped_force(elastic, s.dissipation, s.damping_ratio, strength, contact[DEPTH], rate)
    return mass, elastic, push


def slot_of_contact(s: Any, contact: Reals) -> tuple[int, float]:
    """Where the bristle of a contact stands, -1 for nowhere, and the key that names the contact there."""
    first = int(contact[FIRST_SHAPE])
    second = int(contact[SECOND_SHAPE])
    key = (float(first) * len(s.reaches) + second) * FEATURES + contact[FEATURE] + 1.0
    return slot_of(s.held, s.slots, key, first, second), key


def add_force(s: Any, owner: int, point: Reals, f: Reals) -> None:
    """Add a force at a point to a body, 0 for body 1."""
    if owner == 0:
        add_force_at(s.F_GB1, s.X_GB1, point, f)
    else:
        at = owner - 1
        add_force_at(s.F_GB[6 * at : 6 * at + 6], s.X_GB[12 * at : 12 * at + 12], point, f)


def stretch_in_ground(s: Any, slot: int, contact: Reals, slip: Reals) -> tuple[float, float, float]:
    """What a bristle is stretched by now, m, in Ground: what it held when the step began, and the slip since.

    Between spheres and capsules the bristle turns with the line between the middles; else it is fixed to the
    first body, as the surface is.
    """
    first = int(contact[FIRST_SHAPE])
    second = int(contact[SECOND_SHAPE])
    owner1 = int(s.owners[first])
    n = normal_of(contact)
    stretch = rotate(pose_of(s, owner1), s.stretches[3 * slot : 3 * slot + 3])
    rate = plus(slip, (0.0, 0.0, 0.0))
    if s.kinds[first] == ROUND:
        r1 = s.roundings[first] - 0.5 * contact[DEPTH]
        r2 = s.roundings[second] - 0.5 * contact[DEPTH]
        w1 = angular(velocity_of(s, owner1))
        w2 = angular(velocity_of(s, int(s.owners[second])))
        middles = plus(slip, plus(scaled(r2, cross(w2, n)), scaled(r1, cross(w1, n))))
        turning = scaled(1.0 / (r1 + r2), cross(n, middles))
        spin = 0.5 * (dot(n, w1) + dot(n, w2))
        rate = plus(slip, cross(minus(plus(turning, scaled(spin, n)), w1), stretch))
    return plus(stretch, scaled(s.t - s.held_until, rate))


class ShapeBodies(BodiesAttachment):
    """Bodies with shapes: those that a joint connects are among the pairs that do not touch."""

    def slot(self, assembly: Assembly, part: Any, argument: Argument, number: int | None) -> Slot:
        """See `Attachment.slot`."""
        slot = super().slot(assembly, part, argument, number)
        moving = BODY.everything(assembly)
        first = moving.index(assembly.attached_name(part, argument.of))
        counts = part.values.numbers["shape_counts"].reshape(-1)
        body_of = {moving[first + i]: i + 1 for i, count in enumerate(counts) if count > 0}
        ignored = {tuple(pair) for pair in part.values.numbers["ignored"].reshape(-1, 2).tolist()}
        for joint in assembly.parts(contracts.Joint):
            ends = [body_of.get(assembly.attached_name(joint, end), 0) for end in ("parent", "child")]
            if joint.nu < 6 and 0 not in ends and tuple(sorted(ends)) not in ignored:
                names = " and ".join(f"'{assembly.attached_name(joint, end)}'" for end in ("parent", "child"))
                raise cosim.ModelError.of(
                    "", f"{names} are joined by '{joint.name}': add the collisions after the joints"
                )
        return slot


class Collisions(contracts.Force):
    """Contacts of all shapes of a model with each other: cost grows with the shapes, not with their pairs.

    `Multibody.collisions` and the table ``[collisions]`` of a model file make it from shapes on bodies
    (`cosim_mechanics.shapes`).

    Law: that of `Contact` with one coefficient of friction: Hertz, restitution, Hunt and Crossley, and

        f_friction = -k_t s - 2 zeta_t sqrt(k_t m) v_t, at most mu f_normal long

    with Mindlin's stiffness k_t, the effective mass m and the stretch s of the bristle between the surfaces.
    While a step lasts, s = s_0 + (t - t_0) v_t, with the stretch s_0 with which the step began at t_0; when
    it has ended, what is longer than mu f_normal / k_t slips off.

    Frames and signs
    ----------------
    Shape i touches shape j: the normal points from i to j. Half-spaces come before all others, boxes,
    cylinders and meshes before spheres and capsules. The forces act where those of the contacts of two shapes
    do (`SphereContact`, `RimContact`, `CapsuleContact`, `ConvexContact`).

    Limits
    ------
    Boxes, cylinders and meshes touch half-spaces, spheres and capsules, not each other: where they come near
    each other a finding says so. Two bodies that a joint connects do not touch, unless one is body 1, nor do
    shapes of one body, nor those that are listed as ignored. Surfaces that begin to touch in a step have
    their bristle from its end on. More than 8 contacts for each shape are an error. If two shapes have more
    contacts than bristles, some have only the damper (a finding says so). How far a bristle gives way is
    accurate to the first order of the step. Where the centres of two shapes meet, the computation stops with
    an error.

    Parameters
    ----------
    body1 : body
        Carries the first shapes; Ground, in most models.
    bodies : body
        The first of the bodies with shapes; the others are those that follow it in the model.
    shape_counts : array_like, shape (bodies,)
        How many shapes each body has. The rest, which come first, are those of body 1.
    kinds : array_like, shape (shapes,)
        0: half-space, 1: sphere or capsule, 2: box, 3: cylinder, 4: convex mesh.
    frames : array_like, shape (shapes, 12)
        X_BS, pose of each shape on its body.
    sizes : array_like, shape (shapes, 4), m
        Half axis of a capsule; edges of a box; radius and length of a cylinder; of a mesh the first triangle,
        that after the last one, the first vertex and the number of vertices.
    roundings : array_like, shape (shapes,), m, >= 0
        Radius of a sphere or capsule, of the edges of others.
    reaches : array_like, shape (shapes,), m, >= 0
        Radius of a sphere about the shape; 0 for a half-space.
    triangles : array_like, shape (triangles, 9), m
    vertices : array_like, shape (vertices, 3), m
        Of all meshes; without one a row of zeros.
    ignored : array_like, shape (ignored, 2)
        Pairs of bodies that do not touch, 0 for body 1, the smaller number first, sorted; (0, 0) for none.
    bristles : array_like, shape (bristles,)
        The shape that brings each bristle, in order; the bristles of two shapes serve their contacts.
    stiffness, restitution, dissipation
        As of `Contact`.
    friction : float, >= 0, default 0
        mu.
    poisson_ratio, stick_damping, crown
        As of `Contact` and `ConvexContact`.

    Returns
    -------
    ``contacts``, their number, and ``potential_energy`` (J) at POSITION.

    Energy
    ------
    Stored: 2/5 k x^(5/2) of each contact. What damping and friction take is dissipated, the energy of the
    bristles included, integrated in `dissipated_energy`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapters 4 and 7. C. Ericson, "Real-Time Collision Detection"
    (2005), sections 5.1 and 7.1 (closest points; grids and hashing).

    Examples
    --------
    >>> from cosim_mechanics import Multibody, shapes
    >>> model = Multibody("one_ball")
    >>> ball = model.body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    >>> free = model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, 0.1])
    >>> heap = model.collisions(
    ...     "heap", {"ground": shapes.HalfSpace(), ball: shapes.Sphere(0.1)}, stiffness="10 MPa", friction=0.5
    ... )
    >>> heap.kinds.tolist()
    [0.0, 1.0]
    """

    known_as = ("granular_contact", "many_spheres", "collision_detection", "broad_phase")
    tried_with: ClassVar[Mapping[str, Any]] = {
        "shape_counts": [1],
        "kinds": [HALF_SPACE, ROUND],
        "frames": [IDENTITY, IDENTITY],
        "sizes": [(0.0,) * 4] * 2,
        "roundings": [0.0, 0.2],
        "reaches": [0.0, 0.2],
        "triangles": [(0.0,) * 9],
        "vertices": [(0.0,) * 3],
        "ignored": [(0, 0)],
        "bristles": [1] * 4,
    }
    laws = contracts.Law.INTERNAL | contracts.Law.FRAME_INDIFFERENT

    body1 = contracts.body(description="the body that carries the first shapes")
    bodies = contracts.bodies(
        "bodies", "the first body with shapes; the others follow it", kind=ShapeBodies()
    )
    shape_counts = cosim.parameter(shape="bodies", minimum=0, dtype=int, description="shapes of each body")
    kinds = cosim.parameter(shape="shapes", minimum=0, maximum=4, dtype=int, description="what shape it is")
    frames = cosim.parameter(shape=("shapes", 12), description="X_BS, pose of each shape on its body")
    sizes = cosim.parameter(shape=("shapes", 4), description="half axis, edges, or radius and length")
    roundings = cosim.parameter(unit="m", shape="shapes", minimum=0.0, description="radius of edges or ends")
    reaches = cosim.parameter(
        unit="m", shape="shapes", minimum=0.0, description="radius of a sphere about it"
    )
    triangles = cosim.parameter(unit="m", shape=("triangles", 9), description="of meshes")
    vertices = cosim.parameter(unit="m", shape=("vertices", 3), description="of meshes")
    ignored = cosim.parameter(shape=("ignored", 2), description="pairs of bodies")
    bristles = cosim.parameter(
        shape="bristles", minimum=0, dtype=int, description="the shape of each bristle"
    )
    stiffness = cosim.parameter(unit="N/m2", minimum=0.0, description="effective modulus E")
    restitution = cosim.parameter(
        default=1.0, above=0.0, maximum=1.0, description="share of the speed that an impact leaves"
    )
    dissipation = cosim.parameter(
        unit="s/m", default=0.0, minimum=0.0, description="Hunt-Crossley damping, c"
    )
    friction = cosim.parameter(default=0.0, minimum=0.0, description="coefficient of friction")
    poisson_ratio = cosim.parameter(
        default=0.3, minimum=0.0, maximum=0.5, description="for the tangential stiffness"
    )
    stick_damping = cosim.parameter(default=1.0, minimum=0.0, description="damping ratio of the bristle")
    crown = cosim.parameter(default=1e-3, above=0.0, maximum=1.0, description="of capsules, per radius")
    dissipated_energy = contracts.dissipated_energy()

    held = cosim.discrete(shape="bristles", internal=True, description="contact of each bristle, 0: none")
    stretches = cosim.discrete(
        unit="m", shape=("bristles", 3), internal=True, description="of the bristles, in the frame of body 1"
    )
    held_until = cosim.discrete(unit="s", internal=True, description="when the bristles had this stretch")

    damping_ratio = cosim.cache_slot(internal=True, description="of an impact")
    owners = cosim.cache_slot(shape="shapes", internal=True, description="the body of each shape")
    slots = cosim.cache_slot(shape="shapes+1", internal=True, description="the first bristle of each shape")
    bounded = cosim.cache_slot(internal=True, description="number of shapes that end")
    order = cosim.cache_slot(shape="shapes", internal=True, description="shapes, the largest first")
    levels = cosim.cache_slot(shape="shapes", internal=True, description="level of its cells")
    per_length = cosim.cache_slot(shape=LEVELS, internal=True, description="1 / width of cells")
    poses = cosim.cache_slot(shape=("shapes", 12), internal=True, description="of the shapes, in Ground")
    middles = cosim.cache_slot(shape=("shapes", 3), internal=True, description="of the shapes, in Ground")
    cells = cosim.cache_slot(shape=("shapes", 3), internal=True, description="the cell of each shape")
    lists = cosim.cache_slot(shape=("shapes", 4), internal=True, description="the last shape of each list")
    behind = cosim.cache_slot(shape="shapes", internal=True, description="the next shape of the same list")
    pairs = cosim.cache_slot(shape=("shapes", 4 * ROOM), internal=True, description="shapes that may touch")
    places = cosim.cache_slot(shape=("shapes", CONTACT * ROOM), internal=True, description="contacts")
    contacts = cosim.cache_slot(description="number of contacts")
    unheld = cosim.cache_slot(
        internal=True, notice="more contacts than bristles: some surfaces creep where they should stick"
    )
    unmet = cosim.cache_slot(
        internal=True,
        notice="two of its boxes, cylinders or meshes are near each other: they pass through each other",
    )
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in all contacts")

    @cosim.kernel(
        refuses=[
            "a frame of a shape is not a pose",
            "the shapes of the bodies are more than there are",
            "a mesh begins or ends outside of the triangles or vertices",
            "a shape reaches farther than its sphere, or a half-space has one",
        ]
    )
    def tables(s):
        fault = 0.0  # the number of the last one that was found, by the list above
        owned = 0.0
        for body in range(len(s.shape_counts)):
            owned += s.shape_counts[body]
        if owned > len(s.reaches):
            fault = 2.0
        for i in range(len(s.reaches)):
            sizes = s.sizes[4 * i : 4 * i + 4]
            if not is_pose(s.frames[12 * i : 12 * i + 12]):
                fault = 1.0
            if s.kinds[i] == MESH:
                is_inside = 0.0 <= sizes[0] <= sizes[1] and 9.0 * sizes[1] <= len(s.triangles)
                ends = sizes[2] + sizes[3]
                if not is_inside or sizes[2] < 0.0 or sizes[3] < 0.0 or 3.0 * ends > len(s.vertices):
                    fault = 3.0
            elif s.reaches[i] < (1.0 - 1e-9) * extent_of(s.kinds[i], sizes, s.roundings[i]):
                fault = 4.0
            if (s.kinds[i] == HALF_SPACE) != (s.reaches[i] == 0.0):
                fault = 4.0
        return fault

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def impact(restitution, damping_ratio):
        damping_ratio[0] = damping_ratio_of(restitution)

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def sort(shape_counts, reaches, bristles, owners, slots, bounded, order, levels, per_length):
        bounded[0] = sort_by_size(reaches, order, levels, per_length)
        shape = len(reaches)
        for body in range(len(shape_counts), 0, -1):
            for _ in range(int(shape_counts[body - 1])):
                shape -= 1
                owners[shape] = body
        for first in range(shape):
            owners[first] = 0
        slot = 0
        for i in range(len(reaches)):
            slots[i] = slot
            while slot < len(bristles) and bristles[slot] == i:
                slot += 1
        slots[len(reaches)] = slot

    @cosim.kernel
    def find(s):
        place_shapes(s)
        near = list_pairs(
            s.middles, s.reaches, s.owners, int(s.bounded), s.order, s.levels, s.per_length, s.cells, s.lists,
            s.behind, s.pairs,
        )  # fmt: skip
        if 2 * near > len(s.pairs):
            raise ValueError("more than 16 pairs for each shape: the shapes lie deep in each other")
        number = 0
        unmet = 0.0
        for k in range(near):
            i = int(s.pairs[2 * k])
            j = int(s.pairs[2 * k + 1])
            if not is_ignored(s, i, j):
                if s.kinds[i] == ROUND and s.kinds[j] == ROUND:
                    number = touch_round(s, i, j, number)
                elif s.kinds[j] == ROUND:
                    number = touch_convex(s, i, j, number)
                elif s.kinds[i] == ROUND:
                    number = touch_convex(s, j, i, number)
                else:
                    unmet = 1.0
        number = touch_half_spaces(s, number)
        if CONTACT * number > len(s.places):
            raise ValueError("more than 8 contacts for each shape: the shapes lie deep in each other")
        energy = 0.0
        for k in range(number):
            x = s.places[CONTACT * k + DEPTH]
            energy += 0.4 * hertz_force(s.stiffness, s.places[CONTACT * k + RADIUS], x) * x
        s.contacts = number
        s.unmet = unmet
        s.potential_energy = energy

    @cosim.kernel
    def force(s):
        lost = 0.0
        unheld = 0.0
        for k in range(int(s.contacts)):
            contact = s.places[CONTACT * k : CONTACT * k + CONTACT]
            n = normal_of(contact)
            v = velocity_at(s, contact)
            rate = -dot(v, n)
            slip = plus(v, scaled(rate, n))
            mass, elastic, push = push_of(s, contact, rate)
            rub = (0.0, 0.0, 0.0)
            limit = s.friction * push
            if limit > 0.0:
                stiffness = mindlin_stiffness(s.stiffness, contact[RADIUS], contact[DEPTH], s.poisson_ratio)
                stretch = (0.0, 0.0, 0.0)
                slot, _ = slot_of_contact(s, contact)
                if slot < 0:
                    unheld += 1.0
                else:
                    stretch = tangential_part(stretch_in_ground(s, slot, contact, slip), n)
                c = 2.0 * s.stick_damping * math.sqrt(stiffness * mass)
                rub = sticking_force(stiffness, c, stretch, slip, limit)
            f = plus(scaled(push, n), rub)
            lost += (push - elastic) * rate - dot(rub, slip)
            add_force(s, int(s.owners[int(contact[SECOND_SHAPE])]), point_of(contact), f)
            add_force(s, int(s.owners[int(contact[FIRST_SHAPE])]), point_of(contact), scaled(-1.0, f))
        s.dissipated_energy_dot = lost
        s.unheld = unheld

    @cosim.update
    def hold(s):
        for slot in range(len(s.held)):
            s.held_next[slot] = 0.0
        if s.friction > 0.0:
            for k in range(int(s.contacts)):
                contact = s.places[CONTACT * k : CONTACT * k + CONTACT]
                first = int(contact[FIRST_SHAPE])
                n = normal_of(contact)
                v = velocity_at(s, contact)
                rate = -dot(v, n)
                _, _, push = push_of(s, contact, rate)
                stretch = (0.0, 0.0, 0.0)
                slot, key = slot_of_contact(s, contact)
                if slot >= 0:
                    stiffness = mindlin_stiffness(
                        s.stiffness, contact[RADIUS], contact[DEPTH], s.poisson_ratio
                    )
                    drawn = stretch_in_ground(s, slot, contact, plus(v, scaled(rate, n)))
                    longest = s.friction * push / stiffness if stiffness > 0.0 else 0.0
                    stretch = rotate_inverse(
                        pose_of(s, int(s.owners[first])), held_stretch(drawn, n, longest)
                    )
                else:
                    slot = free_slot(s.held, s.held_next, s.slots, first, int(contact[SECOND_SHAPE]))
                if slot >= 0:
                    s.held_next[slot] = key
                    for i in range(3):
                        s.stretches_next[3 * slot + i] = stretch[i]
                    s.held_until_next = s.t
