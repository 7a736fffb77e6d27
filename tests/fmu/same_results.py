"""Compares two results bit by bit."""

from __future__ import annotations

import cosim


def assert_same(result: cosim.Result, expected: cosim.Result) -> None:
    """Both have the same times, signals and events."""
    assert result.names == expected.names and result.time.tobytes() == expected.time.tobytes()
    for name in result.names:
        if result[name].dtype == object:  # text: its bytes are addresses
            assert result[name].tolist() == expected[name].tolist(), name
        else:
            assert result[name].tobytes() == expected[name].tobytes(), name
    events, expected_events = ([(e.time, e.handler) for e in each.events] for each in (result, expected))
    assert events == expected_events
