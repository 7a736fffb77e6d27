"""SSPs around the FMU ``gain``: y = gain * u + bias."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ssp_files import pack

MakeFmu = Callable[..., Path]
EXPERIMENT = '<ssd:DefaultExperiment startTime="0" stopTime="0.3"/>'


@pytest.fixture
def gain_ssp(tmp_path: Path, make_fmu: MakeFmu) -> Callable[..., Path]:
    """Make an SSP around ``resources/gain.fmu``."""

    def make(text: str, **files: str | Path) -> Path:
        fmu = make_fmu("gain")
        named = {name.replace("__", "."): contents for name, contents in files.items()}
        return pack(tmp_path / "test.ssp", {"SystemStructure.ssd": text, "resources/gain.fmu": fmu, **named})

    return make
