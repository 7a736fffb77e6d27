"""State: everything that changes while a system runs, as time and flat arrays."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim.attributes import ClosedAttributes
from cosim.contracts.tolerances import LOOSEST_WINDOW, accuracy_fault
from cosim.errors import SimulationError, StageError, StateError
from cosim.html_table import html_table
from cosim.run_data.records.clock import Agenda, Clock
from cosim.run_data.run import AGENDA_WIDTH, CLOCK_WIDTH, ROLES, STATE
from cosim.stage import Stage
from cosim.system import state_bytes
from cosim_compiler.record import place_in, rows_of

if TYPE_CHECKING:
    System = Any

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

TIME = place_in(Clock, "time")
SAVED = tuple(name for name, role in ROLES.items() if role == STATE)
COMPUTED = slice(int(Stage.TIME), int(Stage.REPORT) + 1)  # stages that follow time and continuous state


class State(ClosedAttributes):
    """Time and arrays; the cache beside it holds what was computed from them.

    Made by `System.default_state`. Read with ``state["mount.X_FM"]``, write with
    ``state["mount.stiffness"] = …``; writing drops the State below the stage that the variable
    invalidates. Two States of one system are independent and may be advanced side by side.

    Attributes
    ----------
    carried : bytes
        The tangents of a run with derivatives, as they were where the State was saved; empty unless it was.
    """

    attribute_hints: ClassVar[Mapping[str, str]] = {
        "time": "call set_time(t)",
        **{name: f"call set_{name}(values)" for name in "yquz"},
        "y_dot": "it is computed",
        "stage": "call realize(stage)",
        "system": "make another State, system.default_state()",
    }
    reading_hints: ClassVar[Mapping[str, str]] = {"t": "write state.time"}

    def __init__(self, system: System) -> None:
        self._system = system
        self._arrays: dict[str, Any] = system.start_arrays()
        self._arrays["c"] = system.new_cache()
        self._arrays["memory"] = np.zeros(0)
        self._arrays["indices"] = np.zeros(AGENDA_WIDTH, dtype=np.int64)
        self._arrays["times"] = np.zeros(CLOCK_WIDTH)
        self._shown: dict[str, tuple[Any, Any]] = {}  # an array, and the record with which it begins
        self._clear()

    def _clear(self) -> None:
        """Have all that is beside the arrays as in a State that was just made."""
        self._stage = Stage.MODEL
        self._versions = [1] * len(Stage)
        self._invalidated_by = ""
        self._accuracy: float | None = None
        self.carried = b""
        self._locked = ""  # why it may only be read now
        self.is_checked = True  # not what comes from bytes, before a Step has checked it

    # reading

    @property
    def system(self) -> System:
        """The system that it belongs to."""
        return self._system

    @property
    def stage(self) -> Stage:
        """How far it is realized."""
        return self._stage

    @property
    def versions(self) -> tuple[int, ...]:
        """For each stage, how often it was invalidated."""
        return tuple(self._versions)

    @property
    def time(self) -> float:
        """Time, s."""
        time: float = self._arrays["times"].item(TIME)
        return time

    @property
    def accuracy(self) -> float | None:
        """Wanted accuracy; the isolation window of events follows it. None: none is wanted."""
        return self._accuracy

    @accuracy.setter
    def accuracy(self, value: float | None) -> None:
        if value is not None and (fault := accuracy_fault(value, LOOSEST_WINDOW)):
            raise StateError(f"accuracy {fault}")
        self._accuracy = None if value is None else float(value)

    @property
    def jumped(self) -> bool:
        """Whether a variable was written since the last step ended: histories keep that as a jump."""
        return bool(self.clock.jumped)

    @jumped.setter
    def jumped(self, value: bool) -> None:
        self.clock.jumped = value

    @property
    def integrator_memory(self) -> Reals:
        """Owned by the integrator: next step, error memory, multistep history."""
        memory: Reals = self._arrays["memory"]
        return memory

    @integrator_memory.setter
    def integrator_memory(self, values: Any) -> None:
        array = np.asarray(values, dtype=np.float64)
        if array.shape == self._arrays["memory"].shape:
            self._arrays["memory"][:] = array  # a Step on this State holds the array
        else:
            self._arrays["memory"] = array.copy()

    @property
    def clock(self) -> Clock:
        """Owned by the Step: the time, and what belongs to it."""
        clock: Clock = self._first("times", Clock)
        return clock

    @property
    def agenda(self) -> Agenda:
        """Owned by the Step: what is still to be done."""
        agenda: Agenda = self._first("indices", Agenda)
        return agenda

    def _first(self, name: str, kind: Any) -> Any:
        """The record with which an array begins."""
        array, shown = self._arrays[name], self._shown.get(name)
        if shown is None or shown[0] is not array:
            shown = self._shown[name] = array, rows_of(kind, array, 0, 1)[0]
        return shown[1]

    @property
    def y(self) -> Reals:
        """Continuous state [q | u | z], read-only."""
        return self._view(0, self.system.ny)

    @property
    def q(self) -> Reals:
        """Generalized coordinates, read-only."""
        return self._view(0, self.system.nq)

    @property
    def u(self) -> Reals:
        """Generalized speeds, read-only."""
        return self._view(self.system.nq, self.system.nq + self.system.nu)

    @property
    def z(self) -> Reals:
        """Auxiliary states, read-only."""
        return self._view(self.system.nq + self.system.nu, self.system.ny)

    @property
    def y_dot(self) -> Reals:
        """Derivative of y, read-only; needs stage ACCELERATION."""
        self.require(Stage.ACCELERATION, "y_dot")
        view: Reals = self._arrays["c"][: self.system.ny]
        view.flags.writeable = False
        return view

    def _view(self, first: int, last: int) -> Reals:
        view: Reals = self._arrays["y"][first:last]
        view.flags.writeable = False
        return view

    def _hint_where_missing(self, name: str) -> str:
        paths = [path for path in self.system.variables if path.rpartition(".")[2] == name]
        return f"write state['{paths[0]}']" if paths else super()._hint_where_missing(name)

    def __repr__(self) -> str:
        return f"<State of {self.system!r} at t = {self.time:.9g} s, realized to {self.stage.name}>"

    def _repr_html_(self) -> str:
        rows = []
        for path, variable in self.system.variables.items():
            try:
                rows.append((path, variable.units[0], self[path]))
            except StageError:  # not computed yet
                continue
        return html_table(repr(self), [("variable", "unit", "value"), *rows])

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.system.variables)

    def __getitem__(self, path: str) -> Any:
        """Value of a variable: a number, or an array of its shape (a copy, read-only).

        To set an element write to its path, ``state["joint.q[0]"] = 5.0``, or the whole: ``q =
        state["joint.q"].copy()``, ``q[0] = 5.0``, ``state["joint.q"] = q``.

        Raises
        ------
        LookUpError
            No such variable.
        StageError
            It is computed at a stage that this State has not reached.
        """
        return self.system.read(self, path)

    def require(self, stage: Stage, reader: str) -> None:
        """Raise `StageError` unless the State is realized to a stage."""
        if self.stage < stage:
            raise StageError(reader, stage, self.stage, self._invalidated_by)

    def realize(self, stage: Stage = Stage.REPORT) -> State:
        """Compute everything up to a stage, one stage after the other; returns itself."""
        if not isinstance(stage, Stage):
            names = ", ".join(f"Stage.{member.name}" for member in Stage)
            raise StateError(f"a stage is needed, not {stage!r}: one of {names}")
        self.system.realize(self, stage)
        return self

    # writing

    def __setitem__(self, path: str, value: Any) -> None:
        """Write a parameter, state, input or discrete variable, with its checks, and invalidate."""
        self.system.write(self, path, value)

    def set_time(self, time: float) -> None:
        """Set the time, s; invalidates stage Time."""
        if not isinstance(time, numbers.Real) or not np.isfinite(time):
            raise StateError(f"time is {time}, needs a finite number of seconds")
        self.refuse_when_locked()
        self.clock.time = time
        self.invalidate(Stage.TIME, "set_time()")

    def set_y(self, values: Any) -> None:
        """Set the whole continuous state; invalidates Position."""
        self._set(0, self.system.ny, values, Stage.POSITION, "y")

    def set_q(self, values: Any) -> None:
        """Set the generalized coordinates; invalidates Position."""
        self._set(0, self.system.nq, values, Stage.POSITION, "q")

    def set_u(self, values: Any) -> None:
        """Set the generalized speeds; invalidates Velocity."""
        self._set(self.system.nq, self.system.nq + self.system.nu, values, Stage.VELOCITY, "u")

    def set_z(self, values: Any) -> None:
        """Set the auxiliary states; invalidates Dynamics."""
        self._set(self.system.nq + self.system.nu, self.system.ny, values, Stage.DYNAMICS, "z")

    def _set(self, first: int, last: int, values: Any, stage: Stage, name: str) -> None:
        """Write a part of the continuous state, after checks, and invalidate."""
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (last - first,):
            raise StateError(f"{name} has shape {array.shape}, needs ({last - first},)")
        if not np.all(np.isfinite(array)):
            raise StateError(f"{name} holds {array[~np.isfinite(array)][0]}, needs finite numbers")
        self.refuse_when_locked()
        self._arrays["y"][first:last] = array
        self.jumped = True
        self.invalidate(stage, f"set_{name}()")

    def invalidate(self, stage: Stage, by: str) -> None:
        """Drop below a stage; every stage that is lost gets a new version."""
        if self.stage >= stage:
            for lost in range(stage, self.stage + 1):
                self._versions[lost] += 1
            self._stage = stage.previous
            self._invalidated_by = by
        else:
            self._versions[stage] += 1

    def refuse_when_locked(self) -> None:
        """Raise `SimulationError` where this State may only be read: in an event handler."""
        if self._locked:
            raise SimulationError(self.time, self._locked)

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays themselves, by name; after a write `invalidate` what depends on it."""
        return self._arrays

    def arrive_at(self, time: float) -> None:
        """Set the time of y and the cache, which an integrator has realized to Acceleration there."""
        self._arrays["times"][TIME] = time
        versions = self._versions
        for stage in range(COMPUTED.start, COMPUTED.stop):
            versions[stage] += 1
        if self.stage is not Stage.ACCELERATION:
            self._stage = Stage.ACCELERATION

    # whole States

    def copy(self) -> State:
        """An independent State with the same variables; its cache is invalid above Model."""
        twin = State.__new__(State)
        twin.__dict__.update(self.__dict__)
        twin._arrays = {name: array.copy() for name, array in self._arrays.items() if name != "c"}
        twin._arrays["c"] = self.system.new_cache()
        twin._versions = list(self._versions)
        twin._locked = ""
        twin._stage = min(self.stage, Stage.MODEL)
        twin._invalidated_by = "copy()"
        return twin

    def assign(self, other: State) -> None:
        """Take over all variables of another State of the same system."""
        if other.system is not self.system and other.system.digest != self.system.digest:
            raise StateError("the other State belongs to a different system")
        for name in SAVED:
            if self._arrays[name].shape == other._arrays[name].shape:
                self._arrays[name][:] = other._arrays[name]
            else:
                self._arrays[name] = other._arrays[name].copy()
        self.accuracy, self.carried = other.accuracy, other.carried
        self.invalidate(Stage.INSTANCE, "assign()")

    def __reduce__(self) -> Any:
        return _restored, (self.system, self.to_bytes())

    def to_bytes(self) -> bytes:
        """All variables as bytes, versioned, without pickle; `System.state_from_bytes` reads them."""
        return state_bytes.pack(self)


def _restored(system: System, data: bytes) -> State:
    """A State from what was pickled."""
    return state_bytes.unpack(system, data)
