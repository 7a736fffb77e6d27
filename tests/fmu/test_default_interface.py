"""An exported FMU shows by default what its model names; options select more or fewer variables."""

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
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.description import describe
from cosim_export.native.exchanged_variables import with_all_states
from cosim_mechanics import Multibody


class Gear(cosim.Component):
    """A gear with an integer and a boolean parameter and a boolean discrete variable."""

    teeth = cosim.parameter(default=12, dtype=int, minimum=3, maximum=200, description="on the rim")
    locked = cosim.parameter(default=False, dtype=bool, description="whether it is held")
    engaged = cosim.discrete(dtype=bool, start=1, description="whether it is in")
    turned = cosim.output(unit="1")

    @cosim.kernel
    def turn(teeth, locked, engaged, turned):
        turned[0] = teeth if locked == 0.0 and engaged != 0 else 0.0


def car() -> Multibody:
    """A body that slides up and down on a spring, and one on a pin at it."""
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


class Alarm(cosim.Component):
    """A timer that is never set, and a number that changes at the start."""

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


def shown(model: cosim.Model, **options: Any) -> dict[str, FmuVariable]:
    """The variables of a model's FMU, by name."""
    return {v.name: v for v in select_variables(model.build(), **options)}


def names(variables: dict[str, FmuVariable], causality: str) -> list[str]:
    """Names of the variables with a causality."""
    return [v.name for v in variables.values() if v.causality == causality]


def description_file(model: cosim.Model, version: int, folder: Path) -> Path:
    """Write ``modelDescription.xml`` of a model's FMU into a folder; return the folder."""
    variables = select_variables(model.build())
    interface = ExportedInterface(model.name, model.name, {}, variables, "integrators.heun", {}, 1e-6)
    text = describe(version, ["cs"], interface, "tests", "{token}", ())
    (folder / "modelDescription.xml").write_bytes(text)
    return folder


