"""Stages of a State: what realize() computes, what a write invalidates; versions, and copies of a State."""

import numpy as np
import pytest
from kernel_parts import Oscillator, system_of

import cosim
from cosim import Stage


class Everything(cosim.Component):
    """One quantity of each kind."""

    q = cosim.position(shape=2)
    u = cosim.speed(shape=2)
    z = cosim.auxiliary_state()
    p = cosim.parameter(default=1.0, minimum=0.0)
    d = cosim.discrete()
    late = cosim.discrete(invalidates=Stage.VELOCITY)
    k = cosim.discrete(dtype=int)
    given = cosim.input()
    at_instance = cosim.cache_slot()
    at_time = cosim.cache_slot()
    at_position = cosim.cache_slot()
    at_velocity = cosim.cache_slot()
    at_report = cosim.cache_slot()

    @cosim.kernel
    def fill_instance(p, at_instance):
        at_instance[0] = 2.0 * p

    @cosim.kernel
    def fill_time(t, at_time):
        at_time[0] = t

    @cosim.kernel
    def fill_position(q, at_position):
        at_position[0] = q[0]

    @cosim.kernel
    def fill_velocity(u, at_velocity):
        at_velocity[0] = u[0]

    @cosim.kernel(stage=Stage.REPORT)
    def fill_report(p, at_report):
        at_report[0] = p

    @cosim.kernel
    def motion(u, at_position, q_dot, u_dot):
        for i in range(2):
            q_dot[i] = u[i]
            u_dot[i] = -at_position

    @cosim.kernel
    def growth(z, z_dot):
        z_dot[0] = z


@pytest.fixture
def state():
    return system_of(all=Everything, oscillator=Oscillator).default_state()


WRITES = [  # a write, the first stage that it invalidates, and what the error names
    (lambda s: s.set_time(0.5), Stage.TIME, "set_time"),
    (lambda s: s.set_y(s.y), Stage.POSITION, "set_y"),
    (lambda s: s.set_q(s.q), Stage.POSITION, "set_q"),
    (lambda s: s.set_u(s.u), Stage.VELOCITY, "set_u"),
    (lambda s: s.set_z(s.z), Stage.DYNAMICS, "set_z"),
    (lambda s: s.__setitem__("all.q", [1, 2]), Stage.POSITION, "all.q"),
    (lambda s: s.__setitem__("all.u[1]", 2.0), Stage.VELOCITY, "all.u"),
    (lambda s: s.__setitem__("all.z", 2.0), Stage.DYNAMICS, "all.z"),
    (lambda s: s.__setitem__("all.p", 2.0), Stage.INSTANCE, "all.p"),
    (lambda s: s.__setitem__("all.d", 2.0), Stage.TIME, "all.d"),
    (lambda s: s.__setitem__("all.k", 2), Stage.TIME, "all.k"),
    (lambda s: s.__setitem__("all.late", 2.0), Stage.VELOCITY, "all.late"),
    (lambda s: s.__setitem__("all.given", 2.0), Stage.TIME, "all.given"),
]


@pytest.mark.parametrize(("write", "stage", "by"), WRITES, ids=[w[2] for w in WRITES])
def test_a_write_drops_below_the_stage_it_invalidates(state, write, stage, by):
    state.realize(Stage.REPORT)
    before = list(state.versions)
    write(state)
    assert state.stage == stage - 1
    invalidated = [s for s in Stage if state.versions[s] != before[s]]
    assert invalidated == [s for s in Stage if stage <= s <= Stage.REPORT]
    with pytest.raises(cosim.StageError, match=by.replace(".", r"\.")) as raised:
        state.require(stage, "something")
    error = raised.value
    assert (error.needed, error.current) == (stage, stage - 1)


@pytest.mark.parametrize(("write", "stage", "by"), WRITES, ids=[w[2] for w in WRITES])
def test_a_write_to_a_lower_state_does_not_raise_it(state, write, stage, by):
    state.realize(Stage.INSTANCE)
    before = state.versions[stage]
    write(state)
    assert state.stage == min(Stage.INSTANCE, stage - 1)
    assert state.versions[stage] == before + 1


@pytest.mark.parametrize("stage", [s for s in Stage if Stage.MODEL <= s <= Stage.REPORT])
def test_realize_reaches_the_stage_and_what_belongs_to_it(state, stage):
    state.realize(stage)
    assert state.stage == stage
    stages = {
        "all.at_instance": Stage.INSTANCE,
        "all.at_time": Stage.TIME,
        "all.at_position": Stage.POSITION,
        "all.at_velocity": Stage.VELOCITY,
        "all.z_dot": Stage.DYNAMICS,
        "all.u_dot": Stage.ACCELERATION,
        "all.at_report": Stage.REPORT,
    }
    for path, needed in stages.items():
        if needed <= stage:
            state[path]
        else:
            with pytest.raises(cosim.StageError) as raised:
                state[path]
            assert raised.value.needed == needed


