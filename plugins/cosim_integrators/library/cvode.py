"""CVODE of SUNDIALS."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Capabilities
from cosim_integrators.library.library_integrator import Evaluation, LibraryIntegrator, Solver

Vector = NDArray[np.float64]
LARGEST_DENSE = 200
"""The largest number of states for which matrices are dense."""
STOPS_SHORT = 100 * float(np.finfo(float).eps)
"""CVODE returns at `tstop` although it has stopped short of it by up to that part of time and step."""


class CvodeSolver:
    """CVODE in the middle of a run."""

    def __init__(self, solver: Any, t: float, y: Vector) -> None:
        solver.init_step(t, y)
        self._solver, self.t, self.y = solver, t, y
        self._previous = t, y
        self.jacobians = self.factorizations = 0

    def step(self, t_stop: float) -> bool:
        """Take one step of CVODE's own length, but not past `t_stop`. Returns whether it succeeded."""
        self._previous = self.t, self.y
        outcome = self._solver.step(t_stop, method="onestep", tstop=t_stop)
        self.t, self.y = float(outcome.t), np.array(outcome.y)
        self.jacobians = int(outcome.njev)
        return bool(outcome.success)

    def at(self, t: float) -> Vector:
        """The solution at `t` inside the last step, by CVODE's interpolation.

        Within `STOPS_SHORT` of the end it is a straight line instead: CVODE would take a step for an output
        time there, and continue behind it.
        """
        previous_t, previous_y = self._previous
        if self.t - t <= STOPS_SHORT * (abs(self.t) + abs(self.t - previous_t)):
            return self.y + (t - self.t) * ((self.y - previous_y) / (self.t - previous_t))
        return np.array(self._solver.step(t, method="normal").y)


class Cvode(LibraryIntegrator):
    """CVODE of SUNDIALS: backward differentiation of orders 1 to 5, variable step.

    When to use: stiff systems, to compare with `Bdf` and with programs that use SUNDIALS. It is slower than
    `Bdf`, since each evaluation is called from Python, and cannot be exported without Python. Needs
    ``pip install cosim-framework[sundials]``.

    `LibraryIntegrator` lists the limits of all integrators of libraries. Up to 200 states the matrices are
    dense, beyond them sparse with the structure that is known from the schedule.

    Parameters
    ----------
    **options
        As `cosim.Integrator`; `fixed_step` is refused.

    Raises
    ------
    ModelError
        When scikit-sundae is not installed.

    References
    ----------
    scikit-sundae documentation, class ``sksundae.cvode.CVODE``.

    Examples
    --------
    >>> Cvode.order
    5
    """

    bibtex = """
@article{hindmarsh2005,
  author = {Hindmarsh, Alan C. and others},
  title = {{SUNDIALS}: suite of nonlinear and differential/algebraic equation solvers},
  journal = {ACM Transactions on Mathematical Software},
  volume = {31},
  number = {3},
  pages = {363--396},
  year = {2005}
}
"""

    order = 5
    capabilities: ClassVar[Capabilities] = Capabilities(
        adaptive=True, implicit=True, dense_order=1, restarts_cheaply=False, resumes_exactly=False
    )
    step_share = (0.1, 1 / 7)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        try:
            from sksundae.cvode import CVODE
        except ImportError as error:
            raise cosim.ModelError.of(
                "Cvode",
                f"scikit-sundae cannot be imported ({error}): pip install cosim-framework[sundials], "
                "or choose integrators.bdf, which needs nothing more.",
            ) from error
        self._cvode = CVODE

    def new_solver(self, evaluation: Evaluation, t: float, y: Vector, t_stop: float, first: float) -> Solver:
        """A new CVODE."""

        def right_hand_side(at: float, state: Vector, rates: Vector) -> None:
            rates[:] = evaluation(at, state)

        settings: dict[str, Any] = {}
        if self._longest < math.inf:
            first, settings = min(first, self._longest), {"max_step": self._longest}
        if y.size > LARGEST_DENSE:
            from scipy.sparse import csc_matrix

            starts, rows = self._system.derivative_structure()
            pattern = csc_matrix((np.ones(rows.size), rows, starts), shape=(y.size, y.size))
            settings |= {"linsolver": "sparse", "sparsity": pattern}
        solver = self._cvode(
            right_hand_side, rtol=self._relative, atol=self._absolute, first_step=first, **settings
        )
        return CvodeSolver(solver, t, y.copy())
