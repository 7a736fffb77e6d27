"""The classical Runge–Kutta method."""

from __future__ import annotations

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta
from cosim_integrators.runge_kutta_3 import RungeKutta3


class RungeKutta4(ExplicitRungeKutta):
    """The classical Runge–Kutta method: order 4, four evaluations a step, fixed step only.

    Law: nodes 0, 1/2, 1/2, 1 and the weights 1, 2, 2, 1 over 6.

    When to use: fixed steps, as in real time or to compare with other programs. There is no error
    estimate, so `fixed_step` has to be given.

    Parameters
    ----------
    **options
        `fixed_step` (s) is required; see `cosim.Integrator`.

    Examples
    --------
    >>> RungeKutta4(fixed_step=1e-3).order
    4
    """

    known_as = ("classic_rk",)
    bibtex = RungeKutta3.bibtex

    tableau = ButcherTableau(
        order=4,
        c=[0, 1 / 2, 1 / 2, 1],
        a=[[], [1 / 2], [0, 1 / 2], [0, 0, 1]],
        b=[1 / 6, 1 / 3, 1 / 3, 1 / 6],
    )
