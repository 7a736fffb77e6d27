"""Integrators of SciPy."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim_integrators.library.library_integrator import Evaluation, LibraryIntegrator, Solver

Vector = NDArray[np.float64]
TIMES_RESOLVED = 8.0
"""The absolute tolerance of a state is at least its change over that many spacings of the time."""


class ScipySolver:
    """A solver of `scipy.integrate` in the middle of a run."""

    def __init__(self, solver: Any, bound_is_fixed: bool) -> None:
        self._solver, self._bound_is_fixed = solver, bound_is_fixed
        self.t, self.y = float(solver.t), solver.y.copy()
        self.jacobians = self.factorizations = 0
        self._dense: Any = None

    def can_go_to(self, t_stop: float) -> bool:
        """Whether the next step cannot end behind `t_stop`: a fixed bound must lie before it."""
        return not self._bound_is_fixed or self.t < self._solver.t_bound <= t_stop

    def step(self, t_stop: float) -> bool:
        """Take one step of SciPy's own length, but not past `t_stop`. Returns whether it succeeded."""
        solver = self._solver
        if solver.t_bound != t_stop and not self._bound_is_fixed:
            solver.t_bound, solver.status = t_stop, "running"
        solver.step()
        if solver.status == "failed":
            return False
        self.t, self.y = float(solver.t), solver.y.copy()
        self.jacobians, self.factorizations = int(solver.njev), int(solver.nlu)
        self._dense = solver.dense_output() if math.isfinite(self.t) else None
        return True

    def at(self, t: float) -> Vector:
        """The states at a time inside the last step, on SciPy's dense output."""
        states: Vector = self._dense(t)
        return states


class ScipyIntegrator(LibraryIntegrator):
    """Base of the solvers of `scipy.integrate`: a subclass names one.

    Each evaluation is called from Python, which makes them slow, and they cannot be exported without Python.
    `LibraryIntegrator` lists the limits of all integrators of libraries.

    Parameters
    ----------
    **options
        As `cosim.Integrator`; `fixed_step` is refused.

    Attributes
    ----------
    solver_name : str
        The name of a class in `scipy.integrate`.
    bound_is_fixed : bool
        Whether SciPy's solver cannot move its bound while it runs. A new solver is then made when the bound
        is reached, or when a step has to end before it.
    """

    bibtex = """
@article{virtanen2020,
  author = {Virtanen, Pauli and others},
  title = {{SciPy} 1.0: fundamental algorithms for scientific computing in {Python}},
  journal = {Nature Methods},
  volume = {17},
  pages = {261--272},
  year = {2020}
}
"""

    solver_name: ClassVar[str]
    bound_is_fixed: ClassVar[bool] = False

    def step(self, system: Any, state: Any, t_stop: float, limit: float = math.inf) -> Any:
        """One step of SciPy's; see `cosim.Integrator.step`."""
        solver, bound = self._solver, min(t_stop, state.time + min(limit, self.maximum_step))
        if isinstance(solver, ScipySolver) and not solver.can_go_to(bound):
            self._solver = None
        return super().step(system, state, t_stop, limit)

    def new_solver(self, evaluation: Evaluation, t: float, y: Vector, t_stop: float, first: float) -> Solver:
        """A new solver, with the structure of the Jacobian if its class accepts it."""
        import scipy.integrate
        from scipy.sparse import csc_matrix

        settings: dict[str, Any] = {}
        if self.solver_name in ("Radau", "BDF"):
            starts, rows = self._system.derivative_structure()
            entries = np.ones(rows.size)
            settings["jac_sparsity"] = csc_matrix((entries, rows, starts), shape=(y.size, y.size))
        # the time is rounded, so a state that passes 0 fast cannot be more exact than this
        resolution = TIMES_RESOLVED * math.ulp(t) * np.abs(self._slope)
        solver = getattr(scipy.integrate, self.solver_name)(
            evaluation, t, y.copy(), t_stop, rtol=self._relative, atol=np.maximum(self._absolute, resolution),
            first_step=min(first, self._longest) or None, max_step=self._longest, **settings,
        )  # fmt: skip
        return ScipySolver(solver, self.bound_is_fixed)
