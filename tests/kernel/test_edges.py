"""Cases at the edges: ends, starts, several causes at one time, and what users do between calls."""

import math

import pytest

import cosim

ACC = 1e-6


def sim(*parts, accuracy=ACC, **options):
    """A simulator of parts p0, p1 …: classes, or pairs of a class and its parameters."""
    model = cosim.Model("m")
    for i, part in enumerate(parts):
        if isinstance(part, tuple):
            model.add(part[0], f"p{i}", **part[1])
        else:
            model.add(part, f"p{i}")
    return cosim.Simulator(model.build(), accuracy=accuracy, **options)


class Mover(cosim.Component):
    """x' = 1."""

    x = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0


class Crosser(Mover):
    """x' = 1; witness x - level."""

    level = cosim.parameter(default=1.0)
    hits = cosim.discrete(dtype=int)

    @cosim.witness(direction="rising")
    def w(x, level):
        return x - level

    @cosim.on(w, does="unrestricted")
    def hit(hits, hits_next):
        hits_next[0] = hits + 1


def test_event_exactly_at_boundary():
    s = sim(Crosser)
    s.advance_to(1.0)
    s.advance_to(1.0)
    s.advance_to(2.0)
    assert s.state["p0.hits"] == 1
    assert len(s.events) == 1 and abs(s.events[0].time - 1.0) <= 1e-8


def test_event_at_final_time():
    s = sim(Crosser, final_time=1.0)
    s.advance_to(5.0)
    assert s.state.time == 1.0
    # crossing lies at the final time: rounding decides; on going on it is not lost
    assert s.state["p0.hits"] in (0, 1)


class AtStart(Mover):
    hits = cosim.discrete(dtype=int)

    @cosim.every(1.0, does="discrete")
    def tick(hits, hits_next):
        hits_next[0] = hits + 1

    @cosim.at([0.0, 2.0], does="discrete")
    def listed(hits, hits_next):
        hits_next[0] = hits + 100


def test_events_at_t0_and_end():
    s = sim(AtStart)
    s.initialize()
    assert s.state["p0.hits"] == 0
    s.advance_to(0.0)
    # both read the State as it was; the later one of one cause wins
    assert s.state["p0.hits"] == 100
    s.advance_to(2.0)
    h = s.state["p0.hits"]
    s.advance_pending_events()
    h2 = s.state["p0.hits"]
    assert h2 > h
    s.advance_pending_events()
    assert s.state["p0.hits"] == h2


