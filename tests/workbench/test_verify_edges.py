"""A second opinion does not confirm answers that are wrong, nor doubt those that are right."""

import math

import pytest
from kernel_parts import BouncingBall, Oscillator

import cosim


class Touching(cosim.Component):
    """Rises to its threshold and turns there: whether it arrives is a matter of the method's error."""

    x = cosim.position()
    v = cosim.speed(start=1.0)
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x

    @cosim.witness(direction="rising")
    def top(x):
        return x - 1.0

    @cosim.on(top, does="discrete")
    def hit(hits, hits_next):
        hits_next[0] = hits + 1


class Hidden(cosim.Component):
    """Its witness rises for 2 ms, within a step that nothing shortens."""

    clock = cosim.auxiliary_state()
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(clock_dot):
        clock_dot[0] = 1.0

    @cosim.witness(direction="rising")
    def near(clock):
        return 1.0 if 0.713 < clock < 0.715 else -1.0

    @cosim.on(near, does="discrete")
    def hit(hits, hits_next):
        hits_next[0] = hits + 1


class Undecided(cosim.Component):
    """A handler asks whether a level has reached the value at which it stands."""

    level = cosim.auxiliary_state(start=0.5)
    filled = cosim.auxiliary_state()
    rate = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(rate, level_dot, filled_dot):
        level_dot[0] = 0.0
        filled_dot[0] = rate

    @cosim.at(0.5, does="discrete")
    def choose(level, rate_next):
        rate_next[0] = 2.0 if level >= 0.5 else 0.5


class Chooses(cosim.Component):
    """A handler asks whether cos(5) is above a level: near it the error of a method decides."""

    above = cosim.parameter()
    gains = cosim.parameter(shape=2, default=(1.0, -1.0))
    x = cosim.position(start=1.0)
    v = cosim.speed()
    filled = cosim.auxiliary_state()
    rate = cosim.discrete()

    @cosim.kernel
    def derivatives(x, v, rate, x_dot, v_dot, filled_dot):
        x_dot[0] = v
        v_dot[0] = -x
        filled_dot[0] = rate

    @cosim.at(5.0, does="discrete")
    def choose(x, above, gains, rate_next):
        rate_next[0] = gains[0] if x > 0.28366218546322625 + above else gains[1]


class Halves(cosim.Component):
    """A sampler compares a level with the value that it has at the second sample."""

    level = cosim.parameter(default=0.5)
    x = cosim.auxiliary_state(start=1.0)
    total = cosim.auxiliary_state()
    rate = cosim.discrete()

    @cosim.kernel
    def derivatives(x, rate, x_dot, total_dot):
        x_dot[0] = -0.6931471805599453 * x
        total_dot[0] = rate

    @cosim.every(1.0, does="discrete")
    def sample(x, level, rate_next):
        rate_next[0] = 1.0 if x > level else 0.0


class Sampled(cosim.Component):
    """A sampled controller with a quantized measurement."""

    step = cosim.parameter(default=0.01)
    x = cosim.auxiliary_state()
    u = cosim.discrete()

    @cosim.kernel
    def derivatives(x, u, x_dot):
        x_dot[0] = u - x

    @cosim.every("10 ms", does="discrete")
    def control(x, step, u, u_next):
        u_next[0] = u + 0.1 * (1.0 - step * math.floor(x / step + 0.5))


class Beside(cosim.Component):
    """A small oscillation beside a large level."""

    level = cosim.auxiliary_state(start=1000.0)
    x = cosim.position(start=1e-9)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(level, x, v, level_dot, x_dot, v_dot):
        level_dot[0] = -0.1 * level
        x_dot[0] = v
        v_dot[0] = -x


class CountsSteps(cosim.Component):
    """Its result depends on how many steps the method takes."""

    x = cosim.auxiliary_state(start=1.0)
    n = cosim.discrete()

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -x

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="discrete")
    def count(n, n_next):
        n_next[0] = n + 1


class Leaves(cosim.Component):
    """Goes away from where it stands, if it does not stand there exactly."""

    x = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = 50.0 * x / (1.0 + x * x)


class Spring(cosim.Component):
    """Damped: after 90 s its amplitude is 1e-8 of the start."""

    x = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x - 0.4 * v


class Species(cosim.Component):
    """Robertson's reaction."""

    a = cosim.auxiliary_state(start=1.0)
    b = cosim.auxiliary_state()
    c = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(a, b, c, a_dot, b_dot, c_dot):
        first, second, third = 0.04 * a, 1e4 * b * c, 3e7 * b * b
        a_dot[0] = second - first
        b_dot[0] = first - second - third
        c_dot[0] = third


class Weather(cosim.Component):
    """Lorenz's equations."""

    x = cosim.auxiliary_state(start=1.0)
    y = cosim.auxiliary_state(start=1.0)
    z = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, y, z, x_dot, y_dot, z_dot):
        x_dot[0] = 10.0 * (y - x)
        y_dot[0] = x * (28.0 - z) - y
        z_dot[0] = x * y - 8.0 / 3.0 * z


class Still(cosim.Component):
    """Nothing moves."""

    five = cosim.auxiliary_state(start=5.0)
    zero = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(five_dot, zero_dot):
        five_dot[0] = 0.0
        zero_dot[0] = 0.0


def verified(cls, values=None, **settings):
    model = cosim.Model("model")
    model.add(cls, "part", **(values or {}))
    return model.verify(**settings)


