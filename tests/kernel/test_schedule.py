"""The schedule: order, loops, accumulators, connections and their units, plain-Python parts."""

import math

import pytest
from kernel_parts import Oscillator, system_of

import cosim
from cosim import Stage


class Gain(cosim.Component):
    """Twice its input."""

    entry = cosim.input(unit="N")
    out = cosim.output(unit="N")
    factor = cosim.parameter(default=2.0)

    @cosim.kernel
    def go(entry, factor, out):
        out[0] = factor * entry


class PlainGain(cosim.Component):
    """The same in plain Python."""

    entry = cosim.input(unit="N")
    out = cosim.output(unit="N")

    def derivatives(self, entry, out):
        out[0] = 2.0 * entry


class Ramp(cosim.Component):
    """Its output is the time, in N."""

    out = cosim.output(unit="N")

    @cosim.kernel
    def go(t, out):
        out[0] = t


def chain(kinds, connections):
    model = cosim.Model("chain")
    for name, kind in kinds.items():
        model.add(kind, name)
    for source, target in connections:
        model.connect(source, target)
    return model


@pytest.mark.parametrize("kind", [Gain, PlainGain])
@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_order_follows_the_connections_not_the_declarations(kind, order):
    model = chain(
        {**dict.fromkeys(order, kind), "ramp": Ramp},
        [("ramp", "a.entry"), ("a", "b.entry"), ("b", "c.entry")],
    )
    system = model.build()
    state = system.default_state()
    state.set_time(1.5)
    state.realize()
    assert [state[n] for n in "abc"] == [3.0, 6.0, 12.0]
    owners = [owner for block in system.blocks for owner in block.owners if owner in "abc"]
    assert owners == ["a", "b", "c"]


def test_rows_of_one_kind_at_one_depth_are_one_block():
    system = system_of(a=Gain, b=Gain, c=Gain)
    (block,) = [b for b in system.blocks if b.label == "go"]
    assert (block.owners, block.rows.shape[0]) == (("a", "b", "c"), 3)


def test_plain_and_kernel_parts_together():
    model = chain(
        {"last": Gain, "middle": PlainGain, "ramp": Ramp},
        [("ramp", "middle.entry"), ("middle", "last.entry")],
    )
    state = model.build().default_state()
    state.set_time(0.25)
    assert state.realize()["last"] == 1.0


def test_a_loop_lists_its_path():
    model = chain(
        {"g1": Gain, "g2": Gain, "g3": Gain}, [("g1", "g2.entry"), ("g2", "g3.entry"), ("g3", "g1.entry")]
    )
    with pytest.raises(cosim.ModelError, match="algebraic loop: .*break") as raised:
        model.build()
    assert "g1 (go) → g2 (go) → g3 (go) → g1" in str(raised.value)


def test_a_state_breaks_a_loop():
    model = chain({"o": Oscillator, "g": ForceOfPosition}, [("o.x", "g.entry"), ("g", "o.force")])
    state = model.build().default_state().realize()
    assert state["o.v_dot"] == -4.0 - 2.0


class ForceOfPosition(cosim.Component):
    """-2 N/m times a position."""

    entry = cosim.input(unit="m")
    out = cosim.output(unit="N")

    @cosim.kernel
    def go(entry, out):
        out[0] = -2.0 * entry


class Total(cosim.Component):
    """Adds up twice, at two stages, and reads the sum."""

    total = cosim.cache_slot(accumulates=True)
    out = cosim.output()

    @cosim.kernel
    def early(t, total):
        total[0] += t

    @cosim.kernel(stage=Stage.DYNAMICS)
    def late(t, total):
        total[0] += 10.0

    @cosim.kernel
    def read(total, out):
        out[0] = total


def test_accumulators_are_zeroed_and_complete_before_they_are_read():
    state = system_of(total=Total).default_state()
    for time in (1.0, 2.0, 3.0):
        state.set_time(time)
        state.realize(Stage.DYNAMICS)
        assert (state["total.total"], state["total"]) == (time + 10.0, time + 10.0)
    with pytest.raises(cosim.StageError) as raised:
        state.copy()["total.total"]
    assert raised.value.needed == Stage.DYNAMICS


