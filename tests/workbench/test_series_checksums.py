"""Damaged values over time of a study are refused, and never read as other values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cosim

pytest.importorskip("pyarrow")


def stored_series(folder: Path, values: np.ndarray) -> tuple[cosim.ResultSink, str]:
    """The parts of a study with the series of one run, and the name of the one that has it."""
    from cosim_workbench.studies.series_parts import SeriesParts

    parts = SeriesParts(folder)
    grid = np.arange(len(values)) * 0.5
    return parts, parts.add_results([(0, cosim.Result(grid, {"a.x": values, "a.y": -values}, {}))])


@pytest.mark.parametrize("count", [1, 200])
def test_each_damaged_byte_is_noticed_or_changes_nothing(count: int, tmp_path: Path) -> None:
    values = np.random.default_rng(3).normal(size=count)
    parts, name = stored_series(tmp_path / "series", values)
    grid, path = np.arange(count) * 0.5, tmp_path / "series" / name

    def read() -> np.ndarray:
        return parts.values([name], 1, grid, slice(None), slice(None))  # type: ignore[attr-defined]

    undamaged, content = read(), path.read_bytes()
    np.testing.assert_array_equal(undamaged[0], np.column_stack([values, -values]))
    refused = 0
    for place in range(0, len(content), max(1, len(content) // 150)):
        damaged = bytearray(content)
        damaged[place] ^= 0x10  # one bit
        path.write_bytes(damaged)
        try:
            np.testing.assert_array_equal(read(), undamaged)
        except cosim.CosimError as error:
            assert "is damaged" in str(error)
            refused += 1
    assert refused > 20
    path.unlink()
    with pytest.raises(cosim.CosimError, match=r"part-.*is damaged: .*No such file"):
        read()
