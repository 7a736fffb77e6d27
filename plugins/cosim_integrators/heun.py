"""Heun's method."""

from __future__ import annotations

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta


class Heun(ExplicitRungeKutta):
    """Heun's method, the explicit trapezoid: order 2 with an error estimate, two evaluations a step.

    Law: an Euler step predicts the end; the step takes the mean of the derivatives at both ends. The
    error is the difference from the Euler step.

    When to use: coarse accuracies (1e-1 to 1e-3) of systems with many kinks, where higher orders gain
    nothing; to compare with programs that call it RK2.

    Parameters
    ----------
    **options
        `accuracy`, `fixed_step` …: see `cosim.Integrator`.

    Examples
    --------
    >>> Heun.tableau.order, Heun.tableau.error_order
    (2, 1)
    """

    bibtex = """
@article{heun1900,
  author = {Heun, Karl},
  title = {Neue Methoden zur approximativen Integration der Differentialgleichungen einer unabh{\\"a}ngigen
           Ver{\\"a}nderlichen},
  journal = {Zeitschrift f{\\"u}r Mathematik und Physik},
  volume = {45},
  pages = {23--38},
  year = {1900}
}
"""

    tableau = ButcherTableau(order=2, c=[0, 1], a=[[], [1]], b=[1 / 2, 1 / 2], error=[-1 / 2, 1 / 2])
