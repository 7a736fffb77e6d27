"""Runge–Kutta–Merson."""

from __future__ import annotations

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta


class RungeKuttaMerson(ExplicitRungeKutta):
    """Runge–Kutta–Merson: order 4 with an error estimate, five evaluations a step.

    Law: the five stages of Merson; the error is a fifth of the difference between the solution and
    the point at which the last stage is evaluated.

    When to use: the method to begin with, for accuracies from 1e-2 to 1e-7, and where events or delays
    make steps short. `DormandPrince` needs fewer evaluations below. Not for stiff systems: the step
    then follows stability (on the real axis h |lambda| < 3.5) instead of accuracy.

    Limits: the estimate is of third order (for linear equations with constant coefficients of fourth).
    Dense output is of fourth order; it needs one more evaluation, only in steps whose dense output is read.

    Parameters
    ----------
    **options
        `accuracy`, `initial_step`, `minimum_step`, `maximum_step`, `fixed_step`, `scale`: see
        `cosim.Integrator`.

    References
    ----------
    "Kutta–Merson method", Encyclopedia of Mathematics; Simbody, RungeKuttaMersonIntegrator.cpp, which
    gives the tableau after E. Hairer, S. P. Nørsett, G. Wanner, "Solving Ordinary Differential
    Equations I", table 4.1.

    Examples
    --------
    >>> RungeKuttaMerson(accuracy=1e-8).order
    4
    """

    bibtex = """
@inproceedings{merson1957,
  author = {Merson, R. H.},
  title = {An operational method for the study of integration processes},
  booktitle = {Proceedings of the Symposium on Data Processing},
  address = {Weapons Research Establishment, Salisbury, South Australia},
  year = {1957}
}
"""

    step_share = (2.0, 1 / 8)
    tableau = ButcherTableau(
        order=4,
        c=[0, 1 / 3, 1 / 3, 1 / 2, 1],
        a=[[], [1 / 3], [1 / 6, 1 / 6], [1 / 8, 0, 3 / 8], [1 / 2, 0, -3 / 2, 2]],
        b=[1 / 6, 0, 0, 2 / 3, 1 / 6],
        error=[1 / 15, 0, -3 / 10, 4 / 15, -1 / 30],
        lift=1 / 5,
    )
