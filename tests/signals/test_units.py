"""Units that are not declared are found over the whole diagram."""

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
    """One port that declares no unit, one that declares that it has none."""

    felt = cosim.input()
    ratio = cosim.input(unit="1")
    shown = cosim.output()

    @cosim.kernel
    def show(felt, ratio, shown):
        shown[0] = felt * ratio


def cart(joint: str = "slider") -> Multibody:
    model = Multibody("cart")
    model.body("box", mass=2.0, inertia=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    model.joint(joint, "box", "ground", "guide")
    return model


def units(model: cosim.Model, *paths: str) -> list[str]:
    system = model.build()
    return [system.signal(path).units[0] for path in paths]


def test_a_source_takes_the_unit_of_what_it_feeds() -> None:
    model = cart()
    model.add("measures.sinusoid", "wave", amplitude=400.0, frequency=2.0)
    model.add("mechanics.applied_force", "push", body="box", axis="x")
    model.connect("wave", "push.force")
    assert units(model, "wave", "wave.amplitude", "wave.value_dot") == ["N", "N", "N/s"]


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
def test_an_actuator_takes_what_acts_on_its_coordinate(joint: str, unit: str) -> None:
    model = cart(joint)
    model.add("mechanics.actuator", "motor", coordinate="guide")
    model.add("measures.constant", "effort", value=3.0)
    model.connect("effort", "motor.effort")
    assert units(model, "motor.effort", "effort", "guide.tau") == [unit] * 3
    assert model.build().variables["motor.effort"].units == (unit,)


def test_a_factor_takes_the_unit_that_is_missing() -> None:
    model = cart()
    model.add("mechanics.actuator", "motor", coordinate="guide")
    model.add("measures.scale", "spring", source="guide.q[0]", factor=-40.0)
    model.connect("spring", "motor.effort")
    assert units(model, "spring.factor", "spring") == ["N/m", "N"]


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
    found = [
        cosim.parse_quantity(f"1 {unit}", si)
        for unit, si in zip(units(model, *paths), ("W", "J", "W", "m/s2"), strict=True)
    ]
    assert found == [1.0] * 4


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


def test_ports_without_a_unit_take_one_and_a_declared_1_stays() -> None:
    model = cart()
    model.add(Plain, "plain")
    model.add("measures.constant", "force", value="3 N")
    model.connect("force", "plain.felt")
    assert units(model, "plain.felt", "plain.shown") == ["N", "1"]
    model.connect("force", "plain.ratio")
    with pytest.raises(cosim.ModelError, match="→ plain.ratio: 'force'.*N, 1.*needed") as found:
        model.build()
    assert "factor = '… 1/N'" in str(found.value)


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


def test_an_amplitude_of_another_quantity_than_the_unit() -> None:
    model = cosim.Model("wrong")
    model.add("measures.sinusoid", "wave", amplitude="3 N/m", unit="N/mm")
    assert model.build().default_state()["wave.amplitude"] == pytest.approx(0.003)
    model.add("measures.sinusoid", "other", amplitude="3 s", unit="N/mm")
    with pytest.raises(cosim.ModelError, match="other.amplitude: amplitude is given"):
        model.build()
    with pytest.raises(cosim.ModelError, match="Nearest|dot"):
        model.add("measures.constant", "torque", value=3.0, unit="Nm")


def test_text_that_is_written_to_a_state_has_the_unit_that_was_found() -> None:
    model = cosim.Model("written")
    model.add("measures.variable", "level", value="3 kN")
    state = model.build().default_state()
    state["level.value"] = "0.5 MN"
    assert state["level.value"] == 0.5e6


def test_building_again_finds_the_same() -> None:
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
    again = cosim.Model.from_dict(model.to_dict())
    assert again.build().default_state().realize()["motor.effort"] == pytest.approx(0.0, abs=1e-9)


def test_a_plain_factor_keeps_the_unit() -> None:
    model = cart()
    model.add("mechanics.applied_force", "push", body="box")
    model.add("measures.constant", "force", value="2 kN")
    model.connect("force", "push.force", factor=3.0, offset=1.0)
    assert model.build().default_state().realize()["push.force"] == pytest.approx(6001.0)


def test_a_value_is_converted_without_its_derivative() -> None:
    """A damper by a connection: were the two converted together, each would wait for the other."""
    model = cart()
    model.add("mechanics.actuator", "damper", coordinate="guide")
    model.connect("guide.u[0]", "damper.effort", factor="-2 N.s/m")
    model.set_start("guide.u[0]", 1.0)
    end = model.simulate(until=1.0, accuracy=1e-9)["guide.u"][-1]
    assert end == pytest.approx(math.exp(-1.0), abs=1e-7)


def test_a_trial_evaluation_leaves_out_derivatives_of_what_is_converted() -> None:
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
    "wrong", [{"factor": None}, {"factor": "x"}, {"offset": float("nan")}, {"factor": "3 Nq"}]
)
def test_a_factor_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    model = cart()
    with pytest.raises(cosim.ModelError, match="a → b.c"):
        model.connect("a", "b.c", **wrong)


