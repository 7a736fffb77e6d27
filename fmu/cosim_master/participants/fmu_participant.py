"""An FMU for Co-Simulation as a participant."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

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

MOST_EVENT_ITERATIONS = 100
TOLD_AGAIN = ("changing", "countdown", "tunable")
TIMES = struct.Struct("<2d")
REACHED, LATEST = 3, 4
"""Places in the flags of `native_calls`, behind three that FMI 3.0 sets: as `exchange_arrays.Answer`."""
SLOPE_ABILITIES = {
    "3.0": "providesIntermediateUpdate with inputs that have intermediateUpdate",
    "2.0": "canInterpolateInputs",
    "1.0": "canInterpolateInputs",
}


class FmuParticipant(InstanceParticipant):
    """A Co-Simulation FMU of FMI 1.0, 2.0 or 3.0.

    An FMU with an event mode is stepped with it: when it asks for it at the end of a
    step, and at the time of the next event that it has announced (a step is cut there, if it can vary), its
    discrete states are updated, until nothing changes; discrete inputs that change are written there. It
    may return early, also where the step began.

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
        its own sums in place of ``i * h`` (`InnerClock`). Known of some tools, and used then where inputs
        are given.
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
        """Passages through event mode, with what has changed of what is watched.

        Because of an event of its own (cause Triggered), of clocks with an interval (Scheduled), of discrete
        inputs (Signaled). What was rolled back has not happened.
        """
        return self._passages

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        self._time, self._slopes = start, dict[str, float]()
        self._fault: Exception | None = None  # in the callback in the middle of a step; raised behind it
        self._next_event, self._flags = math.inf, np.zeros(5)
        self._held: dict[str, float] = {}  # inputs as set last, from which lines inside a step begin
        self._passages, self._usual_size = [], 0.0
        step = self._inner_step or self.read_interface().inner_step
        self._inner_clock = InnerClock(step, start) if step else None
        self._is_given = self._inner_step is not None
        super().initialize(start, stop, values, tolerance)

    def _enter_stepped_mode(self) -> None:
        if self._events:
            self._guard(self._clocks.start_schedule, self._time)
            self._update_discrete_states()

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables; discrete ones that have changed in event mode, where the FMU has one."""
        self._slopes.clear()
        self._held.clear()
        self._is_given = self._is_given or (len(names) > 0 and self._mode == modes.STEPPING)
        special = self._special(tuple(names))
        if special and self._mode == modes.STEPPING:
            value_of = dict(zip(names, values, strict=True))
            plain = {name: value_of[name] for name in names if name not in special}
            special_values = {name: value_of[name] for name in names if name in special}
            self._event_inputs.store_clocked(special_values)
            changed = self._event_inputs.changed_values(special_values)
            if changed:  # all in event mode: in step mode nothing may be read after it was set
                self._pass_event(cosim.EventCause.SIGNALED, ", ".join(changed), plain | changed)
            elif plain:
                self._write(list(plain), list(plain.values()))
            return
        super().set(names, values)
        if not special and self.read_interface().settable_inside:
            self._held.update(zip(names, values, strict=True))

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of real inputs over the next step, per s."""
        interface = self.read_interface()
        self._need_ability(
            "follows_slopes", "follow slopes of its inputs", SLOPE_ABILITIES[interface.version]
        )
        if not interface.settable_inside:
            references = [interface.elements[name].reference for name in names]
            signed = [interface.elements[n].sign * s for n, s in zip(names, slopes, strict=True)]
            self._guard(self._instance.set_input_slopes, references, signed)
            return
        # nothing may be read between what is set and the step
        self._bases = {n: self._held[n] if n in self._held else float(self.get([n])[0]) for n in names}
        self._slopes = dict(zip(names, map(float, slopes), strict=True))
        self._slopes_since = math.nan  # the next step begins there

    def step(self, time: float, size: float) -> float:
        """A communication step; the time reached, which is earlier where it was discarded or ended early.

        Raises
        ------
        StopRequested
            When the FMU wants the simulation to end.
        """
        self.exit_initialization()
        self._check_steps((modes.STEPPING,))
        self._clocks.start_step()
        if self._slopes and math.isnan(self._slopes_since):
            self._slopes_since = time
            self._hold_the_mean(size)
        begin, end, varies = time, time + size, self.describe().variable_step
        while (tick := min(self._clocks.next_time, self._next_event)) < end - 1e-9 * size:
            if not varies:
                tick = self._clocks.next_time
                if tick >= end - 1e-9 * size:
                    break  # an event may be handled late, a tick may not
                raise self._error(
                    f"one of its clocks ticks at t = {tick:.9g} s, inside the step from {time:.9g} s by "
                    f"{size:g} s, but it cannot vary its communication step: take one that divides it"
                )
            reached = self._do_steps(time, tick - time)
            if reached < tick:  # it returned early before that
                return reached
            time = tick
        return self._do_steps(time, size if time == begin else end - time)  # to the bit as compiled code

    def _do_steps(self, time: float, size: float) -> float:
        """Communication steps until one gets on; at events at the time where it begins, it does not."""
        varies = self.describe().variable_step
        for _ in range(MOST_EVENT_ITERATIONS):
            following = min(self._clocks.next_time, self._next_event) - time
            if varies and following < size * (1.0 - 1e-9):  # told in event mode just now
                size = following
            reached = self._do_step(time, size)
            if reached > time or not self._events:
                return reached
        self._instance.mode = modes.FAILED
        raise self._error(f"it returned early at t = {time:.9g} s, again and again", self._step_function)

    def _do_step(self, time: float, size: float) -> float:
        """Make one communication step of the instance."""
        self._time = time
        older = any(_time_of(token) < time for token in self._states)
        self._log.start_call()
        begin, length = time, self._size(size)
        if self._inner_clock is not None and self._is_given:
            begin = self._inner_clock.at(time)
            if self.describe().variable_step:
                length = self._inner_clock.at(time + size) - begin
        try:
            answer = self._instance.do_step(begin, length, not older)
        except FmiError as error:
            raise self._failure(self._fault or error) from error
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise self._failure(fault) from fault
        ours = {begin: time, begin + length: time + size}  # where its clock and ours differ in the last bits
        return self._follow_answer(
            answer._replace(reached=ours.get(answer.reached, answer.reached)), time, size
        )

    @property
    def _step_function(self) -> str:
        return self._instance.name_of("DoStep")

    def _size(self, size: float) -> float:
        """An FMU that cannot vary its step gets the very same number each time, not one an ulp away."""
        if self.describe().variable_step:
            return size
        if abs(size - self._usual_size) > 1e-9 * size:
            self._usual_size = size
        return self._usual_size

    def _follow_answer(self, answer: StepAnswer, time: float, size: float) -> float:
        """Do what the answer to a step asks for: stop, event mode, or nothing; the time reached."""
        end, reached = time + size, answer.reached
        if answer.discarded and (not answer.terminate or self._log.has_error()):
            return self._discarded(time, size, reached)
        if answer.terminate:
            where = reached if time <= reached <= end else end
            raise StopRequested(where, self._why_it_stops())
        self._time = float(reached) if answer.early else end
        tick = min(self._clocks.next_time, self._next_event)
        if abs(tick - self._time) <= 4.0 * math.ulp(self._time):  # of ``time + (tick - time)``
            self._time = tick
        due = self._clocks.due_clocks(self._time)
        if not due and self._next_event <= self._time + 4.0 * math.ulp(self._time):
            due = ["time_event"]
        if self._events and (answer.event or due):
            cause = cosim.EventCause.SCHEDULED if due else cosim.EventCause.TRIGGERED
            self._pass_event(cause, ", ".join(due) or "event_mode")
        elif answer.early:
            self._store_values(self._time)
        return self._time

    def _discarded(self, time: float, size: float, reached: float) -> float:
        """The time that a discarded step has reached; raises an error if it reached none."""
        if time < reached < time + size:  # a full step is not to be discarded
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
        """Why a program in C would have to do more for it than set, step and read; "" where that is all."""
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
        """Whether it has clocks whose interval it tells in event mode again and again."""
        clocks = self.read_interface().clocks.values()
        return any(clock.ticks_by_time and clock.variability in TOLD_AGAIN for clock in clocks)

    @property
    def next_tick(self) -> float:
        """The next tick of a clock with an interval, s; infinite if there is none."""
        ticks = self.ticks_by_time and self._mode == modes.STEPPING
        return self._clocks.next_time if ticks else math.inf

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Addresses of functions that write, advance and read.

        None when the library does not export the one that advances, for clocks (inner ones, too) and what is
        written in event mode: these are left to Python.

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            Where FMI 3.0 tells after a step what it asks for; last a time (s) beyond which `step` is called.
        """
        interface, library = self.read_interface(), self._instance.library
        self.exit_initialization()
        if self._special(tuple(inputs)) or self.ticks_by_time:
            return None
        if self._inner_clock is not None and (inputs or self._is_given):
            return None
        step = library.address("DoStep")
        listed = {"Set": inputs, "Get": reads}
        if not step:
            return None
        self._flags = flags
        self.resume_native()
        self._native = {
            verb: Access(self._instance, names, interface.elements, verb) for verb, names in listed.items()
        }
        written, read = self._native.values()
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
        """Forget the steps that are left to Python, since no compiled code calls the FMU any more."""
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
        functions = self._state_functions(modes.STEPPING)
        if functions is None:
            return {}
        calls = dict(zip(("save", "restore", "free", "state"), functions, strict=True))
        return {
            **calls,
            **{"remember": self._remembered, "forget": self._recall, "after_state": self._after_state},
        }

    def _remembered(self) -> tuple[Any, ...]:
        """The part of a state that the FMU does not save."""
        return self._time, self._clocks.save(), len(self._passages), self._next_event

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        """Restore the memory that `_remembered` returned."""
        self._time, clocks, events, self._next_event = remembered
        self._clocks.restore(clocks)
        del self._passages[events:]
        self._forget_written()
        self.resume_native()

    def resume_native(self) -> None:
        """Compiled steps stay clear of the next event: `step` takes the one that reaches it."""
        if self._mode in (modes.FAILED, modes.FATAL):  # compiled code would not notice
            self._check_steps(modes.RUNNING)
        following = self._next_event
        # 8 ulp before it: `_follow_answer` counts an event 4 ulp behind the end of a step as at it
        self._flags[LATEST] = following - 8.0 * math.ulp(following) if following < math.inf else following

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """React as `step` does to a status that is not OK, or to a request of the FMU."""
        # each is a byte in the room of a double (`Answer`)
        flags = tuple(bool(flag.tobytes()[0]) for flag in self._flags[:REACHED])
        reported = StepAnswer(float(self._flags[REACHED]), False, *flags)
        answer = self._guard(self._instance.after_step, status, time, size, reported)
        reached = self._follow_answer(answer, time, size)
        return reached if reached > time or not self._events else self._do_steps(time, size)

    def check_native_access(self, verb: str, status: int) -> None:
        """Raise what `set` or `get` would have raised; where a value does not fit its type, `set` says it."""
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
        time, _, _, next_event = token.more
        return TIMES.pack(time, next_event) + super().serialize(token)

    def deserialize(self, data: bytes) -> Any:
        """The token that `serialize` was given, for `restore` of this or another instance of the same FMU."""
        token = super().deserialize(data[TIMES.size :])
        time, following = TIMES.unpack_from(data)
        token.more = time, self._clocks.save(), len(self._passages), following
        return token

    def _pass_event(
        self, cause: cosim.EventCause, handler: str, changes: Mapping[str, Any] | None = None
    ) -> None:
        """Pass through event mode with these inputs, and store the values of both sides."""
        count_before = len(self._points)
        self._store_values(self._time)
        self._guard(self._instance.enter_event_mode)
        try:
            if changes is not None:
                self._event_inputs.write(changes)
        finally:
            if self._mode == modes.EVENT:  # else the call has failed, and no other may follow
                self._update_discrete_states()
        self._store_values(self._time)
        sides = [dict(zip(p.names, p.values, strict=True)) for p in self._points[count_before:]] or [{}, {}]
        changed = tuple(name for name, value in sides[0].items() if sides[1][name] != value)
        before, after = ({name: side[name] for name in changed} for side in sides)
        self._passages.append(
            cosim.EventRecord(
                *(self._time, cause, "unrestricted", handler, (self._time, self._time)),
                changed=changed,
                before=before,
                after=after,
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
            following = update.next_event
            # what is past has been dealt with just now
            ahead = following is not None and following > self._time
            self._next_event = following if ahead else math.inf
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
        names = self._clocks.belonging()
        if names:
            self._clocks.shown.update(zip(names, self._read(names), strict=True))
        self._clocks.active.clear()

    def _hold_the_mean(self, size: float) -> None:
        """Inputs with a slope that cannot follow it inside the step are held at its mean."""
        intermediate = self.read_interface().settable_inside
        held = {n: self._bases[n] + 0.5 * size * s for n, s in self._slopes.items() if n not in intermediate}
        if held:
            super().set(list(held), list(held.values()))

    def _update_inside(self, environment: Any, time: float, wants: bool, tells: bool, *more: Any) -> None:
        """The callback of an FMU in the middle of a step: values to be kept, inputs on their slopes."""
        try:
            if tells and self._watched_inside:
                values = self._present(self._watched_inside)
                self._points.append(InnerPoint(time, self._watched_inside, values))
            if not wants or not self._slopes or self._fault is not None:
                return
            names = [name for name in self._slopes if name in self.read_interface().settable_inside]
            since = time - self._slopes_since
            super().set(names, [self._bases[name] + since * self._slopes[name] for name in names])
        except Exception as error:  # nothing may pass through the FMU
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
            # some declare an event mode that they do not have; without it they step all the same
            self._events = False
            logged = self._log.text()
            instance.instantiate(*facts, event_mode=False, **options)
            self._warnings.append(
                "it declares an event mode and refuses to be instantiated with it, so it runs without: "
                "events inside it are handled in its steps alone, and discrete inputs are set between them"
                + (f". It logged: {logged}" if logged else "")
            )


def _time_of(token: Any) -> float:
    """The time of a saved state, s; infinite for the one that compiled code saves in every step."""
    time: float = token.more[0]
    return time
