"""Bogacki–Shampine 3(2)."""

from __future__ import annotations

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta


class BogackiShampine(ExplicitRungeKutta):
    """Bogacki–Shampine 3(2): order 3 with an error estimate of order 2, three evaluations a step.

    Law: four stages, the last one being the first one of the next step; dense output is the cubic Hermite
    polynomial.

    When to use: accuracies from 1e-1 to 1e-4, and systems that are not smooth: many events, kinks, jumps.

    Parameters
    ----------
    **options
        `accuracy`, `fixed_step` …: see `cosim.Integrator`.

    References
    ----------
    The tableau as in the Drake C++ documentation, class ``BogackiShampine3Integrator``.

    Examples
    --------
    >>> BogackiShampine.tableau.first_same_as_last, BogackiShampine.tableau.error_order
    (True, 2)
    """

    known_as = ("rk23", "ode23")

    bibtex = """
@article{bogacki1989,
  author = {Bogacki, P. and Shampine, L. F.},
  title = {A 3(2) pair of {R}unge--{K}utta formulas},
  journal = {Applied Mathematics Letters},
  volume = {2},
  number = {4},
  pages = {321--325},
  year = {1989}
}
"""

    step_share = (0.2, 0.0)
    tableau = ButcherTableau(
        order=3,
        c=[0, 1 / 2, 3 / 4, 1],
        a=[[], [1 / 2], [0, 3 / 4], [2 / 9, 1 / 3, 4 / 9]],
        b=[2 / 9, 1 / 3, 4 / 9, 0],
        error=[2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3, -1 / 8],
    )