def test_an_event_that_grazes_its_threshold_is_not_confirmed():
    found = verified(Touching, until=10.0)
    assert found.outcome == "sensitive"
    assert "part.hit happens" in found.verdict
    assert verified(Touching, until=1.0).is_confirmed, "before it comes near"


def test_an_event_that_long_steps_leap_over_is_seen_by_shorter_ones():
    found = verified(Hidden, until=2.0)
    assert found.outcome == "not confirmed"
    assert found.event_differences[0].present == "shorter steps"
    assert found.event_differences[0].time == pytest.approx(0.713, abs=1e-6)
    assert verified(Hidden, until=2.0, maximum_step=1e-3).is_confirmed


def test_a_handler_that_decides_on_rounding_is_sensitive():
    found = verified(Undecided, until=1.0)
    assert found.outcome == "sensitive"
    assert "start (1e-16)" in found.verdict
    assert verified(Undecided, until=0.4).is_confirmed, "before the handler decides"


@pytest.mark.parametrize("gains", [(1.0, -1.0), (0.35, 0.7), (0.0, 1.0)])
@pytest.mark.parametrize("above", [0.0, 1e-8, -1e-8, 1e-7, -1e-7])
def test_a_handler_that_decides_within_the_error_of_the_method_is_sensitive(above, gains):
    """All runs may decide alike, and wrong: their errors have one sign."""
    found = verified(Chooses, {"above": above, "gains": gains}, until=6.0)
    assert found.outcome != "confirmed"
    assert "a decision falls otherwise after an error of an accuracy" in found.verdict
    assert "differs from t = 5 s" in found.verdict


@pytest.mark.parametrize("above", [1e-3, -1e-3, 1e-4])
def test_a_handler_that_decides_clearly_is_confirmed(above):
    found = verified(Chooses, {"above": above}, until=6.0)
    assert found.is_confirmed, found.verdict
    assert found.runs[0].result["part.filled"][-1] == pytest.approx(math.copysign(1.0, -above))


def test_a_sampler_that_meets_its_level_exactly_is_sensitive():
    found = verified(Halves, until=5.0)
    assert found.outcome == "sensitive"
    assert "part.rate differs from t = 1 s on" in found.verdict
    for level in (0.51, 0.49, 0.3):
        assert verified(Halves, {"level": level}, until=5.0).is_confirmed
    assert verified(Halves, until=0.9).is_confirmed, "before it decides"


def test_a_sampled_controller_is_confirmed():
    for step in (1e-9, 0.01, 0.3):
        found = verified(Sampled, {"step": step}, until=5.0)
        assert found.is_confirmed, found.verdict


def test_a_count_of_steps_is_not_confirmed():
    assert verified(CountsSteps, until=3.0).outcome == "not confirmed"


def test_a_small_state_beside_a_large_one_is_judged_by_its_own_size():
    found = verified(Beside, until=10.0)
    assert found.is_confirmed, found.verdict
    found = verified(Beside, until=10.0, absolute_tolerance=1e-7)
    assert found.outcome != "confirmed"
    assert "part.x" in found.verdict or "part.v" in found.verdict


def test_an_unstable_equilibrium_is_sensitive():
    found = verified(Leaves, until=2.0)
    assert found.runs[0].result["part.x"][-1] == 0.0
    assert found.outcome == "sensitive"


@pytest.mark.parametrize("tolerance", [10.0, 1e-3])
def test_an_absolute_tolerance_that_is_too_large_is_not_confirmed(tolerance):
    model = cosim.Model("model")
    model.add(Oscillator, "part")
    model.set_start("part.x", 1e-3)
    assert model.verify(until=10.0, absolute_tolerance=tolerance).outcome == "not confirmed"
    assert model.verify(until=10.0, absolute_tolerance=1e-12).is_confirmed


def test_a_species_of_which_little_is_left_is_judged_by_that():
    """Errors of 5 % of what is left are 1e-9 of what there was."""
    found = verified(Species, until=4e10, integrator="radau5", absolute_tolerance=1e-7)
    left = found.agreements[0]
    assert left.digits > 8.0 > 2.0 > left.digits_at_end
    assert left.standing == "differs at the end"
    assert not found.is_confirmed
    assert "part.a agrees to 1." in found.verdict
    found = verified(Species, until=4e10, integrator="radau5", absolute_tolerance=1e-14)
    assert found.is_confirmed
    assert {agreement.standing for agreement in found.agreements} == {"agrees"}


@pytest.mark.parametrize("until", [20.0, 75.0, 120.0, 300.0])
def test_an_oscillation_that_dies_out_is_confirmed(until):
    found = verified(Spring, until=until)
    assert found.is_confirmed, found.verdict


def test_a_chaotic_run_is_sensitive_and_says_by_how_much():
    found = verified(Weather, until=60.0)
    assert found.outcome == "sensitive"
    assert "amplifies the rounding" in found.verdict
    found = verified(Weather, until=25.0)
    assert found.outcome == "sensitive"
    assert "problem itself multiplies" in found.verdict
    assert verified(Weather, until=5.0).is_confirmed


def test_what_does_not_move_is_confirmed():
    found = verified(Still, until=3.0)
    assert found.verdict == "All signals agree to 15.0 digits at least."


def test_a_ball_that_comes_to_rest_is_confirmed():
    """The number of its last bounces follows from the method."""
    model = cosim.Model("model")
    model.add(BouncingBall, "ball")
    found = model.verify(until=20.0)
    assert found.is_confirmed, found.verdict
    assert abs(found.runs[0].result["ball.height"][-1]) < 1e-6


def test_the_report_says_what_it_costs():
    assert "5 further runs: " in str(verified(Still, until=1.0))
