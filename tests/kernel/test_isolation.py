"""Crossings of witnesses are located inside steps, in the order of time, without further derivatives."""

import math

import numpy as np
import pytest
from kernel_parts import Clock, system_of
from located_parts import Swing, witness_part

import cosim
from cosim import kit


def crossing_times(witness, until=1.0, direction="both", rate=None, **options):
    """The times at which a witness of time crosses in a run of one step, or of other steps by the options."""
    part = witness_part(witness, direction, rate=rate)
    options = {"accuracy": 1e-6, "fixed_step": until, **options}
    simulator = cosim.Simulator(system_of(part=part), **options)
    simulator.advance_to(until)
    return part.times


def near_pair(t):
    return (t - 0.4) * (t - 0.4001)


def near_pair_rate(t):
    return 2.0 * t - 0.8001


def wide_pair(t):
    return (t - 0.4) * (t - 0.6)


def first_pair(t):
    return (t - 1e-3) * (t - 2e-3)


def wave(t):
    return math.sin(40.0 * t) + 0.3


def bump(t):
    return 1e-3 - math.exp(-2e3 * (t - 0.37) * (t - 0.37))


def jump(t):
    return -1.0 if t < 0.3 else 1.0


def touch(t):
    return (t - 0.5) * (t - 0.5) + 1e-12


def gap(t):
    return math.sqrt(t - 0.25) - 0.5


def test_two_close_crossings_in_one_step_are_located():
    assert crossing_times(near_pair) == pytest.approx([0.4, 0.4001], abs=1e-7)
    assert crossing_times(near_pair, rate=near_pair_rate) == pytest.approx([0.4, 0.4001], abs=1e-7)
    assert crossing_times(first_pair) == pytest.approx([1e-3, 2e-3], abs=1e-7)


def test_many_crossings_and_those_of_a_narrow_bump_in_one_step_are_located():
    start = math.asin(0.3)
    roots = sorted(
        [(math.pi + start + 2.0 * math.pi * k) / 40.0 for k in range(7)]
        + [(2.0 * math.pi - start + 2.0 * math.pi * k) / 40.0 for k in range(7)]
    )
    assert crossing_times(wave) == pytest.approx([r for r in roots if r <= 1.0], abs=1e-7)
    width = math.sqrt(math.log(1e3) / 2e3)
    assert crossing_times(bump) == pytest.approx([0.37 - width, 0.37 + width], abs=1e-7)


def test_a_jump_is_located_and_a_witness_that_stays_positive_has_no_event():
    assert crossing_times(jump) == pytest.approx([0.3], abs=1e-7)
    assert crossing_times(touch) == []


@pytest.mark.parametrize(("direction", "expected"), [("falling", [0.4]), ("rising", [0.6])])
def test_of_two_crossings_in_a_step_only_those_in_the_direction_trigger(direction, expected):
    assert crossing_times(wide_pair, direction=direction) == pytest.approx(expected, abs=1e-7)


def test_a_witness_that_becomes_available_has_not_crossed():
    # it is a number from 0.25 s on, and zero at 0.5 s
    assert crossing_times(gap) == pytest.approx([0.5], abs=1e-7)


class Condition(Clock):
    """Two witnesses that are conditions, true from 0.2 s to 0.7 s."""

    @cosim.witness(direction="rising")
    def inside(t):
        return t >= 0.2 and not t >= 0.7

    @cosim.witness(direction="falling")
    def inside_too(t):
        late = t >= 0.7
        return t >= 0.2 and not late

    def __init__(self, **values):
        super().__init__(**values)
        self.times = {"inside": [], "inside_too": []}

    @cosim.on(inside, does="publish")
    def note(self, state):
        self.times["inside"].append(state.time)

    @cosim.on(inside_too, does="publish")
    def note_too(self, state):
        self.times["inside_too"].append(state.time)


def test_a_condition_rises_when_it_becomes_true_and_falls_when_it_becomes_false():
    part = Condition()
    cosim.Simulator(system_of(part=part), accuracy=1e-6).advance_to(1.0)
    assert part.times["inside"] == pytest.approx([0.2], abs=1e-7)
    assert part.times["inside_too"] == pytest.approx([0.7], abs=1e-7)


