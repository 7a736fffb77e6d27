"""Calls of machine code from Python: numbers and arrays, the same ones again and others."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from cosim.kit import compile_function, is_plain, prepared_call


def weighted(factor, values, places, shift):
    """The sum of the values at some places, times a factor, and a shift."""
    total = 0.0
    for place in places:
        total += values[place]
    return factor * total + float(shift)


def filled(values, number):
    """Set all values."""
    for i in range(values.shape[0]):
        values[i] = number


def test_the_same_arrays_are_read_again_and_others_anew() -> None:
    call = compile_function(weighted, "fFIi>f")
    values, places = np.array([1.0, 2.0, 4.0]), np.array([0, 2])
    assert call(1.0, values, places, 0) == 5.0
    values[2] = 8.0
    assert call(2.0, values, places, 1) == 19.0
    assert call(np.float64(1.0), np.array([3.0]), np.zeros(2, dtype=np.int64), np.int64(-1)) == 5.0
    assert call(1.0, values, places, 0) == 9.0
    assert call(1.0, values, places[:1], 0) == 1.0
    assert call(1.0, values, places[:0], 7) == 7.0


def test_arrays_that_follow_each_other_at_one_place_are_told_apart() -> None:
    call = compile_function(weighted, "fFIi>f")
    places = np.array([0])
    for number in range(50):
        values = np.full(1, float(number))
        assert call(1.0, values, places, 0) == float(number)
        del values  # its memory is that of the next one


def test_a_call_has_no_array_kept() -> None:
    import weakref

    gc.freeze()  # else the search below goes through all that other tests have left
    call, values = compile_function(filled, "Ff>v"), np.zeros(3)
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


def test_a_prepared_call_follows_what_its_arrays_hold() -> None:
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
    assert prepared_call(filled, "Ff>v", values, 7.0)() is None
    assert values.tolist() == [7.0, 7.0]
    del values  # the call keeps what it works on
    gc.collect()
    assert call() == 7.0


@pytest.mark.skipif(is_plain(), reason="plain Python takes any arguments")
def test_other_arguments_are_refused_after_right_ones() -> None:
    call = compile_function(filled, "Ff>v")
    call(np.zeros(2), 1.0)
    for wrong in (np.zeros(2, dtype=np.int64), np.zeros((2, 2)), np.zeros(4)[::2]):
        with pytest.raises(TypeError, match=r"filled\(\).*(given an array|needs a contiguous array)"):
            call(wrong, 1.0)
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        call(np.zeros(2))
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        prepared_call(filled, "Ff>v", np.zeros(2))
