"""Runge–Kutta 3 with its embedded midpoint estimate."""

from __future__ import annotations

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta


class RungeKutta3(ExplicitRungeKutta):
    """Kutta's third-order method with the midpoint rule embedded: three evaluations a step.

    Law: nodes 0, 1/2, 1 and the weights of Simpson's rule; the error is the difference from the midpoint
    rule, which is of second order. It is what Drake calls RungeKutta3Integrator and takes by default.

    When to use: to compare with Drake; `BogackiShampine` does the same with a better estimate.

    Parameters
    ----------
    **options
        `accuracy`, `fixed_step` …: see `cosim.Integrator`.

    References
    ----------
    Drake C++ documentation, class ``RungeKutta3Integrator``, for the tableau and the embedded rule.

    Examples
    --------
    >>> RungeKutta3.tableau.order, RungeKutta3.tableau.error_order
    (3, 2)
    """

    bibtex = """
@article{kutta1901,
  author = {Kutta, Wilhelm},
  title = {Beitrag zur n{\\"a}herungsweisen {I}ntegration totaler {D}ifferentialgleichungen},
  journal = {Zeitschrift f{\\"u}r Mathematik und Physik},
  volume = {46},
  pages = {435--453},
  year = {1901}
}
"""

    tableau = ButcherTableau(
        order=3,
        c=[0, 1 / 2, 1],
        a=[[], [1 / 2], [-1, 2]],
        b=[1 / 6, 2 / 3, 1 / 6],
        error=[1 / 6, -1 / 3, 1 / 6],
    )
