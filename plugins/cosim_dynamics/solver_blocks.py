"""Making blocks: of what a solver knows, and of equations that were traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Block, Record
from cosim_dynamics.symbol import SymbolGraph
from cosim_dynamics.symbol_kernel import TIME, write_kernel

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot


def rows_from(records: Sequence[Record]) -> NDArray[np.int64]:
    """The rows of a block that are these records."""
    return np.array([np.frombuffer(record, dtype=np.int64) for record in records], dtype=np.int64)


def solver_block(
    function: object,
    rows: NDArray[np.int64],
    stage: cosim.Stage,
    reads: Sequence[Slot],
    writes: Sequence[Slot],
    label: str,
    can_be_omitted: bool = False,
) -> Block:
    """A block of the schedule; slots without elements (of a joint that does not move) are left out."""
    return Block(
        function,  # type: ignore[arg-type]
        rows,
        stage,
        tuple(slot for slot in reads if slot.size),
        tuple(slot for slot in writes if slot.size),
        (),  # it adds to nothing
        f"dynamics: {label}",
        can_be_omitted=can_be_omitted,
    )


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
