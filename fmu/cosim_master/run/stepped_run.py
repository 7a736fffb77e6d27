"""SteppedRun: a run of a co-simulation that another master advances from one time to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from cosim.kit import ResultStream, black_box
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.run_settings import CommunicationPoints, RunOptions
from cosim_master.exchange.compiled_loop import CompiledLoop
from cosim_master.exchange.exchange_algorithms import ExchangeFace
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.recording.coupling_errors import CouplingReport
from cosim_master.run.run_hooks import RunHooks
from cosim_master.run.saved_trees import from_bytes, to_bytes
from cosim_master.run.simulation_run import SimulationRun
from cosim_master.run.snapshot import Snapshot
from cosim_master.trust.assess_coupling import assess_coupling

SAME_TIME = 1e-9
"""A time that is closer than this part of a step to its end is the end."""


class DroppedRows(ResultStream):
    """Records no rows: the master of the run records them."""

    def append(self, piece: Any) -> None:
        """Drop the rows: the host records its own."""

    def close(self, result: Any) -> None:
        """Close nothing: there is no open resource."""


class SteppedRun(SimulationRun):
    """A run that its caller advances from time to time, and sets back to saved states.

    Its steps are those of `SimulationRun`, to the bit. A time that is not a communication point cuts the
    communication step there, for all participants, as the tick of a clock does.

    Parameters
    ----------
    loop : Coupling
        With its final order.
    points : CommunicationPoints
        No step goes beyond the last one.
    stop : float or None
        The end that the participants receive, s.

    Attributes
    ----------
    time : float
        s
    can_divide : bool
        Whether communication steps can be cut.
    """

    def __init__(self, loop: Coupling, points: CommunicationPoints, stop: float | None) -> None:
        super().__init__(
            loop,
            points,
            limit=None,
            resumed_from=None,
            accepted=(),
            options=RunOptions(record=loop.run_options.record, inside="nothing"),
            hooks=RunHooks(stream=DroppedRows()),
            warnings=(),
            keep_result=lambda result: None,
        )
        self._stop = stop
        self._stack = ExitStack()
        self._paused: float | None = None  # a time inside the present communication step

    @property
    def time(self) -> float:
        """The time that the run has reached, s."""
        return self._points.time(self._done) if self._paused is None else self._paused

    @property
    def can_divide(self) -> bool:
        """Whether all participants vary their steps, and none has a longer one than the others."""
        return can_divide(self.loop)

    @property
    def stop_reason(self) -> str:
        """The reason why a participant has asked to stop; "" if none has."""
        return self.coupled.stop_reason

    def initialize(self) -> None:
        """Initialize the participants and make their values consistent.

        Raises
        ------
        CoSimulationError
            A participant failed; all are closed.
        """
        coupled = self.coupled
        try:
            self._initialize(self._stack)
            if coupled.threads is not None:
                self._stack.enter_context(coupled.threads)
            self._face = ExchangeFace(coupled)
            coupled.guarded_algorithm(self.algorithm, self.algorithm.initialize, self._face, self.loop.start)
            self._make_steps()
        except BaseException:
            self.close()
            raise

    def advance(self, target: float, size: float) -> str:
        """Advance to a time.

        Parameters
        ----------
        target : float
            s
        size : float
            The size of the step that ends there, s: `target` is a communication point that only rounding
            separates from it.

        Returns
        -------
        str
            Why a participant has asked to stop; "" if none has.

        Raises
        ------
        CoSimulationError
            A participant failed.
        """
        points, slack = self._points, SAME_TIME * size
        with black_box.unrecorded():  # the run of the host has it
            while not self.coupled.stop_reason and self._done < points.count:
                step_end = points.time(self._done + 1)
                if step_end <= target + slack:
                    limit = self._last_point(target + slack)
                    self._done, self._paused = self._loop.run(self._done, limit), None
                elif self.time < target - slack:
                    self._loop.run_into(self._done, target)
                    self._paused = self._loop.machine.clock.begin
                else:
                    break
        return self.coupled.stop_reason

    def is_point(self, time: float, slack: float) -> bool:
        """Whether a communication point is at a time (s), or within `slack` of it."""
        return self._points.time(self._last_point(time + slack)) >= time - slack

    def read(self, name: str, variables: Sequence[str]) -> list[Any]:
        """The last exchanged values of a participant; other variables are read from it."""
        reads = self.coupled.reads[name]
        values_read = dict(zip(reads, self._loop.values.read(name), strict=True))
        missing = [variable for variable in variables if variable not in values_read]
        if missing:
            values_read |= zip(missing, self.coupled.get(name, missing), strict=True)
        return [values_read[variable] for variable in variables]

    def read_now(self, name: str, variables: Sequence[str]) -> list[Any]:
        """Present values of a participant, which may depend on inputs that were written since its step."""
        return self.coupled.get(name, variables)

    def write(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Set inputs that no connection feeds, or tunable parameters, by participant and name."""
        with black_box.unrecorded():  # the run of the host has it
            self._loop.values.show()
            try:
                for name, inputs in values.items():
                    participant = self.coupled.participants[name]
                    self.coupled.guarded(name, participant.set, list(inputs), list(inputs.values()))
            finally:
                self._loop.values.resume_from_python()

    def assess(self) -> CouplingReport:
        """The estimate of the coupling error so far."""
        return assess_coupling(self.coupled, self.algorithm, self.loop.step)

    def save(self, *, in_memory: bool) -> dict[str, Any]:
        """The state on which all further steps depend, for `restore`.

        Parameters
        ----------
        in_memory : bool
            Whether states of participants are tokens, which only this run can restore, or else bytes.

        Returns
        -------
        dict
            "participants", a state by name, and "master", bytes.
        """
        self._loop.values.show()
        try:
            tree = Snapshot.of(self, self._done, in_memory=in_memory).tree
        finally:
            self._loop.values.resume_from_python()
        participants = tree.pop("participants")
        empty: dict[str, Any] = {"identity": None, "events": [], "happened": []}
        master = {**tree, **empty, "paused": self._paused}
        return {"participants": participants, "master": to_bytes(master)}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Restore a state of `save`.

        Raises
        ------
        CosimError
            It is damaged, or of another co-simulation.
        """
        self._loop.values.show()
        tree = {**from_bytes(saved["master"]), "participants": saved["participants"]}
        self._done, self._paused = Snapshot(tree).restore(self), tree["paused"]
        self._make_steps()
        if self._paused is not None:
            self._loop.resume_inside(self._done, self._paused)

    def close(self) -> None:
        """Free all participants; may be called twice."""
        self._stack.close()

    @property
    def machine(self) -> ExchangeMachine:
        """The memory of the interpreter of exchanges."""
        return self._loop.machine

    @property
    def _loop(self) -> CompiledLoop:
        assert self._compiled is not None
        return self._compiled

    def _make_steps(self) -> None:
        with black_box.unrecorded():  # the run of the host has it
            self._steps(_check_nothing)

    def _last_point(self, time: float) -> int:
        """The last communication point that is no later than a time, s, and not before the present one."""
        points = self._points
        index = min(points.count, self._done + int((time - points.time(self._done)) / points.step) + 1)
        while points.time(index) > time:
            index -= 1
        return index


def can_divide(loop: Coupling) -> bool:
    """Whether all participants vary their steps, and none has a longer one than the others."""
    return all(description.variable_step for description in loop.descriptions.values()) and all(
        multiple == 1 for multiple in loop.step_multiple.values()
    )


def _check_nothing() -> None:
    """Check nothing: the host ends such a run."""
