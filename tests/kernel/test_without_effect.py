"""What would have no effect: lost writes, hidden memories, clocks, passed timers, moved starts."""

import math
import random
import time
from time import perf_counter

import pytest

import cosim
from cosim_mechanics import Constraint, Multibody, coordinate


def run(cls, until=1.2, **settings):
    model = cosim.Model("m")
    model.add(cls, "p")
    return model.simulate(until=until, **settings)


def factorial(n):
    return 1.0 if n <= 1.0 else n * factorial(n - 1.0)


def is_even(n):
    return 1.0 if n <= 0.0 else is_odd(n - 1.0)


def is_odd(n):
    return 0.0 if n <= 0.0 else is_even(n - 1.0)


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
    with pytest.raises(cosim.ContractError, match=rf"test_without_effect\.py:\d+: .*{text}"):
        body = {"n": cosim.discrete(), "tick": cosim.every(0.1, does="discrete")(function)}
        type("Counter", (cosim.Component,), body)


def test_a_variable_that_is_rebound_in_a_kernel_function_and_in_a_method():
    with pytest.raises(cosim.ContractError, match=r"variables change.*n_next\[0\] =.*\+ 1"):

        class Kernel(cosim.Component):
            """A kernel function."""

            n = cosim.discrete(dtype=int)
            y = cosim.output()

            @cosim.kernel
            def show(n, y):
                n = n + 1
                y[0] = n

    with pytest.raises(cosim.ContractError, match=r"`x = abs\(x\)` changes nothing outside"):

        class Method(cosim.Component):
            """A plain method."""

            x = cosim.auxiliary_state()

            def derivatives(self, x, x_dot):
                x = abs(x)
                x_dot[0] = -x

    class Right(cosim.Component):
        """A parameter may be: nothing in a run changes it."""

        k = cosim.parameter(default=2.0)
        y = cosim.output()

        @cosim.kernel
        def show(k, y):
            k = 2.0 * k
            y[0] = k

    assert run(Right)["p.y"][-1] == 4.0


def assigned(self, state):
    self.n = 1


def added(self, state):
    self.n += 1


def hidden(self, state):
    setattr(self, "n", 1)  # noqa: B010


def one_of_two(self, state):
    _, self._n = 1, 2


def of_class(self, state):
    type(self).n = 1


def of_its_class(self, state):
    self.__class__.n += 1


def of_element(self, state, next_state):
    self.n[0] += 1


@pytest.mark.parametrize("does", ["publish", "discrete"])
@pytest.mark.parametrize("function", [assigned, added, hidden, one_of_two, of_class, of_its_class])
def test_an_attribute_that_a_handler_assigns(function, does):
    text = r"without_effect\.py:\d+: .*self\..?n.? is not part of the State.*declare n = cosim\.discrete\(\)"
    with pytest.raises(cosim.ContractError, match=text):
        type("Hoarding", (cosim.Component,), {"tick": cosim.every(0.1, does=does)(function)})


def test_an_element_of_an_attribute_and_who_may():
    with pytest.raises(cosim.ContractError, match="self.n.*State"):
        type("Hoarding", (cosim.Component,), {"tick": cosim.every(0.1, does="discrete")(of_element)})
    type(
        "Device",
        (cosim.Component,),
        {"not_saved": "a device", "tick": cosim.every(1, does="discrete")(added)},
    )
    with pytest.raises(cosim.ContractError, match="self.n.*State"):

        class Law(cosim.Component):
            """A law."""

            x = cosim.auxiliary_state()

            def derivatives(self, x, x_dot):
                self.n = x
                x_dot[0] = -x


counted = 0


def of_module(self, state, next_state):
    global counted
    counted += 1


def appended(self, state, next_state):
    self.log.append(state.time)
    next_state["p.n"] = len(self.log)


def taken(self, state, next_state):
    next_state["p.n"] = self.table.pop()


@pytest.mark.parametrize(
    ("function", "name"), [(of_module, "counted"), (appended, "self.log"), (taken, "self.table")]
)
def test_what_a_handler_keeps_outside_the_state(function, name):
    with pytest.raises(
        cosim.ContractError, match=rf"{name} is not part of the State, so the next run goes on"
    ):
        type("Hoarding", (cosim.Component,), {"tick": cosim.every(0.1, does="discrete")(function)})


@pytest.mark.parametrize("does", ["publish", "discrete"])
def test_a_log_decides_nothing(does):
    class Watching(cosim.Component):
        """Shows something."""

        log: list

        def __init__(self, **values):
            super().__init__(**values)
            self.log = []

        @cosim.every(0.5, does=does)
        def show(self, state):
            self.log.append(state.time)

    model = cosim.Model("m")
    part = model.add(Watching, "p")
    model.simulate(until=0.6)
    assert part.log == [0.0, 0.5]


