"""A co-simulation that runs inside an FMU in Python: the calls of the host, and the saved states."""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim.kit import use_registry
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.python_fmu.hosted_instance import INTERFACE, VALUES, HostedInstance, Mode, check_experiment
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.container.carried_scenario import DATA, FOLDER, carried_co_simulation
from cosim_fmu.container.container_interface import COUPLING, UNKNOWN, direct_dependencies
from cosim_master.recording.coupling_errors import CouplingReport
from cosim_master.run.saved_trees import from_bytes, to_bytes
from cosim_master.run.stepped_run import SAME_TIME, SteppedRun, can_divide
from cosim_master.trust.verdict import VERDICTS

ASSESSED_AGAIN = 2.0
"""The coupling error is estimated again once there are this many times as many steps, and at the end."""


@dataclass(frozen=True)
class MemoryState:
    """A saved state in memory, of participants that cannot serialize: only the same run can restore it."""

    run: SteppedRun
    tree: Mapping[str, Any]


class ContainerInstance(HostedInstance):
    """Runs a co-simulation step by step, as the host of the FMU calls it.

    Parameters
    ----------
    resources : Path
        Folder with the scenario, the interface and the registry, as `ContainerExporter` wrote them.

    Notes
    -----
    Inputs are held over a step of the host; outputs are those of its end. A communication step is cut if a
    step of the host ends inside it. A saved state is that of all participants and of the master; an instance
    in another process continues from it with the same bits.
    """

    def __init__(self, resources: Path) -> None:
        super().__init__(resources)
        with use_registry(self.registry):
            self.loop: CoSimulation = carried_co_simulation(resources / FOLDER)
        self._stop_reason = ""
        self._start = self.loop.start
        self._tolerance: float | None = None
        self._values = {v.name: v.start for v in self.interface.variables if v.is_settable}
        self._start_values: dict[str, Any] = {}  # set by the host before the run
        self._unsent_inputs: dict[str, dict[str, Any]] = {}  # set by the host, by participant
        self._inputs_since_step: list[str] = []  # paths of inputs that were set
        read = (resources / INTERFACE).read_bytes() + (resources / FOLDER / DATA).read_bytes()
        self._identity = sha256(read).hexdigest()
        self._runs: list[SteppedRun] = []
        self._closed_outputs: dict[str, Any] = {}
        self._time_without_run = self._start
        self._assessed: tuple[float, CouplingReport] | None = None
        self._can_serialize = all(
            description.can_serialize for description in self.loop.descriptions.values()
        )
        self._unrestorable = ", ".join(
            name for name, description in self.loop.descriptions.items() if not description.can_restore
        )
        weakref.finalize(self, _close, self._runs).atexit = False

    # life

    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Set the start and stop time, s, and a tolerance for participants that have none of their own."""
        self.need_mode(Mode.INSTANTIATED)
        check_experiment(start, stop, tolerance)
        self._start, self.stop_time, self._tolerance = start, stop, tolerance
        self._time_without_run = start

    def exit_initialization(self) -> None:
        """Initialize all participants, and make their values consistent."""
        self.need_mode(Mode.INITIALIZING)
        run = self._initialized_run()
        self._stop_reason = run.stop_reason
        self.mode = Mode.ENDING if self._stop_reason else Mode.STEPPING

    def step(self, time: float, size: float) -> str:
        """Advance from `time` by `size` (s); returns why a participant wants the run to end, or "".

        Raises
        ------
        StateError
            The step is not possible here; nothing has changed.
        SimulationError
            A participant failed.
        """
        self.check_step(time, size)
        if self.mode is Mode.ENDING:
            self._close_run()
            return self._stop_reason
        run = self._running()
        target = time + size
        self._check_length(run, target, size)
        try:
            with use_registry(self.registry):
                self._send_inputs()
                self._stop_reason = run.advance(target, size)
                self._inputs_since_step = []
        except BaseException:
            self.mode = Mode.STOPPED
            raise
        if self._stop_reason:
            self._close_run()
        return self._stop_reason

    @property
    def time(self) -> float:
        """The present time, s."""
        return self._runs[0].time if self._runs else self._time_without_run

    def news(self) -> list[str]:
        """No messages for the host's log: the coupling error is an output."""
        return []

    def terminate(self) -> None:
        """Free all participants; values can still be read."""
        self.need_mode(Mode.STEPPING, Mode.ENDING, Mode.STOPPED)
        self._close_run()

    # values

    def get(self, kind: str, references: list[int]) -> list[Any]:
        """The present values of variables of the FMI type `kind`."""
        variables = [self.find_variable(kind, reference) for reference in references]
        names = [v.name for v in variables if not v.is_settable]
        computed = self._computed(names) if names else {}
        values = [self._values[v.name] if v.is_settable else computed[v.name] for v in variables]
        if kind == "Integer":
            for variable, value in zip(variables, values, strict=True):
                if not -(2**31) <= int(value or 0) < 2**31:
                    raise cosim.StateError(f"{variable.name}: {value!r} needs more than 32 bits")
        return [VALUES[kind](value) for value in values]

    def set(self, kind: str, references: list[int], values: list[Any]) -> dict[int, Exception]:
        """Set inputs, tunable parameters or, until the initialization is over, all parameters.

        Returns
        -------
        dict of int to Exception
            For each value reference that was refused, why. Then nothing is set.
        """
        refused: dict[int, Exception] = {}
        changed: dict[str, Any] = {}
        for reference, value in zip(references, values, strict=True):
            try:
                variable = self.find_variable(kind, reference)
                if self._changes(variable, value):
                    changed[variable.path] = value
            except cosim.CosimError as error:
                refused[reference] = error
        if refused or not changed:
            return refused
        try:
            if self.is_before_steps:
                with use_registry(self.registry):
                    for path, value in changed.items():
                        self.loop.set_start(path, value)
                self._start_values |= changed
                self._discard_run()
            else:
                for path, value in changed.items():
                    participant, _, name = path.partition(".")
                    self._unsent_inputs.setdefault(participant, {})[name] = value
                    self._inputs_since_step.append(path)
        except cosim.CosimError as error:
            with use_registry(self.registry):
                for path in changed:
                    self.loop.set_start(path, self._values[path])
            return dict.fromkeys(references, error)
        self._values |= changed
        return {}

    def _changes(self, variable: FmuVariable, value: Any) -> bool:
        """Whether a value differs from the present one; `StateError` if the variable may not be set now."""
        self.check_settable(variable)
        if isinstance(value, float) and not math.isfinite(value):
            raise cosim.StateError(f"{variable.name}: {value!r} is not a finite number")
        if self._values[variable.name] == value:
            return False
        self.check_open(variable, is_open=variable.variability != "fixed")
        return True

    def _computed(self, names: Iterable[str]) -> dict[str, Any]:
        """The outputs of participants, and the error of the coupling."""
        if self.mode is Mode.INSTANTIATED:
            raise cosim.StateError("outputs cannot be read before initialization mode")
        if not self._runs and self.mode is not Mode.INITIALIZING:
            if not self._closed_outputs:
                raise cosim.StateError(
                    "there are no outputs: a participant has failed; see the error of the last step"
                )
            return self._closed_outputs
        with use_registry(self.registry):
            run = self._initialized_run()
            self._send_inputs()
            computed_values: dict[str, Any] = {}
            names_by_source: dict[tuple[str, bool], list[str]] = {}
            # outputs that follow an input at once are read anew, the others are those of the last step
            for name in names:
                if name.startswith(f"{COUPLING}."):
                    computed_values[name] = self._coupling_output(run, name.removeprefix(f"{COUPLING}."))
                elif name in self.loop.derived:
                    derived = self.loop.derived[name]
                    (value,) = run.read(derived.port[0], [derived.port[1]])
                    computed_values[name] = derived.of(np.array([value])).tolist()[0]
                else:
                    participant, _, variable = name.partition(".")
                    names_by_source.setdefault((participant, self._follows_at_once(name)), []).append(
                        variable
                    )
            for (participant, at_once), variables in names_by_source.items():
                values = run.read_now(participant, variables) if at_once else run.read(participant, variables)
                computed_values |= {f"{participant}.{v}": x for v, x in zip(variables, values, strict=True)}
        return computed_values

    def _follows_at_once(self, name: str) -> bool:
        """Whether an output depends directly on an input that has been set since the last step."""
        return bool(self._inputs_since_step) and bool(
            direct_dependencies(self.loop, name, self._inputs_since_step)
        )

    def _coupling_output(self, run: SteppedRun, name: str) -> Any:
        """The verdict on the coupling, or the error bar of a signal, by the output's name."""
        steps = run.statistics.steps
        at_end = self.stop_time is not None and run.time >= self.stop_time
        before = 0 if self._assessed is None else self._assessed[0]
        if self._assessed is None or steps > ASSESSED_AGAIN * before or (at_end and steps > before):
            self._assessed = steps, run.assess()
        report = self._assessed[1]
        if name == "verdict":
            return VERDICTS.index(report.verdict) + 1
        if report.verdict in ("unknown", "unstable"):
            return UNKNOWN
        if name == "error":
            return 0.0 if report.worst is None else report.worst.relative
        return next((each.error for each in report.signals if each.name == name), UNKNOWN)

    # the run

    def _running(self) -> SteppedRun:
        """The present run."""
        if not self._runs:
            raise cosim.StateError("there is no run to continue: instantiate and initialize the FMU again")
        return self._runs[0]

    def _initialized_run(self) -> SteppedRun:
        """The present run, or a new one whose participants have just been initialized."""
        if not self._runs:
            with use_registry(self.registry):
                run = self.loop.led_run(self._start, self.stop_time, self._tolerance)
                run.initialize()
            self._runs.append(run)
            self._unsent_inputs, self._inputs_since_step, self._assessed = {}, [], None
        return self._runs[0]

    def _discard_run(self) -> None:
        """Discard the initialized run, since values were set after it."""
        _close(self._runs)
        self._assessed = None

    def _close_run(self) -> None:
        """Close the participants, and store their outputs."""
        if self._runs:
            try:
                self._closed_outputs = self._computed(
                    [v.name for v in self.interface.variables if not v.is_settable]
                )
            except cosim.SimulationError:  # the step that failed has already reported it
                self._closed_outputs = {}
            self._time_without_run = self.time
            _close(self._runs)
        self.mode = Mode.STOPPED

    def _send_inputs(self) -> None:
        """Pass the inputs that the host has set on to the participants."""
        pending, self._unsent_inputs = self._unsent_inputs, {}
        if pending:
            self._running().write(pending)

    def _check_length(self, run: SteppedRun, target: float, size: float) -> None:
        """Refuse a step that would cut a communication step where participants do not allow it."""
        if can_divide(self.loop) or run.is_point(target, SAME_TIME * size):
            return
        text = (
            f"the step ends at {target!r} s, inside a communication step of {self.loop.step:g} s, which the "
            "participants cannot divide: take multiples of it"
        )
        raise cosim.StateError(text)

    # the whole state

    def save(self) -> bytes | MemoryState:
        """Everything that later results depend on; bytes for any process if all participants serialize."""
        if self._unrestorable:
            raise cosim.StateError(f"the state cannot be saved: {self._unrestorable} cannot save theirs")
        with use_registry(self.registry):
            self._send_inputs()
            run = self._runs[0] if self._runs else None
            tree: dict[str, Any] = {
                "guid": self._identity,
                "mode": self.mode.value,
                "times": [self._start, self.stop_time, self._tolerance, self._time_without_run],
                "values": self._values,
                "given": self._start_values,
                "written": self._inputs_since_step,
                "last": self._closed_outputs,
                "wish": self._stop_reason,
                "run": None if run is None else run.save(in_memory=not self._can_serialize),
            }
        if run is None or self._can_serialize:
            return to_bytes(tree)
        return MemoryState(run, {name: copy.copy(value) for name, value in tree.items()})

    def restore(self, saved: bytes | MemoryState) -> None:
        """Restore a state that `save` returned; bytes may come from another instance of the same FMU.

        Raises
        ------
        StateError
            It is not a state, is damaged, or belongs to another FMU or to a run that is over.
        """
        if isinstance(saved, MemoryState):
            if saved.run not in self._runs:
                raise cosim.StateError("this state belongs to a run that has ended, or to another instance")
            tree = saved.tree
        else:
            try:
                tree = from_bytes(saved)
            except cosim.CosimError as error:
                raise cosim.StateError(f"these bytes are not a state of this FMU: {error}") from None
        if (
            not isinstance(tree, Mapping)
            or tree.get("guid") != self._identity
            or tree["mode"] not in list(Mode)
        ):
            raise cosim.StateError("this state was saved by another FMU, or by another version of this one")
        self._start, self.stop_time, self._tolerance, self._time_without_run = tree["times"]
        before = self._start_values
        self._values, self._start_values, self._closed_outputs = (
            dict(tree[key]) for key in ("values", "given", "last")
        )
        self._stop_reason, self._unsent_inputs, self._assessed = tree["wish"], {}, None
        self._inputs_since_step = list(tree["written"])
        with use_registry(self.registry):
            starts = {v.name: v.start for v in self.interface.variables if v.name in before}
            for path, value in (starts | self._start_values).items():
                self.loop.set_start(path, value)
            if tree["run"] is None:
                _close(self._runs)
            else:
                self._initialized_run().restore(tree["run"])
        self.mode = Mode(tree["mode"])


def _close(runs: list[SteppedRun]) -> None:
    """Close and remove all runs; the list is shared with the finalizer of the instance."""
    while runs:
        runs.pop().close()