def test_a_rule_that_mentions_nothing() -> None:
    with pytest.raises(cosim.ContractError, match="'gian'.*exist; nearest: 'gain'"):

        class Wrong(cosim.Component):
            """A slip of the pen."""

            gain = cosim.parameter(default=1.0)
            shown = cosim.output(unit="{gian}/s")


def test_a_file_has_factor_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "cart.toml"
    path.write_text(TOML.format('factor = "-40 N/m"\noffset = 2.0'), "utf-8")
    assert cosim.Model.from_file(path).build().default_state().realize()["push.force"] == pytest.approx(-18.0)
    path.write_text(TOML.format('factor = "-40 Nq"\nofset = 2.0'), "utf-8")
    with pytest.raises(cosim.ModelError) as found:
        cosim.Model.from_file(path).build()
    assert "'Nq'" in str(found.value) and "offset" in str(found.value)


@pytest.mark.thorough
def test_units_of_equal_parts_are_found_once_and_are_those_of_each(monkeypatch) -> None:
    draw = random.Random(5)
    solved: list[int] = []
    collect, copies_of = unit_inference.UnitInference._collect, unit_inference._unconnected_copies
    monkeypatch.setattr(
        unit_inference.UnitInference, "_collect", lambda *given: (solved.append(1), collect(*given))[1]
    )
    for _ in range(40):
        kinds = [
            ("measures.constant", {"value": draw.choice([2.0, "3 N", "4 kN", "5 mm"])}),
            ("signals.ramp", {"height": draw.choice([1, "2 kN", "3 m"]), "offset": draw.choice([0, "1 N"])}),
            ("measures.sinusoid", {"amplitude": draw.choice([1.0, "2 mm"]), "frequency": 1.0, "phase": 0.0}),
        ]
        found = []
        read = draw.sample(range(12), 4)
        chosen = [draw.choice(kinds) for _ in range(12)]
        for copies in (copies_of, lambda parts, links: {}):
            monkeypatch.setattr(unit_inference, "_unconnected_copies", copies)
            model, before = cosim.Model("many"), len(solved)
            for i, (kind, values) in enumerate(chosen):
                model.add(kind, f"p{i}", **values)
            for i in read:
                model.add("measures.integrate", f"i{i}", source=f"p{i}")
            try:
                assembly = Assembly(model.parts)
            except cosim.ModelError as error:  # a ramp between lengths and forces
                found.append(({("error", ""): str(error)}, {}, len(solved) - before))
                continue
            numbers = {name: str(part.values.numbers) for name, part in model.parts.items()}
            found.append((assembly.wiring.paths.inferred_units, numbers, len(solved) - before))
        (units, numbers, few), (all_units, all_numbers, many) = found
        assert {key: units.get(key) for key in all_units} == all_units and numbers == all_numbers
        assert all(units[key] == all_units[key] for key in all_units) and units.get(("p0", "none")) is None
        assert many == 16 and few < 16
