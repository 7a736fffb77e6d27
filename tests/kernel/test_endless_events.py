"""Witnesses with endless events: events that pile up, chattering, a start on the wrong side."""

import math

import pytest
from kernel_parts import BouncingBall, system_of

import cosim

FASTEST = math.sqrt(2.0 * 9.81)
"""The speed of the ball at its first impact, m/s: it falls from 1 m."""
FALL = math.sqrt(2.0 / 9.81)
"""The time of its first fall, s."""


def lowest_height(simulator, until):
    """Advance, and return the smallest height of the ball at the ends of steps."""
    heights = [simulator.state["ball.height"]]
    simulator.set_monitor(lambda state: heights.append(state["ball.height"]))
    simulator.advance_to(until)
    return min(heights)


def ball(restitution=0.5, **options):
    return cosim.Simulator(system_of(ball=BouncingBall(restitution=restitution)), **options)


@pytest.mark.by_turns
@pytest.mark.parametrize("restitution", [0.0, 0.01, 0.5, 0.9])
@pytest.mark.parametrize("accuracy", [1e-2, 1e-6, 1e-10])
def test_the_ball_never_falls_through_the_floor(restitution, accuracy):
    simulator = ball(restitution, accuracy=accuracy)
    end = 20.0 if restitution == 0.9 else 3.0
    deepest_impact = FASTEST * simulator.witness_time_isolation  # the event is up to a window late
    assert lowest_height(simulator, end) >= -8.0 * deepest_impact - 1e-14  # the few that pile up add up
    assert simulator.state["ball.height"] <= 1e-9 + deepest_impact
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
    assert {f.witness for f in simulator.findings} == {"ball.floor"}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("explicit_euler", {"fixed_step": 1e-2}),
        ("runge_kutta_merson", {"fixed_step": 1e-2}),
        ("dormand_prince", {"fixed_step": 0.1}),
        ("dormand_prince", {}),
        ("implicit_euler", {"fixed_step": 2e-2}),
        ("radau5", {}),
        ("scipy_lsoda", {}),
        ("velocity_verlet", {"fixed_step": 1e-2}),
        ("yoshida_4", {"fixed_step": 1e-2}),
    ],
)
def test_the_ball_does_not_fall_through_the_floor_with_any_method(method, options):
    simulator = ball(0.5, integrator=f"integrators.{method}", accuracy=1e-6, **options)
    assert lowest_height(simulator, 2.5) >= -1e-6


def test_the_ball_does_not_fall_through_where_events_are_not_located():
    # an event is up to one step late, and later ones are no deeper in the floor
    assert lowest_height(ball(0.5, fixed_step=1e-3), 3.0) >= -1e-3 * FASTEST


def test_the_policy_stop_ends_the_run_and_names_the_witness():
    simulator = ball(accuracy=1e-6, endless_events="stop")
    with pytest.raises(cosim.SimulationError, match=r"ball\.floor fires ever faster.*Zeno"):
        simulator.advance_to(3.0)
    # with a restitution of 1/2 the flights take 2 falls together
    assert simulator.state.time == pytest.approx(3.0 * FALL, abs=1e-4)
    assert abs(simulator.state["ball.height"]) < 1e-6


def test_the_policy_report_continues_with_an_event_in_nearly_each_step():
    simulator = ball(accuracy=1e-2, endless_events="report")
    simulator.advance_to(1.35)
    while len(simulator.findings) < 1:
        simulator.step(3.0)
    count = len(simulator.events)
    for _ in range(20):
        simulator.step(3.0)
    assert [f.kind for f in simulator.findings] == ["zeno"]
    assert len(simulator.events) >= count + 19
    assert simulator.state["ball.height"] > -1e-3


def test_an_unknown_policy_is_refused():
    with pytest.raises(cosim.ModelError, match="'hold', 'report', 'stop'"):
        ball(endless_events="ignore")


class Relay(cosim.Component):
    """x' = u - sign(x), the sign switched by an event; u = 1.5 sin 2t leaves the zero at both sides."""

    x = cosim.position(start=0.5)
    sign_integral = cosim.auxiliary_state()
    sign = cosim.discrete(dtype=int, start=1)

    @cosim.kernel
    def derivatives(t, sign, x_dot, sign_integral_dot):
        x_dot[0] = 1.5 * math.sin(2.0 * t) - sign
        sign_integral_dot[0] = sign

    @cosim.witness
    def zero(x):
        return x

    @cosim.on(zero, does="discrete")
    def flip(sign, sign_next):
        sign_next[0] = -sign


