"""An FMU for Model Exchange as a participant, with an integrator of ours."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmi.binding import modes
from cosim_fmi.binding.fmi_error import FmiError
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.instances.fmu_state import FmuState
from cosim_fmi.variables.access import Access
from cosim_fmu.abilities import NativeCalls
from cosim_master.coupling.integrator_options import check_options
from cosim_master.coupling.stop_requested import StopRequested
from cosim_master.model_exchange.fmu_model import FmuModel
from cosim_master.model_exchange.indicator_findings import indicator_findings
from cosim_master.model_exchange.model_exchange_solver import ACCURACY, INTEGRATOR, ModelExchangeSolver
from cosim_master.participants.called_model_exchange import CalledModelExchange, MemberCalls
from cosim_master.participants.instance_participant import InstanceParticipant

WIDE = ("Int64", "UInt64")
"""Types whose values are not exact among reals."""


class _Saved(NamedTuple):
    """Both halves of a state: the FMU's and the simulator's.

    That of the FMU is missing where time, continuous states and inputs are all of it: the simulator has them.
    """

    fmu: FmuState | None
    state: bytes
    initializing: bool
    events: int = 0


class ModelExchangeParticipant(InstanceParticipant):
    """A Model Exchange FMU of FMI 1.0, 2.0 or 3.0: its derivatives are integrated by a `Simulator`.

    Its continuous states are those of a system (`model_exchange_system`), its event indicators witnesses
    that are located, its time events scheduled; in event mode it is updated until nothing changes, and it is
    told when an integrator step has ended. Continuous inputs are held between communication points, or run
    along their slopes; other inputs are written in event mode. An event that is due at a communication point
    belongs to the step that ends there. How many states and event indicators there are is asked of an
    instance of FMI 3.0, since structural parameters change it.

    Absolute tolerances count in the nominal values of the states; the nominal values are asked for again
    when the FMU says that they have changed.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Name of the instance; the file's name when not given.
    integrator : str
        Id of an integrator plugin.
    accuracy : float, optional
        Of the integration; the tolerance of the co-simulation, or else 1e-6, when not given.
    **options
        For the integrator: ``maximum_step`` …

    Attributes
    ----------
    integrator, accuracy, integrator_options
        As given.
    """

    _interface_wanted: ClassVar[str] = "ModelExchange"

    def __init__(
        self,
        path: Any,
        name: str | None = None,
        integrator: str = INTEGRATOR,
        accuracy: float | None = None,
        **options: Any,
    ) -> None:
        super().__init__(path, name)
        check_options(integrator, options | ({} if accuracy is None else {"accuracy": accuracy}))
        self.integrator, self.accuracy, self.integrator_options = integrator, accuracy, options
        self._tolerance: float | None = None
        self._solver: ModelExchangeSolver | None = None
        self._fmu: Any = None  # FmuModel
        self._set: dict[str, Any] = {}
        self._calls: MemberCalls | None = None

    @property
    def simulator(self) -> cosim.Simulator:
        """The simulator in use; `SimulationError` before initialization ends and after `close`."""
        return self._running.simulator

    @property
    def _running(self) -> ModelExchangeSolver:
        if self._solver is None:
            raise cosim.SimulationError(math.nan, "the participant is not initialized")
        return self._solver

    @property
    def events(self) -> list[cosim.EventRecord]:
        """What has happened inside since `initialize`; what was rolled back has not.

        An integrator step that the FMU was told of without wanting an event is none.
        """
        told = self._solver.simulator.events if self._solver is not None else []
        return [e for e in told if e.cause is not cosim.EventCause.TIME_ADVANCED or e.changed]

    @property
    def warnings(self) -> list[str]:
        """What was noticed about event indicators."""
        return self._findings()

    def _findings(self) -> list[str]:
        return [] if self._solver is None else indicator_findings(self._solver.simulator.findings)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        self._tolerance, self._start = tolerance, start
        self._solver = self._fmu = self._calls = None
        self._set = {}
        super().initialize(start, stop, values, tolerance)

    def _begin(self) -> None:
        """Update the discrete states, begin to simulate."""
        inputs = self._first_inputs()
        self._fmu = self._bind(tuple(inputs))
        states, following, _ = self._leave_event_mode(self._start)
        self._heed(self._start)
        instance = self._fmu
        instance.note = self._note
        make = functools.partial(
            ModelExchangeSolver,
            *(instance, inputs, self._start, states, following),
            integrator=self.integrator,
            accuracy=self.accuracy or self._tolerance or ACCURACY,
            options=self.integrator_options,
            wants_steps=self._read_interface().wants_steps,
        )
        self._solver = self._guard(make)
        if self.notes_steps:
            self.simulator.set_monitor(self._note_step)
        self._guarded(self.simulator.initialize)
        self._heed(self._start)

    def _first_inputs(self) -> dict[str, float]:
        """Continuous inputs as they were set, or else their start values: an FMU may refuse to be asked."""
        variables = self.describe().variables
        return {n: float(self._set.get(n, variables[n].start or 0.0)) for n in self._continuous_inputs()}

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables: real inputs are held from now on, all others are written in event mode."""
        if self._solver is None:
            super().set(names, values)
            self._set.update(zip(names, values, strict=True))
            return
        solver, held = self._solver, self._solver.known
        solver.hold({n: v for n, v in zip(names, values, strict=True) if n in held})
        others = self._changed({n: v for n, v in zip(names, values, strict=True) if n not in held})
        if others:
            self._put()
            self._note(solver.time)
            self._guard(self._instance.enter_event_mode)
            self._write_discrete(others)
            found, following, _ = self._leave_event_mode(solver.time)
            self._note(solver.time)
            solver.jump(found, following)

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Let continuous inputs run along lines over the next step, per s; others stay as they are."""
        self._running.follow(dict(zip(names, slopes, strict=True)))

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Read variables at the present time."""
        if self._solver is not None:
            self._put()
        return super().get(names)

    def step(self, time: float, size: float) -> float:
        """Integrate to ``time + size``, through all events on the way.

        Raises
        ------
        StopRequested
            When the FMU wants the simulation to end.
        """
        self.exit_initialization()
        self._check_steps(modes.RUNNING)
        self._clocks.begin_step()
        return self._advance(lambda: self._running.advance(time + size), time)

    def _advance(self, advance: Callable[[], None], time: float) -> float:
        """Take a step that began at `time` (s); the time reached."""
        self._guarded(advance)
        self._running.hold_inputs()
        self._heed(self._running.time)
        return self._running.time

    @property
    def native_types(self) -> tuple[str, ...]:
        """Of variables that `native_calls` takes, beside real ones."""
        return ("integer", "boolean")

    @property
    def least_native_steps(self) -> int:
        """The integrator runs compiled in any case."""
        return 0

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Where compiled code finds functions that write, advance and read it.

        None where there are clocks, or integers of 64 bits: these are left to Python, as are steps that are
        not as usual.

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            Not used.

        Raises
        ------
        ModelError
            What has to be done in Python at the end of each integrator step.
        """
        self.exit_initialization()
        interface, members = self._read_interface(), self._members()
        if any(member.notes_steps for member in members):
            raise cosim.ModelError.of("inside", "ends of integrator steps are recorded in Python")
        if self.simulator.final_time < math.inf:
            raise cosim.ModelError.of("final_time", "it ends in Python")
        wide = any(interface.elements[name].type in WIDE for name in (*inputs, *reads))
        if wide or any(member.has_clocks for member in members):
            return None
        called = self._call()
        elsewhere = self._addresses()
        own = [name for name in reads if name not in elsewhere]
        calls = self._calls = MemberCalls(
            called,
            {name: self._place(name) for name in inputs},
            lambda: self._written,
            Access(self._instance, own, interface.elements, "Get"),
            [own.index(name) if name not in elsewhere else -1 - elsewhere[name] for name in reads],
        )
        return calls.calls(remember=self._remembered, forget=self._forget, leave=self._leave)

    def _members(self) -> Sequence[ModelExchangeParticipant]:
        """All that are solved as one system."""
        return [self]

    @property
    def has_clocks(self) -> bool:
        """Whether it has."""
        interface = self._read_interface()
        return bool(interface.clocks or interface.clocked)

    @property
    def notes_steps(self) -> bool:
        """Whether values are wanted where integrator steps end."""
        return bool(self._watched) and self._watched_at == "steps"

    def _call(self) -> CalledModelExchange:
        """Let compiled code step it."""
        return CalledModelExchange.of(self._running)

    def _key(self, name: str) -> Any:
        """An input among those of the solver."""
        return name

    def _place(self, name: str) -> tuple[Any, str | None]:
        """An input among those of the solver, and its path; None where it is written in event mode."""
        solver, key = self._running, self._key(name)
        return key, solver.path(key) if key in solver.known else None

    def _addresses(self) -> Mapping[str, int]:
        """Variables whose values lie with us, and where."""
        return {}

    def _leave(self) -> None:
        """Compiled code does not step it after all."""
        if self._running.called is not None:
            self._running.called.release()
        self._running.called = None

    def _remembered(self) -> Any:
        token = self.save()
        self.resume_native()
        return token

    def _forget(self, token: Any) -> None:
        self.restore(token)
        self.resume_native()

    def resume_native(self) -> None:
        """Compiled code goes on from here, where it steps it."""
        if self._running.called is not None:
            self._call()

    def after_native_step(self, status: int, time: float, size: float) -> float:
        """The rest of a step that compiled code has left to Python."""
        called = self._running.called
        if called is None or not called.has_begun:
            return self.step(time, size)
        return self._advance(lambda: called.end_step(time + size), time)

    def after_native_access(self, verb: str, status: int) -> None:
        """Raise what `get` would have raised; inputs are written once more."""
        called, calls = self._running.called, self._calls
        if verb == "Get" and called is not None and calls is not None:
            self._move(called.check_settled)
            self._guard(calls.check)

    def _move(self, move: Callable[[], None]) -> None:
        """Move to the present point."""
        self._guard(move, what="setting the time")

    def _note(self, time: float) -> None:
        super()._note(time)
        if self._watched and self._calls is not None:
            self._calls.note()

    def save(self) -> Any:
        """The state of the FMU and that of the simulation."""
        fmu = None if self._read_interface().restores_by_states else super().save()
        if self._solver is None:
            if fmu is None:
                raise self._error("has no state to be saved before its initialization has ended")
            return _Saved(fmu, b"", True)
        return _Saved(fmu, self.simulator.state.to_bytes(), False, self.simulator.events.total)

    def restore(self, token: Any) -> None:
        """Go back to a state that this instance saved."""
        if not isinstance(token, _Saved):
            raise self._error("this state was not saved by this instance")
        if not token.initializing:
            self.exit_initialization()
        if token.fmu is not None:
            super().restore(token.fmu)
        if token.initializing:
            self._solver = self._fmu = None
            return
        self._running.go_back(token.state, token.events)
        if token.fmu is None and self._fmu.indicators:
            self._forget_relations()

    def _forget_relations(self) -> None:
        """Let the FMU see anew on which side of zero its event indicators are: it may remember that."""
        self._put()
        self._guard(self._instance.enter_event_mode)
        self._leave_event_mode(self._running.time)
        self._put()

    def serialize(self, token: Any) -> bytes:
        """Both halves of a saved state as bytes."""
        return len(token.state).to_bytes(8, "little") + token.state + super().serialize(token.fmu)

    def deserialize(self, data: bytes) -> Any:
        """The token that `serialize` was given, for this or another instance of the same FMU."""
        end = 8 + int.from_bytes(data[:8], "little")
        fmu = super().deserialize(data[end:])
        return _Saved(fmu, data[8:end], fmu.initializing)

    def close(self) -> None:
        """Terminate, free, unload."""
        if self._fmu is not None:
            self._fmu.end()
        self._solver = self._fmu = None
        super().close()

    def _note_step(self, state: cosim.State) -> None:
        self._put()
        self._note(float(state.time))

    def _put(self) -> None:
        self._move(self._running.settle)

    def _guarded(self, action: Any) -> Any:
        try:
            return action()
        except cosim.SimulationError as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, (FmiError, cosim.FmuError)):
                cause = cause.__cause__
            if isinstance(cause, cosim.FmuError):
                raise cause from cause.__cause__
            if isinstance(cause, FmiError):
                raise self._failure(cause) from cause
            self._instance.mode = modes.FAILED
            raise self._error(str(error)) from error

    def _heed(self, time: float) -> None:
        if self._fmu.asked_to_stop:
            raise StopRequested(time, self._why_it_stops())

    def _leave_event_mode(self, time: float) -> Any:
        return self._guard(self._fmu.leave_event_mode, time)

    def _create(self, instance: FmuInstance, interface: FmuInterface, logging: bool) -> None:
        self._events = interface.version == "3.0"
        super()._create(instance, interface, logging)

    def _bind(self, inputs: tuple[str, ...]) -> FmuModel:
        """The calls of the instance in continuous-time mode."""
        interface = self._read_interface()
        # without the functions the model description has to do
        states, indicators = self._instance.sizes() or (interface.states, interface.indicators)
        self._guard(self._clocks.begin, self._start)
        access = Access(self._instance, inputs, interface.elements, "Set") if inputs else None
        return FmuModel(
            *(self._instance, states, indicators, access, self._clocks, self._tick), interface.wants_steps
        )

    def _continuous_inputs(self) -> list[str]:
        description = self.describe()
        discrete = description.discrete | self._read_interface().clocked.keys()
        return [
            v.name
            for v in description.variables.values()
            if v.causality == "input" and v.type == "real" and v.name not in discrete
        ]
