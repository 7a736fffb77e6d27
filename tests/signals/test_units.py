"""Units that a component leaves open are inferred from its connections."""

import math
import random
from pathlib import Path

import pytest

import cosim
from cosim.system import unit_inference
from cosim.system.assembly import Assembly
from cosim_mechanics import Multibody

TOML = """
[model]
name = "cart"
[bodies.box]
mass = 2.0
inertia = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
[joints.guide]
type = "slider"
parent = "ground"
child = "box"
q = 0.5
[components.push]
type = "mechanics.applied_force"
body = "box"
[[connections]]
from = "guide.q[0]"
to = "push.force"
{}
"""


class Plain(cosim.Component):
    """One input declares no unit, the other declares the unit 1."""

    level = cosim.input()
    ratio = cosim.input(unit="1")
    scaled = cosim.output()

    @cosim.kernel
    def multiply(level, ratio, scaled):
        scaled[0] = level * ratio


def cart(joint: str = "slider") -> Multibody:
    model = Multibody("cart")
    model.body("box", mass=2.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    model.joint(joint, "box", "ground", "guide")
    return model


def units_of(model: cosim.Model, *paths: str) -> list[str]:
    system = model.build()
    return [system.signal(path).units[0] for path in paths]


def test_a_source_takes_the_unit_of_the_input_it_feeds() -> None:
    model = cart()
    model.add("measures.sinusoid", "wave", amplitude=400.0, frequency=2.0)
    model.add("mechanics.applied_force", "push", body="box", axis="x")
    model.connect("wave", "push.force")
    assert units_of(model, "wave", "wave.amplitude", "wave.value_dot") == ["N", "N", "N/s"]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("measures.sinusoid", {"amplitude": "0.4 kN", "phase": "90 deg"}),
        ("measures.sinusoid", {"amplitude": 400.0, "phase": "90 deg", "unit": "N"}),
        ("measures.sinusoid", {"amplitude": "0.4 kN", "phase": "90 deg", "unit": "N"}),
        ("measures.constant", {"value": "400 N"}),
        ("measures.variable", {"value": "40000 cN"}),
        ("signals.step", {"height": "300 N", "offset": "0.1 kN"}),
        ("signals.step", {"height": 0.3, "offset": "100 N", "unit": "kN"}),
    ],
)
def test_a_force_may_be_given_with_its_unit(kind: str, values: dict[str, object]) -> None:
    model = cart()
    model.add(kind, "wave", **values)
    model.add("mechanics.applied_force", "push", body="box", axis="x")
    model.connect("wave", "push.force")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.initialize()
    assert simulator.state.realize()["push.force"] == pytest.approx(400.0, rel=1e-14)


@pytest.mark.parametrize(("joint", "unit"), [("slider", "N"), ("pin", "N.m")])
def test_an_actuator_takes_the_unit_of_the_effort_on_its_coordinate(joint: str, unit: str) -> None:
    model = cart(joint)
    model.add("mechanics.actuator", "motor", coordinate="guide")
    model.add("measures.constant", "effort", value=3.0)
    model.connect("effort", "motor.effort")
    assert units_of(model, "motor.effort", "effort", "guide.tau") == [unit] * 3
    assert model.build().variables["motor.effort"].units == (unit,)


def test_a_factor_takes_the_unit_that_is_missing() -> None:
    model = cart()
    model.add("mechanics.actuator", "motor", coordinate="guide")
    model.add("measures.scale", "spring", source="guide.q[0]", factor=-40.0)
    model.connect("spring", "motor.effort")
    assert units_of(model, "spring.factor", "spring") == ["N/m", "N"]


def test_a_factor_with_a_unit_is_converted_with_it() -> None:
    model = cart()
    model.add("mechanics.actuator", "motor", coordinate="guide")
    model.add("measures.scale", "spring", source="guide.q[0]", factor="-0.04 N/mm")
    model.connect("spring", "motor.effort")
    model.set_start("guide.q[0]", 0.5)
    assert model.build().default_state().realize()["motor.effort"] == pytest.approx(-20.0)


def test_units_of_products_integrals_and_derivatives() -> None:
    model = cosim.Model("signals")
    model.add("measures.sinusoid", "force", amplitude="2 N")
    model.add("measures.sinusoid", "speed", amplitude="3 m/s")
    model.add("measures.product", "power", first="force", second="speed")
    model.add("measures.integrate", "work", source="power")
    model.add("measures.differentiate", "acceleration", source="speed")
    paths = ("power", "work", "work.value_dot", "acceleration")
    ratios = [
        cosim.parse_quantity(f"1 {unit}", si)
        for unit, si in zip(units_of(model, *paths), ("W", "J", "W", "m/s2"), strict=True)
    ]
    assert ratios == [1.0] * 4


