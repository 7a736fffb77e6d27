"""What only the law of each force element can say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import PchipInterpolator

import cosim
from cosim_mechanics import Multibody, SmoothSphereContact, TabularSpring

LENGTHS = np.array([0.2, 0.3, 0.55, 0.6, 1.0, 1.1])
TENSIONS = np.array([-8.0, -8.0, 1.0, 3.0, 2.0, 40.0])


def cart(q: float = 0.5, u: float = 0.0, mass: float = 2.0) -> Multibody:
    """A body on a slider along x, without gravity."""
    model = Multibody("cart", gravity=(0, 0, 0))
    body = model.body("cart", mass=mass, inertia=(0.1, 0.1, 0.1))
    model.joint("slider", child=body, q=q, u=u, name="rail")
    return model


def at(model: Multibody, **values) -> cosim.State:
    state = model.build().default_state()
    for name, value in values.items():
        state[f"rail.{name}"] = value
    return state.realize(cosim.Stage.REPORT)


@pytest.mark.parametrize("interpolation", ["monotone", "linear"])
def test_a_table_is_read_as_scipy_reads_it(interpolation: str) -> None:
    model = cart()
    values = {"lengths": LENGTHS, "tensions": TENSIONS, "interpolation": interpolation}
    model.add("mechanics.tabular_spring", "spring", body1="ground", body2="cart", **values)
    system = model.build()
    state = system.default_state()
    curve = PchipInterpolator(LENGTHS, TENSIONS)
    for length in (0.2, 0.21, 0.4, 0.55, 0.58, 0.7, 1.0, 1.05, 1.1):
        state["rail.q"] = length
        state.realize(cosim.Stage.REPORT)
        straight = interpolation == "linear"
        expected = np.interp(length, LENGTHS, TENSIONS) if straight else float(curve(length))
        assert state["spring.tension"] == pytest.approx(expected, rel=1e-13, abs=1e-13)
        knots = [x for x in LENGTHS if 0.2 < x < length]
        area = sum(
            quad((lambda x: np.interp(x, LENGTHS, TENSIONS)) if straight else curve, a, b)[0]
            for a, b in zip([0.2, *knots], [*knots, length], strict=True)
        )
        assert state["spring.potential_energy"] == pytest.approx(area, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("interpolation", ["monotone", "linear"])
@pytest.mark.parametrize("extrapolation", ["tangent", "kept"])
def test_steps_end_at_the_corners_of_a_table(extrapolation: str, interpolation: str) -> None:
    """Between corners the motion is that of an oscillator; short steps are right whatever corners do."""
    ends = {}
    for method, options in (
        ("dormand_prince", {"accuracy": 1e-7}),
        ("dormand_prince_853", {"accuracy": 1e-13, "maximum_step": 1e-3}),
    ):
        model = cart(q=1.3)
        model.add(
            "mechanics.tabular_spring", "spring", body1="ground", body2="cart",
            lengths=[0.4, 0.8, 1.0, 1.2], tensions=[-90.0, -10.0, 0.0, 60.0],
            interpolation=interpolation, extrapolation=extrapolation,
        )  # fmt: skip
        simulator = cosim.Simulator(model.build(), integrator=f"integrators.{method}", **options)
        simulator.advance_to(2.0)
        ends[method] = simulator.state.y.copy()
    assert np.abs(ends["dormand_prince"] - ends["dormand_prince_853"]).max() < 2e-6


def test_beyond_the_table_the_tangent_goes_on() -> None:
    model = cart(q=1.5)
    model.add(
        "mechanics.tabular_spring", "s", body1="ground", body2="cart", lengths=[0.5, 1.0], tensions=[1, 3]
    )
    assert at(model)["s.tension"] == pytest.approx(5.0)
    assert at(model, q=0.25)["s.tension"] == pytest.approx(0.0)
    assert at(model, q=1.5)["s.potential_energy"] == pytest.approx(1.0 + 0.5 * (3.0 + 5.0) * 0.5)


@pytest.mark.parametrize("interpolation", ["monotone", "linear"])
@pytest.mark.parametrize(
    ("length", "tension", "energy"),
    [(0.25, 1.0, -0.25), (0.5, 1.0, 0.0), (1.0, 3.0, 1.0), (1.5, 3.0, 2.5), (2.0, 3.0, 4.0)],
)
def test_beyond_the_table_the_last_value_is_kept(interpolation, length, tension, energy) -> None:
    model = cart(q=1.5)
    values = {"lengths": [0.5, 1.0], "tensions": [1, 3], "interpolation": interpolation}
    model.add("mechanics.tabular_spring", "s", body1="ground", body2="cart", extrapolation="kept", **values)
    assert at(model, q=length)["s.tension"] == pytest.approx(tension, rel=1e-15)
    assert at(model, q=length)["s.potential_energy"] == pytest.approx(energy, rel=1e-15)


@pytest.mark.parametrize(
    ("length", "is_inside"), [(0.5, True), (1.0, True), (0.4999, False), (1.0001, False)]
)
def test_beyond_the_table_there_may_be_no_value(length: float, is_inside: bool) -> None:
    model = cart(q=0.75)
    values = {"lengths": [0.5, 1.0], "tensions": [1, 3], "extrapolation": "error"}
    model.add("mechanics.tabular_spring", "s", body1="ground", body2="cart", **values)
    if is_inside:
        assert at(model, q=length)["s.tension"] == (1.0 if length == 0.5 else 3.0)
        return
    with pytest.raises(cosim.SimulationError, match="the table does not cover"):
        at(model, q=length)


def test_tables_of_two_springs_differ_in_length_and_between_states() -> None:
    model = cart()
    for name, count in (("short", 2), ("long", 6)):
        values = {"lengths": LENGTHS[:count], "tensions": TENSIONS[:count]}
        model.add("mechanics.tabular_spring", name, body1="ground", body2="cart", **values)
    system = model.build()
    first, second = system.default_state(), system.default_state()
    assert first["short.lengths"].shape == (2,) and first["long.lengths"].shape == (6,)
    second["long.tensions"] = 2.0 * TENSIONS
    second["short.tensions[1]"] = "1 kN"
    for state in (first, second):
        state.realize(cosim.Stage.DYNAMICS)
    assert second["long.tension"] == 2.0 * first["long.tension"]
    assert first["short.tension"] == -8.0 and second["short.tension"] > 1000.0
    again = system.state_from_bytes(second.to_bytes()).realize(cosim.Stage.DYNAMICS)
    assert again["short.tension"] == second["short.tension"]
    with pytest.raises(cosim.StateError, match=r"long.tensions.*needs \(6,\)"):
        second["long.tensions"] = [1.0, 2.0]
    second["long.lengths[2]"] = 0.1
    with pytest.raises(cosim.SimulationError, match="long: table"):
        second.realize(cosim.Stage.DYNAMICS)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lengths": [1, 2, 3], "tensions": [1, 2]}, "tensions has 2 elements, lengths has 3"),
        ({"lengths": [1], "tensions": [1]}, "at least two"),
        ({"lengths": ["1 m", "20 cm"], "tensions": [1, 2]}, "do not increase"),
        ({"lengths": 3.0, "tensions": [1, 2]}, "lengths.*needs a list of numbers"),
        ({"tensions": [1, 2]}, "lengths is missing"),
        ({"lengths": [1, 2], "tensions": [1, math.nan]}, r"tensions\[1\] is nan"),
    ],
)
def test_wrong_tables_are_refused(values, message) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        TabularSpring(**values)


def test_gravity_leaves_out_who_does_not_feel_it() -> None:
    model = Multibody("two")
    for name, feels in (("stone", True), ("balloon", False)):
        model.body(name, mass=2.0, inertia=(1, 1, 1), feels_gravity=feels)
        model.joint("free", child=name, q=[1, 0, 0, 0, 0, 0, 3.0])
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    assert state["stone.az"] == pytest.approx(-9.81) and state["balloon.az"] == 0.0
    assert state["gravity.potential_energy"] == pytest.approx(2.0 * 9.81 * 3.0)
    state["balloon.feels_gravity"] = 1
    assert state.realize(cosim.Stage.REPORT)["balloon.az"] == pytest.approx(-9.81)
    with pytest.raises(cosim.ModelError, match=r"2\.0.*switch"):
        model.body("third", mass=1, inertia=(1, 1, 1), feels_gravity=2.0)


def test_a_stop_pushes_and_never_pulls() -> None:
    model = cart()
    stop = {"lower": -0.1, "upper": 0.4, "stiffness": 100.0, "dissipation": 0.5}
    model.add("mechanics.coordinate_stop", "stop", coordinate="rail", **stop)
    assert at(model, q=0.3, u=9.0)["rail.tau"] == 0.0
    assert at(model, q=0.5, u=1.0)["rail.tau"] == pytest.approx(-100 * 0.1 * 1.5)
    assert at(model, q=0.5, u=-3.0)["rail.tau"] == 0.0
    assert at(model, q=-0.3, u=-1.0)["rail.tau"] == pytest.approx(100 * 0.2 * 1.5)
    state = at(model, q=0.5, u=-3.0)
    assert state["stop.potential_energy"] == pytest.approx(0.5)
    assert state["stop.dissipated_energy_dot"] == pytest.approx(30.0)
    wrong = cart()
    wrong.add("mechanics.coordinate_stop", "stop", coordinate="rail", **{**stop, "upper": -0.2})
    with pytest.raises(cosim.CosimError, match="stop.*lower.*range lies above"):
        wrong.build().default_state().realize(cosim.Stage.INSTANCE)


def test_a_stop_takes_the_energy_that_hunt_and_crossley_say() -> None:
    """With f = k x (1 + d v), v dv/dx = -f/m: the speeds in and out have g(v) = g(-v_out), see below."""
    speed, d = 0.8, 0.9
    model = cart(q=0.0, u=speed, mass=1.5)
    model.add("mechanics.coordinate_stop", "stop", coordinate="rail", upper=0.1, stiffness=3e3, dissipation=d)
    result = model.simulate(until=0.4, accuracy=1e-10)
    out = -result["rail.speed"][-1]
    g = lambda v: d * v - math.log(1.0 + d * v)  # noqa: E731
    assert g(speed) == pytest.approx(g(-out), rel=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-9


def test_global_damper_acts_on_every_speed() -> None:
    model = cart(u=2.0)
    model.body("ball", mass=1.0, inertia=(1, 1, 1))
    model.joint("ball", child="ball", u=(1, 2, 3), name="socket")
    model.add("mechanics.global_damper", "air", damping=0.5)
    state = at(model)
    assert state["rail.tau"] == pytest.approx(-1.0)
    np.testing.assert_allclose(state["socket.tau"], [-0.5, -1.0, -1.5])
    assert state["air.dissipated_energy_dot"] == pytest.approx(0.5 * (4 + 1 + 4 + 9))


@pytest.mark.parametrize(
    ("element", "coordinate", "message"),
    [
        (
            "coordinate_damper",
            "socket[3]",
            r"coordinate is 'socket\[3\]', there are socket\[0\] … socket\[2\]",
        ),
        ("coordinate_damper", "rail[1]", r"there are rail\[0\]$"),
        ("coordinate_spring", "socket[1]", "4 coordinates for 3 speeds"),
    ],
)
def test_a_coordinate_that_is_not_there_is_refused(element: str, coordinate: str, message: str) -> None:
    model = cart()
    model.body("ball", mass=1.0, inertia=(1, 1, 1))
    model.joint("ball", child="ball", name="socket")
    values = {"damping": 1.0} if "damper" in element else {"stiffness": 1.0}
    model.add(f"mechanics.{element}", "element", coordinate=coordinate, **values)
    with pytest.raises(cosim.ModelError, match=message):
        model.build()


def test_inputs_bring_energy_in() -> None:
    model = Multibody("pushed", gravity=(0, 0, 0))
    body = model.body("body", mass=2.0, inertia=(1, 2, 3))
    model.joint("free", child=body, u=(0.1, 0.2, 0.3, 0, 0, 0))
    model.add(
        "mechanics.applied_wrench", "fluid", body=body, station=(0.1, 0, 0), f=(1, 2, 0), torque=(0, 0, 0.5)
    )
    model.add("mechanics.applied_force", "push", body=body, axis="z", force=3.0)
    model.add("mechanics.constant_torque", "motor", body=body, torque=(0.3, 0, 0))
    system = model.build()
    assert system.inputs == ("fluid.f", "fluid.torque", "push.force")
    result = model.simulate(until=2.0, accuracy=1e-10)
    gained = result["energy.kinetic"][-1] - result["energy.kinetic"][0]
    assert gained == pytest.approx(result["energy.supplied"][-1], rel=1e-9)
    assert gained > 1.0
    each = sum(result[f"{name}.supplied_energy"][-1] for name in ("fluid", "push", "motor"))
    assert each == pytest.approx(result["energy.supplied"][-1], rel=1e-14)


CONTACT = {
    "radius": 0.12, "stiffness": 2e5, "dissipation": 0.7, "static_friction": 0.9, "dynamic_friction": 0.5,
    "viscous_friction": 0.2, "transition_velocity": 0.05,
}  # fmt: skip


def published(x: float, x_dot: float, slip: np.ndarray) -> tuple[float, float]:
    """Normal and friction force as the documentation of Simbody's SmoothSphereHalfSpaceForce writes them."""
    p, cf, bd, bv = CONTACT, 1e-5, 300.0, 50.0
    k = 0.5 * p["stiffness"] ** (2 / 3)
    hertz = 4 / 3 * k * (p["radius"] * k) ** 0.5 * ((x**2 + cf) ** 0.5) ** 1.5
    hertz *= 0.5 + 0.5 * np.tanh(bd * x)
    c = p["dissipation"]
    normal = hertz * (1 + 1.5 * c * x_dot) * (0.5 + 0.5 * np.tanh(bv * (x_dot + 2 / (3 * c))))
    vs = float(np.sqrt(slip @ slip + cf))
    ratio = vs / p["transition_velocity"]
    us, ud = p["static_friction"], p["dynamic_friction"]
    friction = normal * (min(ratio, 1) * (ud + 2 * (us - ud) / (1 + ratio**2)) + p["viscous_friction"] * vs)
    return normal, friction