class Source(cosim.Component):
    """Signals in several units."""

    millimetres = cosim.output(unit="mm")
    celsius = cosim.output(unit="degC")
    newtons = cosim.output(unit="N")
    vector = cosim.output(unit="mm", shape=3)
    x = cosim.position(unit="mm", start=1500.0)

    @cosim.kernel
    def go(x, millimetres, celsius, newtons, vector):
        millimetres[0] = x
        celsius[0] = 20.0
        newtons[0] = 1.0
        for i in range(3):
            vector[i] = x + i

    @cosim.kernel
    def motion(x_dot):
        x_dot[0] = 250.0


class Sink(cosim.Component):
    """Inputs in SI."""

    metres = cosim.input(unit="m")
    kelvin = cosim.input(unit="K")
    vector = cosim.input(unit="m", shape=3)
    rate = cosim.output(unit="m/s")

    @cosim.kernel
    def go(metres, metres_dot, rate):
        rate[0] = metres_dot


def test_units_are_converted_on_connections():
    model = chain(
        {"sink": Sink, "source": Source},
        [
            ("source.millimetres", "sink.metres"),
            ("source.celsius", "sink.kelvin"),
            ("source.vector", "sink.vector"),
        ],
    )
    state = model.build().default_state().realize()
    assert state["sink.metres"] == pytest.approx(1.5)
    assert state["sink.kelvin"] == pytest.approx(293.15)
    assert state["sink.vector"] == pytest.approx([1.5, 1.501, 1.502])


def test_the_derivative_of_a_state_is_converted_with_it():
    model = chain({"sink": Sink, "source": Source}, [("source.x", "sink.metres")])
    state = model.build().default_state().realize()
    assert (state["sink.metres"], state["sink.rate"]) == pytest.approx((1.5, 0.25))


def test_all_faults_of_the_wiring_are_reported_together():
    model = chain(
        {"sink": Sink, "source": Source},
        [
            ("source.newtons", "sink.metres"),
            ("source.vector", "sink.kelvin"),
            ("source.celsius", "source.newtons"),
            ("source.celsius", "sink.kelvin"),
            ("source.celsus", "sink.vector"),
        ],
    )
    with pytest.raises(cosim.ModelError) as raised:
        model.build()
    expected = [
        ("source.newtons → sink.metres", "cannot be converted to m"),
        ("source.vector → sink.kelvin", "3 elements"),
        ("source.celsius → source.newtons", "is not an input"),
        ("source.celsius → sink.kelvin", "already connected"),
        ("source.celsus → sink.vector", "Nearest: source.celsius"),
    ]
    found = sorted(raised.value.problems, key=lambda problem: problem.where)
    for problem, (where, text) in zip(found, sorted(expected), strict=True):
        assert problem.where == where
        assert text in problem.text


def test_an_unknown_part_in_a_connection():
    with pytest.raises(cosim.ModelError, match="Nearest: source"):
        chain({"sink": Sink, "source": Source}, [("sourc", "sink.vector")]).build()


def test_a_state_without_derivative_is_reported():
    class Lazy(cosim.Component):
        """Nobody computes x_dot."""

        x = cosim.auxiliary_state()

    with pytest.raises(cosim.ModelError, match="nothing computes x_dot"):
        system_of(lazy=Lazy)


class Hump(cosim.Component):
    """2 N half a second after each full one, 0 at these."""

    out = cosim.output(unit="N")

    @cosim.kernel
    def go(t, out):
        out[0] = 8.0 * (t % 1.0) * (1.0 - t % 1.0)


class Refusing(cosim.Component):
    """Refuses an input above 1, and reports it."""

    entry = cosim.input(unit="N")
    seen = cosim.output(unit="N")

    @cosim.kernel
    def look(entry, seen):
        if entry > 1.0:
            raise ValueError("too much")
        seen[0] = entry


class Follower(cosim.Component):
    """Follows its input."""

    entry = cosim.input(unit="N")
    level = cosim.auxiliary_state(unit="N")

    @cosim.kernel
    def follow(entry, level, level_dot):
        level_dot[0] = entry - level


def late_follower():
    """A ramp that is followed through one delay, and looked at through another."""
    model = cosim.Model("late")
    model.add(Ramp, "ramp")
    model.add(Gain, "gain", factor=0.9)
    model.connect("ramp", "gain.entry")
    model.measure("measures.delay", "late", source="gain.out", delay=0.05)
    model.measure("measures.delay", "later", source="gain.out", delay=0.07)
    model.add(Follower, "follower")
    model.connect("late", "follower.entry")
    return model


