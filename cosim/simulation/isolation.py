"""Finding when witnesses cross zero inside a step, on the integrator's dense output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cosim.compiled.native import function_address
from cosim.compiled.walker import DENSE_SIGNATURE
from cosim.contracts.compiled_integrator import compiled
from cosim.contracts.dense_output import DenseOutput
from cosim.contracts.integrator import Integrator
from cosim.errors import SimulationError
from cosim.simulation import crossing as kernels
from cosim.simulation.forecast import FORECAST_SIGNATURE, forecast
from cosim.simulation.sampled_output import SAMPLES, sampled_output
from cosim.simulation.witness import Witness
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE_SPACING = 1e-6  # s
CLOSER = 0.1  # than the window: evaluations of witnesses are cheap, and late events add up
DIFFERENCE = 1e-6  # of the step: over which rates of witnesses that declare none are taken


class Isolation:
    """Looks at the witnesses of a system inside the last step; changes nothing but arrays of its own.

    Parameters
    ----------
    system : System
    witnesses : sequence of Witness

    Attributes
    ----------
    level : ndarray, shape (witnesses, 2)
        Of each witness the value that counts as zero, and whether it starts there on guard: 1 when
        going below is a crossing, -1 when going above is.
    directions : ndarray of int
        Which way each has to cross; 0: it is left out.
    """

    def __init__(self, system: System, witnesses: list[Witness]) -> None:
        self.system, self.witnesses = system, witnesses
        count = len(witnesses)
        self._offsets = np.array([w.offset for w in witnesses], dtype=np.int64)
        self.blocks = needed_blocks(
            system, self._offsets.tolist() + [w.rate for w in witnesses if w.rate >= 0]
        )
        self._table = np.ascontiguousarray(system.table[self.blocks]).reshape(len(self.blocks), 3)
        self._probe = np.zeros(kernels.HEADER + 3 * count, dtype=np.int64)
        self._probe[1:3] = len(self.blocks), count
        self._probe[3:] = np.array([(w.offset, w.rate, w.direction) for w in witnesses]).reshape(-1)
        self._declared = np.array([w.direction for w in witnesses], dtype=np.int64)
        self.directions = self._declared.copy()
        self.level = np.zeros((count, 2))
        self._ends = np.zeros(2 + 3 * count)
        self._work = np.zeros(kernels.POINTS * (1 + 2 * count))
        self._y, self._c = np.zeros(system.ny), system.new_cache()
        self._search = compiled(kernels.first_crossing, kernels.SEARCH_SIGNATURE)
        self._rates = compiled(kernels.rates_along, kernels.RATES_SIGNATURE)
        self._forecast = compiled(forecast, FORECAST_SIGNATURE)

    def leave_out(self, held: list[int]) -> None:
        """Look at all witnesses but these."""
        self.directions[:] = self._declared
        self.directions[held] = 0
        self._probe[kernels.HEADER + 2 :: 3] = self.directions

    def values(self, state: State) -> NDArray[np.float64]:
        """The witnesses of a State that is realized to Acceleration."""
        values: NDArray[np.float64] = state._arrays["c"].take(self._offsets)
        return values

    def first_crossing(
        self, state: State, integrator: Integrator, before: NDArray[np.float64], window: float
    ) -> tuple[float, float] | None:
        """The first interval of the last step, no longer than `window`, in which a witness crosses.

        Parameters
        ----------
        state : State
            At the end of the step.
        before : ndarray
            The witnesses at its start.
        window : float
            s

        Raises
        ------
        SimulationError
            A witness cannot be evaluated there.
        """
        dense = integrator.dense() or self._sampled(integrator, state.time)
        level, after = self.level[:, 0], self.values(state)
        span = integrator.previous_time, state.time
        code = self._look(state, dense, span, before - level, after - level, window)
        if code < 0:
            raise self._failure(state, -code - 1, float(self._work[0]))
        return (float(self._ends[0]), float(self._ends[1])) if code == kernels.FOUND else None

    def foresee(
        self,
        state: State,
        dense: DenseOutput,
        span: tuple[float, float],
        horizon: float,
        aim: float,
        expected: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """When the witnesses may cross for the first time behind the State's time, as `forecast` does.

        To be asked after `first_crossing`.

        Parameters
        ----------
        dense : DenseOutput
            Of the step that `first_crossing` has looked at.
        span : (float, float)
            Where that began and ended, s.
        horizon, aim : float
            s
        expected : ndarray, shape (witnesses, 2)
            What was expected before, and by how much that may be wrong, s.
        """
        arrays, count = state._arrays, len(self.witnesses)
        self._probe[0] = dense.address
        self._ends[2 + 2 * count :] = self.values(state) - self.level[:, 0]
        self._c[:] = arrays["c"]
        found = expected.copy()
        status = self._forecast(
            *(self._table, self.system.ints, *span, state.time, horizon),
            *(arrays["p"], arrays["d"], arrays["k"], arrays["h"], self._y, self._c, self._probe),
            *(
                dense.coefficients,
                dense.work,
                self.level.reshape(-1),
                self._ends,
                self._work,
                found.reshape(-1),
                aim,
            ),
        )
        return np.full_like(found, np.inf) if status else found

    def _look(
        self,
        state: State,
        dense: DenseOutput,
        span: tuple[float, float],
        before: NDArray[np.float64],
        after: NDArray[np.float64],
        window: float,
    ) -> int:
        """Search a part of a step; the code of `crossing.first_crossing`."""
        count, arrays = len(self.witnesses), state._arrays
        self._probe[0] = dense.address
        self._ends[2 : 2 + count] = before
        self._ends[2 + count : 2 + 2 * count] = after
        self._c[:] = arrays["c"]
        start, stop = span
        code: int = self._search(
            *(self._table, self.system.ints, start, stop),
            *(arrays["p"], arrays["d"], arrays["k"], arrays["h"], self._y, self._c, self._probe),
            *(dense.coefficients, dense.work, self.level.reshape(-1), self._ends, self._work),
            *(max(CLOSER * window, 4.0 * np.spacing(abs(stop))), DIFFERENCE * (stop - start)),
        )
        return code

    @property
    def at_window(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The witnesses at the two ends of the window that was found, above their levels."""
        count = len(self.witnesses)
        rows = self._work.reshape(-1, 1 + 2 * count)[:2, 1 : 1 + count]
        return rows[0].copy(), rows[1].copy()

    def rates(self, state: State, spacing: float = RATE_SPACING) -> NDArray[np.float64]:
        """How fast the witnesses change along the solution at a State that is realized to Acceleration.

        Parameters
        ----------
        spacing : float
            s; over which differences are taken where no rate is declared.
        """
        arrays, out = state._arrays, np.zeros(len(self.witnesses))
        self._c[:] = arrays["c"]
        status = self._rates(
            *(self._table, self.system.ints, state.time, arrays["y"], arrays["p"]),
            *(arrays["d"], arrays["k"], arrays["h"], arrays["c"], self._probe, self._y, self._c),
            *(spacing, out),
        )
        return np.full_like(out, np.nan) if status else out

    def crossed(self, before: NDArray[np.float64], after: NDArray[np.float64]) -> list[int]:
        """Indices of the witnesses for which going from one to the other, above their levels, is an event."""
        guard, way = self.level[:, 1], self.directions
        changed = ((before > 0.0) & (after <= 0.0)) | ((before < 0.0) & (after >= 0.0)) | (before == 0.0)
        (candidates,) = changed.nonzero()  # few of many
        return [i for i in candidates.tolist() if kernels.crosses(before[i], after[i], way[i], guard[i])]

    def _sampled(self, integrator: Integrator, stop: float) -> DenseOutput:
        """A polynomial through points of a dense output that only Python can call."""
        start, ny = integrator.previous_time, self.system.ny
        work = np.zeros(2 + SAMPLES * ny)
        work[0], work[1] = start, stop
        for i in range(SAMPLES):
            at = 2 + i * ny
            time = start + (stop - start) * i / (SAMPLES - 1)
            integrator.interpolate(min(time, stop), work[at : at + ny])
        address = function_address(sampled_output, DENSE_SIGNATURE)
        return DenseOutput(address, sampled_output, np.zeros(1), work)

    def _failure(self, state: State, block: int, time: float) -> SimulationError:
        twin = state.copy()
        twin._time, twin._arrays["y"], twin._arrays["c"] = time, self._y, self._c
        return self.system.failure(twin, self.blocks[block])


def needed_blocks(system: System, offsets: list[int]) -> list[int]:
    """Indices of the blocks that compute these offsets of the cache inside a step, in order."""
    region_of = system._assembly.layout.region_of
    needed = {region_of(o) for o in offsets}
    found = []
    first, last = system.block_range(Stage.TIME, Stage.REPORT)
    for i in range(last - 1, first - 1, -1):
        block = system.blocks[i]
        made = {region_of(s.offset) for s in (*block.writes, *block.adds) if s.array == "c" and s.size}
        if made & needed:
            found.append(i)
            needed |= {region_of(s.offset) for s in (*block.reads, *block.adds) if s.array == "c" and s.size}
    return found[::-1]
