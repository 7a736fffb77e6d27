"""Events at given times: the behaviour cases 32 to 39 and 66."""

import pytest
from kernel_parts import Clock, system_of

import cosim


def run_periodic(start, stop, period, offset):
    """The times of the publishes and of the updates of periodic handlers in a run from `start` to `stop`."""
    times = {"publish": [], "discrete": [], "unrestricted": []}

    class Periodic(cosim.Component):
        """One handler of each kind."""

        @cosim.every(period, offset=offset, does="publish")
        def show(self, state):
            times["publish"].append(state.time)

        @cosim.every(period, offset=offset, does="discrete")
        def count(self, state, next_state):
            times["discrete"].append(state.time)

        @cosim.every(period, offset=offset, does="unrestricted")
        def reset(self, state, next_state):
            times["unrestricted"].append(state.time)

    system = system_of(periodic=Periodic)
    state = system.default_state()
    state.set_time(start)
    cosim.Simulator(system, state, fixed_step=0.1).advance_to(stop)
    assert times["discrete"] == times["unrestricted"]
    return times["publish"], times["discrete"]


@pytest.mark.parametrize(
    ("start", "stop", "offset", "publishes", "updates"),
    [
        (0.0, 3.0, 0.5, [0.5, 1.5, 2.5], [0.5, 1.5, 2.5]),
        (1.5, 3.5, 0.5, [1.5, 2.5, 3.5], [1.5, 2.5]),
        (0.7, 3.0, 0.5, [1.5, 2.5], [1.5, 2.5]),
        (-2.0, 2.0, 0.5, [0.5, 1.5], [0.5, 1.5]),
        (0.0, 2.0, 0.0, [0.0, 1.0, 2.0], [0.0, 1.0]),
    ],
)
def test_case_32_ticks_follow_from_period_and_offset_whatever_the_start(
    start, stop, offset, publishes, updates
):
    assert run_periodic(start, stop, 1.0, offset) == (publishes, updates)


def test_times_of_ticks_are_products_and_not_sums():
    publishes, _ = run_periodic(0.0, 10.0, 0.1, 0.0)
    assert publishes == [i / 10 for i in range(101)]


def test_case_34_an_event_a_tenth_of_a_nanosecond_after_zero():
    times = []

    class Early(Clock):
        """Once, at 0.1 ns."""

        @cosim.at([1e-10], does="discrete")
        def once(self, state, next_state):
            times.append(state.time)

    system = system_of(early=Early)
    state = system.default_state()
    state.set_time(-1.0 / 1024.0)
    cosim.Simulator(system, state, accuracy=1e-6).advance_to(1.0)
    assert times == [1e-10]


def test_case_36_updates_that_are_no_multiple_of_the_step():
    times = []

    class Updates(Clock):
        """At 30 Hz."""

        @cosim.every(1.0 / 30.0, does="discrete")
        def update(self, state, next_state):
            times.append(state.time)

    simulator = cosim.Simulator(
        system_of(updates=Updates), integrator="integrators.explicit_euler", fixed_step=1e-3
    )
    simulator.advance_to(1.0)
    assert times == [i / 30 for i in range(30)]
    assert simulator.statistics.steps > 1000


@pytest.mark.parametrize("period", [0.0, -1.0, float("nan")])
def test_case_39_a_period_is_positive(period):
    with pytest.raises(cosim.ContractError, match="needs more than 0.*TIME_ADVANCED"):
        cosim.every(period, does="publish")


def test_case_39_a_period_from_a_parameter_is_positive():
    class Named(Clock):
        """Its period is a parameter."""

        period = cosim.parameter(unit="s")

        @cosim.every("period", does="publish")
        def show(self, state):
            pass

    simulator = cosim.Simulator(system_of(named=Named(period=0.0)), accuracy=1e-6)
    with pytest.raises(cosim.CosimError, match=r"named\.show.*period is 0"):
        simulator.initialize()


def test_events_at_a_list_of_times():
    times = []

    class Listed(Clock):
        """At three times, out of order."""

        @cosim.at([0.3, 0.1, 0.2], does="publish")
        def show(self, state):
            times.append(state.time)

    cosim.Simulator(system_of(listed=Listed), accuracy=1e-6).advance_to(1.0)
    assert times == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("step", "has_event", "ends"),
    [
        (1.0 - 1e-8, True, [1.0]),
        (0.991, True, [1.0]),
        (0.9899, True, [0.9899, 1.0]),
        (0.9, True, [0.9, 1.0]),
        (1.0 - 1e-8, False, [1.0 - 1e-8, 1.0]),
        (0.995, False, [0.995, 1.0]),
    ],
)
def test_case_35_fixed_steps_stretch_for_events_and_not_for_boundaries(step, has_event, ends):
    """By up to a hundredth of their length."""

    class Scheduled(Clock):
        """At 1 s, the end of the run, or much later."""

        @cosim.at([1.0 if has_event else 100.0], does="publish")
        def note(self, state):
            pass

    step_ends = []
    simulator = cosim.Simulator(system_of(scheduled=Scheduled), fixed_step=step)
    simulator.initialize()
    simulator.set_monitor(lambda state: step_ends.append(state.time))
    simulator.advance_to(1.0)
    assert step_ends == ends


def test_case_66_ten_steps_of_a_tenth_leave_no_short_one_at_the_end():
    simulator = cosim.Simulator(system_of(clock=Clock), fixed_step=0.1)
    simulator.advance_to(1.0)
    assert simulator.statistics.steps == 10
