"""An FMU for FMI 3.0 Co-Simulation as a participant."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ctypes import byref
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import InnerPoint, NativeCalls
from cosim_fmu.master.participants import fmu_log
from cosim_fmu.master.participants.fmi3_access import Fmi3Access
from cosim_fmu.master.participants.fmi3_clocks import Fmi3Clocks
from cosim_fmu.master.participants.fmu_archive import FmuArchive
from cosim_fmu.master.participants.fmu_interface import FmuInterface, read_interface
from cosim_fmu.master.participants.fmu_participant import DISCARD, FmuParticipant
from cosim_fmu.master.participants.fmu_state import FmuState
from cosim_fmu.master.participants.unpacked_fmu import unpack_fmu
from cosim_fmu.master.stop_requested import StopRequested

MOST_EVENT_ITERATIONS = 100
TIMES = struct.Struct("<2d")
NEVER = object()
"""In place of a value that has not been written."""


class Fmi3Participant(FmuParticipant):
    """A Co-Simulation FMU (FMI 3.0), bound with fmpy.

    As `FmuParticipant`. An FMU with an event mode is stepped with it: when it asks for it at the end of a
    step, and at the time of the next event that it has announced (a step is cut there, if it can vary), its
    discrete states are updated, until nothing changes; discrete inputs that change are written there. It
    may return early, also where the step began. Elements of arrays are variables of their own,
    ``matrix[1,2]``, counted from 1.

    Clocks with an interval tick when they are due: a step is cut there. A triggered output that is read
    says whether it has ticked since the last step began; a triggered input that is set to true ticks,
    once at one instant, together with the inputs that belong to it. An input with
    ``intermediateUpdate`` follows its slope inside a step, wherever the FMU asks for it.

    """

    _names: Mapping[str, str] = {
        "exit_initialization": "fmi3ExitInitializationMode",
        "get_state": "fmi3GetFMUState",
        "set_state": "fmi3SetFMUState",
        "serialize": "fmi3SerializeFMUState",
        "deserialize": "fmi3DeserializeFMUState",
    }
    _methods: Mapping[str, str] = {
        "get": "getFMUState",
        "set": "setFMUState",
        "serialize": "serializeFMUState",
        "deserialize": "deserializeFMUState",
        "free": "freeFMUState",
    }
    _slope_ability: ClassVar[str] = "providesIntermediateUpdate with inputs that have intermediateUpdate"

    def __init__(self, path: str | Path, name: str | None = None) -> None:
        super().__init__(path, name)
        self._passages: list[cosim.EventRecord] = []

    @property
    def events(self) -> list[cosim.EventRecord]:
        """Passages through event mode, with what has changed of what is watched.

        Because of an event of its own (cause Triggered), of clocks with an interval (Scheduled), of discrete
        inputs (Signaled). What was rolled back has not happened.
        """
        return self._passages

    def configure(self, sizes: Mapping[str, Any]) -> None:
        """Take values of structural parameters, before `describe`: they decide the sizes of arrays.

        Parameters
        ----------
        sizes : mapping of str to int
            Start values; those of other variables are ignored.
        """
        interface = self._read_interface()
        known = {name: value for name, value in sizes.items() if name in interface.structural}
        if known:
            self._interface = read_interface(FmuArchive(self.path), self._interface_wanted, known)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        interface = self._begin(values)
        self._time, self._written, self._slopes = start, dict[str, Any](), dict[str, float]()
        self._fault: Exception | None = None
        self._next_event, self._flags = math.inf, np.zeros(5)
        self._held: dict[str, float] = {}
        self._passages = []
        self._specials: dict[tuple[str, ...], frozenset[str]] = {}
        try:
            self._instantiate(interface)
            self._clocks = Fmi3Clocks(self._slave, interface.clocks, interface.clocked)
            structural = [name for name in values if name in interface.structural]
            if structural:
                self._call("fmi3EnterConfigurationMode", self._slave.enterConfigurationMode)
                for name in structural:
                    self.set([name], [values[name]])
                self._call("fmi3ExitConfigurationMode", self._slave.exitConfigurationMode)
            others = [name for name in values if name not in interface.structural]
            if others:
                self.set(others, [values[name] for name in others])
            self._call(
                "fmi3EnterInitializationMode",
                lambda: self._slave.enterInitializationMode(tolerance, start, stop),
            )
            self._mode = "initializing"
        except BaseException:
            self.close()
            raise

    def exit_initialization(self) -> None:
        """End initialization mode, and the event mode that follows where there is one."""
        if self._mode == "initializing":
            self._end_initialization()
            if self._events:
                self._call("fmi3GetIntervalDecimal", lambda: self._clocks.begin(self._time))
                self._update_discrete_states()

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables; discrete ones that have changed in event mode, where the FMU has one."""
        self._slopes.clear()
        self._held.clear()
        special = self._special(tuple(names))
        if not special:
            super().set(names, values)
            if self._read_interface().intermediate:
                self._held.update(zip(names, values, strict=True))
            return
        given = dict(zip(names, values, strict=True))
        plain = {name: given[name] for name in names if name not in special}
        discrete = {name: given[name] for name in names if name in special}
        stepping = self._mode == "stepping"
        changed = self._changed(discrete) if stepping else discrete
        if stepping and changed:  # all in event mode: in step mode nothing may be read after it was set
            self._pass_event(cosim.EventCause.SIGNALED, ", ".join(changed), plain | changed)
            return
        if plain:
            super().set(list(plain), list(plain.values()))
        if changed:
            self._write_discrete(changed)

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Read variables: an array when all are real, else a list."""
        clocks = self._read_interface().clocks
        if not clocks:
            return super().get(names)
        others = [name for name in names if name not in clocks]
        if len(others) == len(names):
            return super().get(names)
        found = dict(zip(others, super().get(others) if others else (), strict=True))
        return [self._clocks.read(name) if name in clocks else found[name] for name in names]

    def _present(self, names: Sequence[str]) -> list[Any]:
        clocks = self._read_interface().clocks
        others = [name for name in names if name not in clocks]
        found = dict(zip(others, super()._present(others) if others else (), strict=True))
        return [name in self._clocks.ticked if name in clocks else found[name] for name in names]

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of real inputs over the next step, per s."""
        self._need_ability("follows_slopes", "follow slopes of its inputs", self._slope_ability)
        # nothing may be read between what is set and the step
        self._bases = {n: self._held[n] if n in self._held else float(self.get([n])[0]) for n in names}
        self._slopes = dict(zip(names, map(float, slopes), strict=True))
        self._slopes_since = math.nan  # the next step begins there

    def step(self, time: float, size: float) -> float:
        """Call fmi3DoStep; an early return, or a clock that ticks, gives the time that was reached.

        Raises
        ------
        StopRequested
            When the FMU wants the simulation to end.
        """
        self.exit_initialization()
        if self._mode != "stepping":
            raise self._error(f"cannot step: the instance is {self._mode}")
        self._clocks.begin_step()
        if self._slopes and math.isnan(self._slopes_since):
            self._slopes_since = time
            self._hold_the_mean(size)
        end, varies = time + size, self._read_interface().variable_step
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
        return self._do_steps(time, end - time)

    def _do_steps(self, time: float, size: float) -> float:
        """Calls of fmi3DoStep until one gets on; at events at the time where it begins, it does not."""
        varies = self._read_interface().variable_step
        for _ in range(MOST_EVENT_ITERATIONS):
            following = min(self._clocks.next_time, self._next_event) - time
            if varies and following < size * (1.0 - 1e-9):  # told in event mode just now
                size = following
            reached = self._do_step(time, size)
            if reached > time or not self._events:
                return reached
        self._mode = "failed"
        raise self._error(f"it returned early at t = {time:.9g} s, again and again", "fmi3DoStep")

    def _do_step(self, time: float, size: float) -> float:
        """One call of fmi3DoStep."""
        from fmpy.fmi3 import fmi3Boolean, fmi3Float64

        self._time = time
        event, terminate, early = (fmi3Boolean() for _ in range(3))
        reached, slave = fmi3Float64(time), self._slave
        older = any(token.more[0] < time for token in self._states)
        never_back = fmi3Boolean(not older)
        answers = [byref(answer) for answer in (event, terminate, early, reached)]
        self._log.begin()
        try:
            slave.fmi3DoStep(slave.component, time, self._size(size), never_back, *answers)
        except Exception as error:
            if getattr(error, "status", None) != DISCARD or self._fault is not None:
                raise self._failure(self._fault or error) from error
            if terminate.value:
                return self._after(False, True, False, reached.value, time, size)
            return self._discarded(time, size, reached.value, "fmi3DoStep")
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise self._failure(fault) from fault
        return self._after(event.value, terminate.value, early.value, reached.value, time, size)

    @property
    def ticks_by_time(self) -> bool:
        """Whether it has clocks with an interval."""
        return any(clock.ticks_by_time for clock in self._read_interface().clocks.values())

    @property
    def next_tick(self) -> float:
        """When the next of its clocks with an interval ticks, s; infinite when none does."""
        return self._clocks.next_time if self._mode == "stepping" else math.inf

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """As in FMI 2.0; arrays, clocks and what is written in event mode are left to Python."""
        interface = self._read_interface()
        elements = interface.elements
        if any(elements[name].size > 1 or elements[name].type != "Float64" for name in (*inputs, *reads)):
            return None
        self.exit_initialization()
        if self._special(tuple(inputs)) or any(clock.ticks_by_time for clock in interface.clocks.values()):
            return None
        self._flags = flags
        self.resume_native()
        return self._addresses(("fmi3SetFloat64", "fmi3DoStep", "fmi3GetFloat64"), inputs, reads)

    def resume_native(self) -> None:
        """Compiled steps stay clear of the next event: `step` takes the one that reaches it."""
        following = self._next_event
        self._flags[4] = following - 8.0 * math.ulp(following) if following < math.inf else following

    def after_native_step(self, status: int, time: float, size: float) -> float:
        """What `step` would have done about a status that is not OK, or about what the FMU asked for."""
        event, terminate, early = (bool(flag.tobytes()[0]) for flag in self._flags[:3])
        reached = float(self._flags[3])
        if status == DISCARD and not terminate:
            return self._discarded(time, size, reached, "fmi3DoStep")
        if status > 1 and not (status == DISCARD and terminate):
            raise self._native_failure("fmi3DoStep", status)
        reached = self._after(event, terminate, early, reached, time, size)
        return reached if reached > time or not self._events else self._do_steps(time, size)

    def after_native_access(self, verb: str, status: int) -> None:
        """Raise what `set` or `get` would have raised."""
        raise self._native_failure(f"fmi3{verb}Float64", status)

    def save(self) -> Any:
        """The whole state of the instance, in its own memory."""
        token = super().save()
        token.more = self._time, self._clocks.save(), len(self._passages), self._next_event
        return token

    def restore(self, token: FmuState) -> None:
        """Go back to a state that this instance saved, or that was made of bytes."""
        super().restore(token)
        self._written.clear()
        self._time, clocks, events, self._next_event = token.more
        self._clocks.restore(clocks)
        del self._passages[events:]

    def serialize(self, token: FmuState) -> bytes:
        """A saved state as bytes: its time and that of the next event, then as `FmuParticipant`."""
        return TIMES.pack(token.more[0], token.more[3]) + super().serialize(token)

    def deserialize(self, data: bytes) -> FmuState:
        """The token that `serialize` was given, for `restore` of this or another instance of the same FMU."""
        token = super().deserialize(data[TIMES.size :])
        time, following = TIMES.unpack_from(data)
        token.more = time, self._clocks.save(), len(self._passages), following
        return token

    def _after(
        self, event: bool, terminate: bool, early: bool, reached: float, time: float, size: float
    ) -> float:
        end = time + size
        if terminate:
            where = reached if time <= reached <= end else end
            raise StopRequested(where, self._log.text(1) or "the FMU asked to stop")
        self._time = float(reached) if early else end
        due = self._clocks.due(self._time)
        if not due and self._next_event <= self._time + 4.0 * math.ulp(self._time):
            due = ["time_event"]
        if self._events and (event or due):
            cause = cosim.EventCause.SCHEDULED if due else cosim.EventCause.TRIGGERED
            self._pass_event(cause, ", ".join(due) or "event_mode")
        elif early:
            self._note(self._time)
        return self._time

    def _pass_event(
        self, cause: cosim.EventCause, handler: str, given: Mapping[str, Any] | None = None
    ) -> None:
        """From step mode through event mode, with what is given, and back; both sides are kept."""
        known = len(self._points)
        self._note(self._time)
        self._call("fmi3EnterEventMode", self._slave.enterEventMode)
        try:
            if given is not None:
                self._write_discrete(given)
        finally:
            if self._mode == "stepping":  # else the call has failed, and no other may follow
                self._update_discrete_states()
        self._note(self._time)
        sides = [dict(zip(p.names, p.values, strict=True)) for p in self._points[known:]] or [{}, {}]
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
        """From event mode to step mode: let clocks tick that are due, update until nothing changes."""
        for _ in range(MOST_EVENT_ITERATIONS):
            self._tick(self._clocks.due(self._time))
            self._call("fmi3GetClock", self._clocks.listen)
            again, terminate, _, _, announced, following = self._call(
                "fmi3UpdateDiscreteStates", self._slave.updateDiscreteStates
            )
            # what is past has been dealt with just now
            self._next_event = following if announced and following > self._time else math.inf
            if terminate:
                raise StopRequested(self._time, self._log.text(1) or "the FMU asked to stop")
            self._call("fmi3GetIntervalDecimal", lambda: self._clocks.ask(self._time))
            if not again and not self._clocks.due(self._time):
                self._call("fmi3EnterStepMode", self._slave.enterStepMode)
                return
        self._mode = "failed"
        raise self._error(
            f"its discrete states still change after {MOST_EVENT_ITERATIONS} updates at one instant",
            "fmi3UpdateDiscreteStates",
        )

    def _special(self, names: tuple[str, ...]) -> frozenset[str]:
        """Those of the names that are written in event mode."""
        if not self._events:
            return frozenset()
        found = self._specials.get(names)
        if found is None:
            interface = self._read_interface()
            known = (interface.description.discrete, interface.clocks, interface.clocked)
            found = self._specials[names] = frozenset(n for n in names if any(n in group for group in known))
        return found

    def _changed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What has to go through event mode: other values than the last ones, and clocks that tick."""
        clocks, clocked = self._read_interface().clocks, self._clocks.clocked
        fired = self._clocks.fired
        ticks = {n: v for n, v in given.items() if n in clocks and v and n not in fired}
        self._clocks.values.update({n: v for n, v in given.items() if n in clocked})
        news = {
            n: v
            for n, v in given.items()
            if n not in clocks and n not in clocked and self._written.get(n, NEVER) != v
        }
        return {**news, **ticks}

    def _write_discrete(self, given: Mapping[str, Any]) -> None:
        """Write in event or initialization mode; clocks tick in event mode only."""
        clocks = self._read_interface().clocks
        values = {name: value for name, value in given.items() if name not in clocks}
        if values:
            super().set(list(values), list(values.values()))
            self._written.update(values)
        self._clocks.values.update({n: v for n, v in values.items() if n in self._clocks.clocked})
        if self._mode == "stepping":
            self._tick([name for name, value in given.items() if name in clocks and value])

    def _tick(self, names: Sequence[str]) -> None:
        """In event mode: activate clocks, then write the inputs that belong to them."""
        if names:
            values = self._call("fmi3SetClock", lambda: self._clocks.activate(names))
            if values:
                super().set(list(values), list(values.values()))

    def _hold_the_mean(self, size: float) -> None:
        """Inputs with a slope that cannot follow it inside the step are held at its mean."""
        intermediate = self._read_interface().intermediate
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
            names = [name for name in self._slopes if name in self._read_interface().intermediate]
            since = time - self._slopes_since
            super().set(names, [self._bases[name] + since * self._slopes[name] for name in names])
        except Exception as error:  # nothing may pass through the FMU
            self._fault = error

    def _instantiate(self, interface: FmuInterface) -> None:
        self._unpacked = unpack_fmu(self.path)
        folder = self._unpacked.folder
        slave = self._load(folder, interface)
        self._slave, self._mode = slave, "instantiated"
        log = self._log

        def write(environment: Any, status: int, category: bytes | None, message: bytes | None) -> None:
            log.add(status, (message or b"").decode("utf-8", "replace"))

        try:
            self._create(slave, write)
        except Exception as error:
            if isinstance(error, cosim.FmuError):
                raise
            raise self._error("the FMU refused to be instantiated", "fmi3Instantiate") from error
        categories = fmu_log.serious_categories(interface.log_categories)
        if categories:
            with suppress(Exception):
                slave.setDebugLogging(True, categories)

    def _create(self, slave: Any, log: Any) -> None:
        interface = self._read_interface()
        options: dict[str, Any] = {"loggingOn": True, "earlyReturnAllowed": True, "logMessage": log}
        shown = interface.shown_inside if self._watched_at == "steps" else frozenset[str]()
        self._watched_inside = tuple(name for name in self._watched if name in shown)
        wanted = {*interface.intermediate, *self._watched_inside}
        if wanted:
            references = {interface.elements[name].reference for name in wanted}
            options["requiredIntermediateVariables"] = sorted(references)
            options["intermediateUpdate"] = self._update_inside
        self._events = interface.event_mode
        try:
            slave.instantiate(eventModeUsed=self._events, **options)
        except Exception:
            if not self._events or interface.clocks:
                raise
            # some declare an event mode that they do not have; without it they step all the same
            self._events = False
            slave.instantiate(eventModeUsed=False, **options)

    def _free_instance(self, slave: Any) -> None:
        slave.fmi3FreeInstance(slave.component)

    def _make_access(self, names: tuple[str, ...]) -> Any:
        return Fmi3Access(self._slave, names, self._read_interface().elements)
