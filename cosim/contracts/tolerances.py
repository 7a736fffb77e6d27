"""Relative and absolute tolerances of the continuous states, by group and by path."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.errors import ModelError, Problem, nearest
from cosim.last_result_cache import reuse_last
from cosim.value_text import quote

if TYPE_CHECKING:
    System = Any

Vector = NDArray[np.float64]
Tolerance = float | Mapping[str, float]

GROUPS = ("q", "u", "z")
SCALE = 1e-3
LOOSEST_ACCURACY = 0.1
LOOSEST_WINDOW = 1.0  # of a fixed step: an accuracy says there to what share of the step events are located


def accuracy_of_step(accuracy, factor, power):
    """The tolerance of one step for which the errors of all add up to the accuracy; a kernel function."""
    return accuracy * min(1.0, factor * math.pow(accuracy, power))


def accuracy_fault(accuracy: Any, loosest: float = LOOSEST_ACCURACY) -> str:
    """The fault of an accuracy, or "".

    Examples
    --------
    >>> accuracy_fault(10)
    'is 10, needs a number above 0 and at most 0.1: 1e-6 for six digits'
    """
    number = isinstance(accuracy, (int, float, np.number)) and not isinstance(accuracy, bool)
    if number and 0.0 < accuracy <= loosest:
        return ""
    return f"is {quote(accuracy)}, needs a number above 0 and at most {loosest:g}: 1e-6 for six digits"


def tolerances(
    where: str,
    system: System,
    accuracy: float,
    relative: Tolerance | None,
    absolute: Tolerance | None,
    least: float = 0.0,
) -> tuple[Vector, Vector]:
    """The relative and the absolute tolerance of every continuous state.

    The error of a state in one step is held below ``max(absolute, relative * |y|)``. Where `held_sizes`
    says so the absolute one is that of a size of 1, and follows the largest value of the state in a run.

    Parameters
    ----------
    where : str
        Name of the method, for messages.
    system : System
    accuracy : float
        Relative tolerance where nothing else is said.
    relative, absolute : float or mapping of str to float, optional
        One number, or numbers by group (``q``, ``u``, ``z``) and by path: a part (``"engine"``), a variable
        (``"engine.q"``) or a pattern (``"wheel*.u"``). Groups count first, then paths in the order given. A
        relative tolerance of 0 leaves the absolute one, which is 1e-3 of the relative one times the
        ``nominal`` of the state (1 unless declared), and `least`, unless given.
    least : float
        What an absolute tolerance that is not given is not below.

    Returns
    -------
    (ndarray, ndarray), shape (ny,)

    Raises
    ------
    ModelError
        With every key that fits no state, and the nearest one.
    """
    key = (where, accuracy, _settings(relative), _settings(absolute), least)
    return reuse_last(
        system, "_tolerances", key, lambda: _tolerances(where, system, accuracy, relative, absolute, least)
    )


def _tolerances(
    where: str,
    system: System,
    accuracy: float,
    relative: Tolerance | None,
    absolute: Tolerance | None,
    least: float,
) -> tuple[Vector, Vector]:
    """`tolerances`, computed anew."""
    problems: list[Problem] = []
    rtol = _spread(where, "relative_tolerance", system, relative, np.full(system.ny, accuracy), problems)
    sizes = system.nominal_sizes
    scaled = SCALE * np.where(rtol > 0.0, rtol, accuracy) * np.where(sizes > 0.0, sizes, 1.0)
    usual = np.maximum(scaled, least)
    atol = _spread(where, "absolute_tolerance", system, absolute, usual, problems)
    if problems:
        raise ModelError(problems)
    return _fixed(rtol), _fixed(atol)


def held_sizes(where: str, system: System, relative: Tolerance | None, absolute: Tolerance | None) -> Vector:
    """The size that each state's absolute tolerance is held to (0: it follows its largest value so far).

    It is held where a user has given it, where a ``nominal`` is declared, and where a relative tolerance of 0
    leaves the absolute one alone.
    """
    key = (where, _settings(relative), _settings(absolute))
    return reuse_last(system, "_held_sizes", key, lambda: _held_sizes(where, system, relative, absolute))


def _held_sizes(where: str, system: System, relative: Tolerance | None, absolute: Tolerance | None) -> Vector:
    """`held_sizes`, computed anew."""
    problems: list[Problem] = []
    absolute_tolerances = _spread(
        where, "absolute_tolerance", system, absolute, np.zeros(system.ny), problems
    )
    rtol = _spread(where, "relative_tolerance", system, relative, np.ones(system.ny), problems)
    if problems:
        raise ModelError(problems)
    sizes = system.nominal_sizes
    return _fixed(np.where((sizes == 0.0) & ((absolute_tolerances != 0.0) | (rtol == 0.0)), 1.0, sizes))


def tolerance_problems(where: str, name: str, tolerance: Tolerance | None) -> list[Problem]:
    """The faults of a tolerance that do not depend on the system."""
    if tolerance is None:
        return []
    entries = tolerance.items() if isinstance(tolerance, Mapping) else [("", tolerance)]
    problems = []
    for key, value in entries:
        label = f"{name}[{key!r}]" if key else name
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not 0.0 <= value < math.inf or (value == 0.0 and name != "relative_tolerance"):
            problems.append(Problem(where, f"{label} is {quote(value)}, must be a positive number."))
    return problems


def _spread(
    where: str,
    name: str,
    system: System,
    tolerance: Tolerance | None,
    default: Vector,
    problems: list[Problem],
) -> Vector:
    """A number for each state, from one number or from numbers by group and path; problems are collected."""
    if tolerance is None:
        return default
    if not isinstance(tolerance, Mapping):
        return np.full(system.ny, float(tolerance))
    result = default.copy()
    starts = {"q": 0, "u": system.nq, "z": system.nq + system.nu}
    sizes = {"q": system.nq, "u": system.nu, "z": system.nz}
    for key in [k for k in tolerance if k in GROUPS]:
        result[starts[key] : starts[key] + sizes[key]] = tolerance[key]
    states = _states(system)
    for key in [k for k in tolerance if k not in GROUPS]:
        fitting = [v for v in states if _fits(key, v.path)]
        for variable in fitting:
            result[variable.slot.offset : variable.slot.offset + variable.slot.size] = tolerance[key]
        if not fitting:
            parts = [v.path.rpartition(".")[0] for v in states]
            close = nearest(key, [*GROUPS, *parts, *(v.path for v in states)])
            hint = f" Nearest: {close}." if close else ""
            problems.append(
                Problem(where, f"{name} names {key!r}, which is not a group (q, u, z), part or state.{hint}")
            )
    return result


def _settings(tolerance: Tolerance | None) -> object:
    """The content of a tolerance; the order of its paths counts."""
    return tuple(tolerance.items()) if isinstance(tolerance, Mapping) else tolerance


def _fixed(values: Vector) -> Vector:
    """An array that may only be read: several methods share it."""
    values.flags.writeable = False
    return values


def _states(system: System) -> list[Any]:
    return [v for v in system.variables.values() if v.slot.array == "y"]


def _fits(key: str, path: str) -> bool:
    return path == key or path.startswith(f"{key}.") or fnmatch.fnmatchcase(path, key)
