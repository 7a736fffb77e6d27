"""Dormand–Prince 5(4)."""

from __future__ import annotations

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta


class DormandPrince(ExplicitRungeKutta):
    """Dormand–Prince 5(4): order 5 with an error estimate of order 4, six evaluations a step.

    Law: seven stages, the last one being the first one of the next step; the dense output is the
    continuous extension of order 4 that needs no further evaluation.

    When to use: smooth motion at accuracies from 1e-5 to 1e-10, and where values between the steps
    matter. For coarse accuracies, or many events, `RungeKuttaMerson` is as good. Not for stiff systems:
    the step then follows stability (on the real axis h |lambda| < 3.3) instead of accuracy.

    Parameters
    ----------
    **options
        `accuracy`, `initial_step`, `minimum_step`, `maximum_step`, `fixed_step`, `scale`: see
        `cosim.Integrator`.

    References
    ----------
    J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", Journal of Computational
    and Applied Mathematics 6 (1980), 19-26; dense output: L. F. Shampine, "Some practical Runge-Kutta
    formulas", Mathematics of Computation 46 (1986), 135-150; both as printed in SciPy,
    scipy/integrate/_ivp/rk.py, class RK45.

    Examples
    --------
    >>> DormandPrince.tableau.first_same_as_last, DormandPrince.tableau.dense_order
    (True, 4)
    """

    known_as = ("rk45", "ode45", "dopri5")

    bibtex = """
@article{dormand1980,
  author = {Dormand, J. R. and Prince, P. J.},
  title = {A family of embedded {R}unge--{K}utta formulae},
  journal = {Journal of Computational and Applied Mathematics},
  volume = {6},
  number = {1},
  pages = {19--26},
  year = {1980}
}
"""

    tableau = ButcherTableau(
        order=5,
        c=[0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1],
        a=[
            [],
            [1 / 5],
            [3 / 40, 9 / 40],
            [44 / 45, -56 / 15, 32 / 9],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
            [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
        ],
        b=[35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
        error=[71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
        dense=[
            [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
            [0, 0, 0, 0],
            [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
            [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
            [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
            [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
            [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
        ],
    )
