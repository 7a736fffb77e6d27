"""A co-simulation of cosim systems is written as an SSP of exported FMUs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import oscillator
from native_tools import needs_compiler
from ssp_files import check_valid
from written_ssps import contents

import cosim
from cosim_export.native.platforms import own_platform
from cosim_fmu import CoSimulation
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.participants.timed_inputs import TimedInputs

MakeFmu = Callable[..., Path]
NATIVE = pytest.param({"native": True, "fmi": 3, "platforms": [own_platform()]}, marks=needs_compiler)


@pytest.mark.parametrize("export", [{}, NATIVE])
def test_systems_are_exported_as_fmus(tmp_path: Path, make_fmu: MakeFmu, export: dict[str, Any]) -> None:
    """FMUs count array elements from 1; a connected state is an output of the FMU."""
    wires = [
        ("osc.osc.x", "gain.u"),
        ("osc.felt", "other.u"),
        ("gain.y", "osc.osc.wind[1]"),
        {"from": "other.y", "to": "osc.osc.force", "factor": -2.0, "offset": 0.3},
    ]
    starts = {"osc.osc.x": 0.4, "osc.osc.places[2]": 0.7, "osc.osc.wind[0]": 0.2, "osc.osc.turn[1]": 5.0}
    participants = {
        "osc": SystemParticipant(oscillator(mass=3.0), "integrators.dormand_prince", 1e-9),
        "gain": make_fmu("gain"),
        "other": make_fmu("gain"),
    }
    loop = CoSimulation(
        participants, wires, "jacobi", 0.05, starts={**starts, "gain.gain": 9.0}, steps={"osc": 0.1}
    )
    path = loop.to_ssp(tmp_path / "loop.ssp", until=2.0, **export)
    check_valid(path)
    assert sorted(contents(path)) == ["SystemStructure.ssd", "resources/gain.fmu", "resources/osc.fmu"]
    copy = CoSimulation.from_ssp(path)
    assert (copy.step, copy.step_multiple, copy.findings) == (loop.step, loop.step_multiple, ())
    names_in_fmu = {
        "osc.osc.x": "osc.x",
        "osc.osc.places[2]": "osc.places[3]",
        "osc.osc.turn[1]": "osc.turn[1,2]",
    }
    for name, name_in_fmu in names_in_fmu.items():
        assert copy.start_values["osc"][name_in_fmu] == starts[name]
    expected, result = loop.simulate(2.0), copy.simulate()
    assert np.ptp(expected["osc.osc.position"]) > 0.1
    for name in ("osc.osc.position", "osc.osc.acceleration", "osc.felt", "gain.y", "other.y"):
        # factor and unit are applied in another order: the last bit differs, on which step sizes depend
        np.testing.assert_allclose(result[name], expected[name], rtol=1e-9, atol=1e-11, err_msg=name)


def test_participants_that_cannot_be_exported_are_named(tmp_path: Path) -> None:
    loop = CoSimulation({"a": oscillator(), "b": oscillator()}, [], "jacobi", 0.1)
    with pytest.raises(cosim.ModelError) as caught:
        loop.to_ssp(tmp_path / "x.ssp", integrator="integrators.nonsense")
    assert [p.where for p in caught.value.problems] == ["participants.a", "participants.b"]
    loop = CoSimulation({"c": TimedInputs({"u": [[0.0, 1.0]]})}, [], "jacobi", 0.1)
    with pytest.raises(cosim.ModelError, match="participants.c.*SSP holds FMUs"):
        loop.to_ssp(tmp_path / "x.ssp")
    assert not (tmp_path / "x.ssp").exists()
