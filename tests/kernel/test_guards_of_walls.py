"""A point that was stopped at a wall stays guarded there, until it is put elsewhere."""

from __future__ import annotations

import pytest
from zero_parts import Buffer, simulator_of


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("method", "step"),
    [
        *(("bdf", 0.1), ("explicit_euler", 0.1), ("implicit_euler", 0.1), ("radau5", 0.1)),
        *(("semi_implicit_euler", 0.1), ("tsitouras", 0.1), ("velocity_verlet", 0.1), ("yoshida_4", 0.1)),
        *(("bdf", None), ("dormand_prince", None), ("radau5", None)),
    ],
)
def test_a_point_that_is_put_behind_its_wall_may_come_back_to_it(method, step):
    """-0.3 + 3 * 0.1 is 3e-17 beyond zero: the way back from there is no second stop."""
    # put there by its handler
    simulator = simulator_of(Buffer(), f"integrators.{method}", step)
    simulator.advance_to(2.0)
    assert simulator.state["part.stops"] == 1
    assert simulator.state["part.x"] == pytest.approx(-0.7)

    # put there by a user, who writes the point through the wall at which it lies: a second stop
    simulator = simulator_of(Buffer(is_put=0.0), f"integrators.{method}", step)
    simulator.advance_to(1.0)
    assert simulator.state["part.stops"] == 1
    simulator.state["part.x"], simulator.state["part.v"] = -0.3, 1.0
    simulator.advance_to(1.05)
    assert simulator.state["part.stops"] == 2
    simulator.state["part.x"], simulator.state["part.v"] = -0.25, 1.0
    simulator.advance_to(2.0)
    assert simulator.state["part.stops"] == 2


@pytest.mark.parametrize(("start", "speed"), [(0.35, -1.0), (0.0, 0.0)])
@pytest.mark.parametrize(("target", "stops"), [(-0.3, 1), (0.3, 0), (0.0, 0)])
def test_a_point_at_its_wall_may_be_written_through_it(start, speed, target, stops):
    """From just behind zero, where it was stopped, and from exactly zero."""
    simulator = simulator_of(Buffer(is_put=0.0), x=start, v=speed)
    simulator.advance_to(1.0)
    before = simulator.state["part.stops"]
    simulator.state["part.x"] = target
    simulator.advance_to(1.2)
    assert simulator.state["part.stops"] == before + stops
    simulator.state["part.v"] = -1.0
    simulator.advance_to(1.25)
    assert simulator.state["part.stops"] == before + (0 if target == 0.3 else 1)


def test_a_point_that_is_moved_by_rounding_at_its_wall_stays_guarded():
    simulator = simulator_of(Buffer(is_put=0.0))
    simulator.advance_to(1.0)
    x = simulator.state["part.x"]
    assert -1e-7 < x < 0.0
    for time, factor in ((1.04, 1.0 + 1e-15), (1.08, 1.5), (1.12, 0.5)):
        simulator.state["part.x"] = x * factor
        simulator.advance_to(time)
    simulator.state["part.v"] = -1.0
    simulator.advance_to(1.2)
    assert simulator.state["part.stops"] == 2
