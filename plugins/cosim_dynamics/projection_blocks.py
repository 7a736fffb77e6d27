"""Corrections after a step: quaternions, positions and speeds.

`cosim.contracts.constraints` calls these in turn and evaluates the system in between. Corrections are the
smallest in the metric of the mass matrix: -M^-1 G^T (G M^-1 G^T)^+ error. One of positions is made as speeds
(which every joint knows how to turn into rates of its coordinates), so it takes two blocks: the first puts it
in place of the speeds, and after an evaluation the second adds the rates to the coordinates.

An error estimate goes the same way. What the blocks for it get in place of `y` is the estimate, and in place
of `h` the state that it belongs to.
"""

from __future__ import annotations

import math
from typing import Any

from cosim.kit import Record, pop, push, recorded_by, rows_of, tangent_of
from cosim_dynamics.cached_vectors import put_spatial, reals_at, spatial_at
from cosim_dynamics.constraint_arrays import constraint_arrays, constraint_errors
from cosim_dynamics.equation_setup import wrench_of
from cosim_dynamics.front_factorization import term_of
from cosim_dynamics.group_records import couplings_of, fronts_of
from cosim_dynamics.mechanism import dofs_of, mechanism_at
from cosim_dynamics.multipliers import apply_multipliers, set_up_group, set_up_products, solve_group
from cosim_dynamics.spatial_vectors import dot6, plus6, scaled6

#: Below this deviation of the squared length from 1 a quaternion is normalized as well as it can be.
EXACT = 4e-16
SPEEDS, POSITIONS = 1, 2
"""Up to which level equations are corrected."""


class QuaternionSlots(Record):
    """A quaternion among the coordinates."""

    q: int  # in y
    changed: int  # whether something was corrected: `ConstraintErrors.changed`


class CoordinateSlots(Record):
    """A coordinate of a joint."""

    q: int  # in y; at the same place of the cache lies its rate


def normalization_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Divide quaternions by their lengths."""
    for quaternion in rows_of(QuaternionSlots, ints, first, count):
        if normalize(reals_at(y, quaternion.q, 4)) != 0:
            c[quaternion.changed] = 1.0


def normalize(q: Any) -> int:
    """Divide a quaternion by its length; whether that has changed it."""
    length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    if abs(length2 - 1.0) > EXACT and length2 > 0.0:
        one_over = 1.0 / math.sqrt(length2)
        for i in range(4):
            q[i] *= one_over
        return 1
    return 0


@tangent_of(normalize, with_values=True)
def normalize_with_tangent(q: Any, q_dot: Any) -> int:
    """Normalize a quaternion; its tangent loses the part along it, even if rounding allows no change."""
    length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    if length2 > 0.0:
        along = (q[0] * q_dot[0] + q[1] * q_dot[1] + q[2] * q_dot[2] + q[3] * q_dot[3]) / length2
        for i in range(4):
            q_dot[i] = (q_dot[i] - along * q[i]) / math.sqrt(length2)
    return normalize(q)


def reverse_normalize(root: Any, tape: Any) -> None:
    """The matrix of that tangent is symmetric."""
    at = int(pop(tape))
    q3, q2, q1, q0 = pop(tape), pop(tape), pop(tape), pop(tape)
    q = (q0, q1, q2, q3)
    length2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    if length2 > 0.0:
        along = (q[0] * root[at] + q[1] * root[at + 1] + q[2] * root[at + 2] + q[3] * root[at + 3]) / length2
        for i in range(4):
            root[at + i] = (root[at + i] - along * q[i]) / math.sqrt(length2)


@recorded_by(normalize, reverse_normalize)
def record_normalize(q: Any, q_dot: Any, q_at: int, tape: Any) -> int:
    """Normalize a quaternion and its tangent; the tape gets the quaternion before, and its place."""
    for i in range(4):
        push(tape, q[i])
    push(tape, q_at * 1.0)
    return normalize_with_tangent(q, q_dot)


def normal_part_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Take out of the error of quaternions what is along them."""
    for quaternion in rows_of(QuaternionSlots, ints, first, count):
        error = reals_at(y, quaternion.q, 4)
        q = reals_at(h, quaternion.q, 4)
        along = error[0] * q[0] + error[1] * q[1] + error[2] * q[2] + error[3] * q[3]
        for i in range(4):
            error[i] -= along * q[i]


def velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Correct the speeds so that they meet the constraints of each group."""
    mechanism = mechanism_at(ints, first)
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        for r, equation in enumerate(arrays.equations):
            arrays.values[r] = c[equation.velocity_error]
    solve_for_correction(p, c, mechanism, SPEEDS)
    add_to_speeds(y, c, mechanism)
    constraint_errors(c, mechanism.header).changed = 1.0


def direction_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Put the correction of positions in place of the speeds, and these aside."""
    mechanism = mechanism_at(ints, first)
    sum_position_errors(c, mechanism)
    solve_for_correction(p, c, mechanism, POSITIONS)
    saved_speeds = reals_at(c, mechanism.header.speeds_aside, mechanism.header.dofs)
    correction = correction_of(c, mechanism)
    for i, dof in enumerate(mechanism.dofs):
        saved_speeds[i] = y[dof.u]
        y[dof.u] = correction[i]
    constraint_errors(c, mechanism.header).changed = 1.0


