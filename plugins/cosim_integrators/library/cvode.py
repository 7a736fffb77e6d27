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
STOPS_SHORT = 100 * float(np.finfo(float).eps)


class CvodeSolver:
    """CVODE in the middle of a run."""

    def __init__(self, solver: Any, t: float, y: Vector) -> None:
        solver.init_step(t, y)
        self._solver, self.t, self.y = solver, t, y
        self._previous = t, y
        self.jacobians = self.factorizations = 0

    def step(self, t_stop: float) -> bool:
        """One step of its own, not past a time."""
        self._previous = self.t, self.y
        outcome = self._solver.step(t_stop, method="onestep", tstop=t_stop)
        self.t, self.y = float(outcome.t), np.array(outcome.y)
        self.jacobians = int(outcome.njev)
        return bool(outcome.success)

    def at(self, t: float) -> Vector:
        """The interpolated solution; the next step starts from the end of this one.

        CVODE stops short of a time by so much, and says that it is there. An output time between makes it
        take a step, behind which it goes on.
        """
        before, y = self._previous
        if self.t - t <= STOPS_SHORT * (abs(self.t) + abs(self.t - before)):
            return self.y + (t - self.t) * ((self.y - y) / (self.t - before))
        return np.array(self._solver.step(t, method="normal").y)


class Cvode(LibraryIntegrator):
    """CVODE of SUNDIALS: backward differentiation of orders 1 to 5, variable step.

    When to use: stiff systems, to compare with `Bdf` and with programs that use SUNDIALS. Slower than ours by
    the calls from Python, and not lowered. Needs ``pip install cosim-framework[sundials]``.

    What every integrator of a library lacks is said in `LibraryIntegrator`. Up to 200 states its matrices are
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