class Huge(Mover):
    ticks = cosim.discrete(dtype=int)

    @cosim.every(0.1, offset=0.05, does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1


def test_periodic_at_huge_times():
    model = cosim.Model("m")
    model.add(Huge, "p0")
    system = model.build()
    state = system.default_state()
    t0 = 1e9
    state.set_time(t0)
    s = cosim.Simulator(system, state, accuracy=ACC)
    s.initialize()
    s.advance_to(t0 + 1.02)
    times = [e.time for e in s.events]
    first = int((t0 - 0.05) / 0.1) - 2
    grid = [0.05 + i * 0.1 for i in range(first, first + 20)]
    assert times == [t for t in grid if t0 <= t < t0 + 1.02]


class Changing(Mover):
    period = cosim.parameter(default=0.1)
    ticks = cosim.discrete(dtype=int)

    @cosim.every("period", does="unrestricted")
    def tick(self, state, next_state):
        next_state["p0.ticks"] = state["p0.ticks"] + 1
        next_state["p0.period"] = 2.0 * state["p0.period"]


def test_handler_changes_its_period():
    s = sim(Changing)
    s.advance_to(2.0)
    times = [round(e.time, 9) for e in s.events]
    assert times[0] == 0.0
    assert times == [0.0, 0.2, 0.4, 0.8, 1.6]


class Zeroed(Mover):
    period = cosim.parameter(default=0.1)

    @cosim.every("period", does="unrestricted")
    def tick(self, state, next_state):
        next_state["p0.period"] = 0.0


def test_handler_makes_its_period_zero():
    s = sim(Zeroed)
    with pytest.raises(cosim.SimulationError, match="period"):
        s.advance_to(1.0)
    assert s.state.time <= 0.1


class Ender(Crosser):
    @cosim.on(Crosser.w, does="unrestricted")
    def stop(self, state, next_state):
        return cosim.EventStatus.reached_termination("enough")


def test_termination_in_handler_of_isolated_event():
    s = sim((Ender, {"level": 0.5}))
    st = s.advance_to(1.0)
    assert st.reason.name == "REACHED_TERMINATION" and "enough" in st.format_message()
    assert abs(s.state.time - 0.5) < 1e-8
    hits = s.state["p0.hits"]
    st = s.advance_to(1.0)
    assert s.state.time == 1.0 and s.state["p0.hits"] == hits == 1


class NanWitness(Mover):
    hits = cosim.discrete(dtype=int)

    @cosim.witness
    def w(x):
        return math.log(x - 0.5) if x > 0.5 else math.nan

    @cosim.on(w, does="discrete")
    def hit(hits, hits_next):
        hits_next[0] = hits + 1


def test_witness_that_is_nan_then_crosses():
    s = sim(NanWitness)
    s.advance_to(3.0)
    assert [round(e.time, 6) for e in s.events] == [1.5]


def test_replace_state_between_calls():
    s = sim(Crosser)
    s.advance_to(0.5)
    other = s.state.copy()
    s.advance_to(1.5)
    assert s.state["p0.hits"] == 1
    s.replace_state(other)
    s.initialize()
    s.advance_to(1.5)
    assert s.state["p0.hits"] == 1 and abs(s.state["p0.x"] - 1.5) < 1e-9


def test_replace_state_beyond_witness_needs_no_event():
    s = sim(Crosser)
    s.advance_to(0.5)
    other = s.system.default_state()
    other["p0.x"] = 5.0
    s.replace_state(other)
    s.initialize()
    s.advance_to(1.0)
    assert s.state["p0.hits"] == 0


class Init(Mover):
    n = cosim.discrete(dtype=int)
    flag = cosim.signal()

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def init(n, n_next, flag_next):
        n_next[0] = n + 1
        flag_next[0] = 1

    @cosim.on(flag, does="discrete")
    def sig(n, n_next):
        n_next[0] = n + 10


def test_suppressed_initialization():
    s = sim(Init)
    s.initialize(suppress_initialization_events=True)
    assert s.state["p0.n"] == 0
    s.initialize()
    assert s.state["p0.n"] == 11


class Both(Mover):
    """Two causes at one time."""

    n = cosim.discrete(dtype=int)
    order = cosim.discrete(dtype=int)

    @cosim.witness
    def w(t):
        return t - 0.5

    @cosim.on(w, does="discrete")
    def trig(order, order_next):
        order_next[0] = 10 * order + 1

    @cosim.every(0.5, offset=0.5, does="discrete")
    def sched(order, order_next):
        order_next[0] = 10 * order + 2

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="publish")
    def each(self, state):
        pass


def test_witness_and_schedule_at_one_time():
    s = sim(Both)
    s.advance_to(0.9)
    assert s.state["p0.order"] == 12, s.state["p0.order"]
    assert {e.time for e in s.events if e.cause.name != "TIME_ADVANCED"} == {0.5}


def test_monitor_raises_and_goes_on():
    s = sim(Crosser)
    calls = []

    def mon(state):
        calls.append(state.time)
        if state.time >= 0.3 and len(calls) < 1000 and not hasattr(mon, "done"):
            mon.done = True
            raise ZeroDivisionError("oops")

    s.set_monitor(mon)
    with pytest.raises(cosim.SimulationError, match="monitor.*oops"):
        s.advance_to(2.0)
    s.advance_to(2.0)
    assert s.state.time == 2.0 and s.state["p0.hits"] == 1


class Ctrl(Crosser):
    @cosim.on(Crosser.w, does="publish")
    def stop(self, state):
        if not getattr(Ctrl, "done", False):
            Ctrl.done = True
            raise KeyboardInterrupt


def test_keyboard_interrupt_raised_inside_handler():
    s = sim((Ctrl, {"level": 0.5}))
    with pytest.raises(KeyboardInterrupt):
        s.advance_to(1.0)
    assert s.state.time <= 0.5 + 1e-8
    s.advance_to(1.0)
    assert s.state.time == 1.0
    assert s.state["p0.hits"] == 1


class CtrlU(Mover):
    level = cosim.parameter(default=0.5)
    hits = cosim.discrete(dtype=int)

    @cosim.witness(direction="rising")
    def w(x, level):
        return x - level

    @cosim.on(w, does="unrestricted")
    def hit(self, state, next_state):
        next_state["p0.hits"] = state["p0.hits"] + 1
        if not getattr(CtrlU, "done", False):
            CtrlU.done = True
            raise KeyboardInterrupt


