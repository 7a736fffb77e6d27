"""State: everything that changes while a system runs, as time and flat arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.errors import StageError, StateError
from cosim.stage import Stage
from cosim.system import state_bytes

if TYPE_CHECKING:
    from cosim.system.system import System

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

COMPUTED = slice(int(Stage.TIME), int(Stage.REPORT) + 1)  # stages that follow time and continuous state


class State:
    """Time and arrays; the cache beside it holds what was computed from them.

    Made by `System.default_state`. Read with ``state["mount.X_FM"]``, write with
    ``state["mount.stiffness"] = …``; writing drops the State below the stage that the variable
    invalidates. Two States of one system are independent and may be advanced side by side.

    Attributes
    ----------
    system : System
    stage : Stage
        How far it is realized.
    versions : list of int
        For each stage, how often it was invalidated.
    integrator_memory : ndarray
        Owned by the integrator: next step, error memory, multistep history.
    agenda : ndarray of int64
        Owned by the simulator: indices of scheduled events, pending causes.
    accuracy : float or None
        Wanted accuracy; the isolation window of events follows it.
    jumped : bool
        Whether somebody wrote to it since the last step ended: histories keep that as a jump.
    touched : dict of str to ndarray of int64, or None
        Where everything up to Acceleration was computed and handlers have written since, but nobody else: by
        array the offsets that they have written; `System.realize_touched` goes by it.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self._time = 0.0
        self._arrays: dict[str, Any] = system.start_arrays()
        self._arrays["c"] = system.new_cache()
        self.stage = Stage.MODEL
        self.versions = [1] * len(Stage)
        self._invalidated_by = ""
        self.integrator_memory: Reals = np.zeros(0)
        self.agenda: Integers = np.zeros(0, dtype=np.int64)
        self.accuracy: float | None = None
        self.jumped = False
        self.touched: dict[str, Integers] | None = None

    # reading

    @property
    def time(self) -> float:
        """Time, s."""
        return self._time

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

    def __getitem__(self, path: str) -> Any:
        """Value of a variable: a number, or an array of its shape (a copy).

        Raises
        ------
        LookUpError
            No such variable.
        StageError
            It is computed at a stage that this State has not reached.
        """
        return self.system.read(self, path)

    def require(self, stage: Stage, what: str) -> None:
        """Raise `StageError` unless the State is realized to a stage."""
        if self.stage < stage:
            raise StageError(what, stage, self.stage, self._invalidated_by)

    def realize(self, stage: Stage = Stage.REPORT) -> State:
        """Compute everything up to a stage, one stage after the other; returns itself."""
        self.system.realize(self, stage)
        return self

    # writing

    def __setitem__(self, path: str, value: Any) -> None:
        """Write a parameter, state, input or discrete variable, with its checks, and invalidate."""
        self.system.write(self, path, value)

    def set_time(self, time: float) -> None:
        """Set the time, s; invalidates stage Time."""
        if not np.isfinite(time):
            raise StateError(f"time is {time}, needs a finite number of seconds")
        self._time = float(time)
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
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (last - first,):
            raise StateError(f"{name} has shape {array.shape}, needs ({last - first},)")
        if not np.all(np.isfinite(array)):
            raise StateError(f"{name} holds {array[~np.isfinite(array)][0]}, needs finite numbers")
        self._arrays["y"][first:last] = array
        self.jumped = True
        self.invalidate(stage, f"set_{name}()")

    def invalidate(self, stage: Stage, by: str) -> None:
        """Drop below a stage; every stage that is lost gets a new version."""
        self.touched = None
        if self.stage >= stage:
            for lost in range(stage, self.stage + 1):
                self.versions[lost] += 1
            self.stage = stage.previous
            self._invalidated_by = by
        else:
            self.versions[stage] += 1

    def _advance(self, time: float) -> None:
        """For integrators: y is at `time` now and the cache is realized to Acceleration with it."""
        self._time = time
        self.versions[COMPUTED] = [version + 1 for version in self.versions[COMPUTED]]
        self.stage = Stage.ACCELERATION

    # whole States

    def copy(self) -> State:
        """An independent State with the same variables; its cache is invalid above Model."""
        twin = State.__new__(State)
        twin.__dict__.update(self.__dict__)
        twin._arrays = {name: array.copy() for name, array in self._arrays.items() if name != "c"}
        twin._arrays["c"] = self.system.new_cache()
        twin.integrator_memory, twin.agenda = self.integrator_memory.copy(), self.agenda.copy()
        twin.versions = list(self.versions)
        twin.touched = None
        twin.stage = min(self.stage, Stage.MODEL)
        twin._invalidated_by = "copy()"
        return twin

    def assign(self, other: State) -> None:
        """Take over all variables of another State of the same system."""
        if other.system is not self.system and other.system.digest != self.system.digest:
            raise StateError("the other State belongs to a different system")
        for name in "ypdk":
            self._arrays[name][:] = other._arrays[name]
        self._arrays["h"] = other._arrays["h"].copy()
        self.integrator_memory, self.agenda = other.integrator_memory.copy(), other.agenda.copy()
        self._time, self.accuracy, self.jumped = other._time, other.accuracy, other.jumped
        self.invalidate(Stage.INSTANCE, "assign()")

    def to_bytes(self) -> bytes:
        """All variables as bytes, versioned, without pickle; `System.state_from_bytes` reads them."""
        return state_bytes.pack(self)
