"""Runs that cannot be right say so: outputs that are no numbers, steps without end, times too close."""

import math

import pytest
from kernel_parts import Oscillator, system_of

import cosim


class EndingOutput(cosim.Component):
    """A state that fades, and an output that has no value once the state is below a half."""

    y = cosim.auxiliary_state(start=1.0)
    depth = cosim.output()
    widths = cosim.output(shape=2)

    @cosim.kernel
    def derivatives(y, y_dot):
        y_dot[0] = -y

    @cosim.kernel
    def outputs(y, depth, widths):
        depth[0] = math.sqrt(y - 0.5) if y > 0.5 else math.nan
        widths[0] = y
        widths[1] = math.nan if y < 0.25 else y


class Stiffening(cosim.Component):
    """A state that follows 1 the faster the nearer t = 1 is: w' = rate (1 - w) / (1 - t)^1.5."""

    w = cosim.auxiliary_state()
    rate = cosim.parameter(default=2.4)

    @cosim.kernel
    def derivatives(t, w, rate, w_dot):
        left = 1.0 - t
        w_dot[0] = rate * (1.0 - w) / (left * math.sqrt(left)) if left > 0.0 else math.nan


def test_an_output_that_becomes_nan_is_found_once_with_its_name_and_time():
    result = cosim.simulate(system_of(part=EndingOutput), until=2.0)
    assert [(f.kind, f.witness) for f in result.findings] == [
        ("not a number", "part.depth"),
        ("not a number", "part.widths[1]"),
    ]
    for finding, level in zip(result.findings, (0.5, 0.25), strict=True):
        # y = exp(-t) falls below the level; there are 500 output times in 2 s
        assert 0.0 <= finding.time - math.log(1.0 / level) <= 2.0 / 500
    assert math.isnan(result["part.depth"][-1])


def test_an_output_that_is_a_number_has_no_finding():
    result = cosim.simulate(system_of(part=EndingOutput), until=0.5)
    assert result.findings == []


@pytest.mark.parametrize("start", [1e13, 1e15, -1e15])
def test_output_times_that_doubles_cannot_tell_apart_are_refused(start):
    system = system_of(oscillator=Oscillator)
    state = system.default_state()
    state.set_time(start)
    with pytest.raises(cosim.ModelError, match=r"output interval.*0\.001 s.*apart"):
        cosim.simulate(system, until=start + 0.5, state=state)


def test_output_times_that_doubles_can_tell_apart_are_all_recorded():
    system = system_of(part=EndingOutput)
    state = system.default_state()
    state.set_time(1e12)
    result = cosim.simulate(system, until=1e12 + 0.5, state=state, accuracy=1e-4)
    assert len(result) == 501
    assert (result.time[1:] > result.time[:-1]).all()


def test_a_run_whose_steps_get_ever_shorter_is_an_error_with_state_and_part():
    with pytest.raises(cosim.SimulationError, match="thousand million steps") as raised:
        cosim.simulate(system_of(part=Stiffening), until=2.0)
    assert "part.w of part changes" in str(raised.value)
    assert "integrators.radau5" in str(raised.value)
    assert raised.value.result.statistics["steps"] <= 10_000
    assert 0.99 < raised.value.result.time[-1] < 1.0


def test_a_run_with_a_monitor_whose_steps_get_ever_shorter_is_an_error():
    simulator = cosim.Simulator(system_of(part=Stiffening), accuracy=1e-3)
    simulator.set_monitor(lambda state: None)
    with pytest.raises(cosim.SimulationError, match="thousand million steps"):
        while simulator.statistics.steps < 20_000:
            simulator.advance_to(2.0)


def test_a_run_that_slows_down_and_reaches_its_end_is_no_error():
    result = cosim.simulate(system_of(part=Stiffening(rate=0.5)), until=0.9999)
    assert result.time[-1] == 0.9999
    assert result["part.w"][-1] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("final_time", [0.375, 0.5, 1.75, math.inf])
def test_a_run_ends_at_its_final_time(final_time):
    """A final time before the end had made it take steps for ever."""
    progress_times = []

    def give_up_after_many_calls(time):
        progress_times.append(time)
        return len(progress_times) < 1000

    system = system_of(part=Stiffening(rate=0.5))
    result = cosim.simulate(system, until=0.5, final_time=final_time, progress=give_up_after_many_calls)
    assert result.time[-1] == min(0.5, final_time)
    assert result.message == ""


def test_a_final_time_lies_after_the_start():
    with pytest.raises(cosim.SimulationError, match="after the start"):
        cosim.simulate(system_of(part=Stiffening(rate=0.5)), until=0.5, final_time=0.0)
