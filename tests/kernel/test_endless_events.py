"""Witnesses whose events do not end: piling up, chattering, standing on the wrong side."""

import math

import pytest
from kernel_parts import BouncingBall, system_of

import cosim


def lowest(simulator, until, path="ball.height"):
    """Advance, and the smallest value of a signal at the ends of steps."""
    seen = [simulator.state[path]]
    simulator.set_monitor(lambda state: seen.append(state[path]))
    simulator.advance_to(until)
    return min(seen)


def ball(restitution=0.5, **options):
    return cosim.Simulator(system_of(ball=BouncingBall(restitution=restitution)), **options)


@pytest.mark.by_turns
@pytest.mark.parametrize("restitution", [0.0, 0.01, 0.5, 0.9])
@pytest.mark.parametrize("accuracy", [1e-2, 1e-6, 1e-10])
def test_the_ball_never_falls_through_the_floor(restitution, accuracy):
    simulator = ball(restitution, accuracy=accuracy)
    end = 20.0 if restitution == 0.9 else 3.0
    fastest = math.sqrt(2.0 * 9.81)
    assert lowest(simulator, end) >= -8.0 * fastest * simulator.witness_time_isolation - 1e-14
    assert simulator.state["ball.height"] <= 1e-9 + fastest * simulator.witness_time_isolation
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
def test_the_ball_never_falls_through_the_floor_whatever_the_method(method, options):
    simulator = ball(0.5, integrator=f"integrators.{method}", accuracy=1e-6, **options)
    assert lowest(simulator, 2.5) >= -1e-6


def test_the_ball_does_not_fall_through_where_events_are_not_located():
    # up to one step late: it may be so deep in the floor, but no deeper as time goes on
    assert lowest(ball(0.5, fixed_step=1e-3), 3.0) >= -1e-3 * math.sqrt(2.0 * 9.81)


def test_stop_names_the_witness_and_keeps_the_last_state():
    simulator = ball(accuracy=1e-6, endless_events="stop")
    with pytest.raises(cosim.SimulationError, match=r"ball\.floor fires ever faster.*Zeno"):
        simulator.advance_to(3.0)
    fall = math.sqrt(2.0 / 9.81)
    assert simulator.state.time == pytest.approx(3.0 * fall, abs=1e-4)
    assert abs(simulator.state["ball.height"]) < 1e-6


def test_report_goes_on_as_it_is():
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


def test_a_policy_that_is_none():
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


def test_chattering_is_held_in_filippovs_sense_and_let_go_on_the_right_side():
    simulator = cosim.Simulator(system_of(relay=Relay), accuracy=1e-8)
    lows = []
    while not [f for f in simulator.findings if f.kind == "held"]:
        simulator.step(4.0)
    start, before = simulator.state.time, simulator.state["relay.sign_integral"]
    while not [f for f in simulator.findings if f.kind == "released"]:
        lows.append(abs(simulator.state["relay.x"]))
        last = (simulator.state.time, simulator.state["relay.sign_integral"])
        simulator.step(4.0)
    assert max(lows) < 1e-7
    # while it slides, the mean of the sign is u: its integral is known
    assert last[1] - before == pytest.approx(
        0.75 * (math.cos(2.0 * start) - math.cos(2.0 * last[0])), abs=2e-6
    )
    # u falls below -1 at t = (pi + asin(2/3)) / 2: x leaves downward, with the sign of that side
    assert last[0] == pytest.approx((math.pi + math.asin(2.0 / 3.0)) / 2.0, abs=0.02)
    simulator.advance_to(2.5)
    assert simulator.state["relay.x"] < -0.05
    assert simulator.state["relay.sign"] == -1


class Sided(Relay):
    """A relay that looks at the side where it is; what drives it is an input."""

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
def test_a_relay_that_looks_at_its_side_is_let_go_on_the_side_to_which_it_moves(drive, integrator):
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


