"""The schedule of a system: all its blocks in the order in which they are walked, as a table of addresses."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.method_layout import Corrections
from cosim.stage import Stage
from cosim.system.assembly import Assembly
from cosim.system.block_address import addressing, python_block_address
from cosim.system.block_row import BlockRow
from cosim.system.blocks import Block
from cosim.system.needed_blocks import NeededBlocks
from cosim.system.projection import Correction, Projection
from cosim_compiler import native

Integers = NDArray[np.int64]


class Schedule:
    """The order of all blocks: by stage, then updates, handlers and corrections of a solution.

    The blocks that derivatives need inside a step follow once more.

    Parameters
    ----------
    assembly : Assembly

    Attributes
    ----------
    blocks : list of Block
        All blocks of parts; corrections are not among them.
    stage_ranges : dict of Stage to range
        The blocks of each stage.
    update_ranges : dict of str to range
        The updates, by the key of `Assembly.updates`: at the ends of steps, inside steps, between their ends.
    handler_blocks : dict of (part, name) to int
    table, ints, derivative_range, inner_blocks, inner_range, corrections
        See `System`.
    needed : NeededBlocks
    """

    def __init__(self, assembly: Assembly) -> None:
        self.blocks: list[Block] = []
        self._list_blocks(assembly)
        correction_calls = [] if assembly.projection is None else assembly.projection.all
        functions = [block.function for block in self.blocks if not block.is_python]
        functions += [function for function, _ in correction_calls]
        table = self._make_table(correction_calls, addressing(functions, self))
        first, last = self.stage_ranges[Stage.TIME].start, self.stage_ranges[Stage.ACCELERATION].stop
        self.derivative_range = first, last
        self.needed = NeededBlocks(self.blocks[: self.stage_ranges[Stage.INFINITY].stop], assembly.graph)
        states = assembly.layout.nq + assembly.layout.nu + assembly.layout.nz
        self.inner_blocks = self.needed.of_derivatives(range(first, last), states)
        self.inner_range = (len(table), len(table) + len(self.inner_blocks))
        self.table: Integers = np.vstack([table, table[self.inner_blocks]])
        motion = range(first, self.stage_ranges[Stage.VELOCITY].stop)
        self.corrections = _correction_rows(assembly.projection, len(self.blocks), motion)

    def _list_blocks(self, assembly: Assembly) -> None:
        """Set `blocks` (of all stages, then updates, then handlers), and the ranges of each kind."""
        blocks, ordered = self.blocks, assembly.graph.order()
        self.stage_ranges: dict[Stage, range] = {}
        for stage in Stage:
            first = len(blocks)
            blocks += ordered[stage]
            self.stage_ranges[stage] = range(first, len(blocks))
        self.update_ranges: dict[str, range] = {}
        for when, updates in assembly.updates.items():
            self.update_ranges[when] = range(len(blocks), len(blocks) + len(updates))
            blocks += updates
        self.handler_blocks: dict[tuple[str, str], int] = {}
        for key, block in assembly.handlers.items():
            self.handler_blocks[key] = len(blocks)
            blocks.append(block)

    def _make_table(self, correction_calls: list[Correction], address_of: Callable[[Any], int]) -> Integers:
        """Build the table: a `BlockRow` of each block and each correction.

        Also sets `ints`, which holds the integers of all rows, and makes `rows` of each block a view of it.
        """
        rows = [np.asarray(block.rows, dtype=np.int64) for block in self.blocks]
        rows += [numbers for _, numbers in correction_calls]
        distinct = {id(numbers): numbers for numbers in rows}  # blocks may share an array
        ends = np.cumsum([0, *(numbers.size for numbers in distinct.values())])
        starts = dict(zip(distinct, ends[:-1], strict=True))
        table = np.zeros((max(1, len(rows)), len(BlockRow._fields)), dtype=np.int64)
        self.ints: Integers = np.concatenate([*(r.reshape(-1) for r in distinct.values()), [0]])
        for i, block in enumerate(self.blocks):
            address = python_block_address(block.function) if block.is_python else address_of(block.function)
            if block.is_python:  # the address of a callback: it is released together with the schedule
                weakref.finalize(self, native.release_address, address)
            start = starts[id(rows[i])]
            table[i] = BlockRow(address, start, len(rows[i]))
            block.rows = self.ints[start : start + rows[i].size].reshape(rows[i].shape)
        for i, (function, numbers) in enumerate(correction_calls, len(self.blocks)):
            table[i] = BlockRow(address_of(function), starts[id(numbers)], len(numbers))
        return table


def _correction_rows(projection: Projection | None, first: int, motion: range) -> Corrections:
    """The rows of the table that correct a solution.

    `first` is the index of the first of them; `motion` is the range of the blocks that compute the motion.
    """
    constraints = projection or Projection(0)  # without constraints all ranges are empty
    starts = accumulate([first, *(len(group) for group in constraints.groups)])
    return Corrections(*starts, errors=constraints.errors, motion_first=motion.start, motion_last=motion.stop)
