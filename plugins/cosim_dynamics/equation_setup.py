"""Setting up the equations of constraints over the speeds: Jacobian, right side and errors."""

from __future__ import annotations

from typing import Any

from cosim.kit import tangent_of
from cosim_dynamics.cached_vectors import position_at, real_at, spatial_at, vector_at
from cosim_dynamics.constraint_arrays import constraint_arrays, constraint_errors
from cosim_dynamics.mechanism import terms_of
from cosim_dynamics.spatial_vectors import Six, dot6, joined
from cosim_mechanics.spatial import angular, cross, linear, minus, plus

#: A coefficient below this part of the sum of its terms is rounding, and zero: otherwise an equation between
#: bodies that do not move relative to each other would get a multiplier.
ROUNDING = 1e-13


def set_up_equations(y: Any, p: Any, c: Any, mechanism: Any) -> None:
    """Compute the values G u_dot + b without constraints, and the errors, from coefficients and constants."""
    errors = constraint_errors(c, mechanism.header)
    errors.positions = 0.0
    errors.velocities = 0.0
    for group in mechanism.groups:
        arrays = constraint_arrays(c, mechanism, group)
        for r, equation in enumerate(arrays.equations):
            if p[equation.enabled] == 0.0:
                arrays.values[r] = 0.0
                c[equation.velocity_error] = 0.0
                arrays.cholesky.sizes[r] = 0.0
                continue
            value, speed, size = add_terms(y, p, c, mechanism, equation)
            arrays.cholesky.sizes[r] = size
            if equation.finds_velocity_error != 0:
                c[equation.velocity_error] = speed
            store_errors(c, equation, errors)
            rate = p[equation.stabilization]
            value += 2.0 * rate * c[equation.velocity_error] + rate * rate * c[equation.position_error]
            arrays.values[r] = value


def add_terms(y: Any, p: Any, c: Any, mechanism: Any, equation: Any) -> tuple[float, float, float]:
    """Add up the terms of an equation.

    Returns
    -------
    value, speed : float
        The equation for the accelerations without constraints, and its linear part for the speeds.
    size : float
        The largest compliance of the bodies and coordinates on which it acts.
    """
    value = c[equation.constant]
    speed = 0.0
    size = 0.0
    for term in terms_of(mechanism, equation):
        if term.size == 1:
            coefficient = c[term.coefficients]
            value += coefficient * c[term.acceleration]
            speed += coefficient * y[term.velocity]
            size = max(size, coefficient * coefficient / c[mechanism.dofs[term.dof].D])
        else:
            force = spatial_at(c, term.coefficients)
            value += dot6(force, spatial_at(c, term.acceleration))
            speed += dot6(force, spatial_at(c, term.velocity))
            if term.dof >= 0:
                size = max(size, compliance(force, p, term))
    return value, speed, size


def store_errors(c: Any, equation: Any, errors: Any) -> None:
    """Update the largest errors of corrected equations with those of one."""
    if equation.level > 0 and not abs(c[equation.velocity_error]) <= errors.velocities:
        errors.velocities = abs(c[equation.velocity_error])
    if equation.level > 1 and not abs(c[equation.position_error]) <= errors.positions:
        errors.positions = abs(c[equation.position_error])


def set_up_jacobian(p: Any, c: Any, mechanism: Any, arrays: Any) -> None:
    """Compute G of a group, and the angle by which its positions are off."""
    arrays.state.angle = 0.0
    for r, equation in enumerate(arrays.equations):
        row = arrays.jacobian[r]
        added = arrays.eliminated[r]  # the sizes of the added terms; Z replaces them later
        for i in range(len(row)):
            row[i] = 0.0
            added[i] = 0.0
        if p[equation.enabled] != 0.0:
            add_row(c, mechanism, equation, arrays.members, row, added)
            for i in range(len(row)):
                row[i] = without_rounding(row[i], added[i])
            if equation.level > 1:
                store_angle(c, mechanism, equation, arrays, row)


def without_rounding(x: float, size: float) -> float:
    """A sum, or 0 where rounding of what was added up may be all of it."""
    return 0.0 if abs(x) <= ROUNDING * size else x


@tangent_of(without_rounding)
def without_rounding_tangent(x: float, size: float, x_dot: float, size_dot: float) -> float:
    """The tangent of the sum."""
    return x_dot * 1.0


def add_row(c: Any, mechanism: Any, equation: Any, members: Any, row: Any, added: Any) -> None:
    """Add what an equation acts on to its row of G, and the sizes of that to `added`."""
    for term in terms_of(mechanism, equation):
        if term.size == 1:
            coefficient = c[term.coefficients]
            row[term.member] += coefficient
            added[term.member] += abs(coefficient)
        elif term.dof >= 0:
            wrench = wrench_of(c, term)
            i = term.member
            while i >= 0:
                member = members[i]
                S = spatial_at(c, mechanism.dofs[member.number].S)
                row[i] += dot6(S, wrench)
                added[i] += size6(S, wrench)
                i = member.parent


def wrench_of(c: Any, term: Any) -> Six:
    """The coefficients of a body's term, about the reference point of its tree."""
    force = spatial_at(c, term.coefficients)
    arm = minus(position_at(c, term.pose), vector_at(c, term.reference))
    return joined(plus(angular(force), cross(arm, linear(force))), linear(force))


def store_angle(c: Any, mechanism: Any, equation: Any, arrays: Any, row: Any) -> None:
    """Keep the largest angle by which positions are off."""
    steepest = 0.0
    for i, member in enumerate(arrays.members):
        w = vector_at(c, mechanism.dofs[member.number].S)
        if w[0] * w[0] + w[1] * w[1] + w[2] * w[2] > 0.0:
            steepest = max(steepest, abs(row[i]))
    if steepest > 0.0:
        angle = abs(real_at(c, equation.position_error)) / steepest
        if angle > arrays.state.angle:
            arrays.state.angle = angle


def compliance(force: Any, p: Any, term: Any) -> float:
    """The compliance of a free body of the term's mass and inertia to a force, or else to a moment."""
    force2 = force[3] * force[3] + force[4] * force[4] + force[5] * force[5]
    moment2 = force[0] * force[0] + force[1] * force[1] + force[2] * force[2]
    if force2 > 0.0:
        mass = p[term.mass]
        return force2 / mass if mass > 0.0 else 0.0
    inertia = vector_at(p, term.inertia)
    mean = (inertia[0] + inertia[1] + inertia[2]) / 3.0
    return moment2 / mean if mean > 0.0 else 0.0


def size6(a: Any, b: Any) -> float:
    """The sum of the absolute products in a scalar product."""
    return (
        abs(a[0] * b[0]) + abs(a[1] * b[1]) + abs(a[2] * b[2])
        + abs(a[3] * b[3]) + abs(a[4] * b[4]) + abs(a[5] * b[5])
    )  # fmt: skip
