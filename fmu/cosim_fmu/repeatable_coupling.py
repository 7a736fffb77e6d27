"""Co-simulations that are made, resumed and run again."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import black_box
from cosim_master.abilities import IntegratesInside, Repeats, ReusesInstance
from cosim_master.coupling.check_participants import check_last_step, check_tolerances
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.run_settings import CommunicationPoints, RunOptions
from cosim_master.recording.co_simulation_result import CoSimulationResult
from cosim_master.recording.coupling_errors import CouplingReport
from cosim_master.run.simulation_run import SimulationRun
from cosim_master.run.snapshot import Snapshot
from cosim_master.run.stepped_run import SteppedRun
from cosim_master.trust.second_run import RunAgain, TimeLeft
from cosim_master.trust.verified_coupling import verified_coupling

Recipe = tuple[Callable[..., "RepeatableCoupling"], tuple[Any, ...], Mapping[str, Any]]
"""The constructor of a co-simulation, and its arguments."""


MOST_STEPS = 2**40
"""Steps of a run without an end."""


class RepeatableCoupling(Coupling):
    """A coupling that is copied for other runs, made anew in another process, saved in a run and resumed.

    A subclass runs it (`simulate`).
    """

    _recipe: Recipe
    _run: SimulationRun | None = None
    _resumed_from: Snapshot | None = None
    _accepted: frozenset[str] = frozenset()

    @abstractmethod
    def order_participants(self) -> None:
        """Order the participants, before a run."""

    @abstractmethod
    def replace_starts(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace all start values, by participant and variable, for the next runs; they are not checked."""

    @abstractmethod
    def simulate(self, *args: Any, **settings: Any) -> CoSimulationResult:
        """Run it."""

    def __reduce__(self) -> Any:
        """The recipe of a copy in another process, without results."""
        starts = {name: dict(values) for name, values in self.start_values.items()}
        return _rebuild, (self._recipe, self.until, dict(self.python_files), self.run_options, starts)

    def __copy__(self) -> RepeatableCoupling:
        """A copy with the same participants and settings; `__reduce__` makes other participants."""
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def result_so_far(self) -> cosim.Result:
        """The recorded rows of the present run, without events; for a `progress` of `simulate`.

        Raises
        ------
        CosimError
            There is no run, or one whose rows go to a stream.
        """
        return self._running.so_far()

    def save(self) -> bytes:
        """The whole co-simulation as it is now; for a `progress` or `observe` of `simulate`.

        Raises
        ------
        CosimError
            There is no run, or something in it that cannot be saved: named.
        """
        return self._running.snapshot().to_bytes()

    def restore(self, saved: bytes | str | Path, accept_changed: Collection[str] = ()) -> float:
        """Let the next `simulate` continue from a saved state, of this or another process, to the same bytes.

        Parameters
        ----------
        saved : bytes, str or Path
            From `save`, or the file of a `Checkpoint`.
        accept_changed : collection of str
            Participants whose file may be another one than when it was saved: an FMU that was mended and
            takes the states of the old one.

        Returns
        -------
        float
            The time from which it goes on, s.

        Raises
        ------
        CosimError
            It is damaged or cannot be read. That it is of another co-simulation is an error of `simulate`.
        """
        self._resumed_from = (
            Snapshot.from_bytes(saved) if isinstance(saved, bytes) else Snapshot.read(Path(saved))
        )
        self._accepted = frozenset(accept_changed)
        return self._resumed_from.time

    def verify(self, result: CoSimulationResult, until: float | str | None = None) -> CouplingReport:
        """Run again with half the step, or a tenth of the algorithm's tolerance, and compare.

        Models and Model Exchange FMUs are integrated with a tenth of their accuracy, or half a fixed step.

        Parameters
        ----------
        result : CoSimulationResult
            The result of the run so far; its `coupling` becomes the estimate.
        until : float or str, optional
            As given to `simulate`.

        Raises
        ------
        CosimError
            A participant cannot step so short, the run fails, or did not reach its end.
        """
        assert self.algorithm is not None

        def run_again(
            step: float, algorithm: cosim.MasterAlgorithm, end: float, record: Sequence[str]
        ) -> CoSimulationResult:
            return self._refined(step, algorithm, end if until is None else until, record)

        return verified_coupling(result, self.step, self.algorithm, run_again)

    def _refined(
        self,
        step: float,
        algorithm: cosim.MasterAlgorithm,
        until: float | str,
        record: Sequence[str],
        progress: Callable[[float], bool | None] | None = None,
        **different: Any,
    ) -> CoSimulationResult:
        """The result of the same co-simulation with another step (s) and another algorithm.

        What cosim integrates inside participants is more accurate as well: half the step shows no such error.
        """
        other = copy.copy(self)
        vars(other).update(step=step, algorithm=algorithm, **different)
        integrated = [p for p in other.participants.values() if isinstance(p, IntegratesInside)]
        try:
            for participant in integrated:
                participant.refine(True)
            with black_box.unrecorded():  # the first run has it, whose results may not be written yet
                return other.simulate(until, progress, record=record, inside="nothing")
        finally:
            for participant in integrated:
                participant.refine(False)

    def _find_run_again(self) -> RunAgain | None:
        """A function that runs it once more without effects outside; None if a participant may have some."""
        if self.joint is not None:
            return None
        others = {
            name: each.repeated() if isinstance(each, Repeats) else None
            for name, each in self.participants.items()
        }
        if None in others.values():
            return None

        def run_again(
            step: float, algorithm: cosim.MasterAlgorithm, end: float, record: Sequence[str]
        ) -> CoSimulationResult:
            return self._refined(step, algorithm, end, record, TimeLeft(end), participants=others)

        return run_again

    def led_run(
        self, start: float | None = None, stop: float | None = None, tolerance: float | None = None
    ) -> SteppedRun:
        """A run that another master leads from time to time; `SteppedRun.initialize` begins it.

        Parameters
        ----------
        start : float, optional
            s; that of the co-simulation unless given.
        stop : float, optional
            The time that no step exceeds, s; by default the latest countable time.
        tolerance : float, optional
            For participants that none is given for.
        """
        self.order_participants()
        other = copy.copy(self)
        start = self.start if start is None else start
        vars(other).update(start=start)
        if tolerance is not None:
            different = {name: t for name, t in self.tolerances.items() if t not in (None, self.tolerance)}
            accepted, problems = check_tolerances(self.participants, tolerance, different)
            if problems:
                raise cosim.ModelError(problems)
            vars(other).update(tolerance=tolerance, tolerances=accepted)
        group = math.lcm(*self.step_multiple.values())  # the last step is a whole one
        until = start + MOST_STEPS // group * group * self.step if stop is None else stop
        points = CommunicationPoints(start, until, self.step)
        if problems := check_last_step(self.descriptions, self.step_multiple, points):
            raise cosim.ModelError(problems)
        return SteppedRun(other, points, None if stop is None else until)

    @property
    def _running(self) -> SimulationRun:
        if self._run is None:
            raise cosim.CosimError("there is no run: call it from progress or observe of simulate")
        return self._run

    def reuse_instances(self, keep: bool = True) -> bool:
        """Whether FMUs keep their instances from run to run and only reset them; whether there are such.

        Parameters
        ----------
        keep : bool
            False gives up those that are kept: the next run makes new ones.
        """
        able = [p for p in self.participants.values() if isinstance(p, ReusesInstance)]
        for participant in able:
            participant.reuse_instance(keep)
        return bool(able)


def _rebuild(
    recipe: Recipe,
    until: float | None,
    python_files: Mapping[str, Path],
    options: RunOptions,
    starts: Mapping[str, Mapping[str, Any]],
) -> RepeatableCoupling:
    make, positional, keywords = recipe
    coupling = make(*positional, **keywords)
    coupling.read_from_scenario(until, python_files, options)
    coupling.replace_starts(starts)
    return coupling
