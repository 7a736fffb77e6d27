"""Two results that have to be the same to the last bit."""

from __future__ import annotations

import cosim


def assert_same(one: cosim.Result, other: cosim.Result) -> None:
    """The same times, signals and events."""
    assert one.names == other.names and one.time.tobytes() == other.time.tobytes()
    for name in one.names:
        assert one[name].tobytes() == other[name].tobytes(), name
    assert [(e.time, e.handler) for e in one.events] == [(e.time, e.handler) for e in other.events]
