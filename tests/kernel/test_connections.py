"""Connections convert units; faults of all connections are reported together."""

import pytest
from gain_parts import Gain, connected

import cosim


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
    model = connected(
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
    model = connected({"sink": Sink, "source": Source}, [("source.x", "sink.metres")])
    state = model.build().default_state().realize()
    assert (state["sink.metres"], state["sink.rate"]) == pytest.approx((1.5, 0.25))


def test_all_faults_of_the_wiring_are_reported_together():
    model = connected(
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
    problems = sorted(raised.value.problems, key=lambda problem: problem.where)
    for problem, (where, text) in zip(problems, sorted(expected), strict=True):
        assert problem.where == where
        assert text in problem.text


def test_an_unknown_part_is_answered_with_the_nearest_one():
    with pytest.raises(cosim.ModelError, match="Nearest: source"):
        connected({"sink": Sink, "source": Source}, [("sourc", "sink.vector")]).build()


def test_a_connected_input_cannot_be_set():
    state = connected({"a": Gain, "b": Gain}, [("a", "b.entry")]).build().default_state()
    with pytest.raises(cosim.StateError, match="connected inside"):
        state["b.entry"] = 1.0
