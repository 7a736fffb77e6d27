"""Participants of a Python file beside a scenario, and single components."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.abilities import InnerPoint
from cosim_master.native_calls import NativeCalls
from cosim_master.participants.create_participants import create_participants
from cosim_master.participants.system_participant import SystemParticipant

WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class ComponentParticipant(SystemParticipant):
    """A component alone: its variables have the names that the class declares (``controller.gain``).

    It runs as a system of this one component does.

    Parameters
    ----------
    component : type of Component
    **options
        Its parameters, start values and attachments, as for `Model.add`.

    Raises
    ------
    ModelError
        The component cannot be made with these options.

    Examples
    --------
    >>> class Doubler(cosim.Component):
    ...     "y = 2 u"
    ...
    ...     u = cosim.input()
    ...     y = cosim.output()
    ...
    ...     def law(self, u, y):
    ...         y[0] = 2.0 * u
    >>> sorted(ComponentParticipant(Doubler).describe().variables)
    ['u', 'y']
    """

    def __init__(self, component: type[cosim.Component], **options: Any) -> None:
        name = WORD_BEGINS.sub("_", component.__name__).lower()
        model = cosim.Model(name)
        model.add(component, name, **options)
        super().__init__(model)
        self._prefix = f"{name}."

    def describe(self) -> ParticipantDescription:
        """Variables, feedthrough and abilities, under the names of the class."""
        if self._description is None:
            self._description = self._renamed(super().describe())
        return self._description

    def _renamed(self, inner: ParticipantDescription) -> ParticipantDescription:
        own = self._own
        return replace(
            inner,
            variables={own(name): replace(v, name=own(name)) for name, v in inner.variables.items()},
            feedthrough={
                own(name): frozenset(map(own, inputs)) for name, inputs in (inner.feedthrough or {}).items()
            },
            settable=frozenset(map(own, inner.settable or ())),
            tunable=frozenset(map(own, inner.tunable)),
            readable=frozenset(map(own, inner.readable)),
            discrete=frozenset(map(own, inner.discrete)),
            states=tuple(map(own, inner.states)),
            arrays={own(n): (shape, tuple(map(own, names))) for n, (shape, names) in inner.arrays.items()},
        )

    def _own(self, path: str) -> str:
        """The name of a variable of the system."""
        return path.removeprefix(self._prefix)

    def path_of(self, name: str) -> str:
        """The path in the system of a variable, which is its name in an exported FMU."""
        path = self._prefix + name
        return path if path.partition("[")[0] in self.system.variables else name

    def _paths(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.path_of, names))

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls:
        """The functions of the system."""
        return super().native_calls(self._paths(inputs), self._paths(reads), flags)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Make a State at `start` (s) with these values."""
        super().initialize(start, stop, {self.path_of(n): v for n, v in values.items()}, tolerance)

    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write inputs."""
        super().set(self._paths(names), values)

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Let inputs run along lines over the next step, per s."""
        super().set_slopes(self._paths(names), slopes)

    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Values at the present time."""
        return super().get(self._paths(names))

    def watch(self, names: Sequence[str], where: str = "events") -> None:
        """Variables whose values are kept between communication points."""
        super().watch(self._paths(names), where)

    def inside(self) -> Sequence[InnerPoint]:
        """Values at events since the last call."""
        names = tuple(map(self._own, self._watched))
        return [point._replace(names=names) for point in super().inside()]

    def export_fmu(self, path: Path, also: Sequence[str] = (), **options: Any) -> Path:
        """Write the system as an FMU, whose variables have the paths of the system."""
        return super().export_fmu(path, self._paths(also), **options)


REFERENCE = re.compile(r"([A-Za-z_]\w*):([A-Za-z_]\w*)")
LARGEST = 1 << 20
"""Bytes of a Python file."""


def python_reference(text: str, folder: Path) -> tuple[Path, str] | None:
    """The file and the name in it that ``controller:Thermostat`` says; None for what says no such thing."""
    match = REFERENCE.fullmatch(text)
    return None if match is None else (folder / f"{match[1]}.py", match[2])


def python_participant(path: Path, name: str, **options: Any) -> cosim.Participant:
    """The participant that a class or function of a Python file makes.

    The file is loaded by its path: nothing is looked for on Python's search path, and its folder is not put
    there.

    Parameters
    ----------
    path : Path
    name : str
        A component; a class of participants; a function that gives a participant, a system or a model.
    **options
        Arguments of the class or function.

    Raises
    ------
    ModelError
        There is no such file or name, the file raises an error, or what was made is not a participant.
    """
    module = _loaded(path)
    if not callable(make := getattr(module, name, None)):
        own_names = {n: None for n, v in vars(module).items() if _is_own(v, module)}
        text = str(cosim.LookUpError("class or function", name, own_names))
        raise cosim.ModelError.of(str(path), text)
    if isinstance(make, type) and issubclass(make, cosim.Component):
        return ComponentParticipant(make, **options)
    value = _called(path, name, make, options)
    if isinstance(value, (str, Path)):
        raise cosim.ModelError.of(str(path), f"{name} gives a path: write fmu = … in place of type")
    created, problems = create_participants({name: value})
    if problems:
        raise cosim.ModelError.of(str(path), f"{name}: {problems[0].text}")
    return created[name]


def _called(path: Path, name: str, make: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    try:
        inspect.signature(make).bind(**options)
    except TypeError as error:
        raise cosim.ModelError.of(str(path), f"{name} does not take these options: {error}") from None
    except ValueError:  # of builtins, which have no signature
        pass
    try:
        return make(**options)
    except cosim.CosimError:
        raise
    except Exception as error:
        raise cosim.ModelError.of(_place(path, error), f"{type(error).__name__}: {error}") from error


def _loaded(path: Path) -> ModuleType:
    """The module of a file, executed anew."""
    place = path.resolve()
    try:
        if place.stat().st_size > LARGEST:
            raise cosim.ModelError.of(str(path), f"is larger than {LARGEST / 2**20:.0f} MiB")
        source = place.read_bytes()
    except OSError as error:
        raise cosim.ModelError.of(str(path), (error.strerror or str(error)).lower()) from None
    digest = hashlib.sha256(str(place).encode()).hexdigest()[:12]
    module = ModuleType(f"{path.stem}_{digest}")
    module.__file__ = str(place)
    linecache.checkcache(str(place))
    sys.modules[module.__name__] = module  # dataclasses and type hints look it up there
    try:
        exec(compile(source, str(place), "exec"), vars(module))
    except SyntaxError as error:
        raise cosim.ModelError.of(f"{path}:{error.lineno}", f"{error.msg}") from None
    except (Exception, SystemExit) as error:
        raise cosim.ModelError.of(_place(path, error), f"{type(error).__name__}: {error}") from error
    return module


def _place(path: Path, error: BaseException) -> str:
    """The file, and the last of its lines that an error went through."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path.resolve())]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _is_own(value: Any, module: ModuleType) -> bool:
    return callable(value) and getattr(value, "__module__", "") == module.__name__
