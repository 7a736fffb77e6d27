"""Digests differ for values that differ in one bit or in their kind, wherever a value contains them."""

import enum
import math
import types

import numpy as np
import pytest
from fingerprint_functions import Pair, law, soft, stiff, with_values
from how_many import many
from hypothesis import given, settings
from hypothesis import strategies as st

from cosim_compiler.fingerprint import fingerprint


class Mode(enum.IntEnum):
    SLOW = 1
    FAST = 2


@pytest.mark.parametrize("container", [tuple, list, lambda pair: Pair(*pair), lambda pair: (1, (pair,))])
def test_one_element_of_a_long_table_in_a_container_changes_the_digest(container):
    changed_table = np.arange(2000.0)
    changed_table[1234] = math.nextafter(changed_table[1234], 0.0)
    value, equal_value = (container([np.arange(2000.0), np.zeros(3)]) for _ in range(2))
    changed_value = container([changed_table, np.zeros(3)])
    assert fingerprint(with_values(value)) == fingerprint(with_values(equal_value))
    assert fingerprint(with_values(value)) != fingerprint(with_values(changed_value))


class Open(tuple):
    """A tuple with the fields of `Pair` in the opposite order."""

    _fields = ("second", "first")


ALIKE = [
    1, 1.0, True, np.float64(1.0), np.float32(1.0), np.int64(1), 1 + 0j, "1", b"1", None, (), [],
    {}, frozenset(), 0.0, -0.0, 0, False, math.nan, -math.nan, np.array(0.0), np.array([0.0]),
    np.array([[0.0]]), np.array([-0.0]), np.array([0]), np.zeros((2, 3)), np.zeros((3, 2)),
    np.zeros((2, 3), order="F"), np.zeros(6), (0.0,), [0.0], ((0.0,),), (0.0, ()), Pair(0.0, 1.0),
    (0.0, 1.0), Pair(1.0, 0.0), Pair, Mode, Mode.SLOW, Mode.FAST, math, math.sin, math.cos, {1: 2},
    {1: 2.0}, {1, 2}, frozenset({1, 2}), frozenset({1, 3}), "ab", ("a", "b"), ("ab",), ("", "ab"),
    soft, stiff, (soft, soft), (soft, stiff), (stiff, soft), range(3), range(4), slice(3),
    np.dtype("f8"), np.dtype("f4"), Open, Ellipsis,
]  # fmt: skip


def test_values_that_look_alike_have_different_digests():
    digests = [fingerprint(with_values(value)) for value in ALIKE]
    duplicates = [
        (ALIKE[digests.index(d)], v) for v, d in zip(ALIKE, digests, strict=True) if digests.count(d) > 1
    ]
    assert duplicates == []


def test_a_container_that_holds_itself_has_a_digest():
    ring = [1.0]
    ring.append(ring)
    other_ring = [2.0]
    other_ring.append(other_ring)
    assert fingerprint(with_values(ring)) != fingerprint(with_values(other_ring))


# values at random


scalars = st.one_of(
    st.floats(), st.integers(-3, 3), st.booleans(), st.sampled_from(["", "a", "ab", None, 0.0, -0.0, 1, 1.0])
)


def array_of(numbers, kind, shape, is_long):
    """An array whose numbers differ in their last bits, and some far from its ends."""
    array = np.full(1200 if is_long else 6, 0.1)
    array[array.size // 2 - 3 : array.size // 2 + 3] += np.array(numbers) * 2.0**-54
    return np.frombuffer(array.tobytes(), kind) if is_long else array.reshape(shape)


arrays = st.builds(
    array_of,
    st.lists(st.sampled_from([0, 1]), min_size=6, max_size=6),
    st.sampled_from(["f8", "f4", "i8"]),
    st.sampled_from([(6,), (2, 3), (3, 2)]),
    st.booleans(),
)
functions = st.recursive(
    st.builds(law, scalars), lambda inner: st.builds(law, st.tuples(inner, inner)), max_leaves=3
)
values = st.recursive(
    st.one_of(scalars, arrays, functions, st.sampled_from([soft, stiff])),
    lambda inner: st.one_of(
        st.tuples(inner, inner), st.builds(Pair, inner, inner), st.lists(inner, max_size=3)
    ),
    max_leaves=8,
)


def bits_of(value):
    """A value as nested tuples, which are equal only if values are the same to the last bit."""
    if isinstance(value, float):
        return ("float", np.float64(value).tobytes())
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, types.FunctionType):
        return ("law", bits_of(value.__closure__[0].cell_contents))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, *map(bits_of, value))
    return (type(value).__name__, value)


@given(values, values)
@settings(max_examples=many(40))
def test_digests_are_equal_only_for_equal_values(value, other_value):
    if bits_of(value) != bits_of(other_value):
        assert fingerprint(with_values(value)) != fingerprint(with_values(other_value))
    if not isinstance(value, types.FunctionType):
        assert fingerprint(with_values((value, 1.0))) != fingerprint(with_values((value, 1)))


def paths_in(value, path=()):
    """The paths to everything in a value."""
    yield path
    if isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from paths_in(item, (*path, i))
    if isinstance(value, types.FunctionType):
        yield from paths_in(value.__closure__[0].cell_contents, (*path, "cell"))


def replaced_at(value, path, new):
    """The value with another item at a path."""
    if not path:
        return new
    if path[0] == "cell":
        return law(replaced_at(value.__closure__[0].cell_contents, path[1:], new))
    items = [replaced_at(item, path[1:], new) if i == path[0] else item for i, item in enumerate(value)]
    return type(value)(*items) if isinstance(value, Pair) else type(value)(items)


def with_smallest_change(value, data):
    """A value that differs as little as possible."""
    if isinstance(value, np.ndarray):
        content = bytearray(value.tobytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1
        return np.frombuffer(bytes(content), value.dtype).reshape(value.shape)
    if isinstance(value, float):
        return data.draw(st.sampled_from([-value, math.nextafter(value, -value or 1.0), np.float64(value)]))
    if isinstance(value, int):
        return (
            float(value) if isinstance(value, bool) else data.draw(st.sampled_from([value + 1, float(value)]))
        )
    return (value,)


@given(values, st.data())
@settings(max_examples=many(40))
def test_the_smallest_change_at_any_path_changes_the_digest(value, data):
    for path in paths_in(value):
        item = value
        for step in path:
            item = item.__closure__[0].cell_contents if step == "cell" else item[step]
        if isinstance(item, float) and math.isnan(item):
            continue
        changed_value = replaced_at(value, path, with_smallest_change(item, data))
        assert fingerprint(with_values(value)) != fingerprint(with_values(changed_value))
