"""A result to be written in Parquet, and a comparison of results."""

from __future__ import annotations

import numpy as np

import cosim

UNITS = {"ball.z": "m", "ball.force": "N"}


def sample_result(count: int = 5) -> cosim.Result:
    """A result with a scalar, a vector and a signal with an odd name."""
    times = np.linspace(0.0, 1.0, count)
    signals = {"ball.z": times**2, "ball.force": np.outer(times, [1.0, 2.0, 3.0]), 'odd,"name': -times}
    return cosim.Result(
        times, signals, UNITS, statistics={"steps": np.int64(3), "parts": {"a": (1.5,)}}, message="done"
    )


def assert_equal(result: cosim.Result, expected: cosim.Result) -> None:
    """Names, units and all values are equal."""
    assert result.names == expected.names and result.units == expected.units
    assert np.array_equal(result.time, expected.time)
    for name in result.names:
        are_reals = result[name].dtype == np.float64
        assert np.array_equal(result[name], expected[name], equal_nan=are_reals)