@pytest.mark.parametrize("method", ["integrators.runge_kutta_merson", "integrators.dormand_prince"])
def test_events_of_a_state_lie_on_the_trajectory_and_cost_at_most_three_steps_each(method):
    simulator = cosim.Simulator(system_of(swing=Swing(level=0.5)), integrator=method, accuracy=1e-8)
    plain = cosim.Simulator(system_of(swing=Swing(level=2.0)), integrator=method, accuracy=1e-8)
    for each in (simulator, plain):
        each.advance_to(20.0)
    exact = [math.pi / 3.0 + 2.0 * math.pi * k for k in range(4)]
    exact = sorted(exact + [2.0 * math.pi * (k + 1) - math.pi / 3.0 for k in range(3)])
    records = simulator.events
    assert [e.time for e in records] == pytest.approx([t for t in exact if t < 20.0], abs=1e-6)
    for record in records:
        # at the end of the window the witness is just past its zero
        assert record.witness_values[0] * record.witness_values[1] <= 0.0
        assert abs(record.witness_values[1]) < 2e-9
        assert record.window[1] - record.window[0] <= 1.001e-10
    # an event ends a step, and the next one begins anew: three steps of at most 7 evaluations
    simulators = simulator, plain
    with_events, without = (each.integrator.statistics.evaluations for each in simulators)
    assert (with_events - without) / len(records) <= 3 * 7


def test_events_of_several_witnesses_in_one_step_come_in_order_of_time():
    parts = {f"part{i}": witness_part(wide_pair, d) for i, d in enumerate(["falling", "both"])}
    system = system_of(**parts, early=witness_part(first_pair))
    simulator = cosim.Simulator(system, accuracy=1e-6, fixed_step=1.0)
    simulator.advance_to(1.0)
    times = [e.time for e in simulator.events]
    assert times == sorted(times)
    assert times == pytest.approx([1e-3, 2e-3, 0.4, 0.4, 0.6], abs=1e-7)
    assert times[2] == times[3]
    assert simulator.statistics.steps == 5


def test_a_witness_of_an_input_triggers_when_the_input_is_written():
    class Guard(Clock):
        """Triggers when its input rises above 1."""

        load = cosim.input(start=-1.0)
        count = cosim.discrete(dtype=int)

        @cosim.witness(direction="rising")
        def over(load):
            return load - 1.0

        @cosim.on(over, does="publish")
        def show(self, state):
            published.append((state.time, state["guard.count"]))

        @cosim.on(over, does="discrete")
        def add(count, count_next):
            count_next[0] = count + 1

    published = []
    simulator = cosim.Simulator(system_of(guard=Guard), accuracy=1e-6)
    simulator.advance_to(0.5)
    simulator.state["guard.load"] = 2.0
    simulator.advance_to(1.0)
    simulator.state["guard.load"] = 3.0
    simulator.advance_to(1.5)
    assert published == [(0.5, 0)]
    assert simulator.state["guard.count"] == 1


def test_only_the_blocks_that_witnesses_depend_on_are_evaluated_to_locate_them():
    system = system_of(swing=Swing, other=Clock)
    simulator = cosim.Simulator(system, accuracy=1e-6)
    watched = simulator.compiled_step.tables.watched_blocks
    labels = {system.blocks[i].label for i in watched}
    assert labels == {"passes", "due"}


class PlainMethod(cosim.Integrator):
    """Euler's method, without a compiled dense output."""

    capabilities = kit.Capabilities(dense_order=1)
    order = 1

    def memory_size(self, ny):
        return 1

    def initialize(self, system, state):
        state.integrator_memory = np.zeros(1)
        self._start = math.nan

    def step(self, system, state, t_stop, limit=math.inf):
        self._start, self._y, self._slope = state.time, state.y.copy(), state.y_dot.copy()
        self.taken = 0
        return self._move_to(state, min(t_stop, state.time + min(limit, self.fixed_step)))

    def _move_to(self, state, end):
        state._arrays["y"][:] = self._y + (end - self._start) * self._slope
        state.set_time(end)
        state.realize(cosim.Stage.ACCELERATION)
        return kit.StepCode.DONE

    def restart(self, system, state):
        self._start = math.nan

    def redo(self, system, state, t_event):
        return self._move_to(state, t_event)

    def interpolate(self, t, out):
        out[:] = self._y + (t - self._start) * self._slope

    @property
    def previous_time(self):
        return self._start

    @property
    def statistics(self):
        return kit.StepStatistics()


def test_crossings_are_located_with_a_dense_output_in_plain_python():
    part = witness_part(wide_pair)
    cosim.Simulator(system_of(part=part), integrator=PlainMethod(fixed_step=1.0), accuracy=1e-6).advance_to(
        1.0
    )
    assert part.times == pytest.approx([0.4, 0.6], abs=1e-7)
