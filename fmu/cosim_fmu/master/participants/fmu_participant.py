"""An FMU for FMI 2.0 Co-Simulation as a participant."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import InnerPoint, NativeCalls, ParticipantDescription
from cosim_fmu.master.participants import fmu_log
from cosim_fmu.master.participants.fmu_interface import FmuInterface
from cosim_fmu.master.participants.fmu_library import load_library
from cosim_fmu.master.participants.fmu_state import FmuState
from cosim_fmu.master.participants.unpacked_fmu import UnpackedFmu, look_at_fmu, read_fmu, unpack_fmu
from cosim_fmu.master.participants.variable_access import VariableAccess
from cosim_fmu.master.step_discarded import StepDiscarded
from cosim_fmu.master.stop_requested import StopRequested

DISCARD, ERROR, FATAL, PENDING = 2, 3, 4, 5
LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3


class FmuParticipant(cosim.Participant):
    """A Co-Simulation FMU (FMI 2.0), bound with fmpy.

    The file is not trusted: `describe` looks at it without loading anything, `initialize` unpacks it into
    a private folder (one for all instances of the file, `UnpackedFmu`), loads its library from there
    and leaves the instance in initialization mode, in which inputs and outputs are made consistent;
    `exit_initialization`, or else the first `step`, ends that mode. `close` terminates and frees the
    instance, unloads the library and gives up the folder.

    After a call that failed, the instance is freed without being terminated; after one that reported
    *fatal* nothing of it is called any more. Both as FMI 2.0.4 says (section 2.1.3, figure 11).

    Parameters
    ----------
    path : str or Path
        The .fmu file.
    name : str, optional
        Name of the instance; the file's name when not given.

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
    _names: Mapping[str, str] = {
        "exit_initialization": "fmi2ExitInitializationMode",
        "get_state": "fmi2GetFMUstate",
        "set_state": "fmi2SetFMUstate",
        "serialize": "fmi2SerializeFMUstate",
        "deserialize": "fmi2DeSerializeFMUstate",
    }
    _methods: Mapping[str, str] = {
        "get": "getFMUstate",
        "set": "setFMUstate",
        "serialize": "serializeFMUstate",
        "deserialize": "deSerializeFMUstate",
        "free": "freeFMUstate",
    }

    def __init__(self, path: str | Path, name: str | None = None) -> None:
        self.path = Path(path)
        self.name = name if name is not None else self.path.stem
        self._interface: FmuInterface | None = None
        self._slave: Any = None
        self._mode = "new"  # new, instantiated, initializing, stepping, failed, fatal, closed
        self._log = fmu_log.FmuLog()
        self._accesses: dict[tuple[str, ...], Any] = {}
        self._states: weakref.WeakSet[FmuState] = weakref.WeakSet()
        self._usual_size = 0.0
        self._unpacked: UnpackedFmu | None = None
        self._watched: tuple[str, ...] = ()
        self._watched_at = "events"
        self._points: list[InnerPoint] = []

    @property
    def messages(self) -> list[str]:
        """What the FMU has logged, the last hundred messages."""
        return [text for _, text in self._log.messages]

    def describe(self) -> ParticipantDescription:
        """Look at the file; nothing of it is unpacked or loaded."""
        return self._read_interface().description

    def inspect(self) -> tuple[ParticipantDescription, list[str]]:
        """As `describe`, also for an FMU that cannot run here; and remarks on what it offers, and why not."""
        interface, refusal = look_at_fmu(self.path, self._interface_wanted)
        both = not interface.model_exchange and "ModelExchange" in interface.offers
        remarks = ["offers Model Exchange, too: with options = { integrator = … }"] * both
        return interface.description, remarks + [f"cannot run here: {refusal}"] * bool(refusal)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        interface = self._begin(values)
        try:
            self._instantiate(interface)
            self._call("fmi2SetupExperiment", lambda: self._slave.setupExperiment(tolerance, start, stop))
            if values:
                self.set(list(values), list(values.values()))
            self._call("fmi2EnterInitializationMode", self._slave.enterInitializationMode)
            self._mode = "initializing"
        except BaseException:
            self.close()
            raise

    def _begin(self, values: Mapping[str, Any]) -> FmuInterface:
        if self._mode not in ("new", "closed"):
            raise self._error(f"initialize was called before; the instance is {self._mode}: close it first")
        self._log, self._usual_size = fmu_log.FmuLog(), 0.0
        self._points = []
        interface = self._read_interface()
        self._check_starts(interface, values)
        return interface

    def exit_initialization(self) -> None:
        """End initialization mode; after it, outputs are those of the initialized model."""
        if self._mode == "initializing":
            self._end_initialization()

    def _end_initialization(self) -> None:
        self._call(self._names["exit_initialization"], self._slave.exitInitializationMode)
        self._mode = "stepping"

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables of any of the four types."""
        access = self._access(tuple(names))
        try:
            access.write(values)
        except ValueError as error:
            raise self._error(str(error)) from None
        except Exception as error:
            raise self._failure(error) from error

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Read variables: an array when all are real, else a list."""
        access = self._access(tuple(names))
        try:
            return access.read()
        except Exception as error:
            raise self._failure(error) from error

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Variables whose values are kept at both sides of events, and where it steps inside a step."""
        self._watched, self._watched_at = tuple(names), where

    def inside(self) -> Sequence[InnerPoint]:
        """Values at events since the last call."""
        found, self._points = self._points, []
        return found

    def _note(self, time: float) -> None:
        """Keep the present values."""
        if self._watched:
            self._points.append(InnerPoint(time, self._watched, self._present(self._watched)))

    def _present(self, names: Sequence[str]) -> list[Any]:
        """Values as the instance has them now, in whatever mode it is."""
        return list(FmuParticipant.get(self, names))

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of real inputs over the next step, per s."""
        self._need_ability("follows_slopes", "follow slopes of its inputs", "canInterpolateInputs")
        assert self._interface is not None
        references = [self._interface.references[name] for name in names]
        orders, values = [1] * len(references), list(slopes)
        self._call(
            "fmi2SetRealInputDerivatives",
            lambda: self._slave.setRealInputDerivatives(references, orders, values),
        )

    def directional_derivative(
        self, outputs: Sequence[str], inputs: Sequence[str], seed: Sequence[float]
    ) -> Sequence[float]:
        """Along a direction of real inputs; only when the FMU provides directional derivatives."""
        self._need_ability("has_derivatives", "give derivatives", "providesDirectionalDerivative")
        references = self._read_interface().references
        of, by = ([references[name] for name in names] for names in (outputs, inputs))
        found: Sequence[float] = self._call(
            "GetDirectionalDerivative",
            lambda: self._slave.getDirectionalDerivative(of, by, list(map(float, seed))),
        )
        return found

    def step(self, time: float, size: float) -> float:
        """Call fmi2DoStep; a discarded step gives the time that the FMU says it has reached.

        Raises
        ------
        StopRequested
            When the FMU discards the step because it wants the simulation to end.
        """
        if self._mode == "initializing":
            self.exit_initialization()
        if self._mode != "stepping":
            raise self._error(f"cannot step: the instance is {self._mode}")
        self._log.begin()
        try:
            # the last one: "no state before this point is restored". Some take 0 for a step to be repeated
            self._slave.fmi2DoStep(self._slave.component, time, self._size(size), 1)
        except Exception as error:
            if getattr(error, "status", None) != DISCARD:
                raise self._failure(error) from error
            return self._reached(time, size)
        return time + size

    @property
    def least_native_steps(self) -> int:
        """The loop over C functions is at hand at once."""
        return 0

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Where compiled code finds the functions that write, advance and read; all variables are real.

        None when the library does not export one of them.

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            Where FMI 3.0 tells after a step what it asks for; last a time (s) beyond which `step` is called.
        """
        return self._addresses(("fmi2SetReal", "fmi2DoStep", "fmi2GetReal"), inputs, reads)

    def _addresses(
        self, functions_of: Sequence[str], inputs: Sequence[str], reads: Sequence[str]
    ) -> NativeCalls | None:
        from ctypes import addressof, c_uint, c_void_p, cast

        self.exit_initialization()
        library = self._slave.dll
        functions = [getattr(library, name) for name in functions_of]
        if not all(hasattr(function, "argtypes") for function in functions):
            return None
        assert self._interface is not None
        references = self._interface.references
        written = (c_uint * max(1, len(inputs)))(*[references[name] for name in inputs])
        read = (c_uint * max(1, len(reads)))(*[references[name] for name in reads])
        self._log.begin()
        set_real, do_step, get_real = (int(cast(f, c_void_p).value or 0) for f in functions)
        return NativeCalls(
            instance=int(self._slave.component),
            set=set_real,
            step=do_step,
            get=get_real,
            input_references=addressof(written),
            output_references=addressof(read),
            same_size=not self._interface.variable_step,
            keep=(written, read),
        )

    def resume_native(self) -> None:
        """Nothing is kept from step to step."""

    def after_native_step(self, status: int, time: float, size: float) -> float:
        """What `step` would have done about a status of fmi2DoStep that is not OK."""
        if status != DISCARD:
            raise self._native_failure("fmi2DoStep", status)
        return self._reached(time, size)

    def after_native_access(self, verb: str, status: int) -> None:
        """Raise what `set` or `get` would have raised."""
        raise self._native_failure(f"fmi2{verb}Real", status)

    def _native_failure(self, function: str, status: int) -> cosim.FmuError:
        from fmpy.fmi1 import FMICallException

        return self._failure(FMICallException(function=function, status=status), function)

    def save(self) -> FmuState:
        """The whole state of the instance, in its own memory."""
        self._need_ability("can_restore", "save its state", "canGetAndSetFMUstate")
        handle = self._call(self._names["get_state"], self._state_function("get"))
        return self._token(handle)

    def restore(self, token: FmuState) -> None:
        """Go back to a state that this instance saved."""
        if not isinstance(token, FmuState) or token.owner is not self:
            raise self._error("this state was not saved by this instance")
        self._need_ability("can_restore", "restore a state", "canGetAndSetFMUstate")
        self._call(self._names["set_state"], lambda: self._state_function("set")(token.handle))
        self._mode = "initializing" if token.initializing else "stepping"

    def serialize(self, token: FmuState) -> bytes:
        """A saved state as bytes of the FMU's own format, after one byte for the mode."""
        self._need_ability("can_serialize", "serialize its state", "canSerializeFMUstate")
        data: bytes = self._call(
            self._names["serialize"], lambda: self._state_function("serialize")(token.handle)
        )
        return (b"\1" if token.initializing else b"\0") + data

    def deserialize(self, data: bytes) -> FmuState:
        """The token that `serialize` was given, for `restore` of this or another instance of the same FMU."""
        self._need_ability("can_serialize", "deserialize a state", "canSerializeFMUstate")
        if len(data) < 2 or data[:1] not in (b"\0", b"\1"):
            raise self._error("these bytes are no serialized state of an FMU")
        handle = self._call(self._names["deserialize"], lambda: self._state_function("deserialize")(data[1:]))
        token = self._token(handle)
        token.initializing = data[:1] == b"\1"
        return token

    def close(self) -> None:
        """Terminate, free, unload, remove the folder; whatever fails of it, the rest is done."""
        slave, mode = self._slave, self._mode
        self._slave, self._mode = None, "closed"
        self._accesses.clear()
        try:
            if slave is not None and mode != "fatal":
                self._release(slave, mode)
        finally:
            self._unpacked = None

    def _release(self, slave: Any, mode: str) -> None:
        try:
            if slave.component is not None:
                for token in list(self._states):
                    token.free()
                if mode == "stepping":
                    with suppress(Exception):
                        slave.terminate()
                with suppress(Exception):
                    self._free_instance(slave)
        finally:
            slave.component = None
            with suppress(Exception):
                slave.freeLibrary()

    def _read_interface(self) -> FmuInterface:
        if self._interface is None:
            self._interface = read_fmu(self.path, self._interface_wanted)[1]
        return self._interface

    def _check_starts(self, interface: FmuInterface, values: Mapping[str, Any]) -> None:
        for name in values:
            if name not in interface.references:
                raise cosim.LookUpError(f"variable of {self.path}", name, interface.references)
            if name not in (interface.description.settable or ()):
                causality = interface.description.variables[name].causality
                raise self._error(f"{name} takes no start value: its causality is {causality}")

    def _instantiate(self, interface: FmuInterface) -> None:
        from ctypes import byref

        from fmpy import calloc, free
        from fmpy.fmi2 import (
            fmi2CallbackAllocateMemoryTYPE,
            fmi2CallbackFreeMemoryTYPE,
            fmi2CallbackFunctions,
            fmi2StepFinishedTYPE,
        )
        from fmpy.logging import addLoggerProxy

        self._unpacked = unpack_fmu(self.path)
        folder = self._unpacked.folder
        slave = self._load(folder, interface)
        self._slave, self._mode = slave, "instantiated"
        callbacks = fmi2CallbackFunctions()
        callbacks.logger = fmu_log.callback()
        callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(free)
        callbacks.stepFinished = fmi2StepFinishedTYPE()
        callbacks.componentEnvironment = self._log.number
        addLoggerProxy(byref(callbacks))
        categories = fmu_log.serious_categories(interface.log_categories)
        try:
            slave.instantiate(callbacks=callbacks, loggingOn=categories == [])
        except Exception as error:
            if isinstance(error, cosim.FmuError):
                raise
            raise self._error("the FMU refused to be instantiated", "fmi2Instantiate") from error
        if categories is not None:
            with suppress(Exception):
                slave.setDebugLogging(True, categories)

    def _size(self, size: float) -> float:
        """An FMU that cannot vary its step gets the very same number each time, not one an ulp away."""
        assert self._interface is not None
        if self._interface.variable_step:
            return size
        if abs(size - self._usual_size) > 1e-9 * size:
            self._usual_size = size
        return self._usual_size

    def _reached(self, time: float, size: float) -> float:
        """After a discarded step: how far the FMU came."""
        stopped, reached = False, time
        with suppress(Exception):
            stopped = self._slave.getBooleanStatus(TERMINATED)
        with suppress(Exception):
            reached = float(self._slave.getRealStatus(LAST_SUCCESSFUL_TIME))
        reached = reached if time <= reached <= time + size else time
        if stopped and not self._log.has_error():
            raise StopRequested(reached, self._log.text(1) or "the FMU asked to stop")
        return self._discarded(time, size, reached, "fmi2DoStep")

    def _discarded(self, time: float, size: float, reached: float, function: str) -> float:
        """What a discarded step has reached, or the error that it has reached nothing."""
        if time < reached < time + size:  # a full step is not to be discarded
            self._note(reached)
            return reached
        hint = ": take a smaller communication step"
        if self.describe().can_restore:
            hint += ', or the algorithm "adaptive_step", which tries smaller ones where this happens'
        text = f"the step from t = {time:.9g} s by {size:g} s was discarded{hint}"
        said = self._log.text()
        raise StepDiscarded(str(self.path), text + (f". It logged: {said}" if said else ""), function)

    def _access(self, names: tuple[str, ...]) -> Any:
        access = self._accesses.get(names)
        if access is None:
            if self._slave is None:
                raise self._error(f"has no instance: it is {self._mode}")
            assert self._interface is not None
            variables = self._interface.description.variables
            for name in names:
                if name not in variables:
                    raise cosim.LookUpError(f"variable of {self.path}", name, variables)
            access = self._accesses[names] = self._make_access(names)
        return access

    def _make_access(self, names: tuple[str, ...]) -> Any:
        interface = self._read_interface()
        types = {name: interface.description.variables[name].type for name in names}
        return VariableAccess(self._slave, names, types, interface.references)

    def _load(self, folder: Path, interface: FmuInterface) -> Any:
        what = "ModelExchange" if interface.model_exchange else "CoSimulation"
        names = interface.identifier, interface.guid, self.name
        return load_library(str(self.path), folder, interface.version, what, *names)

    def _free_instance(self, slave: Any) -> None:
        slave.fmi2FreeInstance(slave.component)

    def _state_function(self, verb: str) -> Any:
        """Fmpy's method for the state of the instance."""
        return getattr(self._slave, self._methods[verb])

    def _token(self, handle: Any) -> FmuState:
        free = self._state_function("free")
        token = FmuState(handle, self._mode == "initializing", self, self._slave, free)
        self._states.add(token)
        return token

    def _need_ability(self, ability: str, what: str, attribute: str) -> None:
        if self._slave is None:
            raise self._error(f"has no instance: it is {self._mode}")
        if not getattr(self.describe(), ability):
            raise self._error(f"cannot {what}: its model description does not declare {attribute}")

    def _call(self, function: str, action: Any) -> Any:
        try:
            return action()
        except Exception as error:
            raise self._failure(error, function) from error

    def _failure(self, error: Exception, function: str = "") -> cosim.FmuError:
        """What a failed call means for the instance, and the error to raise."""
        if isinstance(error, cosim.FmuError):
            return self._error("the library does not export this function", error.function)
        status = getattr(error, "status", None)
        if status is None:
            self._mode = "failed"
            own = type(error) is RuntimeError  # a sentence of ours
            return self._error(str(error) if own else f"{type(error).__name__}: {error}", function)
        self._mode = "fatal" if status == FATAL else "failed"
        what = (
            "returned pending, but asynchronous steps are not supported"
            if status == PENDING
            else (f"failed with status {fmu_log.STATUS[status] if 0 <= status < 6 else status}")
        )
        return self._error(what, getattr(error, "function", function))

    def _error(self, text: str, function: str = "") -> cosim.FmuError:
        said = self._log.text()
        return cosim.FmuError(str(self.path), text + (f". It logged: {said}" if said else ""), function)
