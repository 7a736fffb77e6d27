"""Power bonds: steps that follow the energy, and its correction."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from lossless_circuit import LC, circuit

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

BONDS = [["capacitor.v", "capacitor.i_in"]]


def run(algorithm: str, step: float, until: float = 10.0, **options: Any) -> tuple[float, float, Any]:
    """The largest error of a circuit without losses, the energy that was created, and the result."""
    loop = CoSimulation(circuit(), LC, algorithm, step, options=options, bonds=BONDS)
    result = loop.simulate(until)
    error = float(np.abs(result["capacitor.v"] - np.cos(result.time)).max())
    return error, abs(next(iter(result.coupling.energy.values()))), result


def test_correction_makes_held_inputs_of_second_order() -> None:
    held = [run("jacobi", step) for step in (0.02, 0.01)]
    corrected = [run("jacobi", step, correction="bonds") for step in (0.02, 0.01)]
    assert held[0][0] / held[1][0] == pytest.approx(2.0, rel=0.1)
    assert corrected[0][0] / corrected[1][0] == pytest.approx(4.0, rel=0.1)
    assert corrected[1][0] < 0.05 * held[1][0]
    assert corrected[1][1] < 0.05 * held[1][1]


def test_correction_leaves_what_is_no_bond() -> None:
    parts = {**circuit(), "meter": circuit()["coil"]}
    links = [*LC, ("capacitor.v", "meter.v_in")]
    plain = CoSimulation(parts, links, "jacobi", 0.01, bonds=BONDS).simulate(1.0)
    loop = CoSimulation(parts, links, "jacobi", 0.01, options={"correction": "bonds"}, bonds=BONDS)
    result = loop.simulate(1.0)
    assert result["coil.v_in"][5] != plain["coil.v_in"][5]
    held = result["capacitor.v"][:-1]
    lacked = 0.5 * np.diff(held)
    assert result["coil.v_in"][2:] == pytest.approx(held[1:] + lacked, abs=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("iterations", [0, 2])
def test_energy_created_falls_with_the_tolerance(iterations: int) -> None:
    tolerances = (1e-2, 1e-3, 1e-4)
    found = [
        run(
            *("adaptive", 0.5),
            control="energy",
            tolerance=tolerance,
            absolute_tolerance=1e-3 * tolerance,
            iterations=iterations,
        )
        for tolerance in tolerances
    ]
    slope = np.polyfit(np.log(tolerances), np.log([created for _, created, _ in found]), 1)[0]
    assert 0.8 < slope < 1.2
    assert found[0][0] > found[1][0] > found[2][0]
    exchanges = [result.statistics["algorithm"]["exchanges"] for _, _, result in found]
    assert exchanges[0] < exchanges[1] < exchanges[2] < 4000


@pytest.mark.parametrize(
    ("algorithm", "options", "what"),
    [
        ("jacobi", {"correction": "bond"}, "bonds"),
        ("adaptive", {"control": "energies"}, "energy"),
        ("adaptive", {"control": "energy", "absolute_tolerance": {"coil.i": 1.0}}, "needs a number"),
    ],
)
def test_bad_options_are_refused(algorithm: str, options: dict[str, Any], what: str) -> None:
    with pytest.raises(cosim.ModelError, match=what):
        CoSimulation(circuit(), LC, algorithm, 0.1, options=options, bonds=BONDS)


@pytest.mark.parametrize(
    ("algorithm", "options"), [("jacobi", {"correction": "bonds"}), ("adaptive", {"control": "energy"})]
)
def test_without_bonds_they_say_so(algorithm: str, options: dict[str, Any]) -> None:
    loop = CoSimulation(circuit(), LC, algorithm, 0.1, options=options)
    with pytest.raises(cosim.CosimError, match="power bonds, and there are none|there are no power bonds"):
        loop.simulate(1.0)


class Port(LinearParticipant):
    """y' = u, with units."""

    def __init__(self, input_unit: str, output_unit: str) -> None:
        super().__init__([[[0.0]], [[1.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [1.0])
        self.units = {"u": input_unit, "y": output_unit}

    def describe(self) -> cosim.kit.ParticipantDescription:
        found = super().describe()
        units = {name: replace(found.variables[name], unit=unit) for name, unit in self.units.items()}
        return replace(found, variables={**found.variables, **units})


@pytest.mark.parametrize(
    ("one", "other", "is_power"),
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
def test_units_of_a_bond_multiply_to_a_power(one: str, other: str, is_power: bool) -> None:
    parts = {"a": Port(one, other), "b": Port(other, one)}
    links = [("a.y", "b.u"), ("b.y", "a.u")]
    if is_power:
        CoSimulation(parts, links, "jacobi", 0.1, bonds=[["a.u", "a.y"]])
        return
    with pytest.raises(cosim.ModelError, match=rf"bonds\.0: .*\({one}\).* is not a power"):
        CoSimulation(parts, links, "jacobi", 0.1, bonds=[["a.u", "a.y"]])
