"""Calls of machine code from Python, with the same arrays again and with others."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from cosim.kit import compile_function, is_plain, prepared_call


def weighted_sum(factor, values, indices, shift):
    """The sum of the values at some places, times a factor, and a shift."""
    total = 0.0
    for place in indices:
        total += values[place]
    return factor * total + float(shift)


def fill(values, number):
    """Set all values."""
    for i in range(values.shape[0]):
        values[i] = number


def test_each_call_reads_the_present_values_of_its_arrays() -> None:
    call = compile_function(weighted_sum, "fFIi>f")
    values, indices = np.array([1.0, 2.0, 4.0]), np.array([0, 2])
    assert call(1.0, values, indices, 0) == 5.0
    values[2] = 8.0
    assert call(2.0, values, indices, 1) == 19.0
    assert call(np.float64(1.0), np.array([3.0]), np.zeros(2, dtype=np.int64), np.int64(-1)) == 5.0
    assert call(1.0, values, indices, 0) == 9.0
    assert call(1.0, values, indices[:1], 0) == 1.0
    assert call(1.0, values, indices[:0], 7) == 7.0


def test_a_new_array_at_the_address_of_a_deleted_one_is_read() -> None:
    call = compile_function(weighted_sum, "fFIi>f")
    indices = np.array([0])
    for number in range(50):
        values = np.full(1, float(number))
        assert call(1.0, values, indices, 0) == float(number)
        del values  # the next array gets its memory


def test_a_call_keeps_no_reference_to_its_arrays() -> None:
    gc.freeze()  # else the collection below searches all objects of other tests
    call, values = compile_function(fill, "Ff>v"), np.zeros(3)
    assert call(values, 2.0) is None
    assert values.tolist() == [2.0, 2.0, 2.0]
    alive = weakref.ref(values)
    del values
    gc.collect()
    assert alive() is None


def at_least_zero(values):
    """The first value; an error where it is below zero."""
    if values[0] < 0.0:
        raise ValueError("below zero")
    return values[0]


def test_a_prepared_call_reads_the_present_values_of_its_arrays() -> None:
    gc.freeze()  # as above
    values = np.array([2.0, 3.0])
    call = prepared_call(at_least_zero, "F>f", values)
    assert call() == 2.0
    values[0] = 5.0
    assert call() == 5.0
    values[0] = -1.0
    with pytest.raises(ValueError, match="below zero"):
        call()
    values[0] = 0.0
    assert call() == 0.0
    assert prepared_call(fill, "Ff>v", values, 7.0)() is None
    assert values.tolist() == [7.0, 7.0]
    del values  # a prepared call keeps its arrays
    gc.collect()
    assert call() == 7.0


@pytest.mark.skipif(is_plain(), reason="plain Python takes any arguments")
def test_wrong_arguments_are_refused_after_right_ones() -> None:
    call = compile_function(fill, "Ff>v")
    call(np.zeros(2), 1.0)
    for wrong in (np.zeros(2, dtype=np.int64), np.zeros((2, 2)), np.zeros(4)[::2]):
        with pytest.raises(TypeError, match=r"fill\(\).*(given an array|needs a contiguous array)"):
            call(wrong, 1.0)
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        call(np.zeros(2))
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        prepared_call(fill, "Ff>v", np.zeros(2))
