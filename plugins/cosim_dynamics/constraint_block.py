"""Acceleration stage: multipliers of the constraints, and accelerations that meet them.

The tree has been solved without them (M u_free = T - V). With Z = G L^-1 of M = L^T D L the multipliers solve
(Z D^-1 Z^T) multipliers = G u_free + b, and u_dot = u_free - M^-1 G^T multipliers. Where M was not set up,
the recursion over articulated bodies gives the same Z and D: a row of Z is what is missing at each degree of
freedom on the way from the tips to Ground, and D what it is divided by there.

Row 0 of the block is the header; rows for the equations follow, then for what each of them acts on, then for
the degrees of freedom and for the bodies.
"""

from __future__ import annotations

from typing import Any

from cosim_dynamics.inertias import dot6, plus6, scaled6
from cosim_dynamics.offsets import put_six, six, three
from cosim_dynamics.pivoted_cholesky import CLEAR, factorize, least_squares, weigh
from cosim_mechanics.spatial import cross, minus, plus

#: Header: number of equations, of degrees of freedom and of bodies; where the tables start (relative to the
#: header); whether the factor is by articulated bodies; where the arrays lie in the cache: G, Z (m by n), A,
#: W, normal (m by m), order, left, sizes (m), trust (2 m + 1), right side, multipliers (m), correction (n),
#: subspace, changes (6 for each body), errors (5).
EQUATIONS, SIZE, BODIES, TERMS_AT, DOFS_AT, BODIES_AT, BY_BODY = range(7)
G, Z, A, W, NORMAL, ORDER, LEFT, SIZES, TRUST, RIGHT, MULTIPLIERS, CORRECTION, SUBSPACE = range(7, 20)
CHANGES, ERRORS = range(20, 22)
#: Errors: whether something was corrected; the largest position and velocity error that can be; which part of
#: the usual tolerance is allowed; the angle by which positions miss the constraints.
CHANGED, POSITIONS, VELOCITIES, ALLOWED, BLUR = range(5)
ERROR_SIZES = 5
#: Equation: its constant, switch (p), rate of stabilization (p), position error, velocity error, and whether
#: the latter is to be computed here, multiplier, notice, first term, number of terms, and up to which level
#: it is corrected (0 not at all, 1 speeds, 2 positions too), another notice and what it says; a third one.
(
    CONSTANT,
    ENABLED,
    RATE,
    POSITION,
    VELOCITY,
    DEFAULT,
    MULTIPLIER,
    REDUNDANT,
    TERM,
    TERMS,
    LEVEL,
    DRIFTS,
    DRIFTING,
    SINGULAR,
) = range(14)
#: Term: 6 for a body or 1 for a coordinate, its coefficients, acceleration without constraints, velocity (of
#: a coordinate: in y), the degree of freedom (of a body: the outermost that moves it, or -1), pose, reference
#: point, where the force goes, and mass and inertia of a body (p).
KIND, COEFFICIENTS, FREE, SPEED, DOF, POSE, REFERENCE, FORCE, MASS, INERTIA = range(10)
#: Degree of freedom: the next one toward Ground, where its part of the factor starts and D lies, u_dot
#: without constraints and with them, and the speed in y.
BEFORE, START, DIAGONAL, U_FREE, U_DOT, U = range(6)
#: Body: parent, reference point, pose, acceleration without constraints and with them, degrees of freedom.
PARENT, BODY_REFERENCE, BODY_POSE, A_FREE, A_GB, FIRST_DOF, DOFS = range(7)
WIDTH = 22

#: Less than this part of what was added up is left by rounding: the equation does not see this speed. Taken
#: for a number, it would give an equation between bodies that do not move against each other a multiplier.
ROUNDING = 1e-13


