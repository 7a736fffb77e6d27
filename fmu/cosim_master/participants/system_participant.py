"""A system of ours as a participant, without the detour through an FMU."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import SAME_TIME, MadeFromOptions, ParticipantDescription, Variable
from cosim_fmu.abilities import InnerPoint, NativeCalls
from cosim_lowering.program import Program
from cosim_lowering.refusals import method_refusals, system_refusals
from cosim_master.algorithms.joint import check_options
from cosim_master.coupling.errors import StopRequested
from cosim_master.model_exchange.called_simulator import CalledSimulator
from cosim_master.participants.system_interface import describe_system, type_of, value_of

INTEGRATOR = "integrators.runge_kutta_merson"
ACCURACY = 1e-6
LEAST_NATIVE_STEPS = 2000


class SystemParticipant(cosim.Participant, MadeFromOptions):
    """An assembled system that a `Simulator` advances between the communication points.

    Variables have the paths of the system (`describe_system`). An input is held between communication
    points, or runs along its slope. Updates that fall on a communication point happen at the beginning of the
    following step, with the inputs exchanged there, as a `Simulator` does it.

    Parameters
    ----------
    system : System or Model
        A Model is built; integrator and accuracy of its own simulation settings are used.
    integrator : str, optional
        Id of an integrator; "integrators.runge_kutta_merson" when neither this nor the model says.
    accuracy : float, optional
        The accuracy of the integration; by default the tolerance of the co-simulation, or 1e-6.
    **options
        For the integrator: ``maximum_step`` …

    Raises
    ------
    ModelError
        When a Model cannot be built.
    """

    def __init__(
        self,
        system: cosim.System | cosim.Model,
        integrator: str | None = None,
        accuracy: float | None = None,
        **options: Any,
    ) -> None:
        model = system if isinstance(system, cosim.Model) else system.model
        settings = model.simulation if model is not None else {}
        self.system = system.build() if isinstance(system, cosim.Model) else system
        self._integrator = integrator or settings.get("integrator") or INTEGRATOR
        self._accuracy = accuracy if accuracy is not None else settings.get("accuracy")
        if options or integrator is not None:
            check_options(self._integrator, options)
        self._options = options
        self._description: ParticipantDescription | None = None
        self._simulator: cosim.Simulator | None = None
        self._ready = self._failed = False
        self._stop: float | None = None
        self._places: dict[tuple[str, ...], tuple[cosim.Stage, list[tuple[str, int]]]] = {}
        self._written: dict[str, float] = {}
        self._run: CalledSimulator | None = None
        self._unused = np.zeros(1, dtype=np.int64)
        self._known: tuple[Sequence[str], NDArray[np.float64]] = ((), np.zeros(0))
        self._watched: tuple[str, ...] = ()
        self._watched_at = "events"
        self._wanted_tangents: tuple[int, Mapping[int, str]] = 0, {}
        self._tangents: Any = None

    def repeated(self) -> cosim.Participant | None:
        """A copy with the same system, if all of it is compiled: then its run has no effect outside."""
        return None if system_refusals(self.system) else copy.copy(self)

    @property
    def simulator(self) -> cosim.Simulator:
        """The simulator in use; `SimulationError` before `initialize` and after `close`."""
        if self._simulator is None:
            raise cosim.SimulationError(float("nan"), "the participant is not initialized")
        if self._run is not None:
            self._run.unbind()
            names, values = self._known
            self._written = {n: v for n, v in zip(names, values.tolist(), strict=True) if v == v}
        return self._simulator

    @property
    def events(self) -> list[cosim.EventRecord]:
        """The events since `initialize`, without those that were rolled back."""
        return list(self._simulator.events) if self._simulator is not None else []

    @property
    def native_types(self) -> tuple[str, ...]:
        """Types that compiled code reads and writes beside real numbers."""
        return ("boolean", "integer")

    @property
    def least_native_steps(self) -> int:
        """The steps that take half a second in plain Python, as long as compiled code takes to load."""
        return LEAST_NATIVE_STEPS

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls:
        """Addresses of functions that set, step and get; Python reads and sets texts.

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            Not used: the simulator handles events and failures.

        Raises
        ------
        ModelError
            The parts that cannot run without Python, and the reasons.
        """
        if self._wanted_tangents[0]:
            raise cosim.ModelError.of("derivatives", "tangents go along in Python")
        if self._watched and self._watched_at == "steps":
            raise cosim.ModelError.of("inside", "ends of integrator steps are recorded in Python")
        self.exit_initialization()
        free = set(self.system.inputs)
        for name in inputs:
            if name.partition("[")[0] not in free:
                raise cosim.ModelError.of(name, "a parameter that changes is written in Python")
        refused = [
            *system_refusals(self.system),
            *method_refusals(type(self.simulator.integrator)),
        ]
        if refused:
            raise cosim.ModelError(refused)
        counted = [name for name in reads if self.system.signal(name).slot.array == "k"]
        if counted:
            raise cosim.ContractError(f"{counted[0]} is integer")
        run = self._run = CalledSimulator(self.simulator)
        (written, known), read = run.inputs(inputs), run.outputs(reads)
        self._known = inputs, known
        return NativeCalls(
            instance=run.handle,
            set=run.set,
            step=run.step,
            get=run.get,
            input_references=int(written.ctypes.data),
            output_references=int(read.ctypes.data),
            same_size=False,
            keep=(run, written, known, read),
            set_slopes=run.set_slopes,
            leave=self._leave,
            **self._state_calls(run),
        )

    def path_of(self, name: str) -> str:
        """The path in the system of a variable."""
        return name

    @property
    def tangents(self) -> Any:
        """The tangents of the present run, as `CoupledTangents`; None without any."""
        return self._tangents

    def couple_tangents(self, directions: int, own: Mapping[int, str]) -> None:
        """Let the next runs carry this number of tangents, as `CoupledTangents`; 0 for none."""
        self._wanted_tangents, self._tangents = (directions, own), None

    def _leave(self) -> None:
        """Compiled code does not step it after all."""
        self._run = None

    def _state_calls(self, run: CalledSimulator) -> dict[str, Any]:
        """The functions of `NativeCalls` that save and restore the state."""
        state = run.state
        if not state:
            calls = {"save": run.nothing, "restore": run.nothing, "state": int(self._unused.ctypes.data)}
            hooks = {"remember": self._saved, "forget": self._restore_saved, "always_remembered": True}
            return {**calls, **hooks}
        calls = {"save": run.save, "restore": run.restore, "state": state}
        # events that compiled code has noted are read before they are needed to know how many there were
        noted = any(part.handlers for part in self.system.parts.values())
        hooks = {"remember": self._remembered, "forget": self._recall, "always_remembered": noted}
        return {**calls, **hooks}

    def _saved(self) -> bytes:
        token = self.save()
        self.resume_native()
        return token

    def _restore_saved(self, token: bytes) -> None:
        self.restore(token)
        self.resume_native()

    def _remembered(self) -> int:
        """The part of a state that is not in the State: the number of events."""
        events = self.simulator.events.total
        self.resume_native()
        return events

    def _recall(self, events: int) -> None:
        simulator = self.simulator
        simulator.events.truncate(events)
        simulator.take_rows()
        self.resume_native()

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """Make the rest of a step that the compiled function has left to the simulator."""
        assert self._run is not None and self._simulator is not None
        run, simulator = self._run, self._simulator
        status = self._guarded(lambda: run.resume(time + size, SAME_TIME * size))
        run.unbind()
        self.system.hold_inputs(simulator.state)
        self._heed(status)
        return float(simulator.state.time)

    def check_native_access(self, verb: str, status: int) -> None:
        """Do nothing: `set` or `get` is called next."""

    def resume_native(self) -> None:
        """Let the compiled functions continue from the present state, if they are in use."""
        if self._run is not None:
            simulator = self.simulator
            names, values = self._known
            values[:] = [self._written.get(name, np.nan) for name in names]
            self._run.bind(simulator)

    def describe(self) -> ParticipantDescription:
        """Variables, feedthrough and abilities."""
        if self._description is None:
            self._description = describe_system(self.system)
        return self._description

    def export_fmu(self, path: Path, also: Sequence[str] = (), **options: Any) -> Path:
        """Write the system as an FMU that integrates as this participant does.

        Parameters
        ----------
        path : Path
        also : sequence of str
            Variables that are outputs of the FMU beside the declared ones.
        **options
            For `Model.export_fmu`.

        Raises
        ------
        LookUpError
            The system was not built from a Model.
        ModelError
            The refusals of the exporter.
        """
        outputs = list(dict.fromkeys([*self.system.outputs, *also]))
        settings = {"integrator": self._integrator, "accuracy": self._accuracy, **self._options}
        written: Path = self.system.export_fmu(path, outputs=outputs, **{**settings, **options})
        return written

    def lowered(
        self, start: float, values: Mapping[str, Any], tolerance: float | None = None
    ) -> tuple[Program, bool]:
        """The system as `initialize` makes it, for machine code; whether its accuracy is the tolerance.

        Parameters
        ----------
        start : float
            s
        values : mapping of str to object
            Start values.
        tolerance : float, optional

        Raises
        ------
        ModelError
            The parts that cannot run without Python, and the reasons.
        """
        state, accuracy = self._state_at(start, values), self._accuracy_of(tolerance)
        program = Program(self.system, self._integrator, accuracy, state, **self._options)
        program.require()
        return program, self._accuracy is None

    def _state_at(self, start: float, values: Mapping[str, Any]) -> cosim.State:
        state = self.system.default_state()
        state.set_time(start)
        for name, value in values.items():
            state[name] = value
        return state

    def _accuracy_of(self, tolerance: float | None) -> float:
        return self._accuracy if self._accuracy is not None else (tolerance or ACCURACY)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Make a State at `start` (s) with these values; events wait for `exit_initialization`."""
        self._simulator = self._new_simulator(self._state_at(start, values), self._accuracy_of(tolerance))
        self._watch_steps()
        self._ready = self._failed = False
        self._stop, self._written, self._run = stop, {}, None

    def exit_initialization(self) -> None:
        """Issue the initialization events, with the inputs that were set."""
        if not self._ready:
            self._ready = True
            directions, own = self._wanted_tangents
            if directions:
                self._tangents = self.simulator.couple_tangents(directions, own)
            self._heed(self._guarded(self.simulator.initialize))

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write inputs; what has not changed is not written again, and so not computed anew."""
        changed = {n: v for n, v in zip(names, values, strict=True) if self._written.get(n) != v}
        if changed:
            self._guarded(lambda: self._write(changed))
            self._written.update(changed)

    def _write(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            self.simulator.state[name] = value

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Let inputs run along lines over the next step, per s."""
        state = self.simulator.state
        for name, slope in zip(names, slopes, strict=True):
            self._guarded(partial(self.system.write_slope, state, name, slope))
            self._written.pop(name, None)  # at the next communication point it is another value

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Values at the present time, realized with the present inputs."""
        stage, places = self._find(tuple(names))
        state = self.simulator.state
        self._guarded(lambda: state.realize(stage))
        arrays = dict(zip("ypdkhc", self.system.arrays(state), strict=True))
        values = [arrays[array][offset].item() for array, offset in places]
        typed = [self._typed.get(name) for name in names]
        if not any(typed):
            return np.array(values)
        return [v if of is None else value_of(of, v) for v, of in zip(values, typed, strict=True)]

    def step(self, time: float, size: float) -> float:
        """Advance to ``time + size``.

        Raises
        ------
        StopRequested
            An event handler asked to stop.
        """
        self.exit_initialization()
        within = SAME_TIME * size
        status = self._guarded(lambda: self.simulator.advance_to(time + size, within=within))
        self.system.hold_inputs(self.simulator.state)
        self._heed(status)
        return float(self.simulator.state.time)

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Variables whose values are kept at both sides of events, or also where integrator steps end."""
        self._watched, self._watched_at = tuple(names), where

    def inside(self) -> Sequence[InnerPoint]:
        """Values at events since the last call."""
        if self._simulator is None or not self._watched:
            return []
        rows = self._simulator.take_rows().tolist()
        typed = [self._typed.get(name) for name in self._watched]
        return [
            InnerPoint(
                time,
                self._watched,
                [v if of is None else value_of(of, v) for v, of in zip(values, typed, strict=True)],
            )
            for time, *values in rows
        ]

    def save(self) -> bytes:
        """The State as bytes."""
        simulator = self.simulator
        return (
            bytes([self._ready]) + simulator.events.total.to_bytes(8, "little") + simulator.state.to_bytes()
        )

    def restore(self, token: bytes) -> None:
        """Restore a saved State, from which the run continues bit for bit."""
        state = self.system.state_from_bytes(token[9:])
        simulator = self.simulator
        simulator.replace_state(state)
        simulator.events.truncate(int.from_bytes(token[1:9], "little"))
        simulator.take_rows()
        self._ready, self._failed = bool(token[0]), False
        self._written = {}

    def serialize(self, token: bytes) -> bytes:
        """A saved state is bytes already."""
        return token

    def deserialize(self, data: bytes) -> bytes:
        """The token for `restore`."""
        return data

    def close(self) -> None:
        """Do what is due at the very end and issue the cause Termination, unless it failed or never began."""
        simulator = self._simulator and self.simulator
        self._simulator = self._run = None
        if simulator is not None and self._ready and not self._failed:
            with suppress(Exception):
                if self._stop is not None and simulator.state.time >= self._stop:
                    simulator.advance_pending_events()
                simulator.finish()

    @cached_property
    def _typed(self) -> dict[str, Variable]:
        """The variables that are no real numbers, by the names of their elements."""
        return {
            name: variable
            for path, variable in self.system.variables.items()
            if type_of(variable) != "real"
            for name in ([f"{path}[{i}]" for i in range(variable.slot.size)] if variable.shape else [path])
        }

    def _new_simulator(self, state: cosim.State, accuracy: float | None) -> cosim.Simulator:
        return cosim.Simulator(self.system, state, self._integrator, accuracy, **self._options)

    def _watch_steps(self) -> None:
        """Store both sides of events; systems without handlers do not become slower."""
        if not self._watched:
            return
        if self._watched_at == "steps" or any(part.handlers for part in self.system.parts.values()):
            self.simulator.record(self._watched, self._watched_at)

    def _find(self, names: tuple[str, ...]) -> tuple[cosim.Stage, list[tuple[str, int]]]:
        """The stage at which these variables can be read, and where they lie."""
        reading = self._places.get(names)
        if reading is None:
            slots = [self.system.signal(name).slot for name in names]
            stage = max((self.system.stage_of(slot) for slot in slots), default=cosim.Stage.EMPTY)
            reading = cosim.Stage(stage), [(slot.array, slot.offset) for slot in slots]
            self._places[names] = reading
        return reading

    def _guarded(self, action: Any) -> Any:
        try:
            return action()
        except Exception:
            self._failed = True
            raise

    def _heed(self, status: Any) -> None:
        if not status.succeeded:
            raise StopRequested(float(self.simulator.state.time), status.message or status.format_message())
