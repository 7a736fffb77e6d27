"""Implicit Euler."""

from __future__ import annotations

from cosim_integrators.implicit.diagonal_tableau import DiagonalTableau
from cosim_integrators.implicit.diagonally_implicit_integrator import DiagonallyImplicitIntegrator


class ImplicitEuler(DiagonallyImplicitIntegrator):
    """Implicit Euler: order 1, damps everything that is stiff (L-stable). Radau IIA with one stage.

    Law: y_next = y + h f(t + h, y_next).

    When to use: with fixed steps, in real time or to compare with programs that use it, where a step must
    never blow up. It damps undamped oscillations, the more the longer the step.
    With error control `Radau5` is better at any accuracy.

    The error estimate is half the step times the change of the derivative. Dense output is a line.

    Parameters
    ----------
    **options
        As `cosim.Integrator`.

    References
    ----------
    E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", section IV.3.

    Examples
    --------
    >>> ImplicitEuler(fixed_step=1e-3).order
    1
    """

    known_as = ("backward_euler",)

    tableau = DiagonalTableau(
        order=1, a=[[0], [0, 1]], error=[-1 / 2, 1 / 2], dense=[[0], [1]], dense_order=1
    )