def test_an_attribute_that_a_helper_assigns_in_a_run():
    def remember(part):
        part.n = 1

    class Helped(cosim.Component):
        """Something else assigns."""

        @cosim.every(0.1, does="discrete")
        def tick(self, state, next_state):
            remember(self)

    with pytest.raises(cosim.SimulationError, match="has no attribute 'n'"):
        run(Helped)


def recursive(x, x_dot):
    x_dot[0] = factorial(x)


def in_turns(x, x_dot):
    x_dot[0] = is_even(x)


def by_clock(x, x_dot):
    x_dot[0] = time.time()


def by_counter(x, x_dot):
    x_dot[0] = perf_counter()


def by_chance(x, x_dot):
    x_dot[0] = random.random()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (recursive, "factorial → factorial: a kernel function cannot call itself: write a loop"),
        (in_turns, "is_even → is_odd → is_even: a kernel function cannot call itself"),
        (
            by_clock,
            "time.time: a kernel function knows the time of the run alone: ask for t in its arguments",
        ),
        (by_counter, "'perf_counter': a kernel function knows the time of the run alone: ask for t"),
        (by_chance, "random.random: a kernel function is pure; random numbers come from a signal"),
    ],
)
def test_recursion_clocks_and_chance(function, text):
    with pytest.raises(cosim.ContractError, match=rf"test_without_effect\.py:\d+: .*{text}"):
        type(
            "Block", (cosim.Component,), {"x": cosim.auxiliary_state(), "derivatives": cosim.kernel(function)}
        )


def test_a_python_method_may_call_itself_elsewhere():
    class Block(cosim.Component):
        """Plain Python."""

        x = cosim.auxiliary_state(start=3.0)

        def derivatives(self, x, x_dot):
            x_dot[0] = 0.0 * factorial(x)

    assert run(Block, until=0.1)["p.x"][-1] == 3.0


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
    """The same in plain Python: what they write is equal, and one is lost."""

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


def test_two_python_handlers():
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


class Bell(cosim.Component):
    """Rings once, at 1 s."""

    n = cosim.discrete()
    again = cosim.timer(start=1.0)

    @cosim.on(again, does="discrete")
    def ring(n, n_next):
        n_next[0] = n + 1


@pytest.mark.parametrize(
    ("start", "rings"),
    [(0.0, 1), (math.nextafter(1.0, 0.0), 1), (1.0, 1), (math.nextafter(1.0, 2.0), 0), (2.0, 0)],
)
def test_a_timer_before_the_start_does_not_ring_and_is_told(start, rings):
    model = cosim.Model("m")
    model.add(Bell, "p")
    system = model.build()
    state = system.default_state()
    state.set_time(start)
    simulator = cosim.Simulator(system, state)
    simulator.advance_to(3.0)
    assert simulator.state["p.n"] == rings
    told = [(f.kind, f.witness, f.time) for f in simulator.findings]
    assert told == ([] if rings else [("passed timer", "p.again", start)])
    if not rings:
        assert "1 s, before" in simulator.findings[0].message


class Same(Constraint):
    """Two coordinates are equal."""

    coordinate1 = coordinate()
    coordinate2 = coordinate()

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate1) - s.acceleration(self.coordinate2)]

    @cosim.kernel
    def position_error(q1, q2, position_error):
        position_error[0] = q1 - q2


def pair(first, second):
    model = Multibody("m", gravity=(0, 0, 0))
    for name, q in (("a", first), ("b", second)):
        model.joint("slider", name=name, child=model.body(f"{name}_body", mass=1.0, inertia=(1, 1, 1)), q=q)
    model.add(Same, "same", coordinate1="a", coordinate2="b")
    return model


def test_a_start_that_assembly_moves_is_told_with_from_and_to():
    from cosim_workbench.summary import summary

    result = pair(0.25, 0.75).simulate(until=0.1)
    told = {f.witness: f.message for f in result.findings if f.kind == "moved start"}
    assert told["a.q"].startswith("starts at 0.5 m, not at 0.25 m: constraints move it there")
    assert told["b.q"].startswith("starts at 0.5 m, not at 0.75 m")
    assert "a.q starts at 0.5 m" in summary("m", result)


@pytest.mark.parametrize(("first", "second"), [(0.0, 0.0), (0.5, 0.5), (0.5, 0.5 + 1e-9)])
def test_a_start_that_fits_is_not(first, second):
    assert [f.kind for f in pair(first, second).simulate(until=0.1).findings] == []


def test_resetting_the_integrator_initializes_again():
    class Begun(cosim.Component):
        """Counts its initializations."""

        n = cosim.discrete()

        @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
        def begin(n, n_next):
            n_next[0] = n + 1

    model = cosim.Model("m")
    model.add(Begun, "p")
    simulator = cosim.Simulator(model.build())
    simulator.advance_to(1.0)
    simulator.reset_integrator("integrators.dormand_prince")
    assert not simulator.is_initialized
    assert simulator.advance_to(2.0).succeeded
    assert simulator.state["p.n"] == 2.0