def test_keyboard_interrupt_in_update():
    s = sim(CtrlU)
    with pytest.raises(KeyboardInterrupt):
        s.advance_to(1.0)
    assert s.state["p0.hits"] == 0
    s.advance_to(1.0)
    assert s.state.time == 1.0
    assert s.state["p0.hits"] == 1


def test_past_now_nan_inf():
    s = sim(Crosser)
    s.advance_to(1.5)
    for bad in (1.0, math.nan, -math.inf):
        with pytest.raises(cosim.SimulationError):
            s.advance_to(bad)
    assert s.advance_to(1.5).succeeded
    assert s.state.time == 1.5 and s.state["p0.hits"] == 1


class InfEnd(Mover):
    @cosim.every(1.0, does="publish")
    def p(self, state):
        if state.time >= 3.0:
            return cosim.EventStatus.reached_termination("over")


def test_infinite_end():
    s = sim(InfEnd)
    st = s.advance_to(math.inf)
    assert s.state.time == 3.0 and st.reason.name == "REACHED_TERMINATION"
    s2 = sim(Mover)
    # without anything that stops it an infinite run is stopped by a monitor only
    s2.set_monitor(lambda state: cosim.EventStatus.reached_termination("m") if state.time > 1e3 else None)
    assert s2.advance_to(math.inf).reason.name == "REACHED_TERMINATION"


class Casc(cosim.Component):
    n = cosim.discrete(dtype=int)
    limit = cosim.parameter(default=100.0)
    s = cosim.signal()

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def init(s_next):
        s_next[0] = 1

    @cosim.on(s, does="discrete")
    def again(n, limit, n_next, s_next):
        n_next[0] = n + 1
        s_next[0] = 1 if n + 1 < limit else 0


def test_cascade_at_the_bound():
    s = sim((Casc, {"limit": 100.0}))
    s.initialize()
    assert s.state["p0.n"] == 100
    s = sim((Casc, {"limit": 101.0}))
    with pytest.raises(cosim.SimulationError, match="p0.s"):
        s.initialize()


class Neg(Mover):
    hits = cosim.discrete(dtype=int)

    @cosim.witness(direction="falling")
    def w(x):
        return 0.5 - x

    @cosim.witness(direction="rising")
    def v(x):
        return 0.5 - x

    @cosim.on(w, does="discrete")
    def a(hits, hits_next):
        hits_next[0] = hits + 1

    @cosim.on(v, does="discrete")
    def b(hits, hits_next):
        hits_next[0] = hits + 100


def test_directions():
    s = sim(Neg)
    s.advance_to(1.0)
    assert s.state["p0.hits"] == 1


def test_negative_times():
    model = cosim.Model("m")
    model.add(Both, "p0")
    system = model.build()
    state = system.default_state()
    state.set_time(-3.0)
    s = cosim.Simulator(system, state, accuracy=ACC)
    s.advance_to(0.75)
    assert s.state["p0.order"] == 12


def test_step_limits():
    s = sim(Crosser, maximum_step=0.01)
    s.advance_to(2.0)
    assert s.statistics.integrator_steps >= 200 and s.state["p0.hits"] == 1
    s = sim(Crosser, minimum_step=0.3, initial_step=0.3)
    s.advance_to(2.0)
    assert abs(s.events[0].time - 1.0) < 1e-8


class SelfReset(Mover):
    n = cosim.discrete(dtype=int)

    @cosim.witness(direction="rising")
    def w(x):
        return x - 1.0

    @cosim.on(w, does="unrestricted")
    def reset(n, x_next, n_next):
        x_next[0] = 0.0
        n_next[0] = n + 1


def test_sawtooth_many_events_small_intervals():
    s = sim(SelfReset)
    for i in range(1, 1001):
        s.advance_to(i * 0.01)
    assert s.state["p0.n"] in (9, 10)
    w = sim(SelfReset)
    w.advance_to(10.0)
    w.advance_pending_events()
    s.advance_pending_events()
    assert abs((s.state["p0.n"] + s.state["p0.x"]) - (w.state["p0.n"] + w.state["p0.x"])) < 1e-6


def test_write_input_across_zero_between_calls():
    s = sim(Crosser)
    s.advance_to(0.5)
    s.state["p0.x"] = 1.5
    s.advance_to(0.6)
    assert s.state["p0.hits"] == 1 and s.events[0].time == 0.5


class Timer(Mover):
    wake = cosim.timer(start=math.inf)
    n = cosim.discrete(dtype=int)

    @cosim.on(wake, does="discrete")
    def ring(n, n_next):
        n_next[0] = n + 1


