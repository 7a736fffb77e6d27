"""The table of a mechanism, which the kernel functions of all its blocks share.

`mechanism_at` shows it, in kernel functions and in Python, where `cosim_dynamics.mechanism_table` fills it. A
*slot* is a place in the cache, unless it says: in `y`, in `p`. Spatial vectors are about the reference
point of their tree, in Ground's axes.

A link and a degree of freedom take whole cache lines of eight integers each: with one integer less, poses and
velocities take up to a tenth longer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from cosim.kit import Record, rows_of
from cosim_dynamics.group_records import GroupSlots

NOWHERE = -1
"""A slot or an index that is not there."""
ANY_MOTION, FIXED_AXES, PIVOT = range(3)
"""What is known of how a joint moves: nothing; its axes stay in F; M's origin stays there, too."""


class BodySlots(Record):
    """The slots of a body that the bodies on it need, too."""

    X_GB: int  # its pose in Ground
    V: int  # its velocity
    bias: int  # its acceleration while u_dot is zero
    force: int  # what its motion takes while u_dot is zero, less what is applied; with all that it carries
    carried_inertia: int  # with all that it carries: of a rigid body, or an `ArticulatedInertia`
    change: int  # what u_dot adds to its acceleration
    correction: int  # what constraints add to its acceleration; before, the force of one of their equations


class LinkSlots(Record):
    """A body with the joint that moves it."""

    has_parent: int  # whether another body carries it, and not Ground
    is_behind_parent: int  # whether that is the link before
    is_last_child: int  # whether it is the first of its parent's children on the way from the tips to Ground
    carries: int  # whether it carries others itself
    dofs: int  # how many degrees of freedom
    dofs_at: int  # where in the table these begin
    body: BodySlots
    parent: BodySlots

    # the joint, F on the inner body and M on the outer one
    X_PF: int  # in p
    X_BM: int  # in p
    X_MB: int  # the inverse of X_BM
    frames: int  # `JointFrames`
    X_FM: int
    H_FM: int
    HDotU_FM: int
    only_turns: int  # whether X_FM is a rotation about the common z axis, whatever the State
    motion: int  # ANY_MOTION, FIXED_AXES, PIVOT
    R_GF: int
    origin: int  # of M, from the reference point

    # the body
    reference: int  # the point of its tree that spatial vectors are about
    mass: int  # in p
    center_of_mass: int  # in p
    inertia: int  # in p
    V_GB: int  # about the body's origin, as the next ones
    F_GB: int
    A_GB: int
    free_A_GB: int  # without constraints

    parent_number: int  # index of the link that carries it; negative where that is Ground


class DofSlots(Record):
    """A degree of freedom: a speed of a joint."""

    number: int  # index among all
    parent: int  # index of the next one toward Ground; negative where there is none
    run: int  # the first of the unbroken run ``run, run + 1 … number`` of such neighbours
    axis: int  # of F along which it moves: 0 to 2 turn, 3 to 5 shift; negative where nothing is known
    S: int  # the motion of what it carries, for one unit of the speed
    u: int  # in y
    tau: int  # its generalized force
    own_row: int  # coefficients that the joint's own equation adds; `NOWHERE` where it has none
    own_constant: int  # and its constant
    row: int  # where in M, and in the factor, its row begins
    depth: int  # how long that is: how many degrees of freedom there are from Ground to it
    D: int  # what its equation is divided by; with a mass matrix it is the end of its row of the factor
    gain: int  # of the recursion: the force on the parent for each unit that is missing here
    response: int  # of the recursion: u_dot while the parent does not accelerate
    free_u_dot: int  # without constraints
    u_dot: int


class EquationSlots(Record):
    """An equation of a constraint."""

    terms: int  # how many
    terms_at: int  # where in the table these begin
    constant: int
    enabled: int  # in p
    stabilization: int  # in p: its rate
    position_error: int
    velocity_error: int
    finds_velocity_error: int  # whether that is computed here
    level: int  # up to which it is corrected: 0 not at all, 1 speeds, 2 positions, too
    is_drifting: int  # whether it holds positions that are not corrected
    multiplier: int
    redundant: int  # the notice that it follows from others
    drifts: int  # the notice that its positions are not corrected
    singular: int  # the notice of a singular position


class TermSlots(Record):
    """The body or the coordinate on which an equation acts."""

    size: int  # of coefficients and force: 6 of a body, 1 of a coordinate
    coefficients: int
    acceleration: int  # without constraints
    velocity: int  # of a coordinate in y
    dof: int  # of a body the outermost degree of freedom that moves it; negative where none does
    member: int  # that in its group
    pose: int  # of a body
    reference: int
    force: int  # what the constraint exerts on it
    mass: int  # in p
    inertia: int  # in p


class MechanismSlots(Record):
    """The size of the mechanism, the places of its tables, and slots of the whole mechanism."""

    links: int  # how many
    dofs: int
    equations: int
    terms: int
    groups: int  # of equations
    links_at: int  # where these begin in the table
    dofs_at: int
    equations_at: int
    terms_at: int
    groups_at: int
    is_by_body: int  # whether the accelerations come from the recursion, and not from a mass matrix

    # the mass matrix, see `mass_matrix_rows`
    M: int
    factor: int
    entries: int  # how many these have
    right_side: int  # of each degree of freedom, as the next
    solution: int

    # the constraints
    errors: int  # `ConstraintErrors`
    correction: int  # of each degree of freedom: of u_dot, or of what stands in its place
    speeds_aside: int  # where speeds wait while a correction of positions stands in their place


class Mechanism(NamedTuple):
    """The table of a mechanism."""

    ints: Any  # where it stands
    first: int  # and from where on
    header: Any  # MechanismSlots
    links: Any  # rows of LinkSlots, each behind the one that carries it
    dofs: Any  # rows of DofSlots
    equations: Any  # rows of EquationSlots, those of a group one behind the other
    groups: Any  # rows of GroupSlots


def mechanism_at(ints: Any, first: int) -> Mechanism:
    """The table that begins at a place of the integers of the schedule."""
    header = rows_of(MechanismSlots, ints, first, 1)[0]
    return Mechanism(
        ints,
        first,
        header,
        rows_of(LinkSlots, ints, first + header.links_at, header.links),
        rows_of(DofSlots, ints, first + header.dofs_at, header.dofs),
        rows_of(EquationSlots, ints, first + header.equations_at, header.equations),
        rows_of(GroupSlots, ints, first + header.groups_at, header.groups),
    )


def dofs_of(mechanism: Mechanism, link: Any) -> Any:
    """The degrees of freedom of a link."""
    return rows_of(DofSlots, mechanism.ints, mechanism.first + link.dofs_at, link.dofs)


def equations_of(mechanism: Mechanism, group: Any) -> Any:
    """The equations of a group."""
    return rows_of(EquationSlots, mechanism.ints, mechanism.first + group.equations_at, group.equations)


def terms_of(mechanism: Mechanism, equation: Any) -> Any:
    """The terms of an equation."""
    return rows_of(TermSlots, mechanism.ints, mechanism.first + equation.terms_at, equation.terms)
