"""Second opinions about events and handlers that rounding, or the error of a method, decides."""

import math

import pytest
from verified_models import verified

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
        rate_next[0] = gains[0] if x > 0.28366218546322625 + above else gains[1]  # cos(5)


class Halves(cosim.Component):
    """A sampler compares a level with the value that it has at the second sample."""

    level = cosim.parameter(default=0.5)
    x = cosim.auxiliary_state(start=1.0)
    total = cosim.auxiliary_state()
    rate = cosim.discrete()

    @cosim.kernel
    def derivatives(x, rate, x_dot, total_dot):
        x_dot[0] = -0.6931471805599453 * x  # log(2): it halves in a second
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


def test_an_event_that_grazes_its_threshold_is_not_confirmed():
    opinion = verified(Touching, until=10.0)
    assert opinion.outcome == "sensitive"
    assert "part.hit happens" in opinion.verdict
    assert verified(Touching, until=1.0).is_confirmed, "before it comes near"


def test_an_event_that_long_steps_miss_is_found_by_shorter_ones():
    opinion = verified(Hidden, until=2.0)
    assert opinion.outcome == "not confirmed"
    assert opinion.event_differences[0].present == "shorter steps"
    assert opinion.event_differences[0].time == pytest.approx(0.713, abs=1e-6)
    assert verified(Hidden, until=2.0, maximum_step=1e-3).is_confirmed


def test_a_handler_that_decides_on_rounding_is_sensitive():
    opinion = verified(Undecided, until=1.0)
    assert opinion.outcome == "sensitive"
    assert "start (1e-16)" in opinion.verdict
    assert verified(Undecided, until=0.4).is_confirmed, "before the handler decides"


@pytest.mark.parametrize("gains", [(1.0, -1.0), (0.35, 0.7), (0.0, 1.0)])
@pytest.mark.parametrize("above", [0.0, 1e-8, -1e-8, 1e-7, -1e-7])
def test_a_handler_that_decides_within_the_error_of_the_method_is_sensitive(above, gains):
    """All runs may decide alike, and wrong: their errors have one sign."""
    opinion = verified(Chooses, {"above": above, "gains": gains}, until=6.0)
    assert opinion.outcome != "confirmed"
    assert "a decision falls otherwise after an error of an accuracy" in opinion.verdict
    assert "differs from t = 5 s" in opinion.verdict


@pytest.mark.parametrize("above", [1e-3, -1e-3, 1e-4])
def test_a_handler_that_decides_clearly_is_confirmed(above):
    opinion = verified(Chooses, {"above": above}, until=6.0)
    assert opinion.is_confirmed, opinion.verdict
    assert opinion.runs[0].result["part.filled"][-1] == pytest.approx(math.copysign(1.0, -above))


def test_a_sampler_that_meets_its_level_exactly_is_sensitive():
    opinion = verified(Halves, until=5.0)
    assert opinion.outcome == "sensitive"
    assert "part.rate differs from t = 1 s on" in opinion.verdict
    for level in (0.51, 0.49, 0.3):
        assert verified(Halves, {"level": level}, until=5.0).is_confirmed
    assert verified(Halves, until=0.9).is_confirmed, "before it decides"


def test_a_sampled_controller_is_confirmed():
    for step in (1e-9, 0.01, 0.3):
        opinion = verified(Sampled, {"step": step}, until=5.0)
        assert opinion.is_confirmed, opinion.verdict


def test_a_count_of_steps_is_not_confirmed():
    assert verified(CountsSteps, until=3.0).outcome == "not confirmed"
