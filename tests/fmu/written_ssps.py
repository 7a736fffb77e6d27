"""The files of an SSP, and the comparison of two co-simulations."""

from __future__ import annotations

import zipfile
from pathlib import Path

from cosim_fmu import CoSimulation


def contents(path: Path) -> dict[str, bytes]:
    """All files of an archive by their names."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def compare_runs(first: CoSimulation, second: CoSimulation, until: float) -> None:
    """Both give the same values at the same times."""
    expected, result = first.simulate(until), second.simulate(until)
    assert result.names == expected.names
    assert result.time.tolist() == expected.time.tolist()
    for name in expected.names:
        assert result[name].tolist() == expected[name].tolist(), name
