"""Second opinions about states that are small, unstable, stiff, chaotic or at rest."""

import pytest
from kernel_parts import BouncingBall, Oscillator
from verified_models import verified

import cosim


class SmallBesideLarge(cosim.Component):
    """A small oscillation beside a large level."""

    level = cosim.auxiliary_state(start=1000.0)
    x = cosim.position(start=1e-9)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(level, x, v, level_dot, x_dot, v_dot):
        level_dot[0] = -0.1 * level
        x_dot[0] = v
        v_dot[0] = -x


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


def test_a_small_state_beside_a_large_one_is_judged_by_its_own_size():
    opinion = verified(SmallBesideLarge, until=10.0)
    assert opinion.is_confirmed, opinion.verdict
    opinion = verified(SmallBesideLarge, until=10.0, absolute_tolerance=1e-7)
    assert opinion.outcome != "confirmed"
    assert "part.x" in opinion.verdict or "part.v" in opinion.verdict


def test_an_unstable_equilibrium_is_sensitive():
    opinion = verified(Leaves, until=2.0)
    assert opinion.runs[0].result["part.x"][-1] == 0.0
    assert opinion.outcome == "sensitive"


@pytest.mark.parametrize("tolerance", [10.0, 1e-3])
def test_an_absolute_tolerance_that_is_too_large_is_not_confirmed(tolerance):
    model = cosim.Model("model")
    model.add(Oscillator, "part")
    model.set_start("part.x", 1e-3)
    assert model.verify(until=10.0, absolute_tolerance=tolerance).outcome == "not confirmed"
    assert model.verify(until=10.0, absolute_tolerance=1e-12).is_confirmed


def test_a_species_of_which_little_is_left_is_judged_by_that():
    """Errors of 5 % of what is left are 1e-9 of what there was."""
    opinion = verified(Species, until=4e10, integrator="radau5", absolute_tolerance=1e-7)
    agreement_of_a = opinion.agreements[0]
    assert agreement_of_a.digits > 8.0 > 2.0 > agreement_of_a.digits_at_end
    assert agreement_of_a.standing == "differs at the end"
    assert not opinion.is_confirmed
    assert "part.a agrees to 1." in opinion.verdict
    opinion = verified(Species, until=4e10, integrator="radau5", absolute_tolerance=1e-14)
    assert opinion.is_confirmed
    assert {agreement.standing for agreement in opinion.agreements} == {"agrees"}


@pytest.mark.parametrize("until", [20.0, 75.0, 120.0, 300.0])
def test_an_oscillation_that_dies_out_is_confirmed(until):
    opinion = verified(Spring, until=until)
    assert opinion.is_confirmed, opinion.verdict


def test_a_chaotic_run_is_sensitive_and_says_by_how_much():
    opinion = verified(Weather, until=60.0)
    assert opinion.outcome == "sensitive"
    assert "amplifies the rounding" in opinion.verdict
    opinion = verified(Weather, until=25.0)
    assert opinion.outcome == "sensitive"
    assert "problem itself multiplies" in opinion.verdict
    assert verified(Weather, until=5.0).is_confirmed


def test_states_that_do_not_move_agree_to_15_digits():
    opinion = verified(Still, until=3.0)
    assert opinion.verdict == "All signals agree to 15.0 digits at least."


def test_a_ball_that_comes_to_rest_is_confirmed():
    """The number of its last bounces follows from the method."""
    model = cosim.Model("model")
    model.add(BouncingBall, "ball")
    opinion = model.verify(until=20.0)
    assert opinion.is_confirmed, opinion.verdict
    assert abs(opinion.runs[0].result["ball.height"][-1]) < 1e-6


def test_the_report_counts_its_further_runs():
    assert "5 further runs: " in str(verified(Still, until=1.0))