def movement_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Add the rates to the coordinates."""
    for coordinate in rows_of(CoordinateSlots, ints, first, count):
        y[coordinate.q] += c[coordinate.q]


def restoration_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Put the speeds back."""
    mechanism = mechanism_at(ints, first)
    saved_speeds = reals_at(c, mechanism.header.speeds_aside, mechanism.header.dofs)
    for i, dof in enumerate(mechanism.dofs):
        y[dof.u] = saved_speeds[i]


def speed_estimate_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Correct the estimate of the speeds by what it says against the equations; note the position errors."""
    mechanism = mechanism_at(ints, first)
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        if arrays.state.is_along_tree != 0.0:
            multiply_along_tree(y, p, c, mechanism, group, arrays)
        else:
            for r in range(len(arrays.equations)):
                value = 0.0
                for i, member in enumerate(arrays.members):
                    value += arrays.jacobian[r, i] * y[mechanism.dofs[member.number].u]
                arrays.values[r] = value
    solve_for_correction(p, c, mechanism, SPEEDS)
    add_to_speeds(y, c, mechanism)
    sum_position_errors(c, mechanism)


def multiply_along_tree(y: Any, p: Any, c: Any, mechanism: Any, group: Any, arrays: Any) -> None:
    """G times the speeds in `y` as the values of a group."""
    for r in range(len(arrays.values)):
        arrays.values[r] = 0.0
    fronts = fronts_of(mechanism, group)
    for n in range(len(fronts) - 1, -1, -1):
        link = mechanism.links[fronts[n].link]
        V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if link.has_parent != 0:
            V = spatial_at(c, link.parent.correction)
        dofs = dofs_of(mechanism, link)
        for dof in dofs:
            V = plus6(V, scaled6(y[dof.u], spatial_at(c, dof.S)))
        put_spatial(c, link.body.correction, V)
        for coupling in couplings_of(mechanism, fronts[n]):
            if p[arrays.equations[coupling.equation].enabled] != 0.0:
                term = term_of(mechanism, coupling)
                if coupling.dof >= 0:
                    arrays.values[coupling.equation] += c[term.coefficients] * y[dofs[coupling.dof].u]
                else:
                    arrays.values[coupling.equation] += dot6(wrench_of(c, term), V)


def position_estimate_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """The correction of the estimate of the coordinates in place of the speeds.

    The position errors are those of the coordinates without the estimate; those with it were noted.
    """
    mechanism = mechanism_at(ints, first)
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        for r, equation in enumerate(arrays.equations):
            arrays.values[r] -= c[equation.position_error]
    solve_for_correction(p, c, mechanism, POSITIONS)
    correction = correction_of(c, mechanism)
    for i, dof in enumerate(mechanism.dofs):
        y[dof.u] = correction[i]


def sum_position_errors(c: Any, mechanism: Any) -> None:
    """Position errors as what is to be made zero."""
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        for r, equation in enumerate(arrays.equations):
            arrays.values[r] = c[equation.position_error]


def solve_for_correction(p: Any, c: Any, mechanism: Any, level: int) -> None:
    """The correction that makes the values zero, by the equations that are held at this level."""
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        if arrays.state.is_along_tree != 0.0 and has_equations_below(arrays, level):
            set_up_group(p, c, mechanism, group, arrays, level)
        for r, equation in enumerate(arrays.equations):
            if equation.level < level or p[equation.enabled] == 0.0:
                leave_out(arrays, r)
        solve_group(c, mechanism, group, arrays)
    apply_multipliers(c, mechanism)
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        if arrays.state.is_along_tree == 0.0:
            set_up_products(c, mechanism, arrays)
        elif has_equations_below(arrays, level):
            set_up_group(p, c, mechanism, group, arrays, 0)


def leave_out(arrays: Any, r: int) -> None:
    """Take an equation out of those of its group: its row and column are zero, and what it asks for."""
    arrays.values[r] = 0.0
    if arrays.state.is_along_tree == 0.0:
        A = arrays.cholesky.A
        for s in range(len(arrays.equations)):
            A[r, s] = 0.0
            A[s, r] = 0.0


def has_equations_below(arrays: Any, level: int) -> bool:
    """Whether a group has equations that are not held at a level."""
    lowest = level
    for equation in arrays.equations:
        lowest = min(lowest, equation.level)
    return lowest < level


def correction_of(c: Any, mechanism: Any) -> Any:
    """The correction of each degree of freedom."""
    return reals_at(c, mechanism.header.correction, mechanism.header.dofs)


def add_to_speeds(y: Any, c: Any, mechanism: Any) -> None:
    """Add the correction to the speeds."""
    correction = correction_of(c, mechanism)
    for i, dof in enumerate(mechanism.dofs):
        y[dof.u] += correction[i]
