"""Writes that would have no effect: variables that are rebound, and variables that two handlers write."""

import pytest

import cosim


def run(cls):
    """A run of 1.2 s of one part, ``p``."""
    model = cosim.Model("m")
    model.add(cls, "p")
    return model.simulate(until=1.2)


def rebound(n, n_next):
    n = n + 1
    n_next[0] = n


def increased(n):
    n += 1


def looped(n, n_next):
    for n in range(3):  # noqa: B020
        n_next[0] = n


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (rebound, r"`n = n \+ 1` changes nothing outside.*ask for n_next and write n_next\[0\] = n \+ 1"),
        (increased, r"`n = n \+ 1` changes nothing outside.*write n_next\[0\] = n \+ 1"),
        (looped, r"`n = …` changes nothing outside"),
    ],
)
def test_a_variable_that_is_rebound_in_a_handler(function, text):
    with pytest.raises(cosim.ContractError, match=rf"test_lost_writes\.py:\d+: .*{text}"):
        body = {"n": cosim.discrete(), "tick": cosim.every(0.1, does="discrete")(function)}
        type("Counter", (cosim.Component,), body)


def test_a_variable_that_is_rebound_in_a_kernel_function():
    with pytest.raises(cosim.ContractError, match=r"variables change.*n_next\[0\] =.*\+ 1"):

        class Kernel(cosim.Component):
            """A kernel function."""

            n = cosim.discrete(dtype=int)
            y = cosim.output()

            @cosim.kernel
            def show(n, y):
                n = n + 1
                y[0] = n


def test_a_variable_that_is_rebound_in_a_method():
    with pytest.raises(cosim.ContractError, match=r"`x = abs\(x\)` changes nothing outside"):

        class Method(cosim.Component):
            """A plain method."""

            x = cosim.auxiliary_state()

            def derivatives(self, x, x_dot):
                x = abs(x)
                x_dot[0] = -x


def test_a_parameter_may_be_rebound():
    """Nothing in a run changes it, so no write is lost."""

    class Right(cosim.Component):
        """Doubles a parameter."""

        k = cosim.parameter(default=2.0)
        y = cosim.output()

        @cosim.kernel
        def show(k, y):
            k = 2.0 * k
            y[0] = k

    assert run(Right)["p.y"][-1] == 4.0


class Counters(cosim.Component):
    """Two handlers that meet at every half second."""

    n = cosim.discrete()
    summed = cosim.discrete()
    apart = cosim.discrete()
    at_times = cosim.discrete()

    @cosim.every(0.25, does="discrete")
    def first(n, n_next, summed_next, at_times, at_times_next):
        n_next[0] = n + 1
        summed_next[0] += 1.0
        at_times_next[0] = at_times + 1

    @cosim.every(0.5, does="discrete")
    def second(n, t, n_next, summed_next, apart_next, at_times_next):
        n_next[0] = n + 1
        summed_next[0] += 1.0
        apart_next[0] = 1.0
        if t < 0.0:
            at_times_next[0] = 7.0

    @cosim.every(0.5, does="unrestricted")
    def other_kind(n, n_next):
        n_next[0] = n


def test_two_handlers_of_one_instant_that_write_one_variable():
    result = run(Counters)
    assert result["p.n"][-1] == 5.0
    assert result["p.summed"][-1] == 8.0
    assert result["p.at_times"][-1] == 5.0
    (finding,) = result.findings
    assert (finding.kind, finding.witness, finding.time) == ("overwritten", "p.second", 0.0)
    assert "p.first has written" in finding.message
    assert "n_next[0] += …" in finding.message


class InPython(cosim.Component):
    """The same in plain Python: both handlers write an equal number, and one count is lost."""

    n = cosim.discrete()
    m = cosim.discrete()

    @cosim.every(0.5, does="discrete", offset=0.5)
    def first(self, state, next_state):
        next_state["p.n"] = state["p.n"] + 1

    @cosim.every(0.5, does="discrete")
    def second(self, state, next_state):
        next_state["p.n"] = state["p.n"] + 1

    @cosim.every(0.5, does="discrete")
    def third(self, state, next_state):
        next_state["p.m"] = 1.0


def test_two_python_handlers_of_one_instant_that_write_one_variable():
    result = run(InPython)
    assert result["p.n"][-1] == 3.0
    (finding,) = result.findings
    assert (finding.kind, finding.witness, finding.time) == ("overwritten", "p.second", 0.5)
    assert "instant at which p.first" in finding.message


def test_handlers_that_never_meet_have_no_finding():
    class Apart(cosim.Component):
        """Never at one instant."""

        n = cosim.discrete()

        @cosim.every(0.5, does="discrete")
        def first(n, n_next):
            n_next[0] = n + 1

        @cosim.every(0.5, does="discrete", offset=0.25)
        def second(n, n_next):
            n_next[0] = n + 1

    result = run(Apart)
    assert (result["p.n"][-1], result.findings) == (5.0, [])
