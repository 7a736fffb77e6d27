"""A witness: a number whose change of sign is an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cosim.component.argument_names import STATES
from cosim.component.component import Component
from cosim.component.kernel_function import DIRECTIONS, KernelFunction
from cosim.component.kink_functions import CONSTANT
from cosim.run_data.records.witnesses import FALLING, RISING
from cosim.system.alike_parts import parts_of_classes
from cosim.system.blocks import Slot
from cosim.system.dependencies import places
from cosim.system.system import System
from cosim_compiler.sources.straight import is_straight, shown_argument


@dataclass(frozen=True)
class WitnessEntry:
    """A witness of one part.

    Attributes
    ----------
    path : str
        ``"ball.floor"``.
    kernel : KernelFunction
        With what its author says about it.
    offset : int
        Where in the cache its value lies.
    direction : int
        Which way it has to cross zero: `FALLING`, `RISING` or `BOTH`.
    rate : int
        Where in the cache its rate lies, where the component declares one; else -1.
    is_condition : bool
        Whether it is true or false (1 and -1 in the cache) instead of a number that varies.
    sources : frozenset of (str, int)
        What it is computed from at the same instant: arrays and places in them, the time is ("t", 0).
    is_straight : bool
        Whether it is a sum of states and the time, each times a constant.
    own_block : int
        Which block of the derivatives alone computes it, from their first one on; -1: it needs more.
    shown_state : int
        The index in y of the state whose value it is; -1: it is something else.
    """

    path: str
    kernel: KernelFunction
    offset: int
    direction: int
    rate: int = -1
    is_condition: bool = False
    sources: frozenset[tuple[str, int]] = frozenset()
    is_straight: bool = False
    own_block: int = -1
    shown_state: int = -1

    @property
    def is_moved(self) -> bool:
        """Whether it changes with the states, their past, or the time; else it jumps where variables do."""
        return any(array in "yht" for array, _ in self.sources)

    @property
    def is_timed(self) -> bool:
        """Whether it is computed from the time."""
        return ("t", 0) in self.sources


def list_witnesses(system: System) -> list[WitnessEntry]:
    """The witnesses of all parts, in order of parts, then of declaration."""
    witnesses, graph = [], system.assembly.graph
    for name, part in parts_of_classes(system.parts, _has_witnesses):
        slots = system.assembly.layout.slots[name]
        rates = {id(k.rate_of): slots[k.name].offset for k in part.kernels.values() if k.rate_of}
        for kernel in part.kernels.values():
            if kernel.role == "witness" and kernel.name in slots:
                falling, rising = DIRECTIONS[kernel.direction]
                rate, path = rates.get(id(kernel), -1), f"{name}.{kernel.name}"
                place = slots[kernel.name].offset
                direction = FALLING * falling + RISING * rising
                sources = frozenset(places(graph.sources(slots[kernel.name])))
                straight = _is_straight(part, kernel)
                block = _block_of_derivatives(system, place)
                state = _shown_state(part, kernel, slots) if straight else -1
                witnesses.append(
                    WitnessEntry(
                        path,
                        kernel,
                        place,
                        direction,
                        rate,
                        kernel.is_condition,
                        sources,
                        straight,
                        block,
                        state,
                    )
                )
    return witnesses


def show_states(witnesses: Sequence[WitnessEntry]) -> bool:
    """Whether each witness is a state, and declares no rate: no block has to be called for them."""
    return bool(witnesses) and all(w.shown_state >= 0 and w.rate < 0 for w in witnesses)


def _has_witnesses(cls: type[Component]) -> bool:
    return any(kernel.role == "witness" for kernel in cls.kernels.values())


def _block_of_derivatives(system: System, place: int) -> int:
    """Which block of the derivatives alone computes a value in the cache; -1 if it needs more than one."""
    first, last = system.derivative_range
    blocks = system.needed_blocks([place])
    return blocks[0] - first if len(blocks) == 1 and first <= blocks[0] < last else -1


def _is_straight(part: Component, kernel: KernelFunction) -> bool:
    """Whether it is a sum of the part's own states and the time, each times a constant."""
    if kernel.is_python or kernel.is_condition:
        return False
    moving = set()
    for argument in part.arguments[kernel.name]:
        declaration = part.declarations.get(argument.of)
        if argument.role == "time" or (
            argument.role == "own" and declaration is not None and declaration.kind in STATES
        ):
            moving.add(argument.name)
        elif argument.role != "own" or declaration is None or declaration.kind not in CONSTANT:
            return False
    return is_straight(kernel.function, frozenset(moving))


def _shown_state(part: Component, kernel: KernelFunction, slots: Mapping[str, Slot]) -> int:
    """The index in y of the state that a straight witness returns as it is; -1: it computes something."""
    name = shown_argument(kernel.function)
    for argument in part.arguments[kernel.name]:
        declaration = part.declarations.get(argument.of)
        if argument.name == name and declaration is not None and declaration.kind in STATES:
            return slots[argument.of].offset
    return -1