def test_inside_a_step_only_what_derivatives_need_is_computed():
    system = late_follower().build()
    inside = {
        (owner, system.blocks[i].label) for i in system.inner_blocks for owner in system.blocks[i].owners
    }
    assert {("late", "from_the_past"), ("follower", "follow")} <= inside
    left_out = [i for i in range(*system.derivative_range) if i not in system.inner_blocks]
    assert {system.blocks[i].label for i in left_out} >= {"next_break", "estimate_error", "change"}
    state = system.default_state().realize()
    c = system.arrays(state)[-1]
    for block in (system.blocks[i] for i in left_out):
        for slot in block.writes:
            c[slot.offset : slot.offset + slot.size] = math.nan
    expected = system.default_state()
    for each in (state, expected):
        each.set_time(0.3)
    assert system.walk(state, *system.inner_range) == 0
    assert c[: system.ny].tobytes() == expected.realize().y_dot.tobytes()


@pytest.mark.parametrize("method", ["runge_kutta_4", "dormand_prince", "radau5", "bdf"])
def test_where_a_step_ends_everything_is_computed(method):
    """As if all had been computed in every stage."""
    found = []
    for everywhere in (False, True):
        system = late_follower().build()
        if everywhere:
            vars(system)["inner_range"] = system.derivative_range
        fixed = {"fixed_step": 0.01} if method == "runge_kutta_4" else {}
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6, **fixed)
        simulator.initialize()
        values = []
        for i in range(1, 31):
            simulator.advance_to(0.01 * i)
            values += [
                simulator.state.to_bytes(),
                simulator.state["later"],
                simulator.state["late.step_error"],
            ]
        found.append(values)
    assert found[0] == found[1]


@pytest.mark.parametrize("read", [False, True])
def test_what_refuses_is_asked_inside_a_step_where_derivatives_read_it(read):
    """The stage in the middle of the only step is too much; its end is not."""
    model = cosim.Model("refusing")
    model.add(Hump, "hump")
    model.add(Refusing, "guard")
    model.connect("hump", "guard.entry")
    model.add(Follower, "follower")
    model.connect("guard" if read else "hump", "follower.entry")
    simulator = cosim.Simulator(model.build(), integrator="integrators.runge_kutta_4", fixed_step=1.0)
    if read:
        with pytest.raises(cosim.SimulationError, match="guard: look: too"):
            simulator.advance_to(1.0)
    else:
        simulator.advance_to(1.0)
        assert simulator.state["guard"] == 0.0


def test_feedthrough_and_inputs():
    model = chain({"a": Gain, "b": Gain, "o": Oscillator}, [("a", "b.entry"), ("b", "o.force")])
    system = model.build()
    assert system.inputs == ("a.entry",)
    assert system.direct_feedthrough("b") == {"a.entry"}
    assert system.direct_feedthrough("o.energy") == set()
    assert system.direct_feedthrough("o.v_dot") == {"a.entry"}


def test_a_connected_input_cannot_be_set():
    state = chain({"a": Gain, "b": Gain}, [("a", "b.entry")]).build().default_state()
    with pytest.raises(cosim.StateError, match="connected inside"):
        state["b.entry"] = 1.0


class Fails(cosim.Component):
    """Cannot be computed where its parameter is not positive."""

    limit = cosim.parameter(default=1.0)
    out = cosim.output()

    @cosim.kernel
    def go(limit, out):
        if limit <= 0.0:
            raise ValueError("the limit is not positive")
        out[0] = 1.0 / limit


class PlainFails(cosim.Component):
    """The same in plain Python."""

    limit = cosim.parameter(default=1.0)
    out = cosim.output()

    def derivatives(self, limit, out):
        out[0] = {1.0: 1.0}[limit]


def test_an_error_names_the_component():
    state = system_of(good=Fails, bad=Fails(limit=-1.0)).default_state()
    with pytest.raises(cosim.SimulationError, match="bad: go: the limit is not positive"):
        state.realize()
    state["bad.limit"] = 2.0
    assert state.realize()["bad"] == 0.5


def test_an_error_of_a_plain_part_names_it():
    state = system_of(good=PlainFails, bad=PlainFails(limit=-1.0)).default_state()
    with pytest.raises(cosim.SimulationError, match=r"bad: derivatives: KeyError: .*-1\.0"):
        state.realize()
