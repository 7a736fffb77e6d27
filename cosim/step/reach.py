"""The table that `touched` goes by: which rows of the schedule follow which variables."""

from __future__ import annotations

import weakref
from array import array

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage
from cosim.step.touched import NODE_WIDTH, REACH_HEADER
from cosim.system.graph import Graph
from cosim.system.short_lists import ShortLists
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
    graph = system.assembly.graph
    number_of = np.full(len(graph.blocks), -1)
    rows: list[tuple[int, ...]] = []
    for number, block in enumerate(system.blocks):
        if not Stage.INSTANCE <= block.stage <= Stage.ACCELERATION:
            continue
        width = block.rows.shape[1] if block.rows.ndim == 2 else 0
        at = int(system.table[number, 1])
        for member in block.members:
            node = graph.blocks[member]
            count = len(node.rows)
            number_of[member] = len(rows)
            rows.append((number, at, count, width, block.stage, node.is_python or not node.mergeable))
            at += count * width
    lists = _readers(system, number_of), _followers(graph, number_of)
    header = np.zeros(REACH_HEADER, dtype=np.int64)
    pieces: list[Integers] = [np.array(rows, dtype=np.int64).reshape(-1)]
    header[0], header[1] = len(rows), REACH_HEADER
    assert pieces[0].size == NODE_WIDTH * len(rows)
    for place, found in zip((2, 4), lists, strict=True):
        header[place] = REACH_HEADER + sum(piece.size for piece in pieces)
        header[place + 1] = header[place] + len(found) + 1
        pieces += [
            np.cumsum(np.concatenate([[0], found.counts]), dtype=np.int64),
            found.numbers.astype(np.int64),
        ]
    return np.concatenate([header, *pieces])


def _readers(system: System, number_of: Integers) -> ShortLists:
    """For each variable of [y | p | d | k] the nodes that read it."""
    arrays, start, room = system.start_arrays(), {}, 0
    for name in "ypdk":
        start[name], room = room, room + arrays[name].size

    read = array("q")
    for number, node in zip(number_of.tolist(), system.assembly.graph.blocks, strict=True):
        for slot in (*node.reads, *node.adds) if number >= 0 else ():
            if slot.array in start:
                read.extend((start[slot.array] + slot.offset, slot.size, number))
    first, size, reader = np.asarray(read).reshape(-1, 3).T
    behind = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return _unique(np.repeat(first, size) + behind, np.repeat(reader, size), room)


def _followers(graph: Graph, number_of: Integers) -> ShortLists:
    """For each node others that are called again when it is: through these all that have to be are found.

    Of the nodes that make one region each is followed by the next one, and the first by those that read it.
    """

    def nodes_by_region(*effects: ShortLists) -> ShortLists:
        nodes = np.concatenate([number_of[effect.owners] for effect in effects])
        regions = np.concatenate([effect.numbers for effect in effects])
        return _unique(regions[nodes >= 0], nodes[nodes >= 0], len(graph.layout.regions))

    readers = nodes_by_region(graph.reads, graph.adds)
    makers = nodes_by_region(graph.writes, graph.adds)
    made = np.flatnonzero(makers.counts)
    last = np.cumsum(makers.counts[made]) - 1
    first = makers.numbers[last + 1 - makers.counts[made]]
    following = np.roll(makers.numbers, -1)
    following[last] = first
    before = np.concatenate([makers.numbers, np.repeat(first, readers.counts[made])])
    after = np.concatenate([following, readers.of(made)])
    return _unique(before[before != after], after[before != after], int(number_of.max(initial=-1)) + 1)


def _unique(lists: Integers, numbers: Integers, count: int) -> ShortLists:
    """Lists without what is in them twice, rising."""
    width = int(numbers.max(initial=0)) + 1
    pairs = np.unique(lists.astype(np.int64) * width + numbers)
    return ShortLists.of_pairs(pairs // width, pairs % width, count)
