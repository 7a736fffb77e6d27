"""A model with events, sampling and a delay, and its native FMU."""

from __future__ import annotations

from pathlib import Path

import pytest
from export_random import Lag, Sampler, Swing
from native_tools import export_native

import cosim

MERSON = "integrators.runge_kutta_merson"


def busy() -> cosim.Model:
    """A swing that events kick; a delayed measure of it is sampled, and a lag follows the samples."""
    model = cosim.Model("busy")
    model.add(Swing, "swing", limit=0.4)
    model.add(Sampler, "sampler", period=0.0137)
    model.add(Lag, "lag")
    model.measure("measures.delay", "late", source="swing.y", delay=0.013)
    model.connect("late", "sampler.entry")
    model.connect("sampler.y", "lag.entry")
    return model


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(busy(), tmp_path_factory.mktemp("busy") / "busy.fmu")
