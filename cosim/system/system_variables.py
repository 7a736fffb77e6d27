"""SystemVariables: the variables of a system by their paths, read and written in its States."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.attributes import FixedAttributes
from cosim.component.declaration import Declaration
from cosim.component.read_numbers import read_numbers
from cosim.errors import LookUpError, StateError
from cosim.last_result_cache import reuse_last
from cosim.stage import Stage
from cosim.system.assembly import Assembly
from cosim.system.blocks import Slot
from cosim.system.input_lines import InputLines
from cosim.system.list_variables import list_variables, nominal_sizes
from cosim.system.path_index import PathIndex
from cosim.system.signals import Signal, SignalColumns
from cosim.system.state import State
from cosim.system.variable import Variable
from cosim.value_text import quote
from cosim_compiler.collection import without_collection

KEPT_SIGNALS = 10_000  # a run that records a large system asks for many more, each a few times


class SystemVariables(FixedAttributes):
    """The half of `System` that finds variables, reads them and writes them.

    Parameters
    ----------
    assembly : Assembly
    """

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self._signals: dict[str, Signal] = {}
        self._written_as: dict[str, Declaration] = {}  # the declaration that a value is checked against
        self._region_stage = assembly.graph.stage_of_region()

    # what there is

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """All that can be named, by path."""
        with without_collection():
            return MappingProxyType({v.path: v for v in list_variables(self)})

    def variables_of(self, *kinds: str) -> dict[str, Variable]:
        """The variables of these kinds, by path; listed faster than all `variables`.

        Parameters
        ----------
        *kinds : str
            See `Variable.kind`.

        Examples
        --------
        >>> import cosim
        >>> model = cosim.Model("one")
        >>> _ = model.add("measures.sinusoid", "wave", amplitude=2.0)
        >>> list(model.build().variables_of("measure"))
        ['wave']
        """
        if "variables" in self.__dict__:
            return {path: v for path, v in self.variables.items() if v.kind in kinds}
        with without_collection():
            return {v.path: v for v in list_variables(self, kinds)}

    @cached_property
    def nominal_sizes(self) -> NDArray[np.float64]:
        """The ``nominal`` of every continuous state, 0 where its author has declared none."""
        return nominal_sizes(self)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Paths of declared outputs and measures."""
        return tuple(self.variables_of("output", "measure"))

    # signals

    def signal(self, path: str) -> Signal:
        """The signal of a path; `LookUpError` with the nearest name."""
        if not isinstance(path, str):
            raise LookUpError("signal", quote(path), (), "Signals have names: 'part.name'.")
        signal = self._signals.get(path)
        if signal is None:
            if len(self._signals) >= KEPT_SIGNALS:
                self._signals.clear()
            signal = self._signals[path] = self.assembly.wiring.signal(path)
        return signal

    def signal_columns(self, paths: Sequence[str]) -> SignalColumns:
        """The signals of many paths, by columns; raises `LookUpError` as `signal` does."""
        key = tuple(paths)
        if set(map(type, key)) - {str}:
            for path in key:
                self.signal(path)  # refuses anything but text
        return reuse_last(self, "_signal_columns", key, lambda: self.assembly.wiring.paths.columns(key))

    def has_derivative(self, path: str, order: int = 1) -> bool:
        """Whether a time derivative of a signal is computed in this system."""
        return self.assembly.wiring.has_derivative(path, order)

    def stage_of(self, slot: Slot) -> Stage:
        """The stage at which a slot can be read."""
        if slot.array == "c":
            return self._region_stage[self.assembly.layout.region_of(slot.offset)]
        return Stage.EMPTY

    def stages_of(self, slots: Sequence[Slot]) -> list[Stage]:
        """The stages at which slots can be read."""
        regions = self.assembly.layout.first_regions(slots)
        return [
            self._region_stage[region] if slot.array == "c" else Stage.EMPTY
            for slot, region in zip(slots, regions, strict=True)
        ]

    # values in a State

    def read(self, state: State, path: str) -> Any:
        """Value of a signal in a State: a number, or a read-only array."""
        signal = self.signal(path)
        state.require(self.stage_of(signal.slot), path)
        slot = signal.slot
        values = state._arrays[slot.array][slot.offset : slot.offset + slot.size]
        shape = signal.declaration.shape
        if slot.size == 1 and (shape == () or signal.slot.size != signal.declaration.size or "[" in path):
            return values[0].item()
        copied = values.reshape(shape).copy() if values.size == signal.declaration.size else values.copy()
        copied.flags.writeable = False  # an element that is set in a copy would be set nowhere
        return copied

    def write(self, state: State, path: str, value: Any) -> None:
        """Write a variable of a State after the checks of its declaration."""
        signal, slot = self.signal(path), self.written_slot(path)
        numbers = self.numbers_of(path, value)
        state.refuse_when_locked()
        state._arrays[slot.array][slot.offset : slot.offset + slot.size] = numbers
        if signal.declaration.kind == "input":
            slope = self._input_lines.line(path, signal).slope
            state._arrays["d"][slope.offset : slope.offset + slope.size] = math.nan
        state.jumped = True
        state.invalidate(self.stage_invalidated(slot), f"{path} = …")

    def numbers_of(self, path: str, value: Any) -> NDArray[np.float64]:
        """A value as it is written to a variable, flat and in SI; `StateError` where it cannot be."""
        declaration = self._written_as.get(path)
        if declaration is None:
            signal = self.signal(path)
            declaration = replace(signal.declaration, units=signal.units)
            if self.written_slot(path).size != declaration.size:
                declaration = _element(declaration, path, signal.units[0])
            self._written_as[path] = declaration
        try:
            return read_numbers(declaration, value)
        except (TypeError, ValueError) as error:
            raise StateError(f"{path}: {error}") from error

    def written_slot(self, path: str) -> Slot:
        """Where a variable is written; `StateError` for what cannot be set. An input's value lies in d."""
        signal = self.signal(path)
        if signal.declaration.kind == "input":
            return self._input_lines.line(path, signal).value
        if signal.declaration.kind == "option":
            name = signal.declaration.name
            raise StateError(
                f"{path}: it is an option, which belongs to the system and is the same in each State: give "
                f"it where the part is added, model.add(…, {name}=…), and build the model again"
            )
        if signal.slot.array == "c":
            raise StateError(f"{path}: it is computed and cannot be set")
        return signal.slot

    def course_offsets(self, path: str) -> tuple[int, int]:
        """Offsets in d of the slope of one element of an input, and of the time since when it runs."""
        line = self._input_lines.line(path, self.signal(path))
        return line.slope.offset, line.since.offset

    def write_slope(self, state: State, path: str, slope: Any) -> None:
        """Let an input of the system run along a line, from its value at the present time on.

        Until it is written again, or `hold_inputs`; integration follows the line inside its steps, and
        its slope is the derivative of the input for whoever asks for one.

        Parameters
        ----------
        state : State
        path : str
            Of an input, or of one of its elements.
        slope : float or array_like
            Per second, in the unit of the input.

        Raises
        ------
        StateError
            It is not an input of the system, or not as many finite numbers as the input has.
        """
        self._input_lines.write(state, path, self.signal(path), slope)

    def hold_inputs(self, state: State) -> None:
        """Inputs that run along lines keep the values that they have now."""
        self._input_lines.hold(state)

    @property
    def input_lines(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Offsets in d of the values, slopes and times of all inputs."""
        return self._input_lines.places

    @cached_property
    def _input_lines(self) -> InputLines:
        return InputLines(self.assembly)

    def stage_invalidated(self, slot: Slot) -> Stage:
        """The stage that a write to a slot outside the cache invalidates."""
        return self.assembly.base_stage(slot)

    def paths_at(self, array: str, offsets: list[int]) -> list[str]:
        """Paths of the variables that lie at these offsets of an array."""
        return self._path_index.paths_at(array, offsets)

    @cached_property
    def _path_index(self) -> PathIndex:
        return PathIndex(self.variables.values())


def _element(declaration: Declaration, path: str, unit: str) -> Declaration:
    """The declaration of one element of a vector."""
    return replace(declaration, name=path, shape=(), units=(unit,), convert=None)
