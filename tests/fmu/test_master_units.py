"""Connections convert units; units of different dimensions are refused."""

from collections.abc import Callable
from pathlib import Path

import pytest
from python_block import Block

import cosim
from cosim import kit
from cosim_fmu import CoSimulation
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.coupling.unit_conversion import conversion_of

MakeFmu = Callable[..., Path]
PER_SECOND = (0, 0, -1, 0, 0, 0, 0, 0)
RADIAN_PER_SECOND = (0, 0, -1, 0, 0, 0, 0, 1)
NEWTON = (1, 1, -2, 0, 0, 0, 0, 0)


def description_with(**units: tuple[tuple[int, ...], float, float]) -> kit.ParticipantDescription:
    """Of a participant that defines units: exponents of the base units, factor and offset."""
    return kit.ParticipantDescription("test", {}, unit_definitions=units)


def test_units_are_converted() -> None:
    source = Block({"x": lambda time: 2.0, "n": lambda time: 3}, units={"x": "km/h"}, types={"n": "integer"})
    sink = Block({}, ["v", "number"], units={"v": "m/s"})
    wires = [("source.x", "sink.v"), ("source.n", "sink.number")]
    result = CoSimulation({"source": source, "sink": sink}, wires, Jacobi, 0.5).simulate(1.0)
    assert result["sink.v"] == pytest.approx(2.0 / 3.6)
    assert result["sink.number"].tolist() == [3.0, 3.0, 3.0]
    assert result.units["sink.v"] == "m/s"


def test_units_that_an_fmu_defines(make_fmu: MakeFmu) -> None:
    units = '<Unit name="slug"><BaseUnit kg="1" m="1" s="-2" factor="10"/></Unit>'

    def force_in_slugs(name: str, attributes: dict[str, str]) -> dict[str, str]:
        return {**attributes, "unit": "slug"} if name == "force" else attributes

    left = make_fmu("mass", name="odd", units=units, change=force_in_slugs)
    wires = [("left.force", "right.f")]
    result = CoSimulation(
        {"left": left, "right": make_fmu("mass")}, wires, Jacobi, 0.1, starts={"left.kc": 2.0}
    ).simulate(0.1)
    assert result["left.force"][0] == 2.0
    assert result["right.f"][0] == 20.0
    with pytest.raises(cosim.ModelError, match=r"left\.force \[slug\] cannot feed right\.x_other \[m\]"):
        CoSimulation(
            {"left": left, "right": make_fmu("mass")}, [("left.force", "right.x_other")], Jacobi, 0.1
        )


@pytest.mark.parametrize(
    ("source_unit", "source", "target_unit", "target", "factor"),
    [
        ("N", description_with(), "N", description_with(), 1.0),
        ("kN", description_with(), "N", description_with(), 1000.0),
        (
            "kN",
            description_with(kN=(NEWTON, 1000.0, 0.0)),
            "N",
            description_with(N=(NEWTON, 1.0, 0.0)),
            1000.0,
        ),
        (
            "odd",
            description_with(odd=(NEWTON, 4.0, 0.0)),
            "odd",
            description_with(odd=(NEWTON, 2.0, 0.0)),
            2.0,
        ),
        ("odd", description_with(), "odd", description_with(), 1.0),
        ("1", description_with(), "kN", description_with(), 1.0),
        ("turns", description_with(turns=(PER_SECOND, 2.0, 0.0)), "1/s", description_with(), 2.0),
    ],
)
def test_conversion_of_units(
    source_unit: str,
    source: kit.ParticipantDescription,
    target_unit: str,
    target: kit.ParticipantDescription,
    factor: float,
) -> None:
    assert conversion_of(source_unit, source, target_unit, target) == pytest.approx((factor, 0.0))


@pytest.mark.parametrize(
    ("source_unit", "source", "target_unit"),
    [
        ("N", description_with(), "m"),
        ("turns", description_with(turns=(PER_SECOND, 1.0, 0.0)), "rad/s"),
        ("turns", description_with(turns=(RADIAN_PER_SECOND, 1.0, 0.0)), "Hz"),
        ("zero", description_with(zero=(NEWTON, 0.0, 0.0)), "N"),
        ("unknown", description_with(), "N"),
    ],
)
def test_units_of_different_dimensions_and_unknown_units_are_refused(
    source_unit: str, source: kit.ParticipantDescription, target_unit: str
) -> None:
    with pytest.raises(cosim.UnitError):
        conversion_of(source_unit, source, target_unit, description_with())
