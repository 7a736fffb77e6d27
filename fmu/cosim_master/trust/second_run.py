"""A second run of a co-simulation, and the difference of the first one from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_master.recording.co_simulation_result import CoSimulationResult
from cosim_workbench.agreement import difference_of

if TYPE_CHECKING:
    from cosim_master.exchange.coupled_participants import CoupledParticipants

Vector = NDArray[np.float64]
RunAgain = Callable[[float, cosim.MasterAlgorithm, float, Sequence[str]], CoSimulationResult]
"""Makes another run: communication step (s), algorithm, end (s), recorded variables."""
MOST_STEPS = 400_000
"""The largest number of steps of all participants in a second run that the user has not requested."""
LONGEST, SHORTEST = 10.0, 0.5
"""The limit of processor time (s) of such a run, and the time after which its duration is estimated."""
TIGHTER = 10.0 / 9.0
"""Error over the difference from a run with a tenth of the tolerance, if the error is proportional to it."""


class SecondRun(NamedTuple):
    """The outcome of a second run.

    Attributes
    ----------
    differences : ndarray, shape (outputs,)
        The largest difference of each output.
    factor : float
        Error over difference.
    how : str
        The comparison of the second run, in words.
    """

    differences: Vector
    factor: float
    how: str


def compare(
    first: CoupledParticipants, step: float, algorithm: cosim.MasterAlgorithm, run_again: RunAgain
) -> SecondRun:
    """Run again with half the step, or a tenth of the tolerance, and compare all sampled outputs.

    The error of order p falls to 2^-p of itself with half the step, so that it is 2^p / (2^p - 1) times the
    difference (Richardson).

    Raises
    ------
    CosimError
        The run fails, or has no point in common with the first.
    """
    tightened = algorithm.tightened()
    finer = (step, tightened) if tightened is not None else (0.5 * step, algorithm)
    recorded = [".".join(port) for port in first.sampled.ports]
    before = first.samples.samples()
    second = run_again(*finer, float(before.times[-1]), recorded).evidence
    assert second is not None
    places = {port: i for i, port in enumerate(second.sampled.ports)}
    columns = [places[port] for port in first.sampled.ports]
    after = second.samples.samples()
    place = np.minimum(np.searchsorted(after.times, before.times - 1e-6 * step), after.times.size - 1)
    common = np.abs(after.times[place] - before.times) <= 1e-6 * step
    if np.count_nonzero(common) < 2:
        raise cosim.CosimError("the two runs have no points in common")
    times, coarse = before.times[common], before.outputs[common]
    fine = after.outputs[place[common]][:, columns]
    differences = np.array(
        [difference_of(times, y, fine[:, i], counted=False).largest for i, y in enumerate(coarse.T)]
    )
    if tightened is not None:
        return SecondRun(differences, TIGHTER, "against a tenth of the tolerance")
    growth = 2.0**algorithm.order
    return SecondRun(differences, growth / (growth - 1.0), "against half the step")


class TimeLeft:
    """The progress of a second run that the user has not requested; `CosimError` if it takes too long.

    Parameters
    ----------
    end : float
        The end of the run, s.
    """

    def __init__(self, end: float) -> None:
        self._end = end
        self._first: tuple[float, float] | None = None

    def __call__(self, time: float) -> None:
        """Check the time at a simulated time (s), after participants have been loaded."""
        processor_time = process_time()
        first_time, processor_start = self._first = self._first or (time, processor_time)
        used = processor_time - processor_start
        if used > SHORTEST and used * (self._end - first_time) > LONGEST * (time - first_time):
            raise cosim.CosimError(f"a second run would take more than {LONGEST:g} s")


def second_run(
    first: CoupledParticipants,
    step: float,
    algorithm: cosim.MasterAlgorithm,
    find_run_again: Callable[[], RunAgain | None],
) -> SecondRun | None:
    """A second run that the user has not requested; None if it has effects outside, is too long, or fails."""
    if 2 * first.statistics.steps * len(first.participants) > MOST_STEPS:
        return None
    run_again = find_run_again()
    if run_again is None:
        return None
    try:
        return compare(first, step, algorithm, run_again)
    except cosim.CosimError:
        return None
