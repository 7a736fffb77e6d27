"""Backward differentiation formulas of variable order."""

from __future__ import annotations

from typing import Any

import numpy as np

from cosim.kit import Capabilities
from cosim_integrators.implicit.backward_differences import (
    backward_output,
    backward_step,
    followed_backward_step,
    redo_backward_step,
    restart_backward_steps,
)
from cosim_integrators.implicit.integrator import ImplicitIntegrator
from cosim_integrators.implicit.past_differences import (
    CHANGE_SIZE,
    DIFFERENCES,
    HIGHEST_ORDER,
    BackwardNumbers,
)
from cosim_integrators.implicit.recorded_differences import record_advance as record_advance
from cosim_integrators.implicit.tuning import tune_steps_back

KAPPA = np.array([0.0, -0.1850, -1 / 9, -0.0823, -0.0415, 0.0])  # of orders 0 … 5, as in the reference
GAMMA = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, 6))])
ALPHA = (1.0 - KAPPA) * GAMMA
CONSTANT = KAPPA * GAMMA + 1.0 / np.arange(1, 7)


class Bdf(ImplicitIntegrator):
    """Backward differentiation formulas of orders 1 to 5 (NDF); the order changes during the run.

    Law: the backward differences of y up to order k, weighted, equal h f(t + h, y_next), with a small
    multiple of the next difference for accuracy; one implicit stage, usually two or three evaluations a step.

    When to use: stiff systems whose evaluation is expensive or that have many states, at accuracies from
    1e-2 to 1e-6, with long smooth stretches. Not with frequent events, since each restarts at order 1 with a
    short step; not for stiff oscillations with little damping (orders above 2 are unstable there).

    With fixed steps the order is 2, after a first step of order 1. The order of the dense output is that of
    the method at that time.

    Parameters
    ----------
    **options
        As `cosim.Integrator`.

    References
    ----------
    L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM Journal on Scientific Computing 18 (1997), as
    printed in SciPy, scipy/integrate/_ivp/bdf.py.

    Examples
    --------
    >>> Bdf(accuracy=1e-5).order, Bdf(fixed_step=0.01).order
    (5, 2)
    """

    known_as = ("ode15s", "gear", "dassl")
    bibtex = """
@article{shampine1997,
  author = {Shampine, Lawrence F. and Reichelt, Mark W.},
  title = {The {MATLAB} {ODE} suite},
  journal = {SIAM Journal on Scientific Computing},
  volume = {18},
  number = {1},
  pages = {1--22},
  year = {1997}
}
"""

    order = 5
    error_order = 2  # of the first step
    capabilities = Capabilities(
        adaptive=True,
        implicit=True,
        dense_order=1,
        restarts_cheaply=False,
        locates_kinks=True,
        supports_constraints=True,
    )
    estimates_from_past = True
    step_share = (0.5, 1 / 5)
    step_function = backward_step
    dense_function = backward_output
    redo_function = redo_backward_step
    followed_function = followed_backward_step
    restart_function = restart_backward_steps
    tune_function = tune_steps_back
    vectors, history = 2 * DIFFERENCES, DIFFERENCES
    shifts = (1.0, 0.0, 0.0)
    method = np.concatenate([np.frombuffer(BackwardNumbers(HIGHEST_ORDER)), GAMMA, ALPHA, CONSTANT])

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.fixed_step is not None:
            self.order = 2

    def work_size(self, ny: int) -> int:
        """As for all implicit methods, and room for the matrix that changes the distance."""
        return super().work_size(ny) + CHANGE_SIZE
