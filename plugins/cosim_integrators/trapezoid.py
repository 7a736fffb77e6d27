"""The trapezoidal rule."""

from __future__ import annotations

from dataclasses import replace

from cosim_integrators.implicit.diagonal_tableau import DiagonalTableau
from cosim_integrators.implicit.diagonally_implicit_integrator import DiagonallyImplicitIntegrator


class Trapezoid(DiagonallyImplicitIntegrator):
    """The trapezoidal rule: implicit, order 2, keeps oscillations as they are (A-stable, symmetric).

    Law: y_next = y + h/2 (f(t, y) + f(t + h, y_next)).

    When to use: moderately stiff systems with undamped oscillations, at coarse accuracies. Very stiff parts
    are not damped, their deviation changes sign from step to step: there use `Radau5` or `ImplicitEuler`.

    The error estimate is h^3 y''' / 12, from the derivatives at the ends of this step and the last one; the
    first step of a run, or after an event, has an estimate of lower order and so is short. Dense output is
    the quadratic polynomial that has both derivatives.

    Parameters
    ----------
    **options
        As `cosim.Integrator`.

    References
    ----------
    E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", section IV.3.

    Examples
    --------
    >>> Trapezoid(accuracy=1e-4).order
    2
    """

    known_as = ("ode23t", "crank_nicolson")
    tableau = DiagonalTableau(
        order=2, a=[[0], [1 / 2, 1 / 2]], dense=[[1, -1 / 2], [0, 1 / 2]], dense_order=2
    )
    capabilities = replace(DiagonallyImplicitIntegrator.capabilities, symmetric=True)
    estimates_from_past = True
    error_order = 3
    step_share = (2.0, 1 / 2)
