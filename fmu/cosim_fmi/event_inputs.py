"""EventInputs: inputs of an FMU that are written in event mode, discrete variables and clocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance
from cosim_fmi.description.fmu_interface import FmuInterface
from cosim_fmi.fmu_clocks import FmuClocks

NOT_WRITTEN = object()
"""Stands for the value of an input that has not been written."""


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
    call_checked : callable
        Calls a function with arguments; its errors name the FMU.

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
        call_checked: Callable[..., Any],
    ) -> None:
        self._interface, self._instance, self.clocks = interface, instance, clocks
        self._write, self._call_checked = write, call_checked
        self._selected: dict[tuple[str, ...], frozenset[str]] = {}
        self.written: dict[str, Any] = {}

    def select_event_mode(self, names: tuple[str, ...]) -> frozenset[str]:
        """Those of the names whose variables are written in event mode."""
        chosen = self._selected.get(names)
        if chosen is None:
            interface = self._interface
            groups = (interface.description.discrete, interface.clocks, interface.clocks_of)
            chosen = self._selected[names] = frozenset(
                n for n in names if any(n in group for group in groups)
            )
        return chosen

    def store_clocked(self, values: Mapping[str, Any]) -> None:
        """Give the clocks the values of inputs that are written when their clock ticks."""
        clocked = self.clocks.clocked
        self.clocks.values.update({n: v for n, v in values.items() if n in clocked})

    def changed_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values that have to be written in event mode: changed ones, and clocks that tick.

        Clocks that have already ticked at this instant are left out.
        """
        clocks, clocked = self._interface.clocks, self.clocks.clocked
        fired = self.clocks.fired
        ticks = {n: v for n, v in values.items() if n in clocks and v and n not in fired}
        changed = {
            n: v
            for n, v in values.items()
            if n not in clocks and n not in clocked and self.written.get(n, NOT_WRITTEN) != v
        }
        return {**changed, **ticks}

    def write(self, values_and_ticks: Mapping[str, Any]) -> None:
        """Write in event or initialization mode; clocks tick in event mode only."""
        clocks = self._interface.clocks
        values = {name: value for name, value in values_and_ticks.items() if name not in clocks}
        if values:
            self._write(list(values), list(values.values()))
            self.written.update(values)
        self.store_clocked(values)
        if self._instance.mode == modes.EVENT:
            self.tick([name for name, value in values_and_ticks.items() if name in clocks and value])

    def tick(self, names: Sequence[str]) -> None:
        """Activate clocks, in event mode, then write the inputs that belong to them."""
        if names:
            values = self._call_checked(self.clocks.activate, names)
            if values:
                self._write(list(values), list(values.values()))