class Shaken(cosim.Component):
    """A ball on a table that moves up and down; at 2 s it is kicked."""

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
    simulator = cosim.Simulator(system_of(shaken=Shaken), accuracy=1e-6)
    simulator.advance_to(1.9)
    state = simulator.state
    assert state["shaken.height"] == pytest.approx(0.02 * math.sin(12.0 * 1.9), abs=1e-7)
    assert state["shaken.speed"] == pytest.approx(0.24 * math.cos(12.0 * 1.9), abs=1e-5)
    simulator.advance_to(2.2)
    assert [f.kind for f in simulator.findings] == ["zeno", "held", "released"]
    expected = 0.02 * math.sin(24.0) + (3.0 + 0.24 * math.cos(24.0)) * 0.2 - 0.5 * 9.81 * 0.04
    assert state["shaken.height"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("swing", [0.03, 0.05, 0.06])
def test_rounding_does_not_let_a_ball_through_a_moving_table(swing):
    simulator = cosim.Simulator(system_of(shaken=Shaken(swing=swing)), accuracy=1e-6)
    simulator.advance_to(1.9)
    state = simulator.state
    assert state["shaken.height"] == pytest.approx(swing * math.sin(12.0 * 1.9), abs=1e-6)


def test_a_ball_leaves_a_table_that_falls_faster():
    simulator = cosim.Simulator(system_of(shaken=Shaken(swing=0.09)), accuracy=1e-6)
    simulator.advance_to(6.0)
    kinds = [f.kind for f in simulator.findings]
    assert kinds.count("released") >= 1
    assert min(r.witness_values[1] for r in simulator.events if r.witness) > -1e-6


def test_a_held_witness_is_part_of_the_state():
    simulator = ball(accuracy=1e-6)
    simulator.advance_to(1.5)
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
    saved = simulator.state.to_bytes()
    other = cosim.Simulator(simulator.system, simulator.system.state_from_bytes(saved), accuracy=1e-6)
    for each in (simulator, other):
        each.advance_to(2.0)
    assert other.state.to_bytes() == simulator.state.to_bytes()
    assert abs(other.state["ball.height"]) < 1e-6


def test_a_witness_on_the_wrong_side_is_told():
    system = system_of(ball=BouncingBall(height=-1.0))
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(0.1)
    (finding,) = simulator.findings
    assert (finding.kind, finding.witness) == ("wrong side", "ball.floor")
    assert "through zero before" in finding.message
    with pytest.raises(cosim.SimulationError, match=r"ball\.floor.*-1.*start"):
        cosim.Simulator(system, accuracy=1e-6, endless_events="stop").initialize()


class Rubbed(cosim.Component):
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
def test_friction_holds_a_block_whatever_the_method(method):
    simulator = cosim.Simulator(
        system_of(block=Rubbed()), integrator=f"integrators.{method}", accuracy=1e-6, fixed_step=0.01
    )
    simulator.advance_to(3.0)
    assert [f.kind for f in simulator.findings] == ["chattering", "held"]
    assert abs(simulator.state["block.x"] - 1.0) < 1e-9
    assert abs(simulator.state["block.v"]) < 1e-12


@pytest.mark.parametrize("options", [{}, {"integrator": "integrators.velocity_verlet", "fixed_step": 0.01}])
def test_what_is_pushed_and_what_is_switched_are_held_together(options):
    system = system_of(block=Rubbed(), ball=BouncingBall(restitution=0.5))
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


def test_two_that_come_to_rest_at_the_same_time_do_not_let_go_of_each_other():
    model = cosim.Model("balls")
    model.add(BouncingBall, "one", restitution=0.5)
    model.add(BouncingBall, "other", restitution=0.5, height=1.001)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(3.0)
    held = [f.witness for f in simulator.findings if f.kind == "held"]
    assert sorted(held) == ["one.floor", "other.floor"]
    assert len(simulator.events) < 200
    assert abs(simulator.state["one.height"]) < 1e-7 and abs(simulator.state["other.height"]) < 1e-7


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


def test_what_is_written_beside_a_held_ball_does_not_let_go_of_it():
    simulator = held_ball()
    for i in range(1, 20):
        simulator.state["ball.restitution"] = 0.5 - 0.01 * (i % 2)
        simulator.advance_to(2.0 + 0.01 * i)
    assert [f.kind for f in simulator.findings] == ["zeno", "held"]
