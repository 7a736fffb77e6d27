"""EventInputs: inputs of an FMU that are written in event mode, discrete variables and clocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.fmu_clocks import FmuClocks

NEVER = object()
"""Stands for a value that has not been written."""


class EventInputs:
    """Writes the inputs of an instance that pass through event mode, each where its value has changed.

    Parameters
    ----------
    interface : FmuInterface
    instance : FmuInstance
    clocks : FmuClocks
        Of the instance.
    write : callable
        Writes variables: names, values.
    guard : callable
        Calls something whose errors are those of the FMU.

    Attributes
    ----------
    clocks : FmuClocks
    written : dict of str to object
        The values that were written last; equal ones are not written again.
    """

    def __init__(
        self,
        interface: FmuInterface,
        instance: FmuInstance,
        clocks: FmuClocks,
        write: Callable[[Sequence[str], Sequence[Any]], None],
        guard: Callable[..., Any],
    ) -> None:
        self._interface, self._instance, self.clocks = interface, instance, clocks
        self._write, self._guard = write, guard
        self._among: dict[tuple[str, ...], frozenset[str]] = {}
        self.written: dict[str, Any] = {}

    def among(self, names: tuple[str, ...]) -> frozenset[str]:
        """The names of variables that are written in event mode."""
        chosen = self._among.get(names)
        if chosen is None:
            interface = self._interface
            groups = (interface.description.discrete, interface.clocks, interface.clocked)
            chosen = self._among[names] = frozenset(n for n in names if any(n in group for group in groups))
        return chosen

    def changed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values that have to pass through event mode: changed ones, and clocks that tick."""
        clocks, clocked = self._interface.clocks, self.clocks.clocked
        fired = self.clocks.fired
        ticks = {n: v for n, v in values.items() if n in clocks and v and n not in fired}
        self.clocks.values.update({n: v for n, v in values.items() if n in clocked})
        news = {
            n: v
            for n, v in values.items()
            if n not in clocks and n not in clocked and self.written.get(n, NEVER) != v
        }
        return {**news, **ticks}

    def write(self, values_and_ticks: Mapping[str, Any]) -> None:
        """Write in event or initialization mode; clocks tick in event mode only."""
        clocks = self._interface.clocks
        values = {name: value for name, value in values_and_ticks.items() if name not in clocks}
        if values:
            self._write(list(values), list(values.values()))
            self.written.update(values)
        self.clocks.values.update({n: v for n, v in values.items() if n in self.clocks.clocked})
        if self._instance.mode == modes.EVENT:
            self.tick([name for name, value in values_and_ticks.items() if name in clocks and value])

    def tick(self, names: Sequence[str]) -> None:
        """Activate clocks, in event mode, then write the inputs that belong to them."""
        if names:
            values = self._guard(self.clocks.activate, names)
            if values:
                self._write(list(values), list(values.values()))
