"""Groups of arrays that are passed by the address of one head: addresses and lengths, one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from cosim.kit import Integers, Reals, compile_function, group_reader, head_of, integers_at


class Pair(NamedTuple):
    """Two arrays."""

    sizes: Integers
    values: Reals


class Described(Pair):
    """The same arrays, with a property that is computed from them."""

    @property
    def total(pair):
        """All values added up."""
        total = 0.0
        for value in pair.values:
            total += value
        return total


read_pair, read_described = group_reader(Pair), group_reader(Described)


def scale(address):
    """Multiply all values by the first size, and return their sum."""
    pair = read_described(integers_at(address, 4))
    for i in range(pair.values.shape[0]):
        pair.values[i] *= pair.sizes[0]
    return pair.total


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_arrays_are_read_and_written_by_the_address_of_their_head(count: int, is_compiled: bool) -> None:
    pair = Pair(np.array([2, 7]), np.arange(1.0, count + 1.0))
    head = head_of(pair)
    assert head.tolist() == [pair.sizes.ctypes.data, 2, pair.values.ctypes.data, count]
    function = compile_function(scale, "i>f") if is_compiled else scale
    assert function(int(head.ctypes.data)) == count * (count + 1)
    assert pair.values.tolist() == [2.0 * (i + 1) for i in range(count)]
    assert pair.sizes.tolist() == [2, 7]


@pytest.mark.parametrize(
    "pair",
    [
        Pair(np.array([2.0]), np.zeros(1)),
        Pair(np.array([2]), np.zeros(1, dtype=np.float32)),
        Pair(np.array([2]), np.zeros((1, 3))),
        Pair(np.array([2]), np.zeros(4)[::2]),
    ],
)
def test_arrays_of_the_wrong_type_or_layout_are_refused(pair: Pair) -> None:
    with pytest.raises(TypeError, match=r"Pair\.(sizes|values) is not a contiguous array of (int|float)64"):
        head_of(pair)
