"""Rows that a Simulator records: from the present on, in bounded pieces, also across integrators."""

from __future__ import annotations

import time as wall

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim.simulation.stride import MOST_VALUES
from cosim.testing.known_solution import known_system


class Growth(cosim.Component):
    """Grows at its own rate."""

    size = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(size, size_dot):
        size_dot[0] = size


@pytest.mark.parametrize("are_taken_before", [False, True])
def test_recording_continues_with_another_integrator(are_taken_before: bool) -> None:
    model = cosim.Model("growth")
    model.add(Growth, "growth")
    simulator = cosim.Simulator(model.build(), accuracy=1e-9)
    simulator.record(["growth.size"], "grid", origin=0.0, interval=0.1, point=1.0, until=1.0)
    simulator.advance_to(0.45)
    rows = [simulator.take_rows()] if are_taken_before else []
    simulator.reset_integrator("integrators.dormand_prince", accuracy=1e-9)
    simulator.advance_to(1.0)
    table = np.concatenate([*rows, simulator.take_rows()])
    np.testing.assert_allclose(table[:, 0], np.arange(1, 11) * 0.1, rtol=1e-12)
    np.testing.assert_allclose(table[:, 1], np.exp(table[:, 0]), rtol=1e-7)
    simulator.stop_recording()
    simulator.reset_integrator("integrators.heun", accuracy=1e-3)
    simulator.advance_to(1.5)
    assert len(simulator.take_rows()) == 0


def test_recording_begins_at_the_first_point_from_now_on() -> None:
    """Points that have passed are left out; once they were recorded with the present values."""
    model = cosim.Model("growth")
    model.add(Growth, "growth")
    simulator = cosim.Simulator(model.build(), accuracy=1e-9)
    simulator.advance_to(0.5)
    simulator.record(["growth.size"], "grid", interval=0.2, until=1.0)
    simulator.advance_to(1.0)
    table = simulator.take_rows()
    np.testing.assert_allclose(table[:, 0], [0.6, 0.8, 1.0], rtol=1e-12)
    np.testing.assert_allclose(table[:, 1], np.exp(table[:, 0]), rtol=1e-7)


def test_a_call_of_advance_some_brings_a_bounded_number_of_values() -> None:
    simulator = cosim.Simulator(known_system(), integrator="integrators.explicit_euler", fixed_step=1e-6)
    simulator.initialize()
    simulator.record([], "grid", origin=0.0, interval=1e-6, point=1.0, until=2.0)
    sizes: list[int] = []
    start = wall.monotonic()
    while simulator.state.time < 2.0 and wall.monotonic() - start < 5.0:
        simulator.advance_some(2.0)
        sizes.append(simulator.take_rows().size)
    # the length of a call follows from the values of the call before, of which steps bring now more, now less
    assert max(sizes) <= 1.1 * MOST_VALUES
    # plain Python does not come to the end in these five seconds
    assert kit.is_plain() or simulator.state.time == 2.0


def test_blocks_of_rows_are_the_rows() -> None:
    """Many rows come in several arrays, which joined are those of `take_rows`."""
    tables = []
    for take in ("take_rows", "take_row_blocks"):
        simulator = cosim.Simulator(known_system(), integrator="integrators.explicit_euler", fixed_step=1e-3)
        simulator.initialize()
        (part,) = simulator.system.parts
        simulator.record([f"{part}.x"], "steps")
        simulator.advance_to(5.0)
        tables.append(getattr(simulator, take)())
        assert [rows.shape for rows in simulator.take_row_blocks()] == [(0, 2)]
        assert simulator.take_rows().shape == (0, 2)
    rows, pieces = tables
    assert len(pieces) > 1 and len(rows) >= 5000
    np.testing.assert_array_equal(rows, np.concatenate(pieces))
