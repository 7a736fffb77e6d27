"""The start values of a system: the arrays of its States before anything is written to them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.system.alike_parts import names_of_kinds, parts_with
from cosim.system.assembly import Assembly
from cosim.system.layout import STATE_KINDS

NOTHING = np.zeros(0)


def start_arrays(assembly: Assembly) -> dict[str, NDArray[Any]]:
    """The arrays y, p, d, k and h, by their letters."""
    sizes, slots = assembly.layout.sizes, assembly.layout.slots
    arrays: dict[str, NDArray[Any]] = {"y": np.zeros(sizes["y"]), "h": np.zeros(max(1, sizes["h"]))}
    for name, part, states in parts_with(assembly.alike, partial(names_of_kinds, kinds=STATE_KINDS)):
        for state in states:
            _, first, size = slots[name][state]
            arrays["y"][first : first + size] = part.values.numbers[state]
    for array, kind in (("p", np.float64), ("d", np.float64), ("k", np.int64)):
        arrays[array] = np.array(assembly.start[array] or [0], dtype=kind)
    return arrays


def new_cache(assembly: Assembly) -> NDArray[np.float64]:
    """A cache of zeros, with NaN in slots whose values are not known."""
    cache = np.zeros(assembly.layout.sizes["c"])
    for slot in assembly.nan_slots:
        cache[slot.offset : slot.offset + slot.size] = np.nan
    return cache


def restart_arrays(arrays: Mapping[str, NDArray[Any]], start: Mapping[str, NDArray[Any]]) -> None:
    """Give arrays of a State their start values in place; histories that have grown are cleared."""
    for name, array in arrays.items():
        values = start.get(name, NOTHING)
        array[: values.size] = values
        array[values.size :] = 0
