"""A running instance of an exported FMU: a system, its State and its simulator."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import SAME_TIME, use_registry
from cosim_export.interface.first_state import first_state
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.frame_angles import POSE_SIZE, angle_of, with_angles
from cosim_export.python_fmu.hosted_instance import VALUES, HostedInstance, Mode, check_experiment

MODEL = "model.json"
Plan = tuple[cosim.Stage, list[tuple[int, int]], list[tuple[int, int]]]
"""How to read variables: the stage, the array and place of each, and which of them are angles."""
Change = tuple[int, FmuVariable, Any]
"""A value that is set and differs from the present one: reference, variable, value."""
MAGIC = b"COSIMFMU1\n"
"""The beginning of saved states."""


class ExportedSystem(HostedInstance):
    """Holds the system of an FMU and carries out the calls of FMI.

    Parameters
    ----------
    resources : Path
        Folder with the model, the interface and the registry, as `PythonFmuExporter` wrote them.

    Notes
    -----
    Inputs are held over a step. Outputs can be read at any time, and are computed when they are read. A saved
    state is that of the whole instance, so an instance in another process continues from it with the same
    bits.
    """

    def __init__(self, resources: Path) -> None:
        super().__init__(resources)
        with use_registry(self.registry):
            model = cosim.Model.from_dict(json.loads((resources / MODEL).read_text("utf-8")))
            self.system = model.build()
        self._runs_python = _runs_python(self.system)
        self.state = first_state(self.system)
        self.state.accuracy = self.interface.accuracy
        self.simulator: cosim.Simulator | None = None
        self._stop_message = "the initialization asked to stop"  # a restored state has no other message
        self._reported_findings = 0
        self._within = 0.0  # s: an event so close to the end of the last step belongs to it
        self._trial: cosim.State | None = None
        self._plans: dict[tuple[str, tuple[int, ...]], Plan] = {}

    # the life cycle

    def setup(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Set start and stop time, s, and a tolerance, which overrides the accuracy of the export."""
        self.need_mode(Mode.INSTANTIATED)
        check_experiment(start, stop, tolerance)
        if tolerance is not None:
            self.state.accuracy = tolerance
        self.state.set_time(start)
        self.stop_time = stop

    @property
    def time(self) -> float:
        """The present time, s."""
        return self.state.time

    def exit_initialization(self) -> None:
        """Run the 0th step: the handlers of the cause Initialization, and the first step size.

        If a handler asks to stop, the first step answers so: Co-Simulation of FMI 2.0 has no earlier call
        that can.
        """
        self.need_mode(Mode.INITIALIZING)
        try:
            self.state.copy().realize(cosim.Stage.INSTANCE)
        except cosim.SimulationError as error:
            raise cosim.StateError(f"{error.reason} (the instance is still in initialization mode)") from None
        simulator = self._make_simulator(self.state)
        status = simulator.initialize()
        self.simulator, self._trial = simulator, None
        self.mode = Mode.STEPPING if status.succeeded else Mode.ENDING
        self._stop_message = status.format_message()

    def step(self, time: float, size: float) -> str:
        """Advance from `time` by `size` (s); returns why the system asks to stop, or empty text.

        A scheduled event within a billionth of the step around its end belongs to the step.

        Raises
        ------
        StateError
            The step is not allowed; nothing has changed.
        SimulationError
            The step failed; the State is the last valid one.
        """
        # steps may be short, so in the usual case no time is spent on checks that cannot fail
        is_usual = self.mode is Mode.STEPPING and self.stop_time is None and time == self.state.time
        if not is_usual or not 0.0 < size < math.inf:
            self.check_step(time, size)
        assert self.simulator is not None
        if self.mode is Mode.ENDING:
            self.simulator.finish()
            self.mode = Mode.STOPPED
            return self._stop_message
        target, within = time + size, SAME_TIME * size
        if target > self.state.time:
            if self._runs_python:  # otherwise left out: it takes as long as a short step
                with use_registry(self.registry):
                    status = self.simulator.advance_to(target, within=within)
            else:
                status = self.simulator.advance_to(target, within=within)
            self._within = within
            if not status.succeeded:
                self.mode = Mode.STOPPED
                return status.format_message()
        return ""

    def news(self) -> list[str]:
        """The findings of the simulation since the last call, as sentences; see `Simulator.findings`."""
        if self.simulator is None or len(self.simulator.findings) == self._reported_findings:
            return []
        new = self.simulator.findings[self._reported_findings :]
        self._reported_findings += len(new)
        return [f"{finding.witness} at t = {finding.time!r} s: {finding.message}" for finding in new]

    def terminate(self) -> None:
        """Run the handlers of the cause Termination; values can still be read."""
        self.need_mode(Mode.STEPPING, Mode.ENDING, Mode.STOPPED)
        if self.mode is not Mode.STOPPED:
            assert self.simulator is not None
            if self.stop_time is not None and self.state.time >= self.stop_time - self._within:
                self.simulator.advance_pending_events()
            self.simulator.finish()
            self.mode = Mode.STOPPED

    def _make_simulator(self, state: cosim.State) -> cosim.Simulator:
        self._reported_findings = 0
        with use_registry(self.registry):
            return cosim.Simulator(
                self.system,
                state,
                integrator=self.interface.integrator,
                accuracy=state.accuracy,
                event_limit=0,  # no host reads the records of events
                **self.interface.integrator_options,
            )

    def _initialized_state(self) -> cosim.State:
        """The State as the initialization would leave it with the present values, computed on a copy.

        In it delays and held samples have their first values. If the initialization fails, the State itself.
        """
        if self._trial is None:
            trial = self.state.copy()
            try:
                self._make_simulator(trial).initialize()
                trial.realize(cosim.Stage.REPORT)
            except cosim.SimulationError:
                self.state.realize(cosim.Stage.REPORT)
                trial = self.state
            self._trial = trial
        return self._trial

    # values

    def get(self, kind: str, references: list[int]) -> list[Any]:
        """Values of variables at the present time, of the FMI type `kind`."""
        key = kind, tuple(references)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._plan(kind, references)
        stage, places, frames = plan
        # during initialization computed values are read from another State than those that were set
        if self.mode is Mode.INITIALIZING and len(references) > 1:
            return [self.get(kind, [reference])[0] for reference in references]
        state = self.state
        if (
            self.mode is Mode.INITIALIZING
            and references
            and not self.find_variable(kind, references[0]).is_settable
        ):
            state = self._initialized_state()
        if state.stage < stage:
            state.realize(stage)
        arrays = self.system.arrays(state)
        values = [arrays[array][offset].item() for array, offset in places]
        if kind == "String":
            return [self.find_variable(kind, r).text(v) for r, v in zip(references, values, strict=True)]
        if kind != "Real":
            self._need_whole(kind, references, values)
        values = [VALUES[kind](value) for value in values]
        for i, angle in frames:
            array, offset = places[i]
            values[i] = angle_of(arrays[array][offset : offset + POSE_SIZE].tolist(), angle)
        return values

    def _need_whole(self, kind: str, references: list[int], values: list[float]) -> None:
        """Raise `StateError` if a component has computed a value that is not a whole number."""
        for reference, value in zip(references, values, strict=True):
            if not math.isfinite(value) or value != math.floor(value):
                name = self.find_variable(kind, reference).name
                raise cosim.StateError(f"{name} is {value!r}, which is not an integer")

    def _plan(self, kind: str, references: list[int]) -> Plan:
        """The plan for reading these variables; `get` caches it, since hosts repeat their calls."""
        variables = [self.find_variable(kind, reference) for reference in references]
        stage = max((v.stage for v in variables), default=0)
        frames = [(i, v.angle) for i, v in enumerate(variables) if v.angle is not None]
        return cosim.Stage(stage), [("ypdkhc".index(v.array), v.offset) for v in variables], frames

    def set(self, kind: str, references: list[int], values: list[Any]) -> dict[int, Exception]:
        """Set inputs, parameters or, before initialization, start values.

        A value that equals the present one changes nothing: it is accepted at any time, and nothing is
        computed again. If one value is refused, none is set. Parameters are checked together, with all values
        of the call. During a run everything must be computable with them. Before it values may come one by
        one, so that a failed check counts only if the call has set everything that the check reads; otherwise
        the end of the initialization decides.

        Returns
        -------
        dict of int to Exception
            The reason of each refusal, by value reference.
        """
        refused: dict[int, Exception] = {}
        variables: dict[int, FmuVariable] = {}
        for reference in references:
            try:
                variables[reference] = self._settable(kind, reference)
            except cosim.CosimError as error:
                refused[reference] = error
        present = dict(zip(variables, self.get(kind, list(variables)), strict=True))
        changed = [
            (reference, variables[reference], float(value) if kind == "Boolean" else value)
            for reference, value in zip(references, values, strict=True)
            if reference in variables and present[reference] != value
        ]
        refused |= _refusals(changed, lambda variable, value: self._need_open(variable))
        changed = self._with_whole_frames(changed)
        refused |= _refusals(changed, lambda variable, value: self.system.numbers_of(variable.path, value))
        parameters = [(v, value) for _, v, value in changed if v.array == "p"]
        if parameters and not refused:
            fault = self._fault(parameters, {v.offset for v in variables.values() if v.array == "p"})
            refused = {} if fault is None else dict.fromkeys(references, fault)
        if not refused:
            for _, variable, value in changed:
                self.state[variable.path] = value
                self._trial = None
        return refused

    def _with_whole_frames(self, changed: list[Change]) -> list[Change]:
        """The changes, with the twelve numbers of a frame in place of the angles that the call sets."""
        angles: dict[str, dict[int, float]] = {}
        for _, variable, value in changed:
            if variable.angle is not None:
                angles.setdefault(variable.path, {})[variable.angle] = value
        if not angles:
            return changed
        poses = {}
        for path, values in angles.items():
            pose = self.state[path].tolist()
            for _, variable, value in changed:  # positions that are set in the same call
                for i in range(9, 12):
                    pose[i] = value if variable.path == f"{path}[{i}]" else pose[i]
            are_finite = all(map(math.isfinite, values.values()))
            poses[path] = with_angles(pose, values) if are_finite else [math.nan] * POSE_SIZE
        return [(r, v, value if v.angle is None else poses[v.path]) for r, v, value in changed]

    def _fault(self, parameters: list[tuple[FmuVariable, Any]], written: Collection[int]) -> Exception | None:
        """Why the parameters are inconsistent; None if they are not, or may not be after further calls."""
        trial = self.state.copy()
        for variable, value in parameters:
            trial[variable.path] = value
        is_before_steps = self.is_before_steps
        try:  # during a run they must also be consistent with the current state, such as a delay's history
            trial.realize(cosim.Stage.INSTANCE if is_before_steps else cosim.Stage.REPORT)
        except cosim.SimulationError as error:
            if is_before_steps and not self._is_decided(trial, written):
                return None
            return cosim.StateError(error.reason)
        return None

    def _is_decided(self, trial: cosim.State, written: Collection[int]) -> bool:
        """Whether the call has set all parameters that a failed check reads."""
        *_, cache = self.system.arrays(trial)
        settable = {v.offset for v in self.interface.variables if v.array == "p" and v.is_settable}
        failed = [check for check in self.system.checks if check.sentence(cache)]
        return any(
            settable & {place for slot in check.reads for place in slot.elements} <= set(written)
            for check in failed
        )

    def _settable(self, kind: str, reference: int) -> FmuVariable:
        variable = self.find_variable(kind, reference)
        self.check_settable(variable)
        return variable

    def _need_open(self, variable: FmuVariable) -> None:
        """Raise `StateError` if a variable may not get a new value now."""
        is_open = variable.causality in ("input", "parameter") and variable.variability != "fixed"
        self.check_open(variable, is_open=is_open)

    # saved states

    def save(self) -> bytes:
        """The state on which all later results depend, as bytes for another process."""
        header = {"mode": self.mode, "stop_time": self.stop_time}
        return MAGIC + json.dumps(header).encode() + b"\n" + self.state.to_bytes()

    def restore(self, saved: bytes) -> None:
        """Restore a state that `save` of any instance of the same FMU has returned.

        Raises
        ------
        StateError
            The bytes are not a saved state, are damaged, or belong to another system.
        """
        if not saved.startswith(MAGIC):
            raise cosim.StateError("these are not the bytes of a state of this FMU")
        header, _, data = saved[len(MAGIC) :].partition(b"\n")
        try:
            row = json.loads(header)
            mode, stop_time = row["mode"], row["stop_time"]
        except (ValueError, TypeError, KeyError) as error:
            raise cosim.StateError("the bytes of this state are damaged (header)") from error
        if mode not in list(Mode):
            raise cosim.StateError(f"the bytes of this state are damaged (mode {mode!r})")
        self.state = self.system.state_from_bytes(data)
        if self.mode is Mode.INSTANTIATED and self.stop_time is None:
            self.stop_time = stop_time  # otherwise the one that the host has set for this instance stays
        self.mode, self._trial = Mode(mode), None
        self.simulator = None if self.is_before_steps else self._make_simulator(self.state)


def _refusals(changes: list[Change], check: Callable[[FmuVariable, Any], object]) -> dict[int, Exception]:
    """The exceptions that a check raises, by value reference."""
    refused: dict[int, Exception] = {}
    for reference, variable, value in changes:
        try:
            check(variable, value)
        except cosim.CosimError as error:
            refused[reference] = error
    return refused


def _runs_python(system: cosim.System) -> bool:
    """Whether a step calls plain Python of a plugin, which may use the registry."""
    handlers = {(name, h.name) for name, part in system.parts.items() for h in part.handlers.values()}
    return any(block.is_python for block in system.blocks) or not handlers <= system.handler_blocks.keys()
