"""Derivatives by parameters that connections pass on, or that change during a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupled_oscillators import (
    ALGORITHMS,
    STEP,
    Oscillator,
    system_of,
)
from coupling_differences import UNTIL, check

import cosim
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_fmu.scenario.scenario_changes import make_changes

MakeFmu = Callable[..., Path]


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "interface_newton"])
def test_derivatives_pass_through_connected_parameters(make_fmu: MakeFmu, algorithm: str) -> None:
    """A parameter of a system sets one of an FMU, and that one sets one of another system, with factors."""
    fmu = make_fmu("mass")

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {"two": system_of("two", Oscillator()), "one": system_of("one", Oscillator()), "mass": fmu},
            [
                {"from": "mass.k", "to": "two.m.c", "factor": 0.3, "convert": False},
                {"from": "one.m.k", "to": "mass.k", "factor": 0.5, "convert": False},
                {"from": "one.m.x", "to": "two.m.force", "convert": False},
                {"from": "two.m.x", "to": "mass.x_other", "convert": False},
            ],
            algorithm,
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-12,
            starts={"mass.kc": 0.7, **starts},
        )

    starts = {"one.m.k": 2.0, "one.m.x": 0.5}
    result = check(make, starts, ["one.m.x", "two.m.x", "mass.x"], 1e-9)
    assert np.abs(result.derivative("two.m.x", "one.m.k")[-1]) > 1e-4
    with pytest.raises(cosim.ModelError, match="connected"):
        make({}).simulate(UNTIL, derivatives=["two.m.c"])


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "interface_newton"])
def test_changes_of_parameters_during_a_run_are_constants(algorithm: str) -> None:
    """The parameters become 5 and 0.9 whatever their values were; derivatives by others continue."""
    entries = [{"at": 0.1, "set": {"one.m.k": 5.0}}, {"at": 0.25, "set": {"two.m.c": 0.9}}]

    def make(starts: Mapping[str, float]) -> CoSimulation:
        systems: dict[str, Any] = {
            name: SystemParticipant(system_of(name, Oscillator())) for name in ("one", "two")
        }
        all_starts = {"one.m.k": 2.0, "two.m.c": 0.8, **starts}
        changes, wires = make_changes(entries, systems, all_starts, lambda key, text: pytest.fail(text))
        return CoSimulation(
            {"changes": changes, **systems},
            [
                *wires,
                {"from": "one.m.x", "to": "two.m.force", "convert": False},
                {"from": "two.m.x", "to": "one.m.force", "convert": False},
            ],
            algorithm,
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-12,
            starts=all_starts,
        )

    starts = {"one.m.c": 0.3, "one.m.x": 0.5, "two.m.k": 3.0}
    check(make, starts, ["one.m.x", "two.m.x", "one.m.k"], 1e-9, until=0.4)
