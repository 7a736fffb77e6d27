"""Acceleration stage: multipliers of the constraints, and accelerations that meet them.

The tree has been solved without them (M u_free = T - V). With Z = G L^-1 of M = L^T D L the multipliers solve
(Z D^-1 Z^T) multipliers = G u_free + b, and u_dot = u_free - M^-1 G^T multipliers. Where M was not set up,
the recursion over articulated bodies gives the same Z and D: a row of Z is what is missing at each degree of
freedom on the way from the tips to Ground, and D what it is divided by there.

Each group of equations is solved by itself. A large one is eliminated along the tree
(`front_factorization`), without G, while its equations are independent.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.cached_vectors import position_at, put_spatial, real_at, reals_at, spatial_at, vector_at
from cosim_dynamics.constraint_arrays import constraint_arrays, constraint_errors
from cosim_dynamics.equation_setup import set_up_equations
from cosim_dynamics.mechanism import dofs_of, mechanism_at, terms_of
from cosim_dynamics.multipliers import apply_multipliers, set_up_group, solve_group
from cosim_dynamics.pivoted_cholesky import CLEAR
from cosim_dynamics.spatial_vectors import plus6, scaled6
from cosim_mechanics.spatial import minus, moved


def constraint_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Write multipliers, the forces of the constraints, u_dot and A_GB."""
    mechanism = mechanism_at(ints, first)
    header = mechanism.header
    set_up_equations(y, p, c, mechanism)
    closest = 1.0
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        set_up_group(p, c, mechanism, group, arrays, 0)
        rank, shortest = solve_group(c, mechanism, group, arrays)
        closest = min(closest, shortest)
        exert_forces(p, c, mechanism, arrays)
        for i in range(rank):
            if arrays.cholesky.lengths[i] < CLEAR:
                c[arrays.equations[int(arrays.cholesky.order[i])].singular] = 1.0
    # Near a singular position an error grows as the equation that shows it fades: rounding alone may be left.
    constraint_errors(c, header).allowed = 1.0 if closest >= CLEAR else 0.0
    apply_multipliers(c, mechanism)
    correction = reals_at(c, header.correction, header.dofs)
    for i, dof in enumerate(mechanism.dofs):
        c[dof.u_dot] = real_at(c, dof.free_u_dot) + correction[i]
    accelerate_bodies(c, mechanism, correction)


def exert_forces(p: Any, c: Any, mechanism: Any, arrays: Any) -> None:
    """Write the multipliers of a group, what each constraint exerts on its attachments, and its notices."""
    for equation in arrays.equations:
        c[equation.redundant] = 0.0
        c[equation.singular] = 0.0
        c[equation.drifts] = float(equation.is_drifting)
        for term in terms_of(mechanism, equation):
            force = reals_at(c, term.force, term.size)
            for i in range(term.size):
                force[i] = 0.0
    for r, equation in enumerate(arrays.equations):
        multiplier = arrays.multipliers[r]
        c[equation.multiplier] = multiplier
        if (
            p[equation.enabled] != 0.0
            and arrays.state.is_along_tree == 0.0
            and arrays.cholesky.left[r] >= 0.0
        ):
            c[equation.redundant] = 1.0
        for term in terms_of(mechanism, equation):
            force = reals_at(c, term.force, term.size)
            coefficients = reals_at(c, term.coefficients, term.size)
            for i in range(term.size):
                force[i] -= multiplier * coefficients[i]


def accelerate_bodies(c: Any, mechanism: Any, correction: Any) -> None:
    """A_GB: what it was without constraints, and what the correction of u_dot adds."""
    for link in mechanism.links:
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if link.has_parent != 0:
            change = spatial_at(c, link.parent.correction)
        for dof in dofs_of(mechanism, link):
            change = plus6(change, scaled6(correction[dof.number], spatial_at(c, dof.S)))
        put_spatial(c, link.body.correction, change)
        arm = minus(position_at(c, link.body.X_GB), vector_at(c, link.reference))
        put_spatial(c, link.A_GB, plus6(spatial_at(c, link.free_A_GB), moved(change, arm)))