def test_terms_of_a_sum_are_converted() -> None:
    model = cosim.Model("sum")
    model.add("measures.constant", "first", value="2 m")
    model.add("measures.constant", "second", value="300 mm")
    model.add("measures.minus", "both", first="first", second="second")
    assert model.build().default_state().realize()["both"] == pytest.approx(1.7)
    model.add("measures.constant", "third", value="3 s")
    model.add("measures.plus", "wrong", first="first", second="third")
    with pytest.raises(cosim.ModelError, match="'third'.*m is needed"):
        model.build()


def test_ports_without_a_unit_take_one_but_a_declared_1_stays() -> None:
    model = cart()
    model.add(Plain, "plain")
    model.add("measures.constant", "force", value="3 N")
    model.connect("force", "plain.level")
    assert units_of(model, "plain.level", "plain.scaled") == ["N", "1"]
    model.connect("force", "plain.ratio")
    with pytest.raises(cosim.ModelError, match="→ plain.ratio: 'force'.*N, 1.*needed") as caught:
        model.build()
    assert "factor = '… 1/N'" in str(caught.value)


def test_two_readers_of_different_quantities_are_a_contradiction() -> None:
    model = cart()
    model.add("mechanics.actuator", "motor", coordinate="guide")
    model.add("mechanics.applied_force", "push", body="box")
    model.add(Plain, "plain")
    model.add("measures.constant", "level", value=3.0)
    model.connect("level", "push.force")
    model.connect("level", "plain.ratio")
    with pytest.raises(cosim.ModelError, match=r"level → plain.ratio: .*taken from push.force"):
        model.build()


def test_an_amplitude_of_another_quantity_than_the_unit_is_refused() -> None:
    model = cosim.Model("wrong")
    model.add("measures.sinusoid", "wave", amplitude="3 N/m", unit="N/mm")
    assert model.build().default_state()["wave.amplitude"] == pytest.approx(0.003)
    model.add("measures.sinusoid", "other", amplitude="3 s", unit="N/mm")
    with pytest.raises(cosim.ModelError, match="other.amplitude: amplitude is given"):
        model.build()
    with pytest.raises(cosim.ModelError, match="Nearest|dot"):
        model.add("measures.constant", "torque", value=3.0, unit="Nm")


def test_text_is_converted_to_the_inferred_unit() -> None:
    model = cosim.Model("written")
    model.add("measures.variable", "level", value="3 kN")
    state = model.build().default_state()
    state["level.value"] = "0.5 MN"
    assert state["level.value"] == 0.5e6


def test_building_twice_gives_the_same_units() -> None:
    model = cosim.Model("again")
    model.add("measures.sinusoid", "wave", amplitude="3 N/m", unit="N/mm")
    for _ in range(2):
        assert model.build().default_state()["wave.amplitude"] == pytest.approx(0.003)
    first = model._system()
    assert model._system() is first


def test_connections_have_a_factor_and_an_offset() -> None:
    model = cart()
    model.add("mechanics.actuator", "motor", coordinate="guide")
    model.connect("guide.q[0]", "motor.effort", factor="-2 N/mm", offset="1 kN")
    model.set_start("guide.q[0]", 0.5)
    assert model.build().default_state().realize()["motor.effort"] == pytest.approx(0.0, abs=1e-9)
    restored = cosim.Model.from_dict(model.to_dict())
    assert restored.build().default_state().realize()["motor.effort"] == pytest.approx(0.0, abs=1e-9)


def test_a_plain_factor_keeps_the_unit() -> None:
    model = cart()
    model.add("mechanics.applied_force", "push", body="box")
    model.add("measures.constant", "force", value="2 kN")
    model.connect("force", "push.force", factor=3.0, offset=1.0)
    assert model.build().default_state().realize()["push.force"] == pytest.approx(6001.0)


def test_a_value_is_converted_without_its_derivative() -> None:
    """A damper made by a connection: converted with its derivative, the value would be a loop."""
    model = cart()
    model.add("mechanics.actuator", "damper", coordinate="guide")
    model.connect("guide.u[0]", "damper.effort", factor="-2 N.s/m")
    model.set_start("guide.u[0]", 1.0)
    end = model.simulate(until=1.0, accuracy=1e-9)["guide.u"][-1]
    assert end == pytest.approx(math.exp(-1.0), abs=1e-7)


