"""Damaged and forged checkpoints of co-simulations are refused with a message."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoint_runs import LINKS, SPRINGS, saved_at
from how_many import FACTOR

import cosim
from cosim_fmu import CoSimulation
from cosim_master.algorithms import exchange_layout
from cosim_master.run.saved_trees import VERSION, from_bytes, to_bytes

MakeFmu = Callable[..., Path]
DELETED = object()


def test_damaged_bytes_raise_an_error_of_cosim(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "jacobi", 0.1, starts=SPRINGS)
    data, _ = saved_at(loop, 0.5, 1.0)
    rng = random.Random(1)
    for _ in range(200):
        broken = bytearray(data)
        if rng.random() < 0.5:
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        else:
            del broken[rng.randrange(len(broken)) :]
        with pytest.raises(cosim.CosimError):
            loop.restore(bytes(broken))
    with pytest.raises(cosim.CosimError, match="version 7"):
        loop.restore(data.replace(VERSION.to_bytes(4, "little"), (7).to_bytes(4, "little"), 1))


def paths(tree: Any, path: tuple[Any, ...] = (), depth: int = 0) -> Iterator[tuple[Any, ...]]:
    """The paths of entries of a tree down to a depth of 3; of a list, that of its first entry."""
    if path and path[0] != "identity":
        yield path
    if depth < 3 and isinstance(tree, (dict, list, tuple)):
        items = tree.items() if isinstance(tree, dict) else enumerate(tree[:1])
        for key, value in items:
            yield from paths(value, (*path, key), depth + 1)


def replaced(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A tree with another value at a path; the value `DELETED` removes the entry."""
    if not path:
        return value
    pairs = dict(tree if isinstance(tree, dict) else enumerate(tree))
    pairs[path[0]] = replaced(pairs[path[0]], path[1:], value)
    if pairs[path[0]] is DELETED:
        del pairs[path[0]]
    return pairs if isinstance(tree, dict) else type(tree)(pairs.values())


@pytest.mark.thorough
def test_forged_content_with_a_right_checksum_is_refused_with_a_message(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "jacobi", 0.1, starts=SPRINGS)
    tree = from_bytes(saved_at(loop, 0.5, 1.0)[0])
    refused = 0
    wrong_values = (None, "x", -1, [], {"x": 1}, np.zeros((3, 3)))
    for i, path in enumerate(paths(tree)):
        # a short run tries one of the values, by turns
        for value in (*(wrong_values if FACTOR > 1 else [wrong_values[i % 6]]), DELETED):
            data = to_bytes(replaced(tree, path, value))
            try:
                loop.restore(data)
                loop.simulate(1.0)
            except cosim.CosimError as error:
                refused += 1
                is_technical = re.search(r"\w+(Error|Exception)\b|object is not|has no attribute", str(error))
                assert not is_technical, path
    assert refused > (200 if FACTOR > 1 else 50)  # the others are values that a run may begin with
    loop.restore(to_bytes(tree))
    assert loop.simulate(1.0).time[-1] == 1.0


def test_arrays_of_algorithms_in_another_layout_are_refused(
    make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays are restored as they were saved, and would be read by the indices of this layout."""
    fmu = make_fmu("mass")
    loop = CoSimulation({"left": fmu, "right": fmu}, LINKS[:3], "adaptive", 0.1, starts=SPRINGS)
    data, _ = saved_at(loop, 0.5, 1.0)
    with monkeypatch.context() as other_layout:
        other_layout.setattr(exchange_layout, "PAST", exchange_layout.PAST + 1)
        loop.restore(data)
        with pytest.raises(cosim.ModelError, match="algorithms remember differ"):
            loop.simulate(1.0)
    loop.restore(data)
    assert loop.simulate(1.0).time[-1] == 1.0


def test_trees_are_read_back_unchanged() -> None:
    tree = {
        "numbers": [1, -(2**70), 0.1, float("inf"), True, None],
        "$odd key": (1, ("two", b"\x00\xff")),
        3: np.arange(6.0).reshape(2, 3),
        "empty": np.zeros((0, 4), dtype=np.int32),
    }
    read_tree = from_bytes(to_bytes(tree))
    assert list(read_tree) == list(tree)
    assert read_tree["numbers"] == tree["numbers"]
    assert read_tree["$odd key"] == tree["$odd key"]
    assert read_tree[3].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert read_tree["empty"].shape == (0, 4)
    with pytest.raises(TypeError, match="object"):
        to_bytes({"what": object()})