def test_timer_set_now_and_past():
    s = sim(Timer)
    s.advance_to(1.0)
    s.state["p0.wake"] = 1.0
    s.advance_to(1.5)
    assert s.state["p0.n"] == 1
    s.state["p0.wake"] = 1.2
    with pytest.raises(cosim.SimulationError, match="p0.wake"):
        s.advance_to(2.0)
    s.state["p0.wake"] = 1.7
    s.advance_to(2.0)
    assert s.state["p0.n"] == 2
    s.state["p0.wake"] = 2.0
    s.advance_to(2.0)
    assert s.state["p0.n"] == 3


class Raiser(Mover):
    n = cosim.discrete(dtype=int)

    @cosim.at([0.5], does="discrete")
    def bad(self, state, next_state):
        next_state["p0.n"] = 7
        raise ValueError("bad thing")


def test_handler_raises_chain_and_retry():
    s = sim(Raiser)
    with pytest.raises(cosim.SimulationError, match="p0.bad.*bad thing") as e:
        s.advance_to(1.0)
    assert isinstance(e.value.__cause__, ValueError)
    assert s.state["p0.n"] == 0 and s.state.time == 0.5
    with pytest.raises(cosim.SimulationError):
        s.advance_to(1.0)
    assert s.state.time == 0.5


class Tset(Mover):
    @cosim.at([0.5], does="unrestricted")
    def shift(self, state, next_state):
        next_state.set_time(3.0)


def test_handler_changes_time():
    s = sim(Tset)
    with pytest.raises(cosim.SimulationError, match="time"):
        s.advance_to(1.0)
    assert s.state.time == 0.5


class Pub(Mover):
    @cosim.at([0.5], does="publish")
    def cheat(self, state):
        state["p0.x"] = 99.0


def test_publish_writes():
    s = sim(Pub)
    with pytest.raises(cosim.SimulationError, match="p0.cheat"):
        s.advance_to(1.0)
    assert abs(s.state["p0.x"] - 0.5) < 1e-9


def test_two_states_of_one_system_with_events():
    model = cosim.Model("m")
    model.add(SelfReset, "p0")
    system = model.build()
    a = cosim.Simulator(system, accuracy=ACC)
    b = cosim.Simulator(system, accuracy=ACC)
    for i in range(1, 30):
        a.advance_to(i * 0.1)
        b.advance_to(i * 0.1)
    c = cosim.Simulator(system, accuracy=ACC)
    for i in range(1, 30):
        c.advance_to(i * 0.1)
    assert a.state.to_bytes() == b.state.to_bytes() == c.state.to_bytes()


def test_swap_integrator_with_pending_event():
    s = sim(SelfReset)
    s.advance_to(1.0 + 1e-9)
    s.reset_integrator("integrators.dormand_prince", accuracy=1e-8)
    s.advance_to(2.5)
    assert s.state["p0.n"] == 2


def test_release_and_use():
    s = sim(Mover)
    s.advance_to(1.0)
    st = s.release_state()
    with pytest.raises(cosim.SimulationError):
        s.advance_to(2.0)
    s.replace_state(st)
    s.initialize()
    s.advance_to(2.0)
    assert s.state.time == 2.0


class Stopping(Mover):
    """Asks to stop: when a run begins, and at 1 s."""

    at_once = cosim.parameter(default=0.0)
    farewells = cosim.discrete(dtype=int)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(at_once):
        return 2 if at_once > 0.0 else 1

    @cosim.at([1.0], does="discrete")
    def later(t):
        return 2

    @cosim.on(cosim.EventCause.TERMINATION, does="discrete")
    def bye(farewells, farewells_next):
        farewells_next[0] = farewells + 1


def test_termination_is_issued_whichever_call_was_asked_to_stop():
    s = sim((Stopping, {"at_once": 1.0}))
    assert s.initialize().reason is cosim.Reason.REACHED_TERMINATION
    assert s.state["p0.farewells"] == 1
    s.advance_to(1.0)
    assert s.advance_pending_events().reason is cosim.Reason.REACHED_TERMINATION
    assert s.state["p0.farewells"] == 2


class Spoiler(Mover):
    """Writes what is not a finite number."""

    @cosim.at([0.5], does="unrestricted")
    def spoil(x_next):
        x_next[0] = math.inf


def test_a_kernel_handler_that_writes_no_finite_number_is_refused():
    s = sim(Spoiler)
    with pytest.raises(cosim.SimulationError, match=r"= 0\.5.*p0\.spoil: p0\.x became .inf."):
        s.advance_to(1.0)
    assert s.state["p0.x"] == pytest.approx(0.5)
