"""The block that computes equations which a part has written with symbols (`symbol.SymbolGraph`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import cosim
from cosim.kit import Block
from cosim_dynamics.symbol import SymbolGraph
from cosim_dynamics.symbol_kernel import TIME, write_kernel

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot


def traced_block(
    assembly: Assembly,
    part: cosim.Component,
    graph: SymbolGraph,
    results: Sequence[Any],
    slot_of: Callable[[Any, str], Slot],
    label: str,
) -> tuple[Block, Slot]:
    """The block that computes the results of a part's equations, and where they lie.

    Parameters
    ----------
    slot_of : callable
        Gives the slot of a quantity that the part names.
    label : str
        What the results are.
    """
    names = {node.arguments[0] for node in graph.nodes if node.operation == "slot"}
    arrays = {name: slot_of(part, name).array for name in names - {TIME}}
    kernel = write_kernel(f"{type(part).__name__}_equations", results, arrays)
    inputs = [slot_of(part, name).part(element) for name, element in kernel.inputs]
    results_slot = assembly.allocate(f"{part.name}: {label}", kernel.size)
    block = Block(
        kernel.function,
        np.array([[slot.offset for slot in (*inputs, results_slot)]], dtype=np.int64),
        cosim.Stage.TIME if TIME in names else cosim.Stage.INSTANCE,
        tuple(inputs),
        (results_slot,),
        (),  # it adds to nothing
        f"dynamics: equations of {type(part).__name__}",
        (part.name,),
        mergeable=True,
    )
    return block, results_slot