def test_a_trial_evaluation_leaves_out_derivatives_of_converted_values() -> None:
    model = cart()
    model.add("mechanics.applied_force", "push", body="box")
    model.add("signals.random_road", "road")
    model.add("measures.minus", "pressed", first="road", second="guide.q[0]")
    model.connect("pressed", "push.force", factor="2 kN/m")
    system = model.build()
    names = {i: getattr(block.function, "__qualname__", "") for i, block in enumerate(system.blocks)}
    inner = [names[i] for i in system.inner_blocks]
    assert "RandomRoad_roll" in inner and "RandomRoad_derivatives" not in inner
    assert "RandomRoad_derivatives" in names.values() and inner.count("convert") == 1


@pytest.mark.parametrize(
    "parameters", [{"factor": None}, {"factor": "x"}, {"offset": float("nan")}, {"factor": "3 Nq"}]
)
def test_impossible_factors_are_refused(parameters: dict[str, object]) -> None:
    model = cart()
    with pytest.raises(cosim.ModelError, match="a → b.c"):
        model.connect("a", "b.c", **parameters)


def test_a_rule_of_units_with_an_unknown_name_is_refused() -> None:
    with pytest.raises(cosim.ContractError, match="'gian'.*exist; nearest: 'gain'"):

        class Wrong(cosim.Component):
            """The name in the rule is misspelt."""

            gain = cosim.parameter(default=1.0)
            rate = cosim.output(unit="{gian}/s")


def test_a_file_has_factor_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "cart.toml"
    path.write_text(TOML.format('factor = "-40 N/m"\noffset = 2.0'), "utf-8")
    assert cosim.Model.from_file(path).build().default_state().realize()["push.force"] == pytest.approx(-18.0)
    path.write_text(TOML.format('factor = "-40 Nq"\nofset = 2.0'), "utf-8")
    with pytest.raises(cosim.ModelError) as caught:
        cosim.Model.from_file(path).build()
    assert "'Nq'" in str(caught.value) and "offset" in str(caught.value)


def random_sources(draw: random.Random) -> list[tuple[str, dict[str, object]]]:
    kinds = [
        ("measures.constant", {"value": draw.choice([2.0, "3 N", "4 kN", "5 mm"])}),
        ("signals.ramp", {"height": draw.choice([1, "2 kN", "3 m"]), "offset": draw.choice([0, "1 N"])}),
        ("measures.sinusoid", {"amplitude": draw.choice([1.0, "2 mm"]), "frequency": 1.0, "phase": 0.0}),
    ]
    return [draw.choice(kinds) for _ in range(12)]


def inferred_units(
    sources: list[tuple[str, dict[str, object]]], integrated: list[int]
) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """Return the units of all sources and their numbers, or the error as a unit and no numbers."""
    model = cosim.Model("sources")
    for i, (kind, values) in enumerate(sources):
        model.add(kind, f"p{i}", **values)
    for i in integrated:
        model.add("measures.integrate", f"i{i}", source=f"p{i}")
    try:
        assembly = Assembly(model.parts)
    except cosim.ModelError as error:  # a ramp between lengths and forces
        return {("error", ""): str(error)}, {}
    numbers = {name: str(part.values.numbers) for name, part in model.parts.items()}
    return assembly.wiring.paths.inferred_units, numbers


@pytest.mark.thorough
def test_equal_parts_share_one_inference_and_its_units(monkeypatch) -> None:
    """Copies without connections are not inferred again; without that rule all 16 parts are."""
    draw = random.Random(5)
    inferred: list[int] = []
    collect, copies_of = unit_inference.UnitInference._collect, unit_inference._unconnected_copies
    monkeypatch.setattr(
        unit_inference.UnitInference, "_collect", lambda *args: (inferred.append(1), collect(*args))[1]
    )
    for _ in range(40):
        sources, integrated = random_sources(draw), draw.sample(range(12), 4)
        results, counts = [], []
        for copies in (copies_of, lambda parts, links: {}):
            monkeypatch.setattr(unit_inference, "_unconnected_copies", copies)
            before = len(inferred)
            results.append(inferred_units(sources, integrated))
            counts.append(len(inferred) - before)
        (units, numbers), (all_units, all_numbers) = results
        assert {key: units.get(key) for key in all_units} == all_units and numbers == all_numbers
        assert {key: units[key] for key in all_units} == all_units and units.get(("p0", "none")) is None
        assert counts[1] == 16 and counts[0] < 16
