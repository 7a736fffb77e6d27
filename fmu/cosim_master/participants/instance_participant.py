"""InstanceParticipant: the base of participants that have an instance of an FMU."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import MadeFromOptions, ParticipantDescription
from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.binding.fmu_library import FmiError, new_instance
from cosim_fmi.binding.fmu_output import FmuLog, printed_to, serious_categories
from cosim_fmi.binding.process_guard import ProcessSettings, process_lock, undisturbed
from cosim_fmi.binding.statuses import OK
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.description.read_interface import read_interface
from cosim_fmi.event_inputs import EventInputs
from cosim_fmi.fmu_archive import FmuArchive
from cosim_fmi.fmu_clocks import FmuClocks
from cosim_fmi.instances import (
    FmuState,
    InstanceStates,
    KeptInstance,
    UnpackedFmu,
    probe_fmu,
    read_fmu,
    unpack_fmu,
)
from cosim_fmi.tools.own_fmus import is_self_contained
from cosim_fmi.variables.variable_access import VariableAccess
from cosim_master.abilities import InnerPoint, check_log_level


class InstanceParticipant(cosim.Participant, MadeFromOptions):
    """An FMU of FMI 1.0, 2.0 or 3.0; subclasses step it.

    The file is not trusted: `describe` reads it without loading anything, `initialize` unpacks it into
    a private folder (one for all instances of the file, `UnpackedFmu`), loads its library from there
    and leaves the instance in initialization mode, in which inputs and outputs are made consistent;
    `exit_initialization`, or else the first `step`, ends that mode. `close` terminates and frees the
    instance, unloads the library and gives up the folder. Rounding mode, floating-point traps and signal
    handlers are set back after loading, initialization, a failure and the end (`undisturbed`).

    After a call that failed, the instance is freed without being terminated; after one that reported
    *fatal* nothing of it is called any more. Both as FMI 2.0.4 says (section 2.1.3, figure 11).

    Messages name the file by `shown_path`: one inside an SSP is unpacked under a name that says nothing.

    Elements of arrays are variables of their own, ``matrix[1,2]``, counted from 1. Discrete variables and
    clocks are written in event mode, where the instance has one.
    """

    _interface_wanted: ClassVar[str]
    _states: InstanceStates
    """The saved states, as long as there is an instance."""

    def __init__(self, path: str | Path, name: str | None = None, *, wine: bool = False) -> None:
        self.path, self._wine = Path(path), wine
        self.name = name if name is not None else self.path.stem
        self.shown_path = str(path)
        self._interface: FmuInterface | None = None
        self._slot: FmuInstance | None = None  # the instance between `initialize` and `close`
        self._is_closed = False
        self._close_error = ""
        self._log = FmuLog()
        self._log_file: tuple[Path | None, str] = None, "warning"
        self._accesses: dict[tuple[str, ...], VariableAccess] = {}
        self._unpacked: UnpackedFmu | None = None
        self._watched: tuple[str, ...] = ()
        self._watched_at = "events"  # the argument `where` of `watch`
        self._points: list[InnerPoint] = []
        self._events = False  # whether the instance has an event mode
        self._created_clocks: FmuClocks | None = None
        self._created_event_inputs: EventInputs | None = None
        self._reuses_instance = False  # whether `close` leaves the instance in `_reusable`
        self._reusable = KeptInstance()

    def _store_arguments(self, positional: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        path, *arguments = positional or (keywords["path"],)
        options = {name: value for name, value in keywords.items() if name != "path"}
        self._make_copy = partial(type(self), Path(path).absolute(), *arguments, **options)

    def __reduce__(self) -> Any:
        """The recipe of a copy in another process, from the file and without a log."""
        return self._make_copy, ()

    def repeated(self) -> InstanceParticipant | None:
        """A copy with the same file, without a log; None if a run of the FMU may have effects outside."""
        interface = self.read_interface()
        if not is_self_contained(interface.tool, FmuArchive(self.path)):
            return None
        copy = self._make_copy()
        copy._interface = interface  # `configure` may have chosen sizes
        return copy

    def show_as(self, path: str) -> None:
        """Set the name of the file in messages."""
        self.shown_path = path

    # the description

    def describe(self) -> ParticipantDescription:
        """Read the description; nothing of the file is unpacked or loaded."""
        return self.read_interface().description

    def inspect(self) -> tuple[ParticipantDescription, list[str]]:
        """The description, even of an FMU that cannot run here, and remarks on interfaces and reasons."""
        interface, refusal = probe_fmu(self.path, self._interface_wanted, self._wine)
        remarks = []
        if not interface.is_model_exchange and "ModelExchange" in interface.interfaces:
            remarks.append("offers Model Exchange, too: with options = { integrator = … }")
        if refusal:
            remarks.append(f"cannot run here: {refusal}")
        return interface.description, remarks

    def configure(self, sizes: Mapping[str, Any]) -> None:
        """Receive values of structural parameters, which decide the sizes of arrays, before `describe`.

        Parameters
        ----------
        sizes : mapping of str to int
            Start values; those of other variables are ignored.
        """
        structural = self.describe().structural
        known_sizes = {name: value for name, value in sizes.items() if name in structural}
        if known_sizes:
            self._interface = read_interface(FmuArchive(self.path), self._interface_wanted, known_sizes)

    def read_interface(self) -> FmuInterface:
        """The interface of the FMU, which is read once."""
        if self._interface is None:
            self._interface = read_fmu(self.path, self._interface_wanted, self._wine)[1]
        return self._interface

    # settings before a run, and what was printed

    def write_log(self, file: Path | None, level: str = "warning") -> None:
        """Receive the file for messages of the FMU, and their level, before `initialize`.

        Parameters
        ----------
        file : Path or None
            Written anew at `initialize`.
        level : str
            "all" (with all categories of the FMU switched on), "warning" or "error".

        Raises
        ------
        ModelError
            There is no such level.
        """
        check_log_level(level)
        self._log_file = file, level

    def reuse_instance(self, keep: bool = True) -> None:
        """Let `close` keep the instance after a run that went well, so that `initialize` only resets it.

        The caller has to check that the FMU behaves after a reset as a new instance does.

        Parameters
        ----------
        keep : bool
            False discards an instance that is kept.
        """
        self._reuses_instance = keep
        if not keep:
            self._reusable.discard()

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Variables whose values are stored on both sides of events; at "steps" also at inner steps."""
        self._watched, self._watched_at = tuple(names), where

    @property
    def messages(self) -> list[str]:
        """The last hundred log messages of the FMU."""
        return [text for _, text in self._log.messages]

    def log_printed(self, text: str, by: Sequence[str] = ()) -> None:
        """Append printed text to the log of the FMU.

        Parameters
        ----------
        text : str
        by : sequence of str
            The participants one of which has printed it, if it is not known which.
        """
        owners = f" by {' or '.join(by)}" if by else ""
        for line in text.splitlines():
            self._log.add(OK, f"printed{owners}: {line}")

    # initialization

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Unpack, load, instantiate and enter initialization mode at `start` (s)."""
        if self._slot is not None:
            raise self._error(f"initialize was called before; the instance is {self._mode}: close it first")
        interface = self.read_interface()
        self._check_starts(interface, values)
        self._log, self._points = self._new_log(), []
        self._created_event_inputs = None
        if tolerance is None:
            tolerance = interface.description.default_experiment.tolerance
        with process_lock:
            self._settings = ProcessSettings()
            try:
                try:
                    with printed_to(self.log_printed):
                        self._load(interface, start, stop, tolerance, values)
                finally:
                    self._settings.set_back(self._library_path())
            except BaseException:
                self.close()
                raise

    def _check_starts(self, interface: FmuInterface, values: Mapping[str, Any]) -> None:
        for name in values:
            if name not in interface.elements:
                raise cosim.LookUpError(f"variable of {self.shown_path}", name, interface.elements)
            if name not in (interface.description.settable or ()):
                causality = interface.description.variables[name].causality
                raise self._error(f"{name} takes no start value: its causality is {causality}")

    def _new_log(self) -> FmuLog:
        file, level = self._log_file
        try:
            return FmuLog(file, level)
        except OSError as error:
            raise cosim.FmuError(
                self.shown_path, f"its log {file} cannot be written: {error.strerror}"
            ) from error

    def _load(
        self,
        interface: FmuInterface,
        start: float,
        stop: float | None,
        tolerance: float | None,
        values: Mapping[str, Any],
    ) -> None:
        """Load the library and enter initialization mode."""
        self._instantiate(interface)
        self._created_clocks = None
        self._guard(self._instance.setup, start, stop, tolerance)
        self._set_starts(interface, values)
        self._guard(self._instance.enter_initialization_mode)

    def _instantiate(self, interface: FmuInterface) -> None:
        """Reset the instance of the previous run, or make one and choose the categories that it logs."""
        self._unpacked = unpack_fmu(self.path, self._wine)
        self._reuse_key = interface, self._log_file, self._watched, self._watched_at
        instance = self._reusable.reset(self._unpacked, self._reuse_key, self._log.add)
        is_new = instance is None
        if instance is None:
            library = self._guard(self._unpacked.library, interface)
            instance = new_instance(library, self._log.add)
        self._slot, self._states = instance, InstanceStates(instance, self, self._guard)
        if not is_new:
            return
        file, level = self._log_file
        logs_all = file is not None and level == "all"
        # an empty list switches all categories on, None switches none on
        categories = [] if logs_all else serious_categories(interface.log_categories)
        self._guard(self._create, instance, interface, categories == [] or interface.version == "3.0")
        if categories or (categories == [] and interface.version == "2.0"):
            with suppress(FmiError):
                instance.log_categories(categories)

    def _create(self, instance: FmuInstance, interface: FmuInterface, logging: bool) -> None:
        assert self._unpacked is not None
        instance.instantiate(self.name, interface.guid, self._unpacked.folder, logging=logging)

    def _set_starts(self, interface: FmuInterface, values: Mapping[str, Any]) -> None:
        """Write start values; those of structural parameters in configuration mode, before all others."""
        structural = [name for name in values if name in interface.description.structural]
        if structural:
            self._guard(self._instance.enter_configuration_mode)
            for name in structural:
                self.set([name], [values[name]])
            self._guard(self._instance.exit_configuration_mode)
        plain = [name for name in values if name not in structural]
        if plain:
            self.set(plain, [values[name] for name in plain])

    def exit_initialization(self) -> None:
        """End initialization mode, and the event mode that follows where there is one."""
        if self._mode == modes.INITIALIZING:
            with undisturbed(self._library_path), printed_to(self.log_printed):
                self._guard(self._instance.exit_initialization_mode)
                self._enter_stepped_mode()

    def _enter_stepped_mode(self) -> None:
        """Pass from initialization mode to the mode in which the instance is stepped."""

    # values

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write variables of any type; discrete ones in event mode, where the instance has one."""
        event_names = self._event_mode_names(tuple(names))
        if not event_names:
            self._write(names, values)
            return
        value_of = dict(zip(names, values, strict=True))
        plain = {name: value_of[name] for name in names if name not in event_names}
        if plain:
            self._write(list(plain), list(plain.values()))
        self._event_inputs.write({name: value_of[name] for name in names if name in event_names})

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Read variables: an array when all are real, else a list."""
        return self._values(names, lambda name: self._clocks.read(name))

    def _event_mode_names(self, names: tuple[str, ...]) -> frozenset[str]:
        """The names of variables that are written in event mode."""
        return self._event_inputs.select_event_mode(names) if self._events else frozenset()

    def _values(self, names: Sequence[str], ticks: Callable[[str], bool]) -> NDArray[np.float64] | list[Any]:
        """Values of variables; of a clock that of `ticks`, of a binary output the last message."""
        clocks = self.read_interface().clocks
        if not clocks:
            return self._read(names)
        clock_values: dict[str, Any] = {name: ticks(name) for name in names if name in clocks}
        for name in names:
            if (message := self._clocks.message(name)) is not None:
                clock_values[name] = message
        plain = [name for name in names if name not in clock_values]
        if len(plain) == len(names):
            return self._read(names)
        plain_values = dict(zip(plain, self._read(plain) if plain else (), strict=True))
        return [clock_values[name] if name in clock_values else plain_values[name] for name in names]

    def _present(self, names: Sequence[str]) -> list[Any]:
        """Values as the instance has them now, in whatever mode it is."""
        return list(self._values(names, lambda name: name in self._clocks.ticked))

    def _read(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        access = self._access(tuple(names))
        try:
            return access.read()
        except cosim.CosimError:
            raise
        except Exception as error:
            raise self._failure(error) from error

    def _write(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        access = self._access(tuple(names))
        try:
            access.write(values)
        except ValueError as error:
            raise self._error(str(error)) from None
        except Exception as error:
            raise self._failure(error) from error

    def _access(self, names: tuple[str, ...]) -> VariableAccess:
        """The access to these variables in this order, made once."""
        access = self._accesses.get(names)
        if access is None:
            instance, interface = self._instance, self.read_interface()
            for name in names:
                if name not in interface.elements:
                    raise cosim.LookUpError(f"variable of {self.shown_path}", name, interface.elements)
            access = self._accesses[names] = VariableAccess(instance, names, interface.elements)
        return access

    def directional_derivative(
        self, outputs: Sequence[str], inputs: Sequence[str], seed: Sequence[float]
    ) -> Sequence[float]:
        """The derivatives along a direction of real inputs; only if the FMU provides them."""
        self._need_ability("has_derivatives", "give derivatives", "providesDirectionalDerivative")
        elements = self.read_interface().elements
        unknowns, knowns = ([elements[name].reference for name in names] for names in (outputs, inputs))
        signed_seed = [elements[name].sign * float(x) for name, x in zip(inputs, seed, strict=True)]
        slopes = self._guard(self._instance.directional_derivative, unknowns, knowns, signed_seed)
        return [elements[name].sign * x for name, x in zip(outputs, slopes, strict=True)]

    # events inside a step

    def inside(self) -> Sequence[InnerPoint]:
        """Values at events since the last call."""
        points, self._points = self._points, []
        return points

    def _store_values(self, time: float) -> None:
        """Store the present values."""
        if self._watched:
            self._points.append(InnerPoint(time, self._watched, self._present(self._watched)))

    @property
    def _clocks(self) -> FmuClocks:
        """The clocks of the instance, created when they are first needed: most FMUs have none."""
        if self._created_clocks is None:
            self._created_clocks = FmuClocks.of(self._instance, self.read_interface())
        return self._created_clocks

    @property
    def _event_inputs(self) -> EventInputs:
        """The inputs that are written in event mode, created when there is one."""
        if self._created_event_inputs is None:
            self._created_event_inputs = EventInputs(
                self.read_interface(), self._instance, self._clocks, self._write, self._guard
            )
        return self._created_event_inputs

    def _forget_written(self) -> None:
        """Let inputs of event mode be written again even if they are equal, since a state was restored."""
        if self._created_event_inputs is not None:
            self._created_event_inputs.written.clear()

    # states

    def save(self) -> Any:
        """The whole state of the instance, in its own memory."""
        self._need_ability("can_restore", "save its state", "canGetAndSetFMUstate")
        return self._states.save()

    def restore(self, token: Any) -> None:
        """Restore a state that this instance saved, or that was made of bytes."""
        if not isinstance(token, FmuState) or token.owner is not self:
            raise self._error("this state was not saved by this instance")
        self._need_ability("can_restore", "restore a state", "canGetAndSetFMUstate")
        self._states.restore(token)
        self._forget_written()

    def serialize(self, token: Any) -> bytes:
        """A saved state as bytes of the FMU's own format, after one byte for the mode."""
        self._need_ability("can_serialize", "serialize its state", "canSerializeFMUstate")
        return self._states.serialize(token)

    def deserialize(self, data: bytes) -> Any:
        """The token that `serialize` was given, for `restore` of this or another instance of the same FMU."""
        self._need_ability("can_serialize", "deserialize a state", "canSerializeFMUstate")
        token = self._states.deserialize(data)
        if token is None:
            raise self._error("these bytes are no serialized state of an FMU")
        return token

    # compiled calls

    @property
    def native_types(self) -> tuple[str, ...]:
        """The types of variables besides reals that `native_calls` accepts."""
        return ("integer", "boolean")

    @property
    def least_native_steps(self) -> int:
        """0, since the functions of the FMU need no preparation."""
        return 0

    def _after_state(self, verb: str, status: int) -> None:
        """Raise what `save` or `restore` would have raised."""
        self._states.check_native_call(verb, status)

    # the end

    def close(self) -> None:
        """Terminate, free, unload, remove the folder; whatever fails of it, the rest is done."""
        instance, self._slot, self._is_closed = self._slot, None, True
        self._close_error = ""
        self._accesses.clear()
        try:
            if instance is not None:
                with process_lock:
                    self._end(instance)
        finally:
            with process_lock:  # the library may be unloaded
                self._unpacked = None
            self._log.close()

    def close_error(self) -> str:
        """The error of the FMU when it was terminated; "" if there was none."""
        return self._close_error

    def _end(self, instance: FmuInstance) -> None:
        """Release the instance or keep it for the next run, and put the settings of the process back."""
        if instance.mode != modes.FATAL or instance.untold is not None:
            with printed_to(self.log_printed):
                self._release(instance)
        if self._reuses_instance and instance.mode == modes.TERMINATED and self._unpacked is not None:
            self._reusable.store(instance, self._unpacked, self._reuse_key)
        self._settings.set_back(str(instance.library.path), only_its_own=True)

    def _release(self, instance: FmuInstance) -> None:
        """Free the saved states, terminate, and free the instance unless it is reused."""
        self._states.free_all()
        if instance.mode in modes.RUNNING:
            try:
                instance.terminate()
            except FmiError as error:
                self._close_error = str(self._error(str(error), error.function))
        elif instance.untold is not None:
            self._close_error = str(self._error(str(instance.untold), instance.untold.function))
        if not (self._reuses_instance and instance.mode == modes.TERMINATED):
            with suppress(Exception):
                instance.free()

    # the instance, and errors of its calls

    @property
    def _instance(self) -> FmuInstance:
        if self._slot is None:
            raise self._error(f"has no instance: it is {self._mode}")
        return self._slot

    @property
    def _mode(self) -> str:
        if self._slot is None:
            return "closed" if self._is_closed else modes.NEW
        return self._slot.mode

    def _library_path(self) -> str:
        return "" if self._slot is None else str(self._slot.library.path)

    def _guard(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; whatever it raises becomes an error of this FMU."""
        try:
            return action(*arguments)
        except cosim.CosimError:
            raise
        except Exception as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception, function: str = "") -> cosim.CosimError:
        """The error to raise for a failed call; `function` names it if the error itself does not."""
        if isinstance(error, cosim.CosimError):
            return error
        if self._slot is not None:
            self._settings.set_back(self._library_path(), only_its_own=True)
        if isinstance(error, FmiError):
            return self._error(str(error), error.function or function)
        if self._slot is not None and self._slot.mode != modes.FATAL:
            self._slot.mode = modes.FAILED
        is_sentence = type(error) is RuntimeError  # of this package, which needs no name of its class
        return self._error(str(error) if is_sentence else f"{type(error).__name__}: {error}", function)

    def _error(self, text: str, function: str = "") -> cosim.FmuError:
        logged = self._log.text()
        return cosim.FmuError(self.shown_path, text + (f". It logged: {logged}" if logged else ""), function)

    def _need_ability(self, ability: str, action: str, attribute: str) -> None:
        """Raise an error if the model description lacks the attribute that an ability follows from."""
        if self._instance and not getattr(self.describe(), ability):
            raise self._error(f"cannot {action}: its model description does not declare {attribute}")

    def _why_it_stops(self) -> str:
        """The reason of an FMU that has asked for the end of the run."""
        return self._log.text(1) or "the FMU asked to stop"

    def _check_mode(self, allowed_modes: Container[str]) -> None:
        """Raise an error if the instance is not in a mode in which it steps."""
        instance = self._instance
        if instance.mode in allowed_modes:
            return
        if instance.failure is not None:
            instance.untold = None
            raise self._failure(instance.failure)
        raise self._error(f"cannot step: the instance is {instance.mode}")
