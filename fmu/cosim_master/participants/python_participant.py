"""Participants that a Python file beside a scenario makes."""

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
from cosim_master.participants.component_participant import ComponentParticipant
from cosim_master.participants.create_participants import create_participants

REFERENCE = re.compile(r"([A-Za-z_]\w*):([A-Za-z_]\w*)")
"""``file:name``"""
LARGEST_FILE = 1 << 20
"""Bytes."""


def python_reference(text: str, folder: Path) -> tuple[Path, str] | None:
    """The file and the name in it to which ``controller:Thermostat`` refers; None for another text."""
    match = REFERENCE.fullmatch(text)
    return None if match is None else (folder / f"{match[1]}.py", match[2])


def python_participant(path: Path, name: str, **options: Any) -> cosim.Participant:
    """The participant that a class or function of a Python file makes.

    The file is loaded by its path. Its folder is not added to Python's search path.

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
        There is no such file or name, the file raises an error, or the result is not a participant.
    """
    module = _load_module(path)
    if not callable(make := getattr(module, name, None)):
        own_names = {n: None for n, v in vars(module).items() if _is_own(v, module)}
        text = str(cosim.LookUpError("class or function", name, own_names))
        raise cosim.ModelError.of(str(path), text)
    if isinstance(make, type) and issubclass(make, cosim.Component):
        return ComponentParticipant(make, **options)
    value = _make(path, name, make, options)
    if isinstance(value, (str, Path)):
        raise cosim.ModelError.of(str(path), f"{name} gives a path: write fmu = … in place of type")
    created, problems = create_participants({name: value})
    if problems:
        raise cosim.ModelError.of(str(path), f"{name}: {problems[0].text}")
    return created[name]


def _make(path: Path, name: str, make: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Call a function or class of the file with options; its errors name the file."""
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
        raise cosim.ModelError.of(_location(path, error), f"{type(error).__name__}: {error}") from error


def _load_module(path: Path) -> ModuleType:
    """Execute a file as a new module, under a name that depends on its path."""
    file = path.resolve()
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise cosim.ModelError.of(str(path), f"is larger than {LARGEST_FILE / 2**20:.0f} MiB")
        source = file.read_bytes()
    except OSError as error:
        raise cosim.ModelError.of(str(path), (error.strerror or str(error)).lower()) from None
    digest = hashlib.sha256(str(file).encode()).hexdigest()[:12]
    module = ModuleType(f"{path.stem}_{digest}")
    module.__file__ = str(file)
    linecache.checkcache(str(file))
    sys.modules[module.__name__] = module  # dataclasses and type hints look it up there
    try:
        exec(compile(source, str(file), "exec"), vars(module))
    except SyntaxError as error:
        raise cosim.ModelError.of(f"{path}:{error.lineno}", f"{error.msg}") from None
    except (Exception, SystemExit) as error:
        raise cosim.ModelError.of(_location(path, error), f"{type(error).__name__}: {error}") from error
    return module


def _location(path: Path, error: BaseException) -> str:
    """The file, and the last of its lines that an error went through."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path.resolve())]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _is_own(value: Any, module: ModuleType) -> bool:
    """Whether a class or function was defined in a module, not imported there."""
    return callable(value) and getattr(value, "__module__", "") == module.__name__
