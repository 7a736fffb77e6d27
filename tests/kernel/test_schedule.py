"""The schedule of blocks: its order, algebraic loops, accumulators, feedthrough, and errors of blocks."""

import pytest
from gain_parts import Gain, PlainGain, Ramp, connected
from kernel_parts import Oscillator, system_of

import cosim
from cosim import Stage


class ForceOfPosition(cosim.Component):
    """A spring of 2 N/m: its force at a position."""

    entry = cosim.input(unit="m")
    out = cosim.output(unit="N")

    @cosim.kernel
    def go(entry, out):
        out[0] = -2.0 * entry


@pytest.mark.parametrize("kind", [Gain, PlainGain])
@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_parts_are_computed_in_the_order_of_their_connections(kind, order):
    model = connected(
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


def test_parts_in_plain_python_are_scheduled_among_compiled_ones():
    model = connected(
        {"last": Gain, "middle": PlainGain, "ramp": Ramp},
        [("ramp", "middle.entry"), ("middle", "last.entry")],
    )
    state = model.build().default_state()
    state.set_time(0.25)
    assert state.realize()["last"] == 1.0


def test_an_algebraic_loop_is_an_error_with_its_path():
    model = connected(
        {"g1": Gain, "g2": Gain, "g3": Gain}, [("g1", "g2.entry"), ("g2", "g3.entry"), ("g3", "g1.entry")]
    )
    with pytest.raises(cosim.ModelError, match="algebraic loop: .*break") as raised:
        model.build()
    assert "g1 (go) → g2 (go) → g3 (go) → g1" in str(raised.value)


def test_a_state_breaks_a_loop():
    model = connected({"o": Oscillator, "g": ForceOfPosition}, [("o.x", "g.entry"), ("g", "o.force")])
    state = model.build().default_state().realize()
    assert state["o.v_dot"] == -4.0 - 2.0


class Total(cosim.Component):
    """Adds to a sum at two stages, and reads it."""

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


def test_a_state_without_derivative_is_reported():
    class Lazy(cosim.Component):
        """A state whose derivative no function computes."""

        x = cosim.auxiliary_state()

    with pytest.raises(cosim.ModelError, match="nothing computes x_dot"):
        system_of(lazy=Lazy)


def test_feedthrough_follows_the_connections():
    model = connected({"a": Gain, "b": Gain, "o": Oscillator}, [("a", "b.entry"), ("b", "o.force")])
    system = model.build()
    assert system.inputs == ("a.entry",)
    assert system.direct_feedthrough("b") == {"a.entry"}
    assert system.direct_feedthrough("o.energy") == set()
    assert system.direct_feedthrough("o.v_dot") == {"a.entry"}


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
