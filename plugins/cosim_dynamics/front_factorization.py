"""Eliminating the joints and the equations of a group along the tree, in kernel functions.

The accelerations a of bodies and the multipliers x of a group make one quadratic function, of which its
solution is a stationary point:

    1/2 sum a^T I a + sum x (w^T a + right side),    a = a_carrier + sum S u_dot

Eliminating a joint takes its u_dot out and puts the body that carries it in place of its own: that is the
step of the recursion over articulated bodies, with equations and other bodies coupled with it. Eliminating
an equation takes its multiplier out and couples the bodies that it acts on. All of it happens in dense
matrices as large as what is coupled at a time (*fronts*, `elimination_fronts`), so the effort grows with
the number of bodies.

Divisors of joints are positive. That of an equation is minus what gives way to it while the bodies further in
stand still; the whole gives way more. Where this is too little in its last front, the equations may be
redundant or near a singular position: then dense matrices, which find the rank, solve the group.

References
----------
R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7, for the recursion; I.S. Duff and J.K.
Reid, The multifrontal solution of indefinite sparse symmetric linear equations, ACM TOMS 9, 1983, for
fronts and for pivots that wait.
"""

from __future__ import annotations

import math
from typing import Any

from cosim.kit import as_table, rows_of, width_of
from cosim_dynamics.body_motion import placed_inertia
from cosim_dynamics.cached_vectors import real_at, reals_at, spatial_at
from cosim_dynamics.equation_setup import wrench_of
from cosim_dynamics.group_records import Pivot, candidates_of, couplings_of, fronts_of, targets_of
from cosim_dynamics.inertias import rigid_inertia
from cosim_dynamics.mechanism import TermSlots, dofs_of
from cosim_dynamics.spatial_vectors import dot6

#: Of what would give way to an equation if its bodies, with all that they carry, had no joints; the square
#: of a sine: well above `pivoted_cholesky.CLEAR`, from which on a position is an ordinary one.
ENOUGH = 1e-3
#: Less than this part of an inertia about a point is left by rounding.
HARDLY = 1e-12
WAITS, IS_OFF, IS_ELIMINATED = 0.0, 1.0, 2.0
"""What `ConstraintArrays.state_of_equations` says of each."""
HEAD = width_of(Pivot)


def factorize_along_tree(p: Any, c: Any, mechanism: Any, group: Any, arrays: Any, level: int) -> bool:
    """Eliminate a group; whether all divisors were large enough.

    Parameters
    ----------
    level : int
        Equations that are not held at this level are left out, like those that are turned off.
    """
    for r, equation in enumerate(arrays.equations):
        is_off = p[equation.enabled] == 0.0 or equation.level < level
        arrays.state_of_equations[r] = IS_OFF if is_off else WAITS
        arrays.softness[r] = 0.0
    fronts = fronts_of(mechanism, group)
    for front in fronts:
        F = matrix_of(c, front)
        if front.takes_over == 0:
            clear(c, front)
        add_body(p, c, mechanism, front, arrays, F)
        pivots = eliminate_joint(c, mechanism, front, arrays, F)
        if pivots == 0 or not eliminate_equations(c, mechanism, front, arrays, F, pivots):
            return False
        if front.parent >= 0:
            following = fronts[front.parent]
            if front.is_first != 0:
                clear(c, following)
            add_to_parent_front(mechanism, front, F, matrix_of(c, following))
    return True


def clear(c: Any, front: Any) -> None:
    """Zeros in the matrix of a front."""
    entries = reals_at(c, front.matrix, front.size * front.size)
    for i in range(len(entries)):
        entries[i] = 0.0


def matrix_of(c: Any, front: Any) -> Any:
    """The matrix of a front: its lower triangle counts."""
    return as_table(reals_at(c, front.matrix, front.size * front.size), front.size, front.size)


def pivot_of(c: Any, front: Any, number: int) -> Pivot:
    """The pivot of one elimination in a front."""
    return rows_of(Pivot, c, front.pivots + number * (HEAD + front.size), 1)[0]


def column_of(c: Any, front: Any, number: int) -> Any:
    """The column of the front's matrix that an elimination has taken out."""
    return reals_at(c, front.pivots + number * (HEAD + front.size) + HEAD, front.size)


def add_body(p: Any, c: Any, mechanism: Any, front: Any, arrays: Any, F: Any) -> None:
    """Add the inertia of the front's body, and what acts on it."""
    mass, center, I_C = placed_inertia(c, p, mechanism.links[front.link])
    _, x, y, z, xx, yy, zz, xy, xz, yz = rigid_inertia(mass, center, I_C)
    F[0, 0] += xx
    F[1, 0] += xy
    F[1, 1] += yy
    F[2, 0] += xz
    F[2, 1] += yz
    F[2, 2] += zz
    F[3, 1] += z
    F[3, 2] -= y
    F[3, 3] += mass
    F[4, 0] -= z
    F[4, 2] += x
    F[4, 4] += mass
    F[5, 0] += y
    F[5, 1] -= x
    F[5, 5] += mass
    for i in range(6):
        for j in range(i):
            F[j, i] = F[i, j]
    for coupling in couplings_of(mechanism, front):
        if coupling.dof < 0 and arrays.state_of_equations[coupling.equation] != IS_OFF:
            wrench = wrench_of(c, term_of(mechanism, coupling))
            row = F[coupling.variable]
            row[0] += wrench[0]
            row[1] += wrench[1]
            row[2] += wrench[2]
            row[3] += wrench[3]
            row[4] += wrench[4]
            row[5] += wrench[5]
            arrays.softness[coupling.equation] = max(
                arrays.softness[coupling.equation], softness_of(F, wrench)
            )


