"""Columns that recorded rows are appended to, against numpy's concatenation of the rows."""

import tracemalloc

import numpy as np
import pytest
from numpy.typing import NDArray

import cosim
from cosim.simulation.recorded_columns import RecordedColumns

SIZES = [1, 3, 2]
"""Elements of each signal."""
ROWS = np.arange(700.0 * 7).reshape(700, 7)


def columns_of(rows: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The time and the columns of three signals of `SIZES` elements."""
    return [rows[:, 0], rows[:, 1], rows[:, 2:5], rows[:, 5:7]]


@pytest.mark.parametrize("pieces", [[], [0], [1], [700], [0, 1, 0, 2], [1] * 100, [300, 1, 399]])
def test_columns_hold_what_was_appended(pieces: list[int]) -> None:
    columns, start = RecordedColumns(SIZES), 0
    for count in pieces:
        columns.append(ROWS[start : start + count])
        start += count
    assert (len(columns), columns.values) == (start, 7 * start)
    for arrays in (columns.copy(), columns.pop()):
        assert [c.shape for c in arrays] == [(start,), (start,), (start, 3), (start, 2)]
        assert all(np.array_equal(*pair) for pair in zip(arrays, columns_of(ROWS[:start]), strict=True))
    assert (len(columns), columns.values) == (0, 0)


def test_copies_and_taken_columns_do_not_change() -> None:
    columns = RecordedColumns(SIZES)
    columns.append(ROWS[:3])
    copied, row = columns.copy(), columns.row(-1)
    taken = columns.pop()
    columns.append(ROWS[3:])
    columns.clear()
    columns.append(ROWS[5:6])
    for arrays in (copied, taken):
        assert all(np.array_equal(*pair) for pair in zip(arrays, columns_of(ROWS[:3]), strict=True))
    assert row.tolist() == ROWS[2].tolist()
    assert [columns.row(i).tolist() for i in (0, -1)] == [ROWS[5].tolist()] * 2


class Swing(cosim.Component):
    """A mass on a spring. Law: height'' = -height."""

    height = cosim.position(unit="m", start=0.1)
    speed = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(height, speed, height_dot, speed_dot):  # type: ignore[no-untyped-def]
        height_dot[0] = speed
        speed_dot[0] = -height


def test_a_run_takes_little_more_memory_than_its_numbers() -> None:
    model = cosim.Model("swing")
    model.add(Swing, "swing")
    system = model.build()
    options = {"integrator": "integrators.runge_kutta_4", "fixed_step": 1.0, "output_interval": 1.0}
    cosim.simulate(system, until=10.0, **options)
    tracemalloc.start()
    try:
        result = cosim.simulate(system, until=400_000.0, **options)
        numbers = result.time.nbytes + sum(values.nbytes for values in result.signals.values())
        memory_after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert numbers > 9_000_000  # bytes: 400,001 rows of three doubles
    assert memory_after < numbers + 500_000
    assert peak < 1.3 * numbers + 3_000_000