def test_a_chattering_relay_slides_as_filippov_defines_and_leaves_on_the_right_side():
    simulator = cosim.Simulator(system_of(relay=Relay), accuracy=1e-8)
    distances = []
    while not [f for f in simulator.findings if f.kind == "held"]:
        simulator.step(4.0)
    start, integral_at_start = simulator.state.time, simulator.state["relay.sign_integral"]
    while not [f for f in simulator.findings if f.kind == "released"]:
        distances.append(abs(simulator.state["relay.x"]))
        end, integral_at_end = simulator.state.time, simulator.state["relay.sign_integral"]
        simulator.step(4.0)
    assert max(distances) < 1e-7
    # while it slides, the mean of the sign is u: its integral is known
    expected_integral = 0.75 * (math.cos(2.0 * start) - math.cos(2.0 * end))
    assert integral_at_end - integral_at_start == pytest.approx(expected_integral, abs=2e-6)
    # u falls below -1 at t = (pi + asin(2/3)) / 2: x leaves downward, with the sign of that side
    assert end == pytest.approx((math.pi + math.asin(2.0 / 3.0)) / 2.0, abs=0.02)
    simulator.advance_to(2.5)
    assert simulator.state["relay.x"] < -0.05
    assert simulator.state["relay.sign"] == -1


class Sided(Relay):
    """A relay whose handler sets the sign of the side on which x is; its drive is an input."""

    drive = cosim.input(start=0.3)

    @cosim.kernel
    def derivatives(drive, sign, x_dot, sign_integral_dot):
        x_dot[0] = drive - sign
        sign_integral_dot[0] = sign

    @cosim.on(Relay.zero, does="discrete")
    def flip(x, sign_next):
        sign_next[0] = 1 if x >= 0.0 else -1


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "bdf"])
@pytest.mark.parametrize("drive", [2.0, -2.0])
def test_a_relay_that_sets_the_sign_of_its_side_is_released_in_its_direction(drive, integrator):
    simulator = cosim.Simulator(system_of(relay=Sided), integrator=f"integrators.{integrator}", accuracy=1e-6)
    simulator.advance_to(1.5)
    assert "held" in [finding.kind for finding in simulator.findings]
    simulator.state["relay.drive"] = drive  # rounding may have left it on either side of the zero
    simulator.advance_to(2.5)
    side = math.copysign(1.0, drive)
    assert (simulator.state["relay.sign"], simulator.state["relay.x"]) == (
        side,
        pytest.approx(side, abs=1e-6),
    )


class ShakenBall(cosim.Component):
    """A ball on a table at swing sin 12 t; at 2 s it is kicked upward by 3 m/s."""

    height = cosim.position(start=1.0)
    speed = cosim.speed()
    swing = cosim.parameter(default=0.02)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def table(t, height, swing):
        return height - swing * math.sin(12.0 * t)

    @cosim.on(table, does="unrestricted")
    def bounce(t, speed, swing, speed_next):
        table_speed = 12.0 * swing * math.cos(12.0 * t)
        speed_next[0] = table_speed - 0.3 * (speed - table_speed)

    @cosim.at([2.0], does="unrestricted")
    def kick(speed, speed_next):
        speed_next[0] = speed + 3.0


