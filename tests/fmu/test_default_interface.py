"""What an FMU shows when nothing is asked for: what the model names."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from export_parts import Ball, Oscillator
from export_tools import ball, export
from native_tools import export_native, needs_compiler

import cosim
from cosim.cli import main
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.exchanged_variables import with_all_states
from cosim_mechanics import Multibody


class Gear(cosim.Component):
    """A count and a switch among its parameters, and a discrete switch."""

    teeth = cosim.parameter(default=12, dtype=int, minimum=3, maximum=200, description="on the rim")
    locked = cosim.parameter(default=False, dtype=bool, description="whether it is held")
    engaged = cosim.discrete(dtype=bool, start=1, description="whether it is in")
    turned = cosim.output(unit="1")

    @cosim.kernel
    def turn(teeth, locked, engaged, turned):
        turned[0] = teeth if locked == 0.0 and engaged != 0 else 0.0


def car() -> Multibody:
    """Two degrees of freedom: a body that slides up, and one on a pin at it."""
    model = Multibody("car", gravity=(0, 0, -9.81))
    up = {"angles": [0, "-90 deg", 0]}
    chassis = model.body("chassis", mass=900.0, inertia=(300, 1200, 1300))
    model.joint("slider", child=chassis, frame_on_parent=up, frame_on_child=up, name="heave")
    arm = model.body("arm", mass=20.0, center_of_mass=(0.2, 0, 0), inertia=(1, 1, 1))
    model.joint("pin", parent=chassis, child=arm, name="hinge")
    model.add(
        "mechanics.linear_bushing", "spring", body1="ground", body2=chassis,
        stiffness=[0, 0, 0, 0, 0, 4e4], damping=[0, 0, 0, 0, 0, 2e3],
    )  # fmt: skip
    model.measure("mechanics.velocity", "rise", of=chassis, axis="z")
    return model


def shown(model: cosim.Model, **options: Any) -> dict[str, FmuVariable]:
    return {v.name: v for v in select_variables(model.build(), **options)}


def names(variables: dict[str, FmuVariable], causality: str) -> list[str]:
    return [v.name for v in variables.values() if v.causality == causality]


def test_a_car_shows_what_its_model_names_and_nothing_else() -> None:
    found = shown(car())
    assert names(found, "output") == ["rise"]
    parameters = names(found, "parameter")
    frames = [
        f"heave.frame_on_{of}.{what}[{i}]"
        for of in ("parent", "child")
        for what in ("position", "angles")
        for i in (1, 2, 3)
    ]
    spring = [f"spring.{name}[{i}]" for name in ("stiffness", "damping") for i in range(1, 7)]
    assert parameters == [
        *(f"gravity.gravity[{i}]" for i in (1, 2, 3)),
        *(
            f"{body}.{name}"
            for body in ("chassis", "arm")
            for name in (
                *("mass", "center_of_mass[1]", "center_of_mass[2]", "center_of_mass[3]"),
                *("inertia[1]", "inertia[2]", "inertia[3]", "feels_gravity"),
            )
        ),
        *spring,
        *frames,
    ]  # fmt: skip
    given = names(shown(car(), defaults=False), "parameter")
    assert sorted(set(parameters) - set(given)) == [
        "arm.feels_gravity", *(f"chassis.center_of_mass[{i}]" for i in (1, 2, 3)), "chassis.feels_gravity"
    ]  # fmt: skip
    assert "spring.enabled" not in found  # what a contract brings
    fixed = [v.name for v in found.values() if v.variability == "fixed"]
    assert fixed == frames  # where things are, until the simulation begins
    states = ["heave.position", "hinge.angle", "heave.speed", "hinge.rate"]
    assert sorted(names(found, "local")) == sorted([*states, *(f"der({name})" for name in states)])
    everything = shown(car(), all=True)
    assert len(everything) > 2 * len(found)
    assert {
        "energy.total",
        "spring.frame_on_body1.angles[1]",
        "chassis.z",
        "heave.q[1]",
        "gravity.enabled",
    } <= set(everything)
    assert everything["chassis.z"].description == "z coordinate of chassis's origin in Ground"
    assert found["arm.center_of_mass[2]"].description.endswith("frame: y")
    assert found["arm.inertia[1]"].description.endswith("axes: Ixx")


def test_coordinates_with_a_name_are_states_under_that_name_once(tmp_path: Path) -> None:
    system = car().build()
    found = {v.name: v for v in with_all_states(system, select_variables(system))}
    angle, rate = found["hinge.angle"], found["der(hinge.rate)"]
    assert (angle.array, angle.initial, angle.unit) == ("y", "exact", "rad")
    assert rate.derivative_of == "hinge.rate"
    states = [v.offset for v in found.values() if v.array == "y" and v.initial == "exact"]
    assert sorted(states) == list(range(system.ny))  # each once, those of the energies for Model Exchange
    both = shown(car(), outputs=["hinge.angle"], expose=["hinge.q"])
    assert (both["hinge.angle"].initial, both["hinge.q[1]"].initial) == ("exact", "calculated")


def test_recorded_signals_and_start_values_are_named_too() -> None:
    model = car()
    model.simulation["signals"] = ["energy.total", "chassis.X_GB[11]", "chassis.v?"]
    model.set_start("spring.dissipated_energy", 1.0)
    model.set_start("arm.feels_gravity", 0)
    found = shown(model)
    outputs = names(found, "output")
    assert outputs == ["rise", "energy.total", "chassis.X_GB[12]", "chassis.vx", "chassis.vy", "chassis.vz"]
    assert "spring.dissipated_energy" in found
    assert (found["arm.feels_gravity"].type, found["arm.feels_gravity"].start) == ("Boolean", False)


def test_components_with_equations_of_their_own_show_their_states() -> None:
    model = cosim.Model("two")
    model.add(Oscillator, "osc", mass=3.0)
    model.add(Ball, "ball")
    model.measure("measures.delay", "late", source="osc.x", delay=0.1)
    found = shown(model)
    places = [f"osc.places[{i}]" for i in (1, 2, 3)]
    turn = [f"osc.turn[{i},{j}]" for i in (1, 2) for j in (1, 2)]
    declared = ["osc.mass", "osc.stiffness", "osc.damping", *places, *turn]
    assert names(found, "parameter") == [*declared, "ball.restitution", "ball.limit", "late.delay"]
    assert names(shown(model, defaults=False), "parameter") == ["osc.mass", "late.delay"]
    assert names(shown(model, parameters=[]), "parameter") == []
    local = [n for n in names(found, "local") if not n.startswith("der(")]
    assert local == [
        "osc.x",
        "osc.v",
        "osc.dissipated_energy",
        "ball.height",
        "ball.speed",
        "ball.bounces",
        "ball.samples",
    ]
    assert found["late"].description == "The value that a source had at the time t - delay (of osc.x)"


def test_a_model_that_names_nothing_shows_its_named_signals() -> None:
    model = Multibody("falling")
    body = model.body("stone", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", child=body)
    assert {"stone.x", "stone.vz"} <= set(shown(model))


def test_words_and_patterns_for_the_rest() -> None:
    found = shown(car(), parameters=["*.mass", "hinge.frame_on_child"], expose=["energy.*"])
    frame = [f"hinge.frame_on_child.{what}[{i}]" for what in ("position", "angles") for i in (1, 2, 3)]
    assert names(found, "parameter") == ["chassis.mass", "arm.mass", *frame]
    angle = found["hinge.frame_on_child.angles[2]"]
    assert (angle.variability, angle.unit, angle.display_unit) == ("tunable", "rad", "deg")
    turned = shown(car(), parameters=["heave.frame_on_parent", "heave.frame_on_parent[0]"])
    assert turned["heave.frame_on_parent.angles[2]"].start == pytest.approx(-math.pi / 2)
    assert turned["heave.frame_on_parent[1]"].angle is None  # an element that is asked for
    assert len([n for n in found if n.startswith("energy.")]) == 6


@pytest.mark.parametrize("version", [2, 3])
def test_switches_are_booleans_and_counts_integers(tmp_path: Path, version: int) -> None:
    from fmpy import read_model_description

    from cosim_export.interface.exported_interface import ExportedInterface
    from cosim_export.native.description import describe

    model = cosim.Model("gear")
    model.add(Gear, "gear", teeth=17, locked=True)
    variables = select_variables(model.build())
    by_name = {v.name: v for v in variables}
    kinds = {
        name: (v.type, v.start, v.minimum, v.maximum)
        for name, v in by_name.items()
        if v.causality != "output"
    }
    assert kinds == {
        "gear.teeth": ("Integer", 17, 3, 200),
        "gear.locked": ("Boolean", True, None, None),
        "gear.engaged": ("Boolean", True, None, None),
    }
    interface = ExportedInterface("gear", "gear", {}, variables, "integrators.heun", {}, 1e-6)
    file = tmp_path / "modelDescription.xml"
    file.write_bytes(describe(version, ["cs"], interface, "tests", "{token}", ()))
    read = {v.name: v for v in read_model_description(str(tmp_path)).modelVariables}
    types = ("Integer", "Boolean") if version == 2 else ("Int64", "Boolean")
    assert (read["gear.teeth"].type, read["gear.locked"].type) == types
    assert (read["gear.locked"].start, read["gear.teeth"].min, read["gear.teeth"].start) == (
        "true",
        "3",
        "17",
    )


def test_what_is_no_count_or_switch_is_refused() -> None:
    with pytest.raises(cosim.ModelError, match="3.5, needs an integer"):
        Gear(teeth=3.5)
    with pytest.raises(cosim.ModelError, match="2.*switch, needs 1"):
        Gear(locked=2)
    assert Gear(locked=True).locked == 1.0
    with pytest.raises(cosim.ContractError, match="str, needs float"):
        cosim.parameter(dtype=str)


def test_exclusive_bounds_are_smallest_numbers_that_are_accepted(tmp_path: Path) -> None:
    mass = shown(car())["chassis.mass"]
    assert mass.minimum is not None and mass.minimum > 0.0
    body = car().parts["chassis"]
    assert type(body)(mass=mass.minimum, inertia=(1, 1, 1)).mass == mass.minimum
    with pytest.raises(cosim.ModelError, match="0 kg, needs more.*0"):
        type(body)(mass=0.0, inertia=(1, 1, 1))


def test_the_date_is_told_and_does_not_change_the_identifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fmpy import read_model_description

    read = []
    for date in ("1000000000", "1000000060"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
        read.append(read_model_description(export(ball(), tmp_path / f"{date}.fmu")))
    assert [r.generationDateAndTime for r in read] == ["2001-09-09T01:46:40Z", "2001-09-09T01:47:40Z"]
    assert read[0].guid == read[1].guid


def test_recorded_coordinates_have_their_names() -> None:
    """``heave.q`` was recorded; who connects the FMU looks for the position."""
    model = car()
    model.simulation["signals"] = ["heave.q", "hinge.q[0]", "hinge.u"]
    found = shown(model)
    assert names(found, "output") == ["rise", "heave.position", "hinge.angle", "hinge.rate"]
    assert not [name for name in found if ".q[" in name or ".u[" in name]


@pytest.mark.parametrize(("seed", "kind"), [(7, "Integer"), (2**40, "Real")])
def test_seeds_are_integers_where_those_of_fmi2_hold_them(seed: int, kind: str, tmp_path: Path) -> None:
    from fmpy import read_model_description

    from cosim_export.interface.exported_interface import ExportedInterface
    from cosim_export.native.description import describe

    model = cosim.Model("noisy")
    model.measure("signals.noise", "noise", seed=seed, bandwidth=10.0, standard_deviation=1.0)
    variables = select_variables(model.build())
    (found,) = (v for v in variables if v.name == "noise.seed")
    assert (found.type, found.start) == (kind, seed)
    interface = ExportedInterface("noisy", "noisy", {}, variables, "integrators.heun", {}, 1e-6)
    for version in (2, 3):
        (tmp_path / "modelDescription.xml").write_bytes(
            describe(version, ["cs"], interface, "tests", "{token}", ())
        )
        assert read_model_description(str(tmp_path), validate=True).modelName == "noisy"


class Alarm(cosim.Component):
    """A timer that nothing has set, and a number that changes at the start."""

    wake = cosim.timer()
    rings = cosim.discrete(start=1.0)
    count = cosim.output()

    @cosim.on(wake, does="discrete")
    def ring(rings, rings_next):
        rings_next[0] = rings + 1.0

    @cosim.every(0.5, does="discrete")
    def tick(rings, rings_next):
        rings_next[0] = 0.5 * rings + 1.0

    @cosim.kernel
    def show(rings, count):
        count[0] = rings


def alarm() -> cosim.Model:
    model = cosim.Model("alarm")
    model.add(Alarm, "alarm")
    return model


def test_a_timer_that_is_not_set_has_no_infinite_start() -> None:
    found = shown(alarm(), all=True)
    assert (found["alarm.wake"].initial, found["alarm.wake"].start) == ("calculated", None)
    assert (found["alarm.rings"].initial, found["alarm.rings"].start) == ("exact", 1.0)
    model = alarm()
    model.set_start("alarm.wake", 2.0)
    found = shown(model, all=True)
    assert (found["alarm.wake"].initial, found["alarm.wake"].start) == ("exact", 2.0)


@pytest.mark.thorough
@needs_compiler
def test_values_that_change_in_events_of_the_start_are_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = export_native(alarm(), tmp_path / "alarm.fmu")
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["  no findings"]