def test_realize_twice_computes_once():
    calls = []

    class Counting(cosim.Component):
        """Counts."""

        out = cosim.output()
        p = cosim.parameter(default=1.0)

        def derivatives(self, p, out):
            calls.append(p)
            out[0] = p

    state = system_of(counting=Counting).default_state()
    for _ in range(3):
        state.realize()
    assert calls == [1.0]
    state["counting.p"] = 2.0
    state.realize()
    assert calls == [1.0, 2.0]


def test_text_of_a_stage_error(state):
    with pytest.raises(cosim.StageError) as raised:
        state["oscillator.energy"]
    assert str(raised.value) == (
        "oscillator.energy needs stage VELOCITY, but the State is at MODEL: "
        "call state.realize(Stage.VELOCITY) first."
    )
    state.realize()
    state["oscillator.stiffness"] = 9.0
    with pytest.raises(cosim.StageError, match=r"last invalidated by oscillator\.stiffness = …"):
        state["oscillator.energy"]


def test_no_stage_beyond_report(state):
    with pytest.raises(cosim.StageError, match="INFINITY"):
        state.realize(Stage.INFINITY)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("oscillator.energy", 1.0, "computed"),
        ("oscillator.stiffness", -1.0, "at least 0"),
        ("oscillator.stiffness", float("nan"), "finite"),
        ("all.q", [1.0, 2.0, 3.0], "shape"),
        ("all.k", 0.5, "integer"),
    ],
)
def test_refused_writes(state, path, value, text):
    before = state.to_bytes()
    with pytest.raises(cosim.StateError, match=text):
        state[path] = value
    assert state.to_bytes() == before


def test_unknown_paths_suggest_the_nearest(state):
    with pytest.raises(cosim.LookUpError, match=r"Nearest: oscillator\.stiffness"):
        state["oscillator.stifness"]
    with pytest.raises(cosim.LookUpError, match="Nearest: oscillator"):
        state["oscilator.x"] = 1.0


@pytest.mark.parametrize("values", [[1.0], [np.nan] * 6, [[1.0] * 6]])
def test_set_y_refuses(state, values):
    with pytest.raises(cosim.StateError):
        state.set_y(values)


def test_set_time_refuses_what_is_not_finite(state):
    with pytest.raises(cosim.StateError, match="finite"):
        state.set_time(float("inf"))


def test_views_are_read_only(state):
    state.realize()
    for view in (state.q, state.u, state.z, state.y, state.y_dot):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1.0


def test_copy_is_independent_and_not_realized(state):
    state["oscillator.x"] = 3.0
    state.realize()
    copy = state.copy()
    assert copy.stage == Stage.MODEL
    assert copy.to_bytes() == state.to_bytes()
    with pytest.raises(cosim.StageError, match=r"last invalidated by copy\(\)"):
        copy["oscillator.energy"]
    copy["oscillator.x"] = 5.0
    copy.realize()
    assert (state["oscillator.x"], state["oscillator.energy"]) == (3.0, 18.0)
    assert copy["oscillator.energy"] == 50.0


def test_assign_copies_all_variables(state):
    source = state.copy()
    source["oscillator.x"] = 7.0
    source.set_time(2.5)
    source.accuracy = 1e-3
    state.realize()
    state.assign(source)
    assert state.to_bytes() == source.to_bytes()
    assert state.stage < Stage.INSTANCE
    source["oscillator.x"] = 1.0
    assert state["oscillator.x"] == 7.0


def test_assign_refuses_another_system(state):
    with pytest.raises(cosim.StateError, match="different system"):
        state.assign(system_of(oscillator=Oscillator).default_state())


def test_two_states_are_advanced_side_by_side():
    system = system_of(oscillator=Oscillator)
    together = [cosim.Simulator(system, accuracy=1e-8) for _ in range(2)]
    together[1].state["oscillator.x"] = 2.0
    for time in (0.3, 0.7, 1.0):
        for simulator in together:
            simulator.advance_to(time)
    alone = cosim.Simulator(system, accuracy=1e-8)
    for time in (0.3, 0.7, 1.0):
        alone.advance_to(time)
    assert alone.state.to_bytes() == together[0].state.to_bytes()
    assert together[1].state["oscillator.x"] != alone.state["oscillator.x"]


class Tuned(cosim.Component):
    """Doubles its gain once."""

    level = cosim.auxiliary_state()
    gain = cosim.parameter(default=1.0)

    @cosim.kernel
    def derivatives(gain, level_dot):
        level_dot[0] = gain

    @cosim.at((0.5,), does="unrestricted")
    def double(self, state, next_state):
        next_state["tuned.gain"] = 2.0 * state["tuned.gain"]


def test_a_parameter_that_a_handler_changes_gives_instance_a_new_version():
    model = cosim.Model("tuned")
    model.add(Tuned, "tuned")
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(0.4)
    before = list(simulator.state.versions)
    simulator.advance_to(0.45)
    assert simulator.state.versions[cosim.Stage.INSTANCE] == before[cosim.Stage.INSTANCE]
    simulator.advance_to(0.6)
    assert simulator.state.versions[cosim.Stage.INSTANCE] > before[cosim.Stage.INSTANCE]
    assert simulator.state.versions[cosim.Stage.MODEL] == before[cosim.Stage.MODEL]