def test_a_ball_rests_on_a_moving_table_until_it_is_kicked():
    simulator = cosim.Simulator(system_of(shaken=ShakenBall), accuracy=1e-6)
    simulator.advance_to(1.9)
    state = simulator.state
    assert state["shaken.height"] == pytest.approx(0.02 * math.sin(12.0 * 1.9), abs=1e-7)
    assert state["shaken.speed"] == pytest.approx(0.24 * math.cos(12.0 * 1.9), abs=1e-5)
    simulator.advance_to(2.2)
    assert [f.kind for f in simulator.findings] == ["zeno", "held", "released"]
    expected = 0.02 * math.sin(24.0) + (3.0 + 0.24 * math.cos(24.0)) * 0.2 - 0.5 * 9.81 * 0.04
    assert state["shaken.height"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("swing", [0.03, 0.05, 0.06])
def test_a_ball_does_not_fall_through_a_moving_table_by_rounding(swing):
    simulator = cosim.Simulator(system_of(shaken=ShakenBall(swing=swing)), accuracy=1e-6)
    simulator.advance_to(1.9)
    state = simulator.state
    assert state["shaken.height"] == pytest.approx(swing * math.sin(12.0 * 1.9), abs=1e-6)


def test_a_ball_leaves_a_table_that_accelerates_downward_by_more_than_g():
    simulator = cosim.Simulator(system_of(shaken=ShakenBall(swing=0.09)), accuracy=1e-6)
    simulator.advance_to(6.0)
    kinds = [f.kind for f in simulator.findings]
    assert kinds.count("released") >= 1
    assert min(r.witness_values[1] for r in simulator.events if r.witness) > -1e-6


def test_a_held_witness_is_part_of_the_state():
    simulator = ball(accuracy=1e-6)
    simulator.advance_to(1.5)
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
    saved = simulator.state.to_bytes()
    restored = cosim.Simulator(simulator.system, simulator.system.state_from_bytes(saved), accuracy=1e-6)
    for each in (simulator, restored):
        each.advance_to(2.0)
    assert restored.state.to_bytes() == simulator.state.to_bytes()
    assert abs(restored.state["ball.height"]) < 1e-6


def test_a_witness_that_starts_on_the_wrong_side_is_reported():
    system = system_of(ball=BouncingBall(height=-1.0))
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(0.1)
    (finding,) = simulator.findings
    assert (finding.kind, finding.witness) == ("wrong side", "ball.floor")
    assert "through zero before" in finding.message
    with pytest.raises(cosim.SimulationError, match=r"ball\.floor.*-1.*start"):
        cosim.Simulator(system, accuracy=1e-6, endless_events="stop").initialize()


class Block(cosim.Component):
    """A block that Coulomb's friction stops: 3 m/s2 against its motion, and a pull of 1 m/s2."""

    x = cosim.position(unit="m")
    v = cosim.speed(unit="m/s", start=2.0)
    way = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(v, way, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = 1.0 - 3.0 * way

    @cosim.witness
    def moving(v):
        return v

    @cosim.on(moving, does="discrete")
    def turn(way, way_next):
        way_next[0] = -way


@pytest.mark.parametrize("method", ["velocity_verlet", "yoshida_4", "runge_kutta_4"])
def test_friction_holds_a_block_with_any_method(method):
    simulator = cosim.Simulator(
        system_of(block=Block()), integrator=f"integrators.{method}", accuracy=1e-6, fixed_step=0.01
    )
    simulator.advance_to(3.0)
    assert [f.kind for f in simulator.findings] == ["chattering", "held"]
    # it decelerates from 2 m/s at 2 m/s2
    assert abs(simulator.state["block.x"] - 1.0) < 1e-9
    assert abs(simulator.state["block.v"]) < 1e-12


@pytest.mark.parametrize("options", [{}, {"integrator": "integrators.velocity_verlet", "fixed_step": 0.01}])
def test_a_pushed_and_a_switched_witness_are_held_together(options):
    system = system_of(block=Block(), ball=BouncingBall(restitution=0.5))
    simulator = cosim.Simulator(system, accuracy=1e-6, **options)
    simulator.advance_to(3.0)
    assert [(f.kind, f.witness) for f in simulator.findings if f.kind in ("held", "released")] == [
        ("held", "block.moving"),
        ("held", "ball.floor"),
    ]
    assert abs(simulator.state["block.x"] - 1.0) < 1e-7
    assert abs(simulator.state["ball.height"]) < 1e-7
    simulator.state["ball.speed"] = 1.0
    simulator.advance_to(3.1)
    assert simulator.state["ball.height"] == pytest.approx(0.1 - 0.5 * 9.81 * 0.01, abs=1e-6)
    assert abs(simulator.state["block.v"]) < 1e-9


def test_two_balls_that_come_to_rest_at_the_same_time_stay_held():
    model = cosim.Model("balls")
    model.add(BouncingBall, "first", restitution=0.5)
    model.add(BouncingBall, "second", restitution=0.5, height=1.001)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(3.0)
    held = [f.witness for f in simulator.findings if f.kind == "held"]
    assert sorted(held) == ["first.floor", "second.floor"]
    assert len(simulator.events) < 200
    assert abs(simulator.state["first.height"]) < 1e-7 and abs(simulator.state["second.height"]) < 1e-7


def held_ball():
    simulator = ball(accuracy=1e-6)
    simulator.advance_to(2.0)
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
    return simulator


@pytest.mark.parametrize(("height", "speed"), [(0.05, 0.0), (0.0, 0.3)])
def test_a_held_ball_that_is_moved_or_kicked_falls_freely(height, speed):
    simulator = held_ball()
    state = simulator.state
    state["ball.height"] += height
    state["ball.speed"] += speed
    simulator.advance_to(2.04)
    fallen = height + speed * 0.04 - 0.5 * 9.81 * 0.04**2
    assert state["ball.height"] == pytest.approx(fallen, abs=1e-6)
    assert simulator.findings[-1].kind == "released"
    simulator.advance_to(4.0)
    assert simulator.findings[-1].kind == "held"


def test_writing_a_parameter_of_a_held_ball_does_not_release_it():
    simulator = held_ball()
    for i in range(1, 20):
        simulator.state["ball.restitution"] = 0.5 - 0.01 * (i % 2)
        simulator.advance_to(2.0 + 0.01 * i)
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
