"""Groups of equations of constraints, and the fronts along which large ones are solved.

Equations belong to one group where degrees of freedom couple them: a mechanism of several loops that share no
moving body has several groups, and each is solved by itself.
"""

from __future__ import annotations

from typing import Any

from cosim.kit import Record, rows_of


class GroupSlots(Record):
    """Equations that are solved together."""

    equations: int  # how many
    equations_at: int  # where in the table these begin
    members: int  # how many degrees of freedom move what they act on
    members_at: int  # `GroupMember`
    links: int  # how many links lie between these and Ground
    links_at: int  # `GroupLink`, each behind the one that carries it
    fronts: int  # how many; 0: the group is always solved by dense matrices
    fronts_at: int  # `FrontSlots`, in the order of elimination
    state: int  # `GroupState`

    # m by m, m by n and m: see `constraint_arrays` and `pivoted_cholesky`
    jacobian: int
    eliminated: int
    products: int
    columns: int
    normal: int
    order: int
    left: int
    sizes: int
    trust: int
    lengths: int
    values: int
    multipliers: int

    # see `front_factorization`
    state_of_equations: int  # m: whether each waits, is off or was eliminated
    softness: int  # m: how much its bodies would give way to each if they had no joints


class GroupState(Record):
    """Results of the last evaluation of a group, in the cache."""

    is_along_tree: float  # whether it was solved along the tree, 0 or 1
    angle: float  # by which positions miss the constraints, rad; of dense matrices


class GroupMember(Record):
    """A degree of freedom of a group."""

    number: int  # among all
    parent: int  # index in the group of the next one toward Ground; negative where there is none


class GroupLink(Record):
    """A link of a group."""

    number: int  # among all


class FrontSlots(Record):
    """The variables that are coupled with a body when its joint is eliminated: its *front*.

    The variables of a front are accelerations of bodies, six of each and the body's own first, and behind
    them multipliers. When the joint is eliminated those of the body that carries it take the place of its
    own.
    """

    link: int  # index among all
    size: int  # how many variables
    takes_over: int  # whether others are taken over here
    is_first: int  # of those that the next front takes over
    matrix: int  # size by size, in the cache; others use the same place before and afterwards
    values: int  # one of each variable: right side, then solution
    pivots: (
        int  # `Pivot` of each degree of freedom, then of each candidate, each with one real of each variable
    )
    parent: int  # index of the front that takes over what is left; negative: nothing is
    targets_at: int  # in the table, of each variable: which one it becomes there; negative: none
    couplings: int
    couplings_at: int  # `Coupling`
    candidates: int
    candidates_at: int  # `Candidate`


class Pivot(Record):
    """The result of one elimination, in the cache; its column follows."""

    divisor: float  # 0: it was not eliminated here
    value: float  # right side


class Coupling(Record):
    """An equation that acts on the body of a front, or on a coordinate of its joint."""

    variable: int  # of the equation
    equation: int  # index in the group
    term_at: int  # where in the table its `TermSlots` stand
    dof: int  # of a coordinate, index in its joint; negative: it acts on the body


class Candidate(Record):
    """An equation that acts on no body further out: it may be eliminated in this front."""

    variable: int
    equation: int  # index in the group
    is_first: int  # whether it could not be eliminated before
    is_last: int  # whether it cannot be eliminated later


class Target(Record):
    """Which variable of the next front a variable becomes."""

    variable: int


def members_of(mechanism: Any, group: Any) -> Any:
    """The degrees of freedom of a group."""
    return rows_of(GroupMember, mechanism.ints, mechanism.first + group.members_at, group.members)


def group_links_of(mechanism: Any, group: Any) -> Any:
    """The links of a group."""
    return rows_of(GroupLink, mechanism.ints, mechanism.first + group.links_at, group.links)


def fronts_of(mechanism: Any, group: Any) -> Any:
    """The fronts of a group."""
    return rows_of(FrontSlots, mechanism.ints, mechanism.first + group.fronts_at, group.fronts)


def couplings_of(mechanism: Any, front: Any) -> Any:
    """The forces on the body of a front."""
    return rows_of(Coupling, mechanism.ints, mechanism.first + front.couplings_at, front.couplings)


def candidates_of(mechanism: Any, front: Any) -> Any:
    """The equations that may be eliminated in a front."""
    return rows_of(Candidate, mechanism.ints, mechanism.first + front.candidates_at, front.candidates)


def targets_of(mechanism: Any, front: Any) -> Any:
    """The indices in the next front of the variables of a front."""
    return rows_of(Target, mechanism.ints, mechanism.first + front.targets_at, front.size)
