"""An FMU for Co-Simulation as a participant."""

from __future__ import annotations

import math
import struct
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance, StepAnswer
from cosim_fmi.binding.fmu_library import FmiError
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.variables.variable_access import Access
from cosim_master.abilities import InnerPoint
from cosim_master.coupling.errors import StepDiscardedError, StopRequested
from cosim_master.native_calls import NativeCalls
from cosim_master.participants.inner_clock import InnerClock
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_master.participants.sloped_inputs import SlopedInputs

MOST_EVENT_ITERATIONS = 100
INTERVALS_READ_AGAIN = ("changing", "countdown", "tunable")
"""Kinds of clocks whose interval is read in event mode again and again."""
ROUNDING = 1e-9
"""Part of a step below which a difference of times is a rounding error."""
SAVED_TIMES = struct.Struct("<2d")
"""Of a serialized state, before the state of the FMU: its time and the time of the next event, s."""
REACHED, LATEST = 3, 4
"""Places in the flags of `native_calls`, behind three that FMI 3.0 sets: as `exchange_arrays.Answer`."""
SLOPE_ABILITIES = {
    "3.0": "providesIntermediateUpdate with inputs that have intermediateUpdate",
    "2.0": "canInterpolateInputs",
    "1.0": "canInterpolateInputs",
}


class _Memory(NamedTuple):
    """The part of a saved state that is not in the FMU.

    Attributes
    ----------
    time : float
        s
    clocks : object
        Of `FmuClocks.save`.
    event_count : int
        The number of passages through event mode.
    next_event : float
        s, infinite if there is none.
    """

    time: float
    clocks: Any
    event_count: int
    next_event: float


