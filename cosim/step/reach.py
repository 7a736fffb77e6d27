"""The table that `touched` goes by: which rows of the schedule follow which variables."""

from __future__ import annotations

import weakref
from array import array

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage
from cosim.step.touched import (
    ALWAYS,
    FOLLOWERS_FROM,
    NODE_BLOCK,
    NODE_COUNT,
    NODE_FIRST,
    NODE_ROW,
    NODE_STAGE,
    NODE_WIDTH,
    NODES,
    NODES_AT,
    REACH_HEADER,
    READERS_FROM,
)
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
    rows = np.zeros((len(graph.blocks), NODE_WIDTH), dtype=np.int64)
    end = 0
    for number in range(*system.block_range(Stage.INSTANCE, Stage.ACCELERATION)):
        block = system.blocks[number]
        width = block.rows.shape[1] if block.rows.ndim == 2 else 0
        first, end = end, end + len(block.members)
        number_of[list(block.members)] = range(first, end)
        counts = np.array([len(graph.blocks[member].rows) for member in block.members])
        rows[first:end, NODE_BLOCK], rows[first:end, NODE_COUNT] = number, counts
        rows[first:end, NODE_FIRST] = system.table[number, 1] + width * (np.cumsum(counts) - counts)
        rows[first:end, NODE_ROW], rows[first:end, NODE_STAGE] = width, block.stage
        rows[first:end, ALWAYS] = block.is_python or not block.mergeable
    lists = _readers(system, number_of), _followers(graph, number_of)
    header = np.zeros(REACH_HEADER, dtype=np.int64)
    pieces: list[Integers] = [rows[:end].reshape(-1)]
    header[NODES], header[NODES_AT] = end, REACH_HEADER
    for place, found in zip((READERS_FROM, FOLLOWERS_FROM), lists, strict=True):
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
    return ShortLists.of_sets(np.repeat(first, size) + behind, np.repeat(reader, size), room)


def _followers(graph: Graph, number_of: Integers) -> ShortLists:
    """For each node others that are called again when it is: through these all that have to be are found.

    Of the nodes that make one region each is followed by the next one, and the first by those that read it.
    """

    def nodes_by_region(*effects: ShortLists) -> ShortLists:
        nodes = np.concatenate([number_of[effect.owners] for effect in effects])
        regions = np.concatenate([effect.numbers for effect in effects])
        return ShortLists.of_sets(regions[nodes >= 0], nodes[nodes >= 0], len(graph.layout.regions))

    readers = nodes_by_region(graph.reads, graph.adds)
    makers = nodes_by_region(graph.writes, graph.adds)
    made = np.flatnonzero(makers.counts)
    last = np.cumsum(makers.counts[made]) - 1
    first = makers.numbers[last + 1 - makers.counts[made]]
    following = np.roll(makers.numbers, -1)
    following[last] = first
    before = np.concatenate([makers.numbers, np.repeat(first, readers.counts[made])])
    after = np.concatenate([following, readers.of(made)])
    others = before != after
    return ShortLists.of_sets(before[others], after[others], int(number_of.max(initial=-1)) + 1)
