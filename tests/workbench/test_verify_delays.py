"""Second opinions about models with delays, and the times at which runs are compared."""

import math

import numpy as np
import pytest
from delay_equations import decay, neves
from kernel_parts import Oscillator

import cosim
from cosim_measures.variable_delay import VariableDelay
from cosim_workbench.recorded_at import recorded_rows


class Lagging(cosim.Measure):
    """A time of 1 s that swings by a quarter of a second."""

    value = cosim.cache_slot(unit="s")
    value_dot = cosim.cache_slot()

    @cosim.kernel
    def lag(t, value):
        value[0] = 1.0 + 0.25 * math.sin(3.0 * t)

    @cosim.kernel
    def derivative(t, value_dot):
        value_dot[0] = 0.75 * math.cos(3.0 * t)


class Swing(cosim.Component):
    """Pulled to where it was some time ago."""

    felt = cosim.source()
    x = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(x, v, felt, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x - felt


def delayed_swing():
    """A swing that is pulled to where it was about 1 s ago."""
    model = cosim.Model("swing")
    model.add(Swing, "swing", felt="felt")
    model.add(Lagging, "lag")
    model.add(VariableDelay, "felt", source="swing.x", delay="lag")
    return model


def oscillator():
    model = cosim.Model("model")
    model.add(Oscillator, "part")
    return model


@pytest.mark.parametrize("make", [oscillator, decay])
@pytest.mark.parametrize("until", [1e-3, 0.3, 1.0, 7.0])
def test_all_output_times_are_compared(make, until):
    for interval in (None, until / 7, until / 200):
        opinion = make().verify(until=until, output_interval=interval)
        output_times = opinion.runs[0].result.time
        assert np.array_equal(opinion._grid, np.unique(output_times))
    opinion = make().verify(until=until, integrator="heun", fixed_step=until / 70)
    assert np.array_equal(opinion._grid, np.unique(opinion.runs[0].result.time))


def test_fixed_steps_that_are_off_by_eleven_accuracies_are_not_confirmed():
    """y' = -y(t - 1) with heun and 10 ms is 1.04e-5 off at 3.5 s."""
    opinion = decay().verify(until=5.0, integrator="heun", fixed_step=0.01, output_interval=0.025)
    assert opinion.outcome == "not confirmed"
    assert decay().verify(until=5.0, integrator="heun", fixed_step=0.005, output_interval=0.025).is_confirmed
    for step in (0.1, 0.3):
        assert not decay().verify(until=5.0, integrator="heun", fixed_step=step).is_confirmed


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-9])
def test_breaks_that_one_method_alone_follows_are_not_compared(accuracy):
    """How long a break is followed depends on the order of the method."""
    opinion = delayed_swing().verify(until=20.0, accuracy=accuracy)
    counts = {int(run.result["felt.breaks"][-1]) for run in opinion.runs if "felt.breaks" in run.result}
    assert len(counts) != 1, "the runs have to differ in their breaks"
    assert opinion.is_confirmed, opinion.verdict
    model = neves()
    state = model.build().default_state()
    state.set_time(1.0)
    assert model.verify(until=6.0, accuracy=accuracy, state=state).is_confirmed


def test_how_far_a_method_extrapolates_is_not_compared():
    opinion = decay(0.01, long_steps="extrapolate").verify(until=3.0)
    assert opinion.is_confirmed, opinion.verdict
    extrapolations = [float(run.result["felt.largest_extrapolation"][-1]) for run in opinion.runs]
    assert max(extrapolations) > 2.0 * min(extrapolations), "the runs have to extrapolate differently"


def test_the_row_of_a_time_is_the_closest_one_after_its_events():
    times = np.array([0.0, 0.5, 0.5, 0.5 + 1e-16, 1.0 + 4e-16, 2.0])
    rows, are_recorded = recorded_rows(times, np.array([0.0, 0.5, 1.0, 1.5, 2.0]))
    assert rows[[0, 1, 2, 4]].tolist() == [0, 2, 4, 5], "an exact time wins"
    assert are_recorded.tolist() == [True, True, True, False, True]
    rows, are_recorded = recorded_rows(np.array([0.5, 0.5 + 1e-13]), np.array([0.5, 0.5 + 1e-13, 0.6]))
    assert rows[:2].tolist() == [0, 1]
    assert are_recorded.tolist() == [True, True, False]
    rows, are_recorded = recorded_rows(np.zeros(0), np.array([0.0]))
    assert not are_recorded.any()