def softness_of(F: Any, wrench: Any) -> float:
    """The compliance of the body of a front, without its joint, to a force, or else to a moment."""
    a, b, e = wrench[3], wrench[4], wrench[5]
    force2 = a * a + b * b + e * e
    if force2 > 0.0:
        mass = form3(F, 3, a, b, e)
        return force2 * force2 / mass if mass > 0.0 else math.inf
    a, b, e = wrench[0], wrench[1], wrench[2]
    moment2 = a * a + b * b + e * e
    # about the centre of mass: what the moment would move, less what moves with the point
    x = F[3, 0] * a + F[3, 1] * b + F[3, 2] * e
    y = F[4, 0] * a + F[4, 1] * b + F[4, 2] * e
    z = F[5, 0] * a + F[5, 1] * b + F[5, 2] * e
    mass = (F[3, 3] + F[4, 4] + F[5, 5]) / 3.0
    about_point = form3(F, 0, a, b, e)
    inertia = about_point - (x * x + y * y + z * z) / mass if mass > 0.0 else 0.0
    return moment2 * moment2 / inertia if inertia > HARDLY * about_point else math.inf


def form3(F: Any, first: int, a: float, b: float, e: float) -> float:
    """A quadratic form: of the moments of inertia (0), of the masses (3)."""
    i, j, k = first, first + 1, first + 2
    return (
        F[i, i] * a * a + F[j, j] * b * b + F[k, k] * e * e
        + 2.0 * (F[j, i] * a * b + F[k, i] * a * e + F[k, j] * b * e)
    )  # fmt: skip


def term_of(mechanism: Any, coupling: Any) -> Any:
    """The term that couples an equation with a body or a coordinate."""
    return rows_of(TermSlots, mechanism.ints, mechanism.first + coupling.term_at, 1)[0]


def eliminate_joint(c: Any, mechanism: Any, front: Any, arrays: Any, F: Any) -> int:
    """Eliminate the degrees of freedom of the front's joint, outermost first; one more than there are, or 0.

    0 says that one meets no inertia.
    """
    dofs = dofs_of(mechanism, mechanism.links[front.link])
    couplings = couplings_of(mechanism, front)
    pivots = 0
    for number in range(len(dofs) - 1, -1, -1):
        dof = dofs[number]
        S = spatial_at(c, dof.S)
        column = column_of(c, front, pivots)
        for i in range(len(column)):
            column[i] = dot6(spatial_at(F[i], 0), S)
        for coupling in couplings:
            if coupling.dof == number and arrays.state_of_equations[coupling.equation] != IS_OFF:
                column[coupling.variable] += real_at(c, term_of(mechanism, coupling).coefficients)
        D = dot6(spatial_at(column, 0), S)
        if dof.own_row >= 0:
            D += real_at(c, dof.own_row)
        if not D > 0.0:
            return 0
        for coupling in couplings:
            if coupling.dof == number:
                x = real_at(c, term_of(mechanism, coupling).coefficients)
                arrays.softness[coupling.equation] = max(arrays.softness[coupling.equation], x * x / D)
        pivot_of(c, front, pivots).divisor = D
        eliminate(F, column, D)
        pivots += 1
    return pivots + 1


def eliminate(F: Any, column: Any, divisor: float) -> None:
    """F - column column^T / divisor, in the lower triangle and in the block of the first body."""
    one_over = 1.0 / divisor
    for i in range(len(column)):
        x = column[i] * one_over
        if x != 0.0:
            row = F[i]
            for j in range(max(i + 1, 6)):
                row[j] -= x * column[j]


def eliminate_equations(c: Any, mechanism: Any, front: Any, arrays: Any, F: Any, pivots: int) -> bool:
    """Eliminate the candidates to which enough gives way; whether none has to be left over.

    Parameters
    ----------
    pivots : int
        One more than were eliminated before.
    """
    number = pivots - 1
    for candidate in candidates_of(mechanism, front):
        k = candidate.variable
        pivot = pivot_of(c, front, number)
        pivot.divisor = 0.0
        if arrays.state_of_equations[candidate.equation] == WAITS:
            gives_way = -F[k, k]
            if gives_way > ENOUGH * arrays.softness[candidate.equation]:
                column = column_of(c, front, number)
                for i in range(k):
                    column[i] = F[k, i]
                for i in range(k, len(column)):
                    column[i] = F[i, k]
                eliminate(F, column, -gives_way)
                for i in range(k):
                    F[k, i] = 0.0
                for i in range(k, len(column)):
                    F[i, k] = 0.0
                pivot.divisor = -gives_way
                arrays.state_of_equations[candidate.equation] = IS_ELIMINATED
            elif candidate.is_last != 0:
                return False
        number += 1
    return True


def add_to_parent_front(mechanism: Any, front: Any, F: Any, next_matrix: Any) -> None:
    """Add what is left of a front to the next one, where the carrier and another body may be the same."""
    targets = targets_of(mechanism, front)
    for i in range(len(targets)):
        a = targets[i].variable
        if a >= 0:
            row = F[i]
            for j in range(i + 1):
                b = targets[j].variable
                if b >= 0:
                    if b < a or i == j:
                        next_matrix[a, b] += row[j]
                    elif b > a:
                        next_matrix[b, a] += row[j]
                    else:
                        next_matrix[a, a] += 2.0 * row[j]
