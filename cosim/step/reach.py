"""The table that `touched` goes by: which rows of the schedule follow which variables."""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage
from cosim.step.touched import NODE_WIDTH, REACH_HEADER
from cosim.system.system import System

Integers = NDArray[np.int64]


NO_REACH: Integers = np.zeros(REACH_HEADER, dtype=np.int64)
"""A table without nodes: behind an event everything is computed again."""


_known: weakref.WeakKeyDictionary[System, Integers] = weakref.WeakKeyDictionary()


def reach_table(system: System) -> Integers:
    """Readers of variables, nodes, and followers of nodes.

    A row is called again when it reads a variable that was written, or something that a row writes which is
    called again; of an accumulator, all that add to it are. Blocks of a solver and functions in plain
    Python are called whatever they say that they read.

    """
    if system not in _known:
        _known[system] = _made(system)
    return _known[system]


def _made(system: System) -> Integers:
    graph, region_of = system.assembly.graph, system.assembly.layout.region_of
    listed: list[tuple[int, int]] = []  # node of the graph, block of the schedule
    rows: list[list[int]] = []
    for number, block in enumerate(system.blocks):
        if not Stage.INSTANCE <= block.stage <= Stage.ACCELERATION:
            continue
        width = block.rows.shape[1] if block.rows.ndim == 2 else 0
        at = int(system.table[number, 1])
        for member in block.members:
            node = graph.blocks[member]
            count = node.rows.shape[0]
            always = node.is_python or not node.mergeable
            rows.append([number, at, count, width, int(block.stage), int(always)])
            listed.append((member, number))
            at += count * width
    number_of = {member: i for i, (member, _) in enumerate(listed)}
    sizes = {name: len(array) for name, array in system.start_arrays().items()}
    starts = {"y": 0, "p": sizes["y"], "d": sizes["y"] + sizes["p"]}
    starts["k"] = starts["d"] + sizes["d"]
    readers: list[set[int]] = [set() for _ in range(starts["k"] + sizes["k"])]
    region_readers: dict[int, set[int]] = {}
    makers: dict[int, set[int]] = {}
    for member, i in number_of.items():
        node = graph.blocks[member]
        for slot in (*node.reads, *node.adds):
            if slot.array == "c" and slot.size:
                region_readers.setdefault(region_of(slot.offset), set()).add(i)
            elif slot.array in starts:
                for offset in range(slot.offset, slot.offset + slot.size):
                    readers[starts[slot.array] + offset].add(i)
        for slot in (*node.writes, *node.adds):
            if slot.array == "c" and slot.size:
                makers.setdefault(region_of(slot.offset), set()).add(i)
    followers: list[set[int]] = [set() for _ in listed]
    for member, i in number_of.items():
        node = graph.blocks[member]
        for slot in (*node.writes, *node.adds):
            if slot.array == "c" and slot.size:
                region = region_of(slot.offset)
                followers[i] |= region_readers.get(region, set())
                if len(makers[region]) > 1:
                    followers[i] |= makers[region]
    return _packed(rows, readers, followers)


def _packed(rows: list[list[int]], readers: list[set[int]], followers: list[set[int]]) -> Integers:
    numbers = [0] * REACH_HEADER
    numbers[0], numbers[1] = len(rows), REACH_HEADER
    numbers += [number for row in rows for number in row]
    assert len(numbers) == REACH_HEADER + NODE_WIDTH * len(rows)
    for place, lists in ((2, readers), (4, followers)):
        counts = np.cumsum([0, *map(len, lists)]).tolist()
        numbers[place], numbers[place + 1] = len(numbers), len(numbers) + len(counts)
        numbers += counts
        numbers += [i for found in lists for i in sorted(found)]
    return np.array(numbers, dtype=np.int64)