@pytest.mark.parametrize(
    ("depth", "velocity"), [(0.01, (0.3, 0.1, -0.2)), (-0.002, (0.01, 0, 0.3)), (0.03, (0, 0, 0))]
)
def test_contact_has_the_published_forces(depth: float, velocity: tuple[float, float, float]) -> None:
    model = Multibody("ball", gravity=(0, 0, 0))
    ball = model.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01))
    model.joint(
        "free", child=ball, q=[1, 0, 0, 0, 0.3, 0.1, CONTACT["radius"] - depth], u=[0, 0, 0, *velocity]
    )
    model.add("mechanics.smooth_sphere_contact", "floor", body1="ground", body2=ball, **CONTACT)
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    normal, friction = published(depth, -velocity[2], np.array([*velocity[:2], 0.0]))
    assert state["floor.normal_force"] == pytest.approx(normal, rel=1e-12)
    assert state["floor.friction_force"] == pytest.approx(friction, rel=1e-12)
    assert state["ball.F_GB"][5] == pytest.approx(normal, rel=1e-12)
    slip = np.array(velocity[:2])
    np.testing.assert_allclose(
        state["ball.F_GB"][3:5], -friction * slip / np.sqrt(slip @ slip + 1e-5), rtol=1e-12
    )
    hertz = lambda x: published(x, 0.0, np.zeros(3))[0]  # noqa: E731
    energy = quad(hertz, -0.08, min(0.0, depth), limit=200)[0] + (
        quad(hertz, 0.0, depth)[0] if depth > 0 else 0.0
    )
    assert state["floor.potential_energy"] == pytest.approx(energy, rel=1e-7)