def test_a_multibody_model_shows_its_measures_parameters_frames_and_coordinates() -> None:
    variables = shown(car())
    assert names(variables, "output") == ["rise"]
    parameters = names(variables, "parameter")
    frames = [
        f"heave.frame_on_{body}.{part}[{i}]"
        for body in ("parent", "child")
        for part in ("position", "angles")
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
    without_defaults = names(shown(car(), defaults=False), "parameter")
    assert sorted(set(parameters) - set(without_defaults)) == [
        "arm.feels_gravity", *(f"chassis.center_of_mass[{i}]" for i in (1, 2, 3)), "chassis.feels_gravity"
    ]  # fmt: skip
    assert "spring.enabled" not in variables  # a parameter of all force elements
    fixed = [v.name for v in variables.values() if v.variability == "fixed"]
    assert fixed == frames  # frames can be set until the simulation begins
    states = ["heave.position", "hinge.angle", "heave.speed", "hinge.rate"]
    assert sorted(names(variables, "local")) == sorted([*states, *(f"der({name})" for name in states)])


def test_the_option_all_shows_all_variables_with_descriptions() -> None:
    variables, everything = shown(car()), shown(car(), all=True)
    assert len(everything) > 2 * len(variables)
    assert {
        "energy.total",
        "spring.frame_on_body1.angles[1]",
        "chassis.z",
        "heave.q[1]",
        "gravity.enabled",
    } <= set(everything)
    assert everything["chassis.z"].description == "z coordinate of chassis's origin in Ground"
    assert variables["arm.center_of_mass[2]"].description.endswith("frame: y")
    assert variables["arm.inertia[1]"].description.endswith("axes: Ixx")


def test_a_coordinate_with_a_name_is_a_state_under_this_name_only(tmp_path: Path) -> None:
    system = car().build()
    variables = {v.name: v for v in with_all_states(system, select_variables(system))}
    angle, rate = variables["hinge.angle"], variables["der(hinge.rate)"]
    assert (angle.array, angle.initial, angle.unit) == ("y", "exact", "rad")
    assert rate.derivative_of == "hinge.rate"
    states = [v.offset for v in variables.values() if v.array == "y" and v.initial == "exact"]
    assert sorted(states) == list(range(system.ny))  # each once; Model Exchange adds those of energies
    both = shown(car(), outputs=["hinge.angle"], expose=["hinge.q"])
    assert (both["hinge.angle"].initial, both["hinge.q[1]"].initial) == ("exact", "calculated")


def test_recorded_signals_and_variables_with_start_values_are_shown() -> None:
    model = car()
    model.simulation["signals"] = ["energy.total", "chassis.X_GB[11]", "chassis.v?"]
    model.set_start("spring.dissipated_energy", 1.0)
    model.set_start("arm.feels_gravity", 0)
    variables = shown(model)
    outputs = names(variables, "output")
    assert outputs == ["rise", "energy.total", "chassis.X_GB[12]", "chassis.vx", "chassis.vy", "chassis.vz"]
    assert "spring.dissipated_energy" in variables
    assert (variables["arm.feels_gravity"].type, variables["arm.feels_gravity"].start) == ("Boolean", False)


def test_components_show_their_states_and_parameters() -> None:
    model = cosim.Model("two")
    model.add(Oscillator, "osc", mass=3.0)
    model.add(Ball, "ball")
    model.measure("measures.delay", "late", source="osc.x", delay=0.1)
    variables = shown(model)
    places = [f"osc.places[{i}]" for i in (1, 2, 3)]
    turn = [f"osc.turn[{i},{j}]" for i in (1, 2) for j in (1, 2)]
    declared = ["osc.mass", "osc.stiffness", "osc.damping", *places, *turn]
    assert names(variables, "parameter") == [*declared, "ball.restitution", "ball.limit", "late.delay"]
    assert names(shown(model, defaults=False), "parameter") == ["osc.mass", "late.delay"]
    assert names(shown(model, parameters=[]), "parameter") == []
    local = [n for n in names(variables, "local") if not n.startswith("der(")]
    assert local == [
        "osc.x",
        "osc.v",
        "osc.dissipated_energy",
        "ball.height",
        "ball.speed",
        "ball.bounces",
        "ball.samples",
    ]
    assert variables["late"].description == "The value that a source had at the time t - delay (of osc.x)"


def test_a_model_without_measures_shows_the_signals_of_its_bodies() -> None:
    model = Multibody("falling")
    body = model.body("stone", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", child=body)
    assert {"stone.x", "stone.vz"} <= set(shown(model))


def test_patterns_select_parameters_and_further_variables() -> None:
    variables = shown(car(), parameters=["*.mass", "hinge.frame_on_child"], expose=["energy.*"])
    frame = [f"hinge.frame_on_child.{part}[{i}]" for part in ("position", "angles") for i in (1, 2, 3)]
    assert names(variables, "parameter") == ["chassis.mass", "arm.mass", *frame]
    angle = variables["hinge.frame_on_child.angles[2]"]
    assert (angle.variability, angle.unit, angle.display_unit) == ("tunable", "rad", "deg")
    turned = shown(car(), parameters=["heave.frame_on_parent", "heave.frame_on_parent[0]"])
    assert turned["heave.frame_on_parent.angles[2]"].start == pytest.approx(-math.pi / 2)
    assert turned["heave.frame_on_parent[1]"].angle is None  # an element of the matrix that was selected
    assert len([n for n in variables if n.startswith("energy.")]) == 6


@pytest.mark.parametrize("version", [2, 3])
def test_variables_of_int_and_bool_are_integers_and_booleans(tmp_path: Path, version: int) -> None:
    from fmpy import read_model_description

    model = cosim.Model("gear")
    model.add(Gear, "gear", teeth=17, locked=True)
    kinds = {
        v.name: (v.type, v.start, v.minimum, v.maximum)
        for v in select_variables(model.build())
        if v.causality != "output"
    }
    assert kinds == {
        "gear.teeth": ("Integer", 17, 3, 200),
        "gear.locked": ("Boolean", True, None, None),
        "gear.engaged": ("Boolean", True, None, None),
    }
    description = read_model_description(str(description_file(model, version, tmp_path)))
    variables = {v.name: v for v in description.modelVariables}
    teeth, locked = variables["gear.teeth"], variables["gear.locked"]
    assert (teeth.type, teeth.min, teeth.start) == ("Integer" if version == 2 else "Int64", "3", "17")
    assert (locked.type, locked.start) == ("Boolean", "true")


def test_other_values_of_integers_and_booleans_are_refused() -> None:
    with pytest.raises(cosim.ModelError, match="3.5, needs an integer"):
        Gear(teeth=3.5)
    with pytest.raises(cosim.ModelError, match="2.*switch, needs 1"):
        Gear(locked=2)
    assert Gear(locked=True).locked == 1.0
    with pytest.raises(cosim.ContractError, match="str, needs float"):
        cosim.parameter(dtype=str)


def test_the_minimum_for_an_exclusive_bound_is_the_smallest_valid_number() -> None:
    mass = shown(car())["chassis.mass"]
    assert mass.minimum is not None and mass.minimum > 0.0
    body = car().parts["chassis"]
    assert type(body)(mass=mass.minimum, inertia=(1, 1, 1)).mass == mass.minimum
    with pytest.raises(cosim.ModelError, match="0 kg, needs more.*0"):
        type(body)(mass=0.0, inertia=(1, 1, 1))


def test_a_description_has_the_date_which_does_not_change_the_identifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fmpy import read_model_description

    descriptions = []
    for date in ("1000000000", "1000000060"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", date)
        descriptions.append(read_model_description(export(ball(), tmp_path / f"{date}.fmu")))
    assert [d.generationDateAndTime for d in descriptions] == ["2001-09-09T01:46:40Z", "2001-09-09T01:47:40Z"]
    assert descriptions[0].guid == descriptions[1].guid


def test_recorded_coordinates_have_their_names() -> None:
    """Although the model records ``heave.q``, the FMU shows it as the position."""
    model = car()
    model.simulation["signals"] = ["heave.q", "hinge.q[0]", "hinge.u"]
    variables = shown(model)
    assert names(variables, "output") == ["rise", "heave.position", "hinge.angle", "hinge.rate"]
    assert not [name for name in variables if ".q[" in name or ".u[" in name]


@pytest.mark.parametrize(("seed", "kind"), [(7, "Integer"), (2**40, "Real")])
def test_a_seed_is_an_integer_if_it_has_32_bits(seed: int, kind: str, tmp_path: Path) -> None:
    from fmpy import read_model_description

    model = cosim.Model("noisy")
    model.measure("signals.noise", "noise", seed=seed, bandwidth=10.0, standard_deviation=1.0)
    variable = shown(model)["noise.seed"]
    assert (variable.type, variable.start) == (kind, seed)
    for version in (2, 3):
        folder = description_file(model, version, tmp_path)
        assert read_model_description(str(folder), validate=True).modelName == "noisy"


def test_a_timer_that_is_not_set_has_no_infinite_start() -> None:
    variables = shown(alarm(), all=True)
    assert (variables["alarm.wake"].initial, variables["alarm.wake"].start) == ("calculated", None)
    assert (variables["alarm.rings"].initial, variables["alarm.rings"].start) == ("exact", 1.0)
    model = alarm()
    model.set_start("alarm.wake", 2.0)
    variables = shown(model, all=True)
    assert (variables["alarm.wake"].initial, variables["alarm.wake"].start) == ("exact", 2.0)


@pytest.mark.thorough
@needs_compiler
def test_validation_has_no_finding_for_values_that_change_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = export_native(alarm(), tmp_path / "alarm.fmu")
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["  no findings"]
