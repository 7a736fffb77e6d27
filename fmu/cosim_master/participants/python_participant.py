"""Participants of a Python file beside a scenario."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import cosim
from cosim_master.coupling.wiring_problem import WiringProblem
from cosim_master.participants.component_participant import ComponentParticipant
from cosim_master.participants.given_participants import made_participants

REFERENCE = re.compile(r"([A-Za-z_]\w*):([A-Za-z_]\w*)")
LARGEST = 1 << 20
"""Bytes of a Python file."""


def python_reference(text: str, folder: Path) -> tuple[Path, str] | None:
    """The file and the name in it that ``controller:Thermostat`` says; None for what says no such thing."""
    found = REFERENCE.fullmatch(text)
    return None if found is None else (folder / f"{found[1]}.py", found[2])


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
        There is no such file or name, the file raises an error, or what was made is no participant.
    """
    module = _loaded(path)
    if not callable(make := getattr(module, name, None)):
        known = {n: None for n, v in vars(module).items() if _is_own(v, module)}
        text = str(cosim.LookUpError("class or function", name, known))
        raise cosim.ModelError.of(str(path), text)
    if isinstance(make, type) and issubclass(make, cosim.Component):
        return ComponentParticipant(make, **options)
    made = _called(path, name, make, options)
    problems: list[WiringProblem] = []
    if isinstance(made, (str, Path)):
        raise cosim.ModelError.of(str(path), f"{name} gives a path: write fmu = … in place of type")
    found = made_participants({name: made}, problems)
    if problems:
        raise cosim.ModelError.of(str(path), f"{name}: {problems[0].text}")
    return found[name]


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
