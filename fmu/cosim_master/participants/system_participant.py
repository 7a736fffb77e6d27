"""A system of ours as a participant, without the detour through an FMU."""

from __future__ import annotations

import copy
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import SAME_TIME, MadeFromOptions, ParticipantDescription
from cosim_fmu.abilities import InnerPoint, NativeCalls
from cosim_lowering.program import Program
from cosim_lowering.refusals import system_refusals
from cosim_master.algorithms.joint import check_options
from cosim_master.coupling.errors import StopRequested
from cosim_master.participants.system_interface import describe_system
from cosim_master.participants.system_native_run import SystemNativeRun, native_refusals
from cosim_master.participants.system_reader import SystemReader
from cosim_workbench.trial_options import tightened

INTEGRATOR = "integrators.runge_kutta_merson"
ACCURACY = 1e-6
LEAST_NATIVE_STEPS = 2000
"""Steps that take half a second in plain Python, as long as compiled code takes to load."""
SAVED_HEAD = struct.Struct("<?Q")
"""Of a saved state, before the State: whether the run has begun, and the number of events."""


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
        self._is_refined = False
        self._description: ParticipantDescription | None = None
        self._simulator: cosim.Simulator | None = None  # from `initialize` to `close`
        self._native: SystemNativeRun | None = None  # where the compiled loop steps it
        self._stop: float | None = None  # end of the co-simulation, s
        self._has_begun = False  # the initialization events were issued
        self._has_failed = False
        self._written: dict[str, float] = {}  # values that inputs hold, unless they run along lines
        self._reader = SystemReader(self.system)
        self._watched: tuple[str, ...] = ()  # see `watch`
        self._watched_at = "events"
        self._wanted_tangents: tuple[int, Mapping[int, str]] = 0, {}  # arguments of `couple_tangents`
        self._tangents: Any = None

    def repeated(self) -> cosim.Participant | None:
        """A copy with the same system; None if a part runs in Python, which may have effects outside."""
        return None if system_refusals(self.system) else copy.copy(self)

    def refine(self, refined: bool) -> None:
        """From the next run on, integrate with a tenth of the accuracy, or as given."""
        self._is_refined = refined

    @property
    def simulator(self) -> cosim.Simulator:
        """The simulator in use; `SimulationError` before `initialize` and after `close`."""
        if self._simulator is None:
            raise cosim.SimulationError(float("nan"), "the participant is not initialized")
        if self._native is not None:
            self._written = self._native.take_back()
        return self._simulator

    @property
    def events(self) -> list[cosim.EventRecord]:
        """The events since `initialize`, without those that were rolled back."""
        return list(self._simulator.events) if self._simulator is not None else []

    @property
    def native_types(self) -> tuple[str, ...]:
        """The types of variables besides reals that `native_calls` accepts."""
        return ("boolean", "integer")

    @property
    def least_native_steps(self) -> int:
        """The number of steps from which on compiled code is faster."""
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
            raise cosim.ModelError.of("derivatives", "derivatives are computed in Python")
        if self._watched and self._watched_at == "steps":
            raise cosim.ModelError.of("inside", "ends of integrator steps are recorded in Python")
        self.exit_initialization()
        refusals = native_refusals(self.simulator, inputs)
        if refusals:
            raise cosim.ModelError(refusals)
        integers = [name for name in reads if self.system.signal(name).slot.array == "k"]
        if integers:
            raise cosim.ContractError(f"{integers[0]} is integer")
        self._native = SystemNativeRun(self.simulator, inputs, reads)
        return self._native.calls(
            whole_state=(self._save_natively, self._restore_natively),
            event_count=(self._count_events, self._truncate_events),
            counts_events=self._has_handlers,
            leave=self._leave_native,
        )

    def path_of(self, name: str) -> str:
        """The path in the system of a variable."""
        return name

    @property
    def tangents(self) -> Any:
        """The tangents of the present run, as `CoupledTangents`; None without any."""
        return self._tangents

    def couple_tangents(self, directions: int, own: Mapping[int, str]) -> None:
        """Let the next runs carry this number of tangents, as `CoupledTangents`; 0 for none.

        Parameters
        ----------
        directions : int
        own : mapping of int to str
            For some directions the parameter of the system by which they are derivatives.
        """
        self._wanted_tangents, self._tangents = (directions, own), None

    def _leave_native(self) -> None:
        """Let Python make all further steps."""
        self._native = None

    def _save_natively(self) -> bytes:
        """`save`, in the midst of the compiled loop."""
        token = self.save()
        self.resume_native()
        return token

    def _restore_natively(self, token: bytes) -> None:
        """`restore`, in the midst of the compiled loop."""
        self.restore(token)
        self.resume_native()

    def _count_events(self) -> int:
        """The number of events: the part of a state that is not in the State."""
        total = self.simulator.events.total
        self.resume_native()
        return total

    def _truncate_events(self, total: int) -> None:
        """Forget events, and rows recorded at them, after a State was restored."""
        simulator = self.simulator
        simulator.events.truncate(total)
        simulator.take_rows()
        self.resume_native()

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """Finish a step that compiled code has left to the simulator."""
        assert self._native is not None and self._simulator is not None
        native, simulator = self._native, self._simulator
        status = self._guarded(lambda: native.finish_step(time, size))
        native.take_back()
        self.system.hold_inputs(simulator.state)
        self._stop_if_asked(status)
        return float(simulator.state.time)

    def check_native_access(self, verb: str, status: int) -> None:
        """Do nothing: `set` or `get` is called next."""

    def resume_native(self) -> None:
        """Let the compiled functions continue from the present state, if they are in use."""
        if self._native is not None:
            simulator = self.simulator  # the property updates `_written` by what compiled code wrote
            self._native.hand_over(simulator, self._written)

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
        """The initialized system as a program for machine code; whether its accuracy follows the tolerance.

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
        settings = {**self._options, "accuracy": self._accuracy_of(tolerance)}
        if self._is_refined:
            settings = tightened(settings, settings["accuracy"])
        state = self._state_at(start, values)
        self._simulator = cosim.Simulator(self.system, state, self._integrator, **settings)
        self._watch_steps()
        self._has_begun = self._has_failed = False
        self._stop, self._written, self._native = stop, {}, None

    def exit_initialization(self) -> None:
        """Issue the initialization events, with the inputs that were set."""
        if not self._has_begun:
            self._has_begun = True
            directions, own = self._wanted_tangents
            if directions:
                self._tangents = self.simulator.couple_tangents(directions, own)
            self._stop_if_asked(self._guarded(self.simulator.initialize))

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write the inputs that have changed: what depends on the others need not be computed again."""
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
        reading = self._reader.reading(tuple(names))
        state = self.simulator.state
        self._guarded(lambda: state.realize(reading.stage))
        return self._reader.values(state, reading)

    def step(self, time: float, size: float) -> float:
        """Advance to ``time + size``.

        Raises
        ------
        StopRequested
            An event handler asked to stop.
        """
        self.exit_initialization()
        rounding = SAME_TIME * size
        status = self._guarded(lambda: self.simulator.advance_to(time + size, within=rounding))
        self.system.hold_inputs(self.simulator.state)
        self._stop_if_asked(status)
        return float(self.simulator.state.time)

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Variables whose values are stored on both sides of events; at "steps" also at inner steps."""
        self._watched, self._watched_at = tuple(names), where

    def inside(self) -> Sequence[InnerPoint]:
        """Values at events since the last call."""
        if self._simulator is None or not self._watched:
            return []
        names, typed = self._watched, self._reader.typed_values
        rows = self._simulator.take_rows().tolist()
        return [InnerPoint(time, names, typed(names, numbers)) for time, *numbers in rows]

    def save(self) -> bytes:
        """Whether it has begun, the number of events, and the State, as bytes."""
        simulator = self.simulator
        return SAVED_HEAD.pack(self._has_begun, simulator.events.total) + simulator.state.to_bytes()

    def restore(self, token: bytes) -> None:
        """Restore a saved State, from which the run continues bit for bit."""
        has_begun, events = SAVED_HEAD.unpack_from(token)
        state = self.system.state_from_bytes(token[SAVED_HEAD.size :])
        simulator = self.simulator
        simulator.replace_state(state)
        simulator.events.truncate(events)
        simulator.take_rows()
        self._has_begun, self._has_failed = has_begun, False
        self._written = {}

    def serialize(self, token: bytes) -> bytes:
        """The saved state, which is bytes already."""
        return token

    def deserialize(self, data: bytes) -> bytes:
        """The token for `restore`."""
        return data

    def close(self) -> None:
        """Issue the events of the end and the cause Termination, unless the run has failed or never began."""
        simulator = self._simulator and self.simulator
        self._simulator = self._native = None
        if simulator is not None and self._has_begun and not self._has_failed:
            with suppress(Exception):
                if self._stop is not None and simulator.state.time >= self._stop:
                    simulator.advance_pending_events()
                simulator.finish()

    @cached_property
    def _has_handlers(self) -> bool:
        """Whether events are possible."""
        return any(part.handlers for part in self.system.parts.values())

    def _watch_steps(self) -> None:
        """Record watched variables; a system without handlers has no events to record."""
        if not self._watched:
            return
        if self._watched_at == "steps" or self._has_handlers:
            self.simulator.record(self._watched, self._watched_at)

    def _guarded(self, action: Callable[[], Any]) -> Any:
        """The result of a call; where it raises, `close` does not issue Termination."""
        try:
            return action()
        except Exception:
            self._has_failed = True
            raise

    def _stop_if_asked(self, status: Any) -> None:
        """Raise `StopRequested` where a handler has asked to end the run."""
        if not status.succeeded:
            raise StopRequested(float(self.simulator.state.time), status.message or status.format_message())
