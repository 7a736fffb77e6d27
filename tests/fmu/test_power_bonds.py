"""Power bonds: step sizes from the created energy, the correction of inputs, and units of bonds."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from lossless_circuit import LC, circuit

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

BONDS = [["capacitor.v", "capacitor.i_in"]]


class Port(LinearParticipant):
    """y' = u, with units."""

    def __init__(self, input_unit: str, output_unit: str) -> None:
        super().__init__([[[0.0]], [[1.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [1.0])
        self.units = {"u": input_unit, "y": output_unit}

    def describe(self) -> cosim.kit.ParticipantDescription:
        description = super().describe()
        units = {name: replace(description.variables[name], unit=unit) for name, unit in self.units.items()}
        return replace(description, variables={**description.variables, **units})


class CircuitRun(NamedTuple):
    """A run of a circuit without losses: the largest error of the voltage, the energy that was created."""

    error: float
    created_energy: float
    result: cosim.Result


def run(algorithm: str, step: float, **options: Any) -> CircuitRun:
    loop = CoSimulation(circuit(), LC, algorithm, step, options=options, bonds=BONDS)
    result = loop.simulate(10.0)
    error = float(np.abs(result["capacitor.v"] - np.cos(result.time)).max())
    return CircuitRun(error, abs(next(iter(result.coupling.energy.values()))), result)


def test_the_correction_raises_the_order_of_held_inputs_to_two() -> None:
    held = [run("jacobi", step) for step in (0.02, 0.01)]
    corrected = [run("jacobi", step, correction="bonds") for step in (0.02, 0.01)]
    assert held[0].error / held[1].error == pytest.approx(2.0, rel=0.1)
    assert corrected[0].error / corrected[1].error == pytest.approx(4.0, rel=0.1)
    assert corrected[1].error < 0.05 * held[1].error
    assert corrected[1].created_energy < 0.05 * held[1].created_energy


def test_the_correction_changes_inputs_of_bonds_only() -> None:
    """The input of a bond gets half of the last change of its source in addition."""
    parts = {**circuit(), "meter": circuit()["coil"]}
    links = [*LC, ("capacitor.v", "meter.v_in")]
    uncorrected = CoSimulation(parts, links, "jacobi", 0.01, bonds=BONDS).simulate(1.0)
    loop = CoSimulation(parts, links, "jacobi", 0.01, options={"correction": "bonds"}, bonds=BONDS)
    result = loop.simulate(1.0)
    assert result["coil.v_in"][5] != uncorrected["coil.v_in"][5]
    voltage = result["capacitor.v"][:-1]
    correction = 0.5 * np.diff(voltage)
    assert result["coil.v_in"][2:] == pytest.approx(voltage[1:] + correction, abs=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("iterations", [0, 2])
def test_the_created_energy_is_proportional_to_the_tolerance(iterations: int) -> None:
    tolerances = (1e-2, 1e-3, 1e-4)
    runs = []
    for tolerance in tolerances:
        options = {"tolerance": tolerance, "absolute_tolerance": 1e-3 * tolerance, "iterations": iterations}
        runs.append(run("adaptive", 0.5, control="energy", **options))
    slope = np.polyfit(np.log(tolerances), np.log([each.created_energy for each in runs]), 1)[0]
    assert 0.8 < slope < 1.2
    assert runs[0].error > runs[1].error > runs[2].error
    exchanges = [each.result.statistics["algorithm"]["exchanges"] for each in runs]
    assert exchanges[0] < exchanges[1] < exchanges[2] < 4000


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        ("jacobi", {"correction": "bond"}, "bonds"),
        ("adaptive", {"control": "energies"}, "energy"),
        ("adaptive", {"control": "energy", "absolute_tolerance": {"coil.i": 1.0}}, "needs a number"),
    ],
)
def test_bad_options_are_refused(algorithm: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        CoSimulation(circuit(), LC, algorithm, 0.1, options=options, bonds=BONDS)


@pytest.mark.parametrize(
    ("algorithm", "options"), [("jacobi", {"correction": "bonds"}), ("adaptive", {"control": "energy"})]
)
def test_options_for_bonds_need_bonds(algorithm: str, options: dict[str, Any]) -> None:
    loop = CoSimulation(circuit(), LC, algorithm, 0.1, options=options)
    with pytest.raises(cosim.CosimError, match="power bonds, and there are none|there are no power bonds"):
        loop.simulate(1.0)


@pytest.mark.parametrize(
    ("input_unit", "output_unit", "is_power"),
    [
        ("N", "m/s", True),
        ("kN", "mm/s", True),
        ("N.m", "rad/s", True),
        ("Pa", "m3/s", True),
        ("bar", "l/min", True),
        ("V", "A", True),
        ("N", "1", True),
        ("N", "m", False),
        ("K", "W", False),
        ("V", "V", False),
    ],
)
def test_units_of_a_bond_multiply_to_a_power(input_unit: str, output_unit: str, is_power: bool) -> None:
    parts = {"a": Port(input_unit, output_unit), "b": Port(output_unit, input_unit)}
    links = [("a.y", "b.u"), ("b.y", "a.u")]
    if is_power:
        CoSimulation(parts, links, "jacobi", 0.1, bonds=[["a.u", "a.y"]])
        return
    with pytest.raises(cosim.ModelError, match=rf"bonds\.0: .*\({input_unit}\).* is not a power"):
        CoSimulation(parts, links, "jacobi", 0.1, bonds=[["a.u", "a.y"]])
