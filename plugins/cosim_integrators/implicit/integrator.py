"""The Python part of all implicit integrators: coefficients, arrays, the sparse solver."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim.kit import (
    CONSTRAINT_TOLERANCE,
    TANGENT_SIGNATURE,
    ErrorEstimate,
    PlacedFunction,
    block_tangent,
    has_constraints,
    python_block_address,
    release_address,
    rows_of,
    width_of,
)
from cosim_integrators.implicit.dense import polynomial_output
from cosim_integrators.implicit.implicit_method import (
    COMMON_VECTORS,
    ERROR,
    FAMILY,
    HISTORY_AT,
    PATTERN_HEADER,
    ImplicitMethod,
    NewtonNumbers,
    Pattern,
    TangentRow,
    matrices_size,
)
from cosim_integrators.implicit.implicit_start import initialize_implicit_steps, restart_implicit_steps
from cosim_integrators.implicit.pattern import LARGEST_DENSE, is_sparse, jacobian_pattern
from cosim_integrators.implicit.recorded_stage import record_stage as record_stage
from cosim_integrators.implicit.recorded_stages import record_stages as record_stages
from cosim_integrators.implicit.sparse_solver import SparseSolver
from cosim_integrators.implicit.tuning import tune
from cosim_integrators.kit.compiled_integrator import CompiledIntegrator
from cosim_integrators.kit.size_memory import sizes_size

HAIRER_WANNER = """
@book{hairer1996,
  author = {Hairer, Ernst and Wanner, Gerhard},
  title = {Solving Ordinary Differential Equations {II}: Stiff and Differential-Algebraic Problems},
  publisher = {Springer},
  year = {1996}
}
"""

if TYPE_CHECKING:
    State = Any
    System = Any

Vector = NDArray[np.float64]

MORE_ITERATIONS = 20.0  # of Newton's method, with fixed steps
IN_DIFFERENCES = 10.0  # the largest factor of one end in a difference of fifth order: 5! / (2! 3!)


class ImplicitIntegrator(CompiledIntegrator):
    """Base class of the implicit methods; a subclass has the kernel functions and numbers of its method.

    The stages are solved by a simplified Newton method: Jacobian and factors are used from step to step until
    convergence slows down or the step changes. The Jacobian is exact, computed by the tangents of kernel
    functions. One tangent serves all states of a group of which no derivative depends on two; the schedule
    and the declarations of kernel functions tell which derivative depends on which state. Differences are
    used where a part has no tangent (plain Python, an FMU) or an infinite one. Matrices are stored as bands
    if these are narrow, otherwise dense up to 200 states or if mostly full; all of that is compiled. All
    others use SciPy's sparse factors.

    Jacobian, history and step are in `State.integrator_memory`: a resumed run continues to the same bytes.

    Attributes
    ----------
    method : ndarray
        The numbers of the method, as its kernel functions take them; see `numbers`.
    vectors, history : int
        The numbers of vectors of the length of the state that the method needs in `work` and in `memory`.
    shifts : (float, float, float)
        The shifts of the real and of the complex matrix of Newton's method, for a step of length 1.
    differences : list of str
        Why the Jacobian of the last prepared system is computed by differences; empty if it is exact.
    estimates_from_past : bool
        Whether errors are estimated from differences of ends of steps. With constraints each end has an error
        up to the tolerance of constraints, and differences enlarge it several times. So the absolute
        tolerance of a state that constraints correct is at least that large, unless it is given: otherwise no
        step would be short enough.
    """

    dense_function = polynomial_output
    begin_function = initialize_implicit_steps
    restart_function = restart_implicit_steps
    tune_function = tune
    bibtex = HAIRER_WANNER

    method: ClassVar[Vector]
    vectors: ClassVar[int]
    history: ClassVar[int]
    shifts: ClassVar[tuple[float, float, float]]
    estimates_from_past: ClassVar[bool] = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._pattern = np.zeros(PATTERN_HEADER, dtype=np.int64)
        self._block_tangents = 0
        self.differences: list[str] = []

    def followed_error(self) -> ErrorEstimate:
        """The error vector; empty if errors are estimated from the past: it then changes after the step."""
        return ErrorEstimate() if self.estimates_from_past else ErrorEstimate(ERROR, [1.0])

    def least_absolute_tolerance(self, system: System) -> float:
        """The error of corrections in differences of ends; 0 without constraints or `estimates_from_past`."""
        constrained = has_constraints(system.corrections)
        return IN_DIFFERENCES * CONSTRAINT_TOLERANCE if constrained and self.estimates_from_past else 0.0

    def coefficients(self, system: System) -> Vector:
        """The numbers of Newton's method, then those of the method; `tune_function` writes three of them."""
        # the more colours a Jacobian has, the more evaluations it costs, and the more iterations it may save
        newton = NewtonNumbers(
            vectors=self.vectors,
            history=self.history,
            refresh_rate=min(0.1, max(1e-3, 1e-3 * self._shape.colours)),
            more_iterations=0.0 if self.fixed_step is None else MORE_ITERATIONS,
        )
        return np.concatenate([np.frombuffer(newton), self.numbers(system)])

    def numbers(self, system: System) -> Vector:
        """Numbers of the method, as its kernel functions take them."""
        return self.method

    def memory_size(self, ny: int) -> int:
        """Header, history, sizes of the states, and entries of the Jacobian, as many as the system has."""
        return HISTORY_AT + self.history * ny + sizes_size(ny) + self._shape.entries

    def floors_at(self, ny: int) -> int:
        """Behind the history."""
        return HISTORY_AT + self.history * ny

    def work_size(self, ny: int) -> int:
        """Vectors, matrices, and the memory twice."""
        vectors = FAMILY - COMMON_VECTORS + self.vectors
        matrices = int(matrices_size(self._shape))
        return vectors * ny + matrices + 2 * self.memory_size(ny) + self._block_tangents

    def extra_slots(self, system: System) -> list[int]:
        """The structure of the Jacobian."""
        return [int(i) for i in self._pattern]

    def unlowered(self, system: System) -> str:
        """Why the system cannot be exported without Python: its matrices need SciPy's sparse solver."""
        pattern = jacobian_pattern(system)  # its shape is a view of it
        if not is_sparse(_shape_of(pattern)):
            return ""
        return (
            f"the system has {system.ny} states, and beyond {LARGEST_DENSE} the matrices of implicit methods "
            "are SciPy's where they are neither bands nor mostly full: choose an explicit method, or cut the "
            "system in two."
        )

    @property
    def worst_state(self) -> int:
        """Index in y of the state with the largest error or correction in the last attempt; -1: none."""
        return int(self._last.worst_state)

    def _prepare(self, system: System) -> None:
        self._pattern = jacobian_pattern(system)
        self._shape.is_complex = int(self.shifts[2] != 0.0)
        if is_sparse(self._shape):
            solver = SparseSolver(self._pattern, self.shifts)
            address = python_block_address(solver.block)
            weakref.finalize(self, release_address, address)
            self._shape.sparse_solver = address
        self._add_tangents(system)
        super()._prepare(system)
        ImplicitMethod(*self._method).shift[:] = 1.0

    def _add_tangents(self, system: System) -> None:
        """Append the tangents of the blocks that derivatives need to the structure of the Jacobian."""
        rows = range(*system.inner_range)
        tangents = getattr(system, "tangents", None)  # none where witnesses are held, or an FMU is coupled
        self.differences = ["the system has no tangents"]
        self._block_tangents = 0
        if tangents is None or not self._shape.colours:
            return
        self.differences = list(tangents.prepare(rows).values())
        if self.differences:
            return
        shape = self._shape
        shape.tangents, shape.tangents_at = len(rows), self._pattern.size
        state = system.default_state()
        shape.tangents_cache = system.new_cache().size
        self._block_tangents = state.arrays["p"].size + state.arrays["d"].size + shape.tangents_cache
        self._pattern = np.concatenate([self._pattern, tangents.table[rows.start : rows.stop].reshape(-1)])

    def slot_functions(self, system: System) -> list[PlacedFunction]:
        """The tangents of the blocks that derivatives need; their addresses stand in ``slots``."""
        shape = self._shape
        if not shape.tangents:
            return []
        first = self._slots.size - width_of(TangentRow) * shape.tangents
        functions = [block_tangent(system.tangents.block_of(row)) for row in range(*system.inner_range)]
        return [
            PlacedFunction(first + width_of(TangentRow) * i, function, TANGENT_SIGNATURE)
            for i, function in enumerate(functions)
        ]

    @property
    def _shape(self) -> Pattern:
        """The record at the beginning of the structure of the Jacobian."""
        return _shape_of(self._pattern)


def _shape_of(pattern: NDArray[np.int64]) -> Pattern:
    shape: Pattern = rows_of(Pattern, pattern, 0, 1)[0]
    return shape
