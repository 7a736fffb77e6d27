"""Reach: the rows of the schedule that depend on each variable, for `cosim.step.block_calls`."""

from __future__ import annotations

import weakref
from array import array
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosim.run_data.records.evaluation import Node
from cosim.stage import Stage
from cosim.system.block_row import columns_of
from cosim.system.dependency_graph import Graph
from cosim.system.short_lists import ShortLists
from cosim.system.system import System
from cosim_compiler.record import place_in, width_of

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Reach:
    """Nodes, and which variables and nodes they depend on.

    A node is a run of rows of the schedule that is evaluated as a whole. List i of a list of lists is
    ``contents[starts[i] : starts[i + 1]]``.

    Attributes
    ----------
    nodes : ndarray of int64, shape (nodes, fields of a `Node`)
    reader_starts, readers : ndarray of int64
        For each variable of [y | p | d | k] the nodes that read it.
    follower_starts, followers : ndarray of int64
        For each node those that run again when it does.
    """

    nodes: Integers
    reader_starts: Integers
    readers: Integers
    follower_starts: Integers
    followers: Integers


NONE: Integers = np.zeros(0, dtype=np.int64)
NO_REACH = Reach(np.zeros((0, width_of(Node)), dtype=np.int64), NONE, NONE, NONE, NONE)
"""A table without nodes: after an event everything is computed again."""

_reach_by_system: weakref.WeakKeyDictionary[System, Reach] = weakref.WeakKeyDictionary()


def reach_of(system: System) -> Reach:
    """The reach of the variables of a system, computed once.

    A row runs again if one of its inputs changed; of an accumulator all contributors run again. Blocks of a
    solver and functions in plain Python run whatever they declare to read.
    """
    if system not in _reach_by_system:
        _reach_by_system[system] = _make_reach(system)
    return _reach_by_system[system]


def _make_reach(system: System) -> Reach:
    """Number the nodes in the order of the schedule, and list what each depends on."""
    graph = system.assembly.graph
    number_of = np.full(len(graph.blocks), -1)
    rows = np.zeros((len(graph.blocks), width_of(Node)), dtype=np.int64)
    end = 0
    for number in range(*system.block_range(Stage.INSTANCE, Stage.ACCELERATION)):
        block = system.blocks[number]
        width = block.rows.shape[1] if block.rows.ndim == 2 else 0
        first, end = end, end + len(block.members)
        number_of[list(block.members)] = range(first, end)
        counts = np.array([len(graph.blocks[member].rows) for member in block.members])
        for field, column in (
            ("block", number),
            ("first", columns_of(system.table[number]).first + width * (np.cumsum(counts) - counts)),
            ("rows", counts),
            ("width", width),
            ("stage", block.stage),
            ("is_always_called", block.is_python or not block.mergeable),
        ):
            rows[first:end, place_in(Node, field)] = column
    readers, followers = _readers(system, number_of), _followers(graph, number_of)
    return Reach(rows[:end], *_starts_and_contents(readers), *_starts_and_contents(followers))


def _starts_and_contents(lists: ShortLists) -> tuple[Integers, Integers]:
    starts = np.cumsum(np.concatenate([[0], lists.counts]), dtype=np.int64)
    return starts, lists.numbers.astype(np.int64)


def _readers(system: System, number_of: Integers) -> ShortLists:
    """For each variable of [y | p | d | k] the nodes that read it."""
    arrays, start, count = system.start_arrays(), {}, 0
    for name in "ypdk":
        start[name], count = count, count + arrays[name].size

    reads = array("q")  # of each slot that is read: its first variable, their number, the node
    for number, block in zip(number_of.tolist(), system.assembly.graph.blocks, strict=True):
        for slot in (*block.reads, *block.adds) if number >= 0 else ():
            if slot.array in start:
                reads.extend((start[slot.array] + slot.offset, slot.size, number))
    first, size, reader = np.asarray(reads).reshape(-1, 3).T
    place_in_slot = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return ShortLists.of_sets(np.repeat(first, size) + place_in_slot, np.repeat(reader, size), count)


def _followers(graph: Graph, number_of: Integers) -> ShortLists:
    """For each node those that run again directly after it; following them lists all that have to run.

    The nodes that write or add to one region form a ring, each followed by the next: an accumulator needs all
    of them. The first of a ring is also followed by the nodes that read the region::

        maker 1 -> maker 2 -> maker 3 -> maker 1
        maker 1 -> reader 1, reader 2
    """

    def nodes_by_region(*effects: ShortLists) -> ShortLists:
        nodes = np.concatenate([number_of[effect.owners] for effect in effects])
        regions = np.concatenate([effect.numbers for effect in effects])
        return ShortLists.of_sets(regions[nodes >= 0], nodes[nodes >= 0], len(graph.layout.regions))

    readers = nodes_by_region(graph.reads, graph.adds)
    makers = nodes_by_region(graph.writes, graph.adds)
    regions_made = np.flatnonzero(makers.counts)
    last = np.cumsum(makers.counts[regions_made]) - 1
    first = makers.numbers[last + 1 - makers.counts[regions_made]]
    following = np.roll(makers.numbers, -1)
    following[last] = first
    before = np.concatenate([makers.numbers, np.repeat(first, readers.counts[regions_made])])
    after = np.concatenate([following, readers.of(regions_made)])
    differ = before != after  # a single maker is followed by itself
    return ShortLists.of_sets(before[differ], after[differ], int(number_of.max(initial=-1)) + 1)
