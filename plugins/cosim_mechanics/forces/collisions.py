"""Contacts of all shapes on the bodies of a model, detected during the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.contracts.contact_law import (
    LEAST_RESTITUTION,
    NO_RESTITUTION,
    bristle_damping,
    bristle_pull,
    damping_ratio_of,
    hertz_force,
    limited,
    mindlin_stiffness,
    tangential_part,
)
from cosim_mechanics.forces.collision_forces import (
    add_force,
    hold_bristle,
    law_of,
    normal_of,
    point_of,
    push_of,
    slot_of_contact,
    stretch_in_ground,
    velocity_at,
)
from cosim_mechanics.forces.materials import (
    DAMPING,
    DISSIPATION,
    FRICTION,
    MATERIAL,
    MODULUS,
    POISSON_RATIO,
)
from cosim_mechanics.forces.neighbour_cells import LEVELS, list_pairs, sort_by_size
from cosim_mechanics.forces.shape_bodies import ShapeBodies
from cosim_mechanics.forces.solids import (
    CONTACT,
    DEPTH,
    FIRST_SHAPE,
    HALF_SPACE,
    MESH,
    RADIUS,
    ROUND,
    SECOND_SHAPE,
    extent_of,
)
from cosim_mechanics.forces.touching_shapes import is_ignored, place_shapes, touch_half_spaces, touch_pair
from cosim_mechanics.spatial import (
    IDENTITY,
    dot,
    is_pose,
    plus,
    scaled,
)

ROOM = 8
"""The largest number of contacts per shape: equal balls touch at most 12 others, which is 6 per ball."""
PAIRS = 2 * ROOM
"""The largest number of pairs of near shapes, per shape."""

NOT_A_POSE, TOO_FEW_SHAPES, MESH_OUTSIDE, WRONG_REACH, LOW_RESTITUTION, NO_MATERIAL = range(1, 7)
FAULTS = {
    NOT_A_POSE: "a frame of a shape is not a pose",
    TOO_FEW_SHAPES: "the shapes of the bodies are more than there are",
    MESH_OUTSIDE: "a mesh begins or ends outside of the triangles or vertices",
    WRONG_REACH: "a shape reaches farther than its sphere, or a half-space has one",
    LOW_RESTITUTION: NO_RESTITUTION,
    NO_MATERIAL: "a material has a restitution above 1 or a Poisson's ratio above 0.5, or there is none",
}
"""The faults that `Collisions.check_shapes` reports, by the number that it returns: 1, 2, … in this order."""


class Collisions(contracts.Force):
    """Contacts of all shapes of a model: the cost grows with the number of shapes, not of their pairs.

    `Multibody.collisions` and the table ``[collisions]`` of a model file create it from shapes on bodies
    (`cosim_mechanics.shapes`).

    Law: that of `Contact` with one coefficient of friction: Hertz, restitution, Hunt and Crossley, and

        f_friction = -k_t s - 2 zeta_t sqrt(k_t m) v_t, at most mu f_normal long

    with Mindlin's stiffness k_t, the effective mass m and the stretch s of the bristle between the surfaces.
    During a step s = s_0 + (t - t_0) v_t, with the stretch s_0 at its start t_0; at its end a stretch longer
    than mu f_normal / k_t is shortened to that.

    Shapes may have materials (`cosim_mechanics.shapes.Material`). `materials.combined` gives the law of two
    shapes from their materials; a shape without one is treated as half as compliant as the common law.

    Frames and signs
    ----------------
    If shape i touches shape j, the normal points from i to j. Half-spaces come before all others, boxes,
    cylinders and meshes before spheres and capsules. The forces act at the same points as those of the
    contacts of two shapes (`SphereContact`, `RimContact`, `CapsuleContact`, `ConvexContact`).

    Limits
    ------
    - Boxes, cylinders and meshes touch half-spaces, spheres and capsules, not each other; a finding reports
    when
      they come near each other.
    - Two bodies that a joint connects do not touch, unless one is body 1, nor do shapes of one body, nor
    ignored
      pairs.
    - Surfaces that begin to touch in a step have a bristle from the end of the step on.
    - More than 8 contacts per shape are an error. If two shapes have more contacts than bristles, some have
    only
      the damper, and a finding reports it.
    - The yield of a bristle is accurate to first order in the step.
    - If the centres of two shapes coincide, the computation stops with an error.

    Parameters
    ----------
    body1 : body
        The body with the first shapes; Ground, in most models.
    bodies : body
        The first of the other bodies with shapes; the others follow it in the model.
    shape_counts : array_like, shape (bodies,)
        The number of shapes of each of these bodies. The remaining shapes, which come first, belong to body
        1.
    kinds : array_like, shape (shapes,)
        0: half-space, 1: sphere or capsule, 2: box, 3: cylinder, 4: convex mesh.
    frames : array_like, shape (shapes, 12)
        X_BS, pose of each shape on its body.
    sizes : array_like, shape (shapes, 4), m
        Half axis of a capsule; edges of a box; radius and length of a cylinder; for a mesh the index of its
        first triangle, of that after its last one, of its first vertex, and the number of vertices.
    roundings : array_like, shape (shapes,), m, >= 0
        Radius of a sphere or capsule, or of the edges of other shapes.
    reaches : array_like, shape (shapes,), m, >= 0
        Radius of a sphere about the shape; 0 for a half-space.
    triangles : array_like, shape (triangles, 9), m
    vertices : array_like, shape (vertices, 3), m
        Triangles and vertices of all meshes; without any mesh a row of zeros.
    material_numbers : array_like, shape (shapes,)
        The row of `materials` of each shape; 0 for shapes without a material.
    materials : array_like, shape (materials, 5)
        E / (1 - nu^2), nu, restitution, dissipation and friction; the first row is not used.
    ignored : array_like, shape (ignored, 2)
        Pairs of bodies that do not touch, 0 for body 1, the smaller number first, sorted; (0, 0) for none.
    bristles : array_like, shape (bristles,)
        The shape to which each bristle belongs, in order; a contact uses a bristle of one of its two shapes.
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
    Stored: 2/5 k x^(5/2) of each contact. Dissipated: the work of damping and friction, with the energy of
    the bristles, integrated in `dissipated_energy`.

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
        "material_numbers": [0, 0],
        "materials": [(0.0,) * MATERIAL],
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
    material_numbers = cosim.parameter(
        shape="shapes", minimum=0, dtype=int, description="the material of each shape, 0: none of its own"
    )
    materials = cosim.parameter(
        shape=("materials", MATERIAL),
        minimum=0.0,
        description="modulus, Poisson's ratio, restitution, dissipation and friction of each",
    )
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

    bristle_contacts = cosim.discrete(
        shape="bristles", internal=True, description="contact of each bristle, 0: none"
    )
    stretches = cosim.discrete(
        unit="m", shape=("bristles", 3), internal=True, description="of the bristles, in the frame of body 1"
    )
    held_until = cosim.discrete(unit="s", internal=True, description="when the bristles had this stretch")

    damping_ratio = cosim.cache_slot(internal=True, description="of an impact")
    material_laws = cosim.cache_slot(
        shape=("materials", MATERIAL), internal=True, description="laws of two surfaces of one material"
    )
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
    pairs = cosim.cache_slot(shape=("shapes", 2 * PAIRS), internal=True, description="shapes that may touch")
    contact_rows = cosim.cache_slot(shape=("shapes", CONTACT * ROOM), internal=True, description="contacts")
    contacts = cosim.cache_slot(description="number of contacts")
    contacts_without_bristle = cosim.cache_slot(
        internal=True, notice="more contacts than bristles: some surfaces creep where they should stick"
    )
    unsupported_pairs = cosim.cache_slot(
        internal=True,
        notice="two of its boxes, cylinders or meshes are near each other: they pass through each other",
    )
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in all contacts")

    @cosim.kernel(refuses=[*FAULTS.values()])
    def check_shapes(s):
        if s.restitution < LEAST_RESTITUTION:
            return LOW_RESTITUTION
        for i in range(MATERIAL, len(s.materials), MATERIAL):
            if s.materials[i + DAMPING] < LEAST_RESTITUTION:
                return LOW_RESTITUTION
            if s.materials[i + DAMPING] > 1.0 or s.materials[i + POISSON_RATIO] > 0.5:
                return NO_MATERIAL
        owned = 0.0
        for body in range(len(s.shape_counts)):
            owned += s.shape_counts[body]
        if owned > len(s.reaches):
            return TOO_FEW_SHAPES
        for i in range(len(s.reaches)):
            sizes = s.sizes[4 * i : 4 * i + 4]
            if not is_pose(s.frames[12 * i : 12 * i + 12]):
                return NOT_A_POSE
            if MATERIAL * s.material_numbers[i] >= len(s.materials):
                return NO_MATERIAL
            if s.kinds[i] == MESH:
                is_inside = 0.0 <= sizes[0] <= sizes[1] and 9.0 * sizes[1] <= len(s.triangles)
                ends = sizes[2] + sizes[3]
                if not is_inside or sizes[2] < 0.0 or sizes[3] < 0.0 or 3.0 * ends > len(s.vertices):
                    return MESH_OUTSIDE
            elif s.reaches[i] < (1.0 - 1e-9) * extent_of(s.kinds[i], sizes, s.roundings[i]):
                return WRONG_REACH
            if (s.kinds[i] == HALF_SPACE) != (s.reaches[i] == 0.0):
                return WRONG_REACH
        return 0

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def impact(
        restitution, stiffness, poisson_ratio, dissipation, friction, materials, damping_ratio, material_laws
    ):  # fmt: skip
        damping_ratio[0] = damping_ratio_of(restitution)
        # Two surfaces without a material have the common law together, so each is half as compliant.
        material_laws[MODULUS] = 2.0 * stiffness
        material_laws[POISSON_RATIO] = poisson_ratio
        material_laws[DAMPING] = damping_ratio[0]
        material_laws[DISSIPATION] = dissipation
        material_laws[FRICTION] = friction
        for i in range(MATERIAL, len(materials)):
            material_laws[i] = materials[i]
            if i % MATERIAL == DAMPING:
                material_laws[i] = damping_ratio_of(materials[i])

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def sort_shapes(reaches, bounded, order, levels, per_length):
        bounded[0] = sort_by_size(reaches, order, levels, per_length)

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def assign_owners(shape_counts, owners):
        shape = len(owners)
        for body in range(len(shape_counts), 0, -1):
            for _ in range(int(shape_counts[body - 1])):
                shape -= 1
                owners[shape] = body
        for first in range(shape):
            owners[first] = 0

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def find_first_bristles(bristles, slots):
        slot = 0
        for i in range(len(slots)):
            slots[i] = slot
            while slot < len(bristles) and bristles[slot] == i:
                slot += 1

    @cosim.kernel
    def find_contacts(s):
        place_shapes(s)
        near = list_pairs(
            s.middles, s.reaches, s.owners, int(s.bounded), s.order, s.levels, s.per_length, s.cells, s.lists,
            s.behind, s.pairs,
        )  # fmt: skip
        if 2 * near > len(s.pairs):
            # messages of kernel functions are literals: a test compares the numbers with PAIRS and ROOM
            raise ValueError("more than 16 pairs for each shape: the shapes overlap too deeply")
        number = 0
        unsupported_pairs = 0.0
        for k in range(near):
            i = int(s.pairs[2 * k])
            j = int(s.pairs[2 * k + 1])
            if not is_ignored(s, i, j):
                if s.kinds[i] == ROUND or s.kinds[j] == ROUND:
                    number = touch_pair(s, i, j, number)
                else:
                    unsupported_pairs = 1.0
        number = touch_half_spaces(s, number)
        if CONTACT * number > len(s.contact_rows):
            raise ValueError("more than 8 contacts for each shape: the shapes overlap too deeply")
        energy = 0.0
        for k in range(number):
            x = s.contact_rows[CONTACT * k + DEPTH]
            law = law_of(s, s.contact_rows[CONTACT * k : CONTACT * k + CONTACT])
            energy += 0.4 * hertz_force(law[MODULUS], s.contact_rows[CONTACT * k + RADIUS], x) * x
        s.contacts = number
        s.unsupported_pairs = unsupported_pairs
        s.potential_energy = energy

    @cosim.kernel
    def force(s):
        dissipated_power = 0.0
        contacts_without_bristle = 0.0
        for k in range(int(s.contacts)):
            contact = s.contact_rows[CONTACT * k : CONTACT * k + CONTACT]
            n = normal_of(contact)
            v = velocity_at(s, contact)
            rate = -dot(v, n)
            slip = plus(v, scaled(rate, n))
            law = law_of(s, contact)
            mass, elastic, push = push_of(s, law, contact, rate)
            friction = (0.0, 0.0, 0.0)
            limit = law[FRICTION] * push
            # With < or > these two branches would be kinks, and steps would end where surfaces touch.
            if limit != 0.0:
                stiffness = mindlin_stiffness(
                    law[MODULUS], contact[RADIUS], contact[DEPTH], law[POISSON_RATIO]
                )
                stretch = (0.0, 0.0, 0.0)
                slot, _ = slot_of_contact(s, contact)
                if slot == -1:
                    contacts_without_bristle += 1.0
                else:
                    stretch = tangential_part(stretch_in_ground(s, slot, contact, slip), n)
                damping = bristle_damping(s.stick_damping, stiffness, mass)
                friction = scaled(-1.0, limited(bristle_pull(stiffness, damping, stretch, slip), limit))
            f = plus(scaled(push, n), friction)
            dissipated_power += (push - elastic) * rate - dot(friction, slip)
            add_force(s, int(s.owners[int(contact[SECOND_SHAPE])]), point_of(contact), f)
            add_force(s, int(s.owners[int(contact[FIRST_SHAPE])]), point_of(contact), scaled(-1.0, f))
        s.dissipated_energy_dot = dissipated_power
        s.contacts_without_bristle = contacts_without_bristle

    @cosim.update
    def update_bristles(s):
        for slot in range(len(s.bristle_contacts)):
            s.bristle_contacts_next[slot] = 0.0
        if s.friction > 0.0 or len(s.materials) > MATERIAL:
            for k in range(int(s.contacts)):
                hold_bristle(s, s.contact_rows[CONTACT * k : CONTACT * k + CONTACT])
