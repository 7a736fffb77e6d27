"""Which arguments of an author's function are numbers and which are views, and where they come from."""

import math

import numpy as np
import pytest
from gain_parts import Gain, PlainGain
from how_many import many
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_parts import BouncingBall, Oscillator, system_of

import cosim


def test_a_kernel_function_is_called_with_plain_arrays():
    x_dot, v_dot = np.zeros(1), np.zeros(1)
    Oscillator.kernels["derivatives"](2.0, 3.0, 4.0, 1.0, x_dot, v_dot)
    assert (x_dot[0], v_dot[0]) == (3.0, -7.0)
    assert BouncingBall.kernels["floor"](0.25) == 0.25


class AllKinds(cosim.Component):
    """One argument of each kind; a method in plain Python, so it can store what it gets in `seen`."""

    number = cosim.parameter(default=2.0)
    short = cosim.parameter(shape=1, default=[3.0])
    vector = cosim.parameter(shape=3, default=[1.0, 2.0, 3.0])
    matrix = cosim.parameter(shape=(2, 2), default=[[1.0, 2.0], [3.0, 4.0]])
    enabled = cosim.option(True)
    mode = cosim.option(3)
    count = cosim.discrete(dtype=int, start=5)
    z = cosim.auxiliary_state(start=7.0)
    entry = cosim.input(start=8.0)
    out = cosim.output(shape=2)

    def __init__(self, **values):
        super().__init__(**values)
        self.seen = {}

    def derivatives(
        self, t, number, short, vector, matrix, enabled, mode, count, z, entry, entry_dot, z_dot, out
    ):
        self.seen.update({name: value for name, value in locals().items() if name != "self"})
        z_dot[0] = number
        out[0], out[1] = short[0], vector[2]


def test_scalars_are_passed_as_numbers_and_arrays_as_flat_views():
    system = system_of(kinds=AllKinds)
    state = system.default_state()
    state.set_time(0.5)
    state.realize()
    values_seen = system.parts["kinds"].seen
    for name, value in {
        "t": 0.5,
        "number": 2.0,
        "enabled": 1,
        "mode": 3,
        "count": 5,
        "z": 7,
        "entry": 8,
    }.items():
        assert np.ndim(values_seen[name]) == 0
        assert values_seen[name] == value
    assert math.isnan(values_seen["entry_dot"])
    for name, shape in {"short": 1, "vector": 3, "matrix": 4, "z_dot": 1, "out": 2}.items():
        assert values_seen[name].shape == (shape,)
    assert state["kinds"].tolist() == [3.0, 3.0]
    assert state["kinds.matrix"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert state["kinds.matrix[2]"] == 3.0


class Observer(cosim.Component):
    """Shows the value of its source, and its derivative or NaN."""

    source = cosim.source(unit="m")
    value_seen = cosim.cache_slot()
    rate_seen = cosim.cache_slot()

    @cosim.kernel
    def show(source, source_dot, value_seen, rate_seen):
        value_seen[0] = source
        rate_seen[0] = source_dot


@pytest.mark.parametrize(("path", "value", "rate"), [("o.x", 1.0, 0.5), ("o.v", 0.5, -4.0)])
def test_sources_offer_value_and_derivative(path, value, rate):
    model = cosim.Model("test")
    model.add(Oscillator, "o", v=0.5)
    model.add(type("AnyUnit", (Observer,), {"source": cosim.source()}), "observer", source=path)
    state = model.build().default_state().realize()
    assert (state["observer.value_seen"], state["observer.rate_seen"]) == (value, rate)


def test_a_source_without_derivative_offers_nan():
    model = cosim.Model("test")
    model.add(Oscillator, "o")
    model.add(type("AnyUnit", (Observer,), {"source": cosim.source()}), "observer", source="o.energy")
    assert math.isnan(model.build().default_state().realize()["observer.rate_seen"])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"source": "o.v"}, "m/s"),
        ({"source": "o.w"}, "no signal 'o.w'"),
        ({"source": "p.x"}, "no part 'p'"),
        ({}, "source is missing"),
    ],
)
def test_a_wrong_or_missing_source_is_an_error_at_its_place(values, text):
    model = cosim.Model("test")
    model.add(Oscillator, "o")
    model.add(Observer, "observer", **values)
    with pytest.raises(cosim.ModelError, match=text) as caught:
        model.build()
    assert all(problem.where.startswith("observer") for problem in caught.value.problems)


@settings(deadline=None, max_examples=many(20), database=None, derandomize=True)
@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_a_chain_is_the_same_in_any_order_of_parts_compiled_or_in_plain_python(order, is_plain):
    model = cosim.Model("chain")
    for i in order:
        model.add(PlainGain if is_plain[i] else Gain, f"g{i}")
    for i in range(5):
        model.connect(f"g{i}", f"g{i + 1}.entry")
    state = model.build().default_state()
    state["g0.entry"] = 0.1
    assert state.realize()["g5"] == 0.1 * 64.0