def constraint_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Write multipliers, the forces of the constraints, u_dot and A_GB."""
    m = ints[first + EQUATIONS]
    n = ints[first + SIZE]
    set_up_equations(y, p, c, ints, first)
    eliminate(c, ints, first)
    set_up_products(c, ints, first)
    rank = solve(c, ints, first)
    multipliers = ints[first + MULTIPLIERS]
    trust = ints[first + TRUST]
    # Near a singular position an error grows as the equation that shows it fades: rounding alone may be left.
    c[ints[first + ERRORS] + ALLOWED] = 1.0 if c[trust + 2 * m] >= CLEAR else 0.0
    rows = first + WIDTH
    correct(c, ints, first)
    dofs = first + ints[first + DOFS_AT]
    correction = ints[first + CORRECTION]
    for i in range(n):
        entry = dofs + i * WIDTH
        c[ints[entry + U_DOT]] = c[ints[entry + U_FREE]] + c[correction + i]
    accelerate_bodies(c, ints, first)
    for r in range(m):
        c[ints[rows + r * WIDTH + REDUNDANT]] = 0.0
        c[ints[rows + r * WIDTH + SINGULAR]] = 0.0
        c[ints[rows + r * WIDTH + DRIFTS]] = float(ints[rows + r * WIDTH + DRIFTING])
        for j in range(ints[rows + r * WIDTH + TERMS]):
            term = first + ints[first + TERMS_AT] + (ints[rows + r * WIDTH + TERM] + j) * WIDTH
            for i in range(ints[term + KIND]):
                c[ints[term + FORCE] + i] = 0.0
    left = ints[first + LEFT]
    for r in range(m):
        row = rows + r * WIDTH
        c[ints[row + MULTIPLIER]] = c[multipliers + r]
        if p[ints[row + ENABLED]] != 0.0 and c[left + r] >= 0.0:
            c[ints[row + REDUNDANT]] = 1.0
        for j in range(ints[row + TERMS]):
            term = first + ints[first + TERMS_AT] + (ints[row + TERM] + j) * WIDTH
            for i in range(ints[term + KIND]):
                c[ints[term + FORCE] + i] -= c[multipliers + r] * c[ints[term + COEFFICIENTS] + i]

    for j in range(rank):
        if c[trust + m + j] < CLEAR:
            c[ints[rows + int(c[ints[first + ORDER] + j]) * WIDTH + SINGULAR]] = 1.0


def solve(c: Any, ints: Any, first: int) -> int:
    """The multipliers of A multipliers = right side, which is overwritten; the rank."""
    m = ints[first + EQUATIONS]
    A_at = ints[first + A]
    W_at = ints[first + W]
    order = ints[first + ORDER]
    left = ints[first + LEFT]
    sizes = ints[first + SIZES]
    trust = ints[first + TRUST]
    rank = factorize(c, m, A_at, W_at, order, left, sizes)
    rank = weigh(c, m, rank, A_at, W_at, order, left, sizes, c[ints[first + ERRORS] + BLUR], trust)
    normal = ints[first + NORMAL]
    least_squares(c, m, rank, W_at, order, normal, trust, ints[first + RIGHT], ints[first + MULTIPLIERS])
    return rank


def set_up_equations(y: Any, p: Any, c: Any, ints: Any, first: int) -> None:
    """Jacobian, right side and errors from the coefficients of the equations."""
    m = ints[first + EQUATIONS]
    n = ints[first + SIZE]
    dofs = first + ints[first + DOFS_AT]
    subspace = ints[first + SUBSPACE]
    errors = ints[first + ERRORS]
    c[errors + POSITIONS] = 0.0
    c[errors + VELOCITIES] = 0.0
    c[errors + BLUR] = 0.0
    for r in range(m):
        row = first + (1 + r) * WIDTH
        G_row = ints[first + G] + r * n
        sizes = ints[first + Z] + r * n  # of what is added up: Z comes later
        for i in range(n):
            c[G_row + i] = 0.0
            c[sizes + i] = 0.0
        if p[ints[row + ENABLED]] == 0.0:
            c[ints[first + RIGHT] + r] = 0.0
            c[ints[row + VELOCITY]] = 0.0
            c[ints[first + SIZES] + r] = 0.0
            continue
        value = c[ints[row + CONSTANT]]
        speed = 0.0
        size = 0.0
        for j in range(ints[row + TERMS]):
            term = first + ints[first + TERMS_AT] + (ints[row + TERM] + j) * WIDTH
            at = ints[term + COEFFICIENTS]
            dof = ints[term + DOF]
            if ints[term + KIND] == 1:
                value += c[at] * c[ints[term + FREE]]
                speed += c[at] * y[ints[term + SPEED]]
                c[G_row + dof] += c[at]
                c[sizes + dof] += abs(c[at])
                size = max(size, c[at] * c[at] / c[ints[dofs + dof * WIDTH + DIAGONAL]])
            else:
                f = six(c, at)
                value += dot6(f, six(c, ints[term + FREE]))
                speed += dot6(f, six(c, ints[term + SPEED]))
                if dof >= 0:
                    size = max(size, answer(f, p, ints[term + MASS], ints[term + INERTIA]))
                    arm = minus(three(c, ints[term + POSE] + 9), three(c, ints[term + REFERENCE]))
                    force = (f[3], f[4], f[5])
                    moment = plus((f[0], f[1], f[2]), cross(arm, force))
                    wrench = (moment[0], moment[1], moment[2], f[3], f[4], f[5])
                    while dof >= 0:
                        S = six(c, subspace + 6 * dof)
                        c[G_row + dof] += dot6(S, wrench)
                        c[sizes + dof] += size6(S, wrench)
                        dof = ints[dofs + dof * WIDTH + BEFORE]
        for i in range(n):
            if abs(c[G_row + i]) <= ROUNDING * c[sizes + i]:
                c[G_row + i] = 0.0
        c[ints[first + SIZES] + r] = size
        if ints[row + DEFAULT] != 0:
            c[ints[row + VELOCITY]] = speed
        level = ints[row + LEVEL]
        if level > 0 and not abs(c[ints[row + VELOCITY]]) <= c[errors + VELOCITIES]:
            c[errors + VELOCITIES] = abs(c[ints[row + VELOCITY]])
        if level > 1 and not abs(c[ints[row + POSITION]]) <= c[errors + POSITIONS]:
            c[errors + POSITIONS] = abs(c[ints[row + POSITION]])
        if level > 1:
            steepest = 0.0
            for i in range(n):
                S = six(c, subspace + 6 * i)
                if S[0] * S[0] + S[1] * S[1] + S[2] * S[2] > 0.0:
                    steepest = max(steepest, abs(c[G_row + i]))
            if steepest > 0.0:
                angle = abs(c[ints[row + POSITION]]) / steepest
                if angle > c[errors + BLUR]:
                    c[errors + BLUR] = angle
        rate = p[ints[row + RATE]]
        value += 2.0 * rate * c[ints[row + VELOCITY]] + rate * rate * c[ints[row + POSITION]]
        c[ints[first + RIGHT] + r] = value


def answer(f: Any, p: Any, mass: int, inertia: int) -> float:
    """How much a free body of this mass and inertia would give way to a force, or else to a moment."""
    force2 = f[3] * f[3] + f[4] * f[4] + f[5] * f[5]
    moment2 = f[0] * f[0] + f[1] * f[1] + f[2] * f[2]
    if force2 > 0.0:
        return force2 / p[mass] if p[mass] > 0.0 else 0.0
    mean = (p[inertia] + p[inertia + 1] + p[inertia + 2]) / 3.0
    return moment2 / mean if mean > 0.0 else 0.0


def size6(a: Any, b: Any) -> float:
    """How large the products are that a scalar product adds up."""
    return (
        abs(a[0] * b[0]) + abs(a[1] * b[1]) + abs(a[2] * b[2])
        + abs(a[3] * b[3]) + abs(a[4] * b[4]) + abs(a[5] * b[5])
    )  # fmt: skip


def eliminate(c: Any, ints: Any, first: int) -> None:
    """Z = G L^-1."""
    m = ints[first + EQUATIONS]
    n = ints[first + SIZE]
    dofs = first + ints[first + DOFS_AT]
    for r in range(m):
        G_row = ints[first + G] + r * n
        row = ints[first + Z] + r * n
        for i in range(n):
            c[row + i] = c[G_row + i]
        if ints[first + BY_BODY] != 0:
            eliminate_by_body(c, ints, first, row)
            continue
        for i in range(n - 1, -1, -1):
            x = c[row + i]
            if x != 0.0:
                entry = dofs + i * WIDTH
                at = ints[entry + DIAGONAL]
                j = ints[entry + BEFORE]
                while j >= 0:
                    at -= 1
                    c[row + j] -= c[at] * x
                    j = ints[dofs + j * WIDTH + BEFORE]


def eliminate_by_body(c: Any, ints: Any, first: int, row: int) -> None:
    """A row of G becomes one of Z: what is missing at each speed when those further out gave way."""
    bodies = first + ints[first + BODIES_AT]
    dofs = first + ints[first + DOFS_AT]
    wrenches = ints[first + CHANGES]
    for i in range(6 * ints[first + BODIES]):
        c[wrenches + i] = 0.0
    for body in range(ints[first + BODIES] - 1, -1, -1):
        entry = bodies + body * WIDTH
        wrench = six(c, wrenches + 6 * body)
        first_dof = ints[entry + FIRST_DOF]
        for dof in range(first_dof + ints[entry + DOFS] - 1, first_dof - 1, -1):
            missing = c[row + dof] - dot6(six(c, ints[first + SUBSPACE] + 6 * dof), wrench)
            c[row + dof] = missing
            wrench = plus6(wrench, scaled6(missing, six(c, ints[dofs + dof * WIDTH + START])))
        parent = ints[entry + PARENT]
        if parent >= 0:
            at = wrenches + 6 * parent
            put_six(c, at, plus6(wrench, six(c, at)))


def set_up_products(c: Any, ints: Any, first: int) -> None:
    """A = Z D^-1 Z^T = G M^-1 G^T."""
    m = ints[first + EQUATIONS]
    n = ints[first + SIZE]
    dofs = first + ints[first + DOFS_AT]
    for r in range(m):
        row = ints[first + Z] + r * n
        for s in range(r + 1):
            other = ints[first + Z] + s * n
            x = 0.0
            for i in range(n):
                x += c[row + i] * c[other + i] / c[ints[dofs + i * WIDTH + DIAGONAL]]
            c[ints[first + A] + r * m + s] = x
            c[ints[first + A] + s * m + r] = x


def correct(c: Any, ints: Any, first: int) -> None:
    """The correction -M^-1 G^T multipliers."""
    m = ints[first + EQUATIONS]
    n = ints[first + SIZE]
    dofs = first + ints[first + DOFS_AT]
    correction = ints[first + CORRECTION]
    multipliers = ints[first + MULTIPLIERS]
    for i in range(n):
        x = 0.0
        for r in range(m):
            x -= c[multipliers + r] * c[ints[first + Z] + r * n + i]
        c[correction + i] = x / c[ints[dofs + i * WIDTH + DIAGONAL]]
    if ints[first + BY_BODY] != 0:
        correct_by_body(c, ints, first)
        return
    for i in range(n):
        entry = dofs + i * WIDTH
        x = c[correction + i]
        at = ints[entry + DIAGONAL]
        j = ints[entry + BEFORE]
        while j >= 0:
            at -= 1
            x -= c[at] * c[correction + j]
            j = ints[dofs + j * WIDTH + BEFORE]
        c[correction + i] = x


def correct_by_body(c: Any, ints: Any, first: int) -> None:
    """What is missing at each degree of freedom, divided, becomes the correction: from Ground to the tips."""
    bodies = first + ints[first + BODIES_AT]
    dofs = first + ints[first + DOFS_AT]
    changes = ints[first + CHANGES]
    for body in range(ints[first + BODIES]):
        entry = bodies + body * WIDTH
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if ints[entry + PARENT] >= 0:
            change = six(c, changes + 6 * ints[entry + PARENT])
        for dof in range(ints[entry + FIRST_DOF], ints[entry + FIRST_DOF] + ints[entry + DOFS]):
            at = ints[first + CORRECTION] + dof
            c[at] -= dot6(six(c, ints[dofs + dof * WIDTH + START]), change)
            change = plus6(change, scaled6(c[at], six(c, ints[first + SUBSPACE] + 6 * dof)))
        put_six(c, changes + 6 * body, change)


def accelerate_bodies(c: Any, ints: Any, first: int) -> None:
    """A_GB: what it was without constraints, and what the correction of u_dot adds."""
    bodies = first + ints[first + BODIES_AT]
    changes = ints[first + CHANGES]
    for i in range(ints[first + BODIES]):
        row = bodies + i * WIDTH
        change = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if ints[row + PARENT] >= 0:
            change = six(c, changes + 6 * ints[row + PARENT])
        for dof in range(ints[row + FIRST_DOF], ints[row + FIRST_DOF] + ints[row + DOFS]):
            x = c[ints[first + CORRECTION] + dof]
            change = plus6(change, scaled6(x, six(c, ints[first + SUBSPACE] + 6 * dof)))
        put_six(c, changes + 6 * i, change)
        w = (change[0], change[1], change[2])
        arm = minus(three(c, ints[row + BODY_POSE] + 9), three(c, ints[row + BODY_REFERENCE]))
        v = plus((change[3], change[4], change[5]), cross(w, arm))
        put_six(
            c,
            ints[row + A_GB],
            plus6(six(c, ints[row + A_FREE]), (w[0], w[1], w[2], v[0], v[1], v[2])),
        )
