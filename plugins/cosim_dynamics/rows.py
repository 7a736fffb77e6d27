"""Making blocks: of tables whose first row is a header, and of equations that were traced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Block
from cosim_dynamics.symbol import SymbolGraph
from cosim_dynamics.trace import TIME, write_kernel

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot

#: An offset or an index that is not there.
NOWHERE = -1


def table(width: int, *parts: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    """Tables of rows, one below the other, each row filled up with zeros."""
    listed = [row for part in parts for row in part]
    rows = np.zeros((len(listed), width), dtype=np.int64)
    for i, row in enumerate(listed):
        rows[i, : len(row)] = row
    return rows


def block(
    function: object,
    rows: NDArray[np.int64],
    stage: cosim.Stage,
    reads: Sequence[Slot],
    writes: Sequence[Slot],
    what: str,
) -> Block:
    """A block of the schedule; slots without elements (of a joint that does not move) are left out."""
    return Block(
        function,  # type: ignore[arg-type]
        rows,
        stage,
        tuple(slot for slot in reads if slot.size),
        tuple(slot for slot in writes if slot.size),
        (),
        f"dynamics: {what}",
        (),
    )


def traced_block(
    assembly: Assembly,
    part: cosim.Component,
    graph: SymbolGraph,
    results: Sequence[Any],
    asked: Callable[[Any, str], Slot],
    what: str,
) -> tuple[Block, Slot]:
    """The block that computes the results of a part's equations, and where they lie.

    `asked` gives the slot of a quantity that the part names, `what` says what the results are.
    """
    names = {node.arguments[0] for node in graph.nodes if node.operation == "slot"}
    arrays = {name: asked(part, name).array for name in names - {TIME}}
    kernel = write_kernel(f"{type(part).__name__}_equations", results, arrays)
    inputs = [asked(part, name).part(element) for name, element in kernel.inputs]
    numbers = assembly.allocate(f"{part.name}: {what}", kernel.size)
    block = Block(
        kernel.function,
        np.array([[slot.offset for slot in (*inputs, numbers)]], dtype=np.int64),
        cosim.Stage.TIME if TIME in names else cosim.Stage.INSTANCE,
        tuple(inputs),
        (numbers,),
        (),
        f"dynamics: equations of {type(part).__name__}",
        (part.name,),
        mergeable=True,
    )
    return block, numbers
