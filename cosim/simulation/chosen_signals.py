"""The signals that a run records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cosim.errors import LookUpError, ModelError
from cosim.last_result_cache import reuse_last
from cosim.name_patterns import is_pattern, matches
from cosim.system.list_variables import Quantity, listed_quantities
from cosim.system.system import System
from cosim.value_text import quote

RECORDED_NAMES = ("kinetic_energy", "potential_energy")  # the others of the balance are states
RECORDED_KINDS = ("output", "measure", "position", "speed", "auxiliary", "discrete", "integer")


def choose_signals(system: System, patterns: Sequence[str] | None) -> list[str]:
    """Paths of the signals to record: those that match, or a sensible default.

    Raises
    ------
    LookUpError
        A pattern that matches nothing, with the nearest signal.
    ModelError
        As `check_signals`.
    """
    if isinstance(patterns, str):
        patterns = [patterns]
    if isinstance(patterns, Iterator):
        patterns = list(patterns)
    check_signals(patterns)
    if patterns is None:
        default_signals = reuse_last(system, "_default_signals", None, lambda: _default_signals(system))
        return _without_time(list(default_signals))
    chosen: dict[str, None] = {}
    for pattern in patterns:
        if not is_pattern(pattern):
            system.signal(pattern)
            chosen[pattern] = None
            continue
        names = list(system.variables)
        matching = [name for name in names if matches(name, pattern)]
        matching = matching or [name for name in _elements(system) if matches(name, pattern)]
        if not matching:
            raise LookUpError("signal", pattern, names)
        chosen |= dict.fromkeys(matching)
    return _without_time(list(chosen))


def _without_time(names: list[str]) -> list[str]:
    """The names, unless one of them is that of the times, which stand beside them (`ModelError`)."""
    if "time" in names:
        raise ModelError.of("time", "is the name of the times in results: give this signal another one")
    return names


def check_signals(patterns: Any) -> None:
    """`ModelError` unless these are paths and patterns of signals; an iterator is not consumed."""
    if patterns is None or isinstance(patterns, str):
        return
    needs = "needs a list of paths or patterns: ['engine.z', 'mount.*']"
    if isinstance(patterns, bytes) or not isinstance(patterns, Iterable):
        raise ModelError.of("signals", f"is {quote(patterns)}, {needs}")
    if isinstance(patterns, Iterator):
        return
    wrong = [pattern for pattern in patterns if not isinstance(pattern, str)]
    if wrong:
        raise ModelError.of("signals", f"{quote(wrong[0])} is not text, {needs}")


def _default_signals(system: System) -> list[str]:
    """Outputs and measures, then quantities of parts (joints first), then energies, then states."""
    outputs: list[str] = []
    energies: list[str] = []
    states: list[str] = []
    moving = set()
    # a table of all variables is not made for this alone
    for alike, quantities in listed_quantities(system.alike, _is_recorded):
        for name in alike.names if quantities else ():
            for behind, kind, _ in quantities:
                path = name + behind
                if kind == "position":
                    moving.add(name)
                if path.startswith("energy.") or path.endswith("_energy"):
                    energies.append(path)
                else:
                    (outputs if kind in ("output", "measure") else states).append(path)
    parts = sorted(system.parts.items(), key=lambda item: item[0] not in moving)
    aliases = [f"{name}.{alias}" for name, part in parts for alias in part.signals]
    return [*outputs, *aliases, *energies, *states]


def _is_recorded(quantity: Quantity) -> bool:
    """Whether a run records a variable unless it is told what to record."""
    return quantity.kind in RECORDED_KINDS or quantity.declaration.name in RECORDED_NAMES


def _elements(system: System) -> list[str]:
    """Paths of all elements of vectors."""
    vectors = [v for v in system.variables.values() if v.shape]
    return [f"{v.path}[{i}]" for v in vectors for i in range(v.slot.size)]