def test_a_ball_comes_to_rest_on_the_smooth_floor() -> None:
    model = Multibody("drop")
    ball = model.body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, 0.3], u=[0, 0, 0, 1.0, 0, 0])
    model.add(
        "mechanics.smooth_sphere_contact",
        "floor",
        body1="ground",
        body2=ball,
        **{**CONTACT, "dissipation": 1.5},
    )
    result = model.simulate(until=2.0, accuracy=1e-8)
    assert abs(result["ball.vz"][-1]) < 0.02
    assert result["ball.z"][-1] == pytest.approx(CONTACT["radius"], abs=0.01)
    assert result["ball.wy"][-1] * CONTACT["radius"] == pytest.approx(result["ball.vx"][-1], rel=0.05), (
        "it rolls"
    )
    assert result["floor.dissipated_energy"][-1] > 1.5
    assert abs(result["energy.residual"]).max() < 1e-6
    assert [f.kind for f in result.findings if "smoothing" in f.message], (
        "the floor says that the ball floats"
    )


def test_contact_needs_a_radius_of_its_own() -> None:
    with pytest.raises(cosim.ModelError, match="radius"):
        SmoothSphereContact(stiffness=1e5)


def test_the_balance_is_told_by_part(tmp_path) -> None:
    from cosim_workbench.energy_balance import energy_balance

    model = cart(u=1.0)
    model.add("mechanics.coordinate_damper", "brake", coordinate="rail", damping=1.0)
    model.add("mechanics.actuator", "motor", coordinate="rail", effort=2.0)
    result = model.simulate(until=1.0, accuracy=1e-9)
    for name in (
        "cart.kinetic_energy",
        "brake.dissipated_energy",
        "motor.supplied_energy",
        "energy.residual",
    ):
        assert name in result.names
    lines = energy_balance(result)
    assert lines[0].split() == ["kinetic", "potential", "dissipated", "supplied"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert float(rows["brake"][0]) == pytest.approx(result["brake.dissipated_energy"][-1], rel=1e-5)
    assert float(rows["motor"][0]) == pytest.approx(result["motor.supplied_energy"][-1], rel=1e-5)
    assert float(rows["residual"][0]) < 1e-8
    assert result.plot("energy.*", "*_energy", path=tmp_path / "energy.png").exists()
    assert energy_balance(result.select("rail.*")) == []