class FmuParticipant(InstanceParticipant):
    """A Co-Simulation FMU of FMI 1.0, 2.0 or 3.0.

    An FMU with an event mode enters it when it asks for it at the end of a step, at the time of the next
    event that it has announced, and when discrete inputs change. There its discrete states are updated until
    nothing changes. A step is cut at an announced event if the FMU can vary its step. The FMU may return
    early, also where the step began.

    Clocks with an interval tick when they are due: a step is cut there. A triggered output that is read
    says whether it has ticked since the last step began; a triggered input that is set to true ticks,
    once at one instant, together with the inputs that belong to it. An input with
    ``intermediateUpdate`` follows its slope inside a step, wherever the FMU asks for it.

    Parameters
    ----------
    path : str or Path
        The .fmu file.
    name : str, optional
        Name of the instance; by default the file's name.
    inner_step : float or str, optional
        s or "10 ms", of an FMU with a fixed step inside that counts its time by adding it: it receives
        its own sums in place of ``i * h`` (`InnerClock`). For tools that are known to make such FMUs it is
        found without this option, and used once inputs are written.
    wine : bool
        Whether its library for Windows runs on Linux, in a process under wine; FMI 2.0 and 3.0.

    Raises
    ------
    FmuError
        From any method but `close`: where, which function, what the FMU logged about it.

    Examples
    --------
    >>> FmuParticipant("missing.fmu").describe()
    Traceback (most recent call last):
        ...
    cosim.errors.FmuError: missing.fmu: no such file
    """

    _interface_wanted: ClassVar[str] = "CoSimulation"

    def __init__(
        self,
        path: str | Path,
        name: str | None = None,
        inner_step: float | str | None = None,
        wine: bool = False,
    ) -> None:
        super().__init__(path, name, wine=wine)
        self._inner_step = None if inner_step is None else InnerClock(inner_step).step
        self._inner_clock: InnerClock | None = None
        self._uses_inner_clock = False
        self._lines: SlopedInputs | None = None  # of an FMU with inputs that can be written inside a step
        self._passages: list[cosim.EventRecord] = []
        self._usual_size = 0.0
        self._flags = np.zeros(5)
        self._native: dict[str, Access] = {}
        self._warnings: list[str] = []

    @property
    def warnings(self) -> list[str]:
        """A sentence if the FMU runs without the event mode that it declares."""
        return self._warnings

    @property
    def events(self) -> list[cosim.EventRecord]:
        """Passages through event mode, with the changed watched variables; without rolled-back passages.

        Their cause is Triggered for events of the FMU, Scheduled for announced events and for ticks of clocks
        with an interval, Signaled for changes of discrete inputs.
        """
        return self._passages

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        interface = self.read_interface()
        self._time = start
        self._fault: Exception | None = None  # of the callback inside a step; raised after the step
        self._next_event, self._flags = math.inf, np.zeros(5)
        self._lines = SlopedInputs(interface.settable_inside) if interface.settable_inside else None
        self._passages, self._usual_size = [], 0.0
        step = self._inner_step or interface.inner_step
        self._inner_clock = InnerClock(step, start) if step else None
        self._uses_inner_clock = self._inner_step is not None
        super().initialize(start, stop, values, tolerance)

    def _enter_stepped_mode(self) -> None:
        if self._events:
            self._guard(self._clocks.start_schedule, self._time)
            self._update_discrete_states()

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables; discrete ones that have changed in event mode, where the FMU has one."""
        if self._lines is not None:
            self._lines.clear()
        is_stepping = self._mode == modes.STEPPING
        self._uses_inner_clock = self._uses_inner_clock or (len(names) > 0 and is_stepping)
        event_names = self._event_mode_names(tuple(names))
        if event_names and is_stepping:
            self._set_between_steps(dict(zip(names, values, strict=True)), event_names)
            return
        super().set(names, values)
        if not event_names and self._lines is not None:
            self._lines.store(names, values)

    def _set_between_steps(self, values: Mapping[str, Any], event_names: Container[str]) -> None:
        """Write variables in step mode, or all in event mode if some of `event_names` have changed."""
        plain = {name: value for name, value in values.items() if name not in event_names}
        discrete = {name: value for name, value in values.items() if name in event_names}
        self._event_inputs.store_clocked(discrete)
        changed = self._event_inputs.changed_values(discrete)
        if changed:  # plain ones, too: in step mode nothing may be read after it was set
            self._pass_event(cosim.EventCause.SIGNALED, ", ".join(changed), plain | changed)
        elif plain:
            self._write(list(plain), list(plain.values()))

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of real inputs over the next step, per s."""
        interface = self.read_interface()
        self._need_ability(
            "follows_slopes", "follow slopes of its inputs", SLOPE_ABILITIES[interface.version]
        )
        if self._lines is not None:
            self._lines.set_slopes(names, slopes, lambda name: float(self.get([name])[0]))
            return
        references = [interface.elements[name].reference for name in names]
        signed = [interface.elements[n].sign * s for n, s in zip(names, slopes, strict=True)]
        self._guard(self._instance.set_input_slopes, references, signed)

    def step(self, time: float, size: float) -> float:
        """A communication step; the time reached, which is earlier where it was discarded or ended early.

        Raises
        ------
        StopRequested
            When the FMU wants the simulation to end.
        """
        self.exit_initialization()
        self._check_mode((modes.STEPPING,))
        self._clocks.start_step()
        if self._lines is not None and (means := self._lines.start_step(time, size)):
            super().set(list(means), list(means.values()))
        if not self.describe().variable_step:
            self._check_no_tick_inside(time, size)
            return self._do_steps(time, size)
        begin, end = time, time + size
        while (event := min(self._clocks.next_time, self._next_event)) < end - ROUNDING * size:
            reached = self._do_steps(time, event - time)
            if reached < event:  # it returned early before that
                return reached
            time = event
        return self._do_steps(time, size if time == begin else end - time)  # to the bit as compiled code

    def _check_no_tick_inside(self, time: float, size: float) -> None:
        """Refuse a step of fixed size with a tick inside: an event may be handled late, a tick may not."""
        tick = self._clocks.next_time
        if tick < time + size - ROUNDING * size:
            raise self._error(
                f"one of its clocks ticks at t = {tick:.9g} s, inside the step from {time:.9g} s by "
                f"{size:g} s, but it cannot vary its communication step: take one that divides it"
            )

    def _do_steps(self, time: float, size: float) -> float:
        """Make communication steps until one advances: a step that an event interrupts at once does not."""
        is_variable = self.describe().variable_step
        for _ in range(MOST_EVENT_ITERATIONS):
            to_event = min(self._clocks.next_time, self._next_event) - time
            if is_variable and to_event < size * (1.0 - ROUNDING):  # announced in event mode just now
                size = to_event
            reached = self._do_step(time, size)
            if reached > time or not self._events:
                return reached
        self._instance.mode = modes.FAILED
        raise self._error(f"it returned early at t = {time:.9g} s, again and again", self._step_function)

    def _do_step(self, time: float, size: float) -> float:
        """Make one communication step of the instance."""
        self._time = time
        can_go_back = any(token.more.time < time for token in self._states.tokens)
        self._log.start_call()
        begin, length = time, self._same_size(size)
        if self._inner_clock is not None and self._uses_inner_clock:
            begin = self._inner_clock.at(time)
            if self.describe().variable_step:
                length = self._inner_clock.at(time + size) - begin
        try:
            answer = self._instance.do_step(begin, length, not can_go_back)
        except FmiError as error:
            raise self._failure(self._fault or error) from error
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise self._failure(fault) from fault
        # times of its inner clock differ from those of the run in the last bits
        run_time = {begin: time, begin + length: time + size}
        reached = run_time.get(answer.reached, answer.reached)
        return self._follow_answer(answer._replace(reached=reached), time, size)

    @property
    def _step_function(self) -> str:
        return self._instance.name_of("DoStep")

    def _same_size(self, size: float) -> float:
        """The size of a step, s: to the bit the one before for an FMU that cannot vary its step."""
        if self.describe().variable_step:
            return size
        if abs(size - self._usual_size) > ROUNDING * size:
            self._usual_size = size
        return self._usual_size

    def _follow_answer(self, answer: StepAnswer, time: float, size: float) -> float:
        """Do what the answer to a step asks for: stop, event mode, or nothing; the time reached."""
        end, reached = time + size, answer.reached
        if answer.discarded and (not answer.terminate or self._log.has_error()):
            return self._end_of_discarded(time, size, reached)
        if answer.terminate:
            stop_time = reached if time <= reached <= end else end
            raise StopRequested(stop_time, self._why_it_stops())
        self._time = float(reached) if answer.early else end
        event = min(self._clocks.next_time, self._next_event)
        if abs(event - self._time) <= 4.0 * math.ulp(self._time):  # the rounding of ``time + (event - time)``
            self._time = event
        due = self._clocks.due_clocks(self._time)
        if not due and self._next_event <= self._time + 4.0 * math.ulp(self._time):
            due = ["time_event"]
        if self._events and (answer.event or due):
            cause = cosim.EventCause.SCHEDULED if due else cosim.EventCause.TRIGGERED
            self._pass_event(cause, ", ".join(due) or "event_mode")
        elif answer.early:
            self._store_values(self._time)
        return self._time

    def _end_of_discarded(self, time: float, size: float, reached: float) -> float:
        """The time that a discarded step has reached; an error if that is not inside the step."""
        if time < reached < time + size:
            self._store_values(reached)
            return reached
        hint = ": take a smaller communication step"
        if self.describe().can_restore:
            hint += ', or the algorithm "adaptive", which tries smaller ones where this happens'
        text = f"the step from t = {time:.9g} s by {size:g} s was discarded{hint}"
        logged, function = self._log.text(), self._step_function
        text += f". It logged: {logged}" if logged else ""
        raise StepDiscardedError(self.shown_path, text, function)

    @property
    def declared(self) -> FmuInterface:
        """The interface as the FMU declares it."""
        return self.read_interface()

    def why_not_plain(self) -> str:
        """Why a program in C cannot run it by setting, stepping and reading alone; "" if it can."""
        interface = self.declared
        if interface.version == "1.0":
            return "an FMU of FMI 1.0, which Python leads"
        if self.ticks_by_time:
            return "an FMU with clocks of an interval, which Python lets tick"
        if interface.inner_step or self._inner_step:
            return "an FMU that counts its time by adding steps, which Python leads"
        return ""

    @property
    def ticks_by_time(self) -> bool:
        """Whether it has clocks with an interval."""
        return any(clock.ticks_by_time for clock in self.read_interface().clocks.values())

    @property
    def ticks_follow_inputs(self) -> bool:
        """Whether it has clocks whose interval may change in event mode."""
        clocks = self.read_interface().clocks.values()
        return any(clock.ticks_by_time and clock.variability in INTERVALS_READ_AGAIN for clock in clocks)

    @property
    def next_tick(self) -> float:
        """The next tick of a clock with an interval, s; infinite if there is none."""
        has_ticks = self.ticks_by_time and self._mode == modes.STEPPING
        return self._clocks.next_time if has_ticks else math.inf

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Addresses of functions that write, advance and read.

        None if the library does not export the one that advances. None also for an FMU with clocks, with an
        inner clock in use, or with inputs that are written in event mode: Python steps these.

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            Requests of an FMU of FMI 3.0 after a step; the last one is a time (s) beyond which `step` is
            called.
        """
        interface, library = self.read_interface(), self._instance.library
        self.exit_initialization()
        if self._event_mode_names(tuple(inputs)) or self.ticks_by_time:
            return None
        if self._inner_clock is not None and (inputs or self._uses_inner_clock):
            return None
        step = library.address("DoStep")
        if not step:
            return None
        self._flags = flags
        self.resume_native()
        written = Access(self._instance, inputs, interface.elements, "Set")
        read = Access(self._instance, reads, interface.elements, "Get")
        self._native = {"Set": written, "Get": read}
        takes_slopes = written.is_direct and not interface.settable_inside
        self._log.start_call()
        return NativeCalls(
            instance=self._instance.component,
            set=written.function,
            step=step,
            get=read.function,
            input_references=written.references,
            output_references=read.references,
            input_count=written.reference_count,
            output_count=read.reference_count,
            same_size=not interface.description.variable_step,
            keep=self._native,
            set_slopes=library.address("SetRealInputDerivatives") if takes_slopes else 0,
            names=self._names_of_calls(),
            leave=self._leave_native,
            **self._state_calls(),
        )

    def _leave_native(self) -> None:
        """Let Python make all further steps."""
        self._flags[LATEST], self._flags = math.inf, np.zeros(5)

    def _names_of_calls(self) -> dict[str, str]:
        """The names in the standard of the functions of `NativeCalls`."""
        instance, states = self._instance, self._instance.state_functions
        names = {"set": f"Set{instance.real}", "step": "DoStep", "get": f"Get{instance.real}"}
        names["set_slopes"] = "SetRealInputDerivatives"
        verbs = {"save": "get", "restore": "set", "free": "free"}
        names |= {name: states[kind] for name, kind in verbs.items() if kind in states}
        return {name: instance.name_of(function) for name, function in names.items()}

    def _state_calls(self) -> dict[str, Any]:
        """The functions of `NativeCalls` that save and restore the state."""
        functions = self._states.native_functions(modes.STEPPING) if self.describe().can_restore else None
        if functions is None:
            return {}
        return {
            **functions._asdict(),
            "remember": self._remembered,
            "forget": self._recall,
            "after_state": self._after_state,
        }

    def _remembered(self) -> _Memory:
        """The part of a state that the FMU does not save."""
        return _Memory(self._time, self._clocks.save(), len(self._passages), self._next_event)

    def _recall(self, memory: _Memory) -> None:
        """Restore the part of a state that `_remembered` returned."""
        self._time, self._next_event = memory.time, memory.next_event
        self._clocks.restore(memory.clocks)
        del self._passages[memory.event_count :]
        self._forget_written()
        self.resume_native()

    def resume_native(self) -> None:
        """Let compiled code take the steps before the next event; `step` takes the one that reaches it."""
        if self._mode in (modes.FAILED, modes.FATAL):  # compiled code would not notice
            self._check_mode(modes.RUNNING)
        event = self._next_event
        # 8 ulp before it, since `_follow_answer` handles an event up to 4 ulp after the end of a step
        self._flags[LATEST] = event - 8.0 * math.ulp(event) if event < math.inf else event

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """React as `step` does to a status that is not OK, or to a request of the FMU."""
        # a flag is one byte at the place of a double (`Answer`)
        flags = tuple(bool(flag.tobytes()[0]) for flag in self._flags[:REACHED])
        reported = StepAnswer(float(self._flags[REACHED]), False, *flags)
        answer = self._guard(self._instance.after_step, status, time, size, reported)
        reached = self._follow_answer(answer, time, size)
        return reached if reached > time or not self._events else self._do_steps(time, size)

    def check_native_access(self, verb: str, status: int) -> None:
        """Raise what `set` or `get` would have raised; of a value that does not fit its type `set` does."""
        if not self._native[verb].clear_misfit():
            self._guard(self._native[verb].check, status)

    def save(self) -> Any:
        """The whole state of the instance, in its own memory."""
        token = super().save()
        token.more = self._remembered()
        return token

    def restore(self, token: Any) -> None:
        """Restore a state that this instance saved, or that was made of bytes."""
        super().restore(token)
        self._recall(token.more)

    def serialize(self, token: Any) -> bytes:
        """A saved state as bytes: times, the mode, then the FMU's own format."""
        memory: _Memory = token.more
        return SAVED_TIMES.pack(memory.time, memory.next_event) + super().serialize(token)

    def deserialize(self, data: bytes) -> Any:
        """The token that `serialize` was given, for `restore` of this or another instance of the same FMU."""
        token = super().deserialize(data[SAVED_TIMES.size :])
        time, next_event = SAVED_TIMES.unpack_from(data)
        token.more = _Memory(time, self._clocks.save(), len(self._passages), next_event)
        return token

    def _pass_event(
        self, cause: cosim.EventCause, handler: str, changes: Mapping[str, Any] | None = None
    ) -> None:
        """Pass through event mode with these inputs, and store the values of both sides."""
        first_point = len(self._points)
        self._store_values(self._time)
        self._guard(self._instance.enter_event_mode)
        try:
            if changes is not None:
                self._event_inputs.write(changes)
        finally:
            if self._mode == modes.EVENT:  # otherwise the call has failed, and no other may follow
                self._update_discrete_states()
        self._store_values(self._time)
        # nothing is stored if nothing is watched
        sides = [dict(zip(p.names, p.values, strict=True)) for p in self._points[first_point:]]
        before, after = sides or ({}, {})
        changed = tuple(name for name, value in before.items() if after[name] != value)
        self._passages.append(
            cosim.EventRecord(
                *(self._time, cause, "unrestricted", handler, (self._time, self._time)),
                changed=changed,
                before={name: before[name] for name in changed},
                after={name: after[name] for name in changed},
                name=handler,
            )
        )

    def _update_discrete_states(self) -> None:
        """Pass from event mode to step mode: activate the due clocks, and update until nothing changes."""
        instance = self._instance
        for _ in range(MOST_EVENT_ITERATIONS):
            self._event_inputs.tick(self._clocks.due_clocks(self._time))
            self._guard(self._clocks.listen)
            self._read_messages()
            update = self._guard(instance.update_discrete_states)
            event = update.next_event
            # an event that is not ahead has been handled just now
            self._next_event = event if event is not None and event > self._time else math.inf
            if update.terminate:
                raise StopRequested(self._time, self._why_it_stops())
            self._guard(self._clocks.read_intervals, self._time)
            if not update.again and not self._clocks.due_clocks(self._time):
                self._guard(instance.enter_step_mode)
                return
        instance.mode = modes.FAILED
        raise self._error(
            f"its discrete states still change after {MOST_EVENT_ITERATIONS} updates at one instant",
            instance.name_of("UpdateDiscreteStates"),
        )

    def _read_messages(self) -> None:
        """Store the messages of clocks that tick, in event mode."""
        names = self._clocks.ticking_messages()
        if names:
            self._clocks.shown.update(zip(names, self._read(names), strict=True))
        self._clocks.active.clear()

    def _update_inside(self, environment: Any, time: float, sets: bool, gets: bool, *_: Any) -> None:
        """The callback of an FMU inside a step: store watched values, write inputs on their lines."""
        try:
            if gets and self._watched_inside:
                values = self._present(self._watched_inside)
                self._points.append(InnerPoint(time, self._watched_inside, values))
            if sets and self._lines is not None and self._fault is None:
                values_on_lines = self._lines.values_at(time)
                super().set(list(values_on_lines), list(values_on_lines.values()))
        except Exception as error:  # an exception must not pass through the code of the FMU
            self._fault = error

    def _create(self, instance: FmuInstance, interface: FmuInterface, logging: bool) -> None:
        assert self._unpacked is not None
        shown = interface.readable_inside if self._watched_at == "steps" else frozenset[str]()
        self._watched_inside = tuple(name for name in self._watched if name in shown)
        readable = {*interface.settable_inside, *self._watched_inside}
        facts = self.name, interface.guid, self._unpacked.folder
        options: dict[str, Any] = {"logging": logging}
        if readable:
            options["intermediate"] = sorted({interface.elements[name].reference for name in readable})
            options["intermediate_update"] = self._update_inside
        self._events, self._warnings = interface.has_event_mode, []
        try:
            instance.instantiate(*facts, event_mode=self._events, **options)
        except FmiError:
            if not self._events or interface.clocks:
                raise
            # some FMUs declare an event mode that they do not have, and can be stepped without it
            self._events = False
            logged = self._log.text()
            instance.instantiate(*facts, event_mode=False, **options)
            self._warnings.append(
                "it declares an event mode and refuses to be instantiated with it, so it runs without: "
                "events inside it are handled in its steps alone, and discrete inputs are set between them"
                + (f". It logged: {logged}" if logged else "")
            )
