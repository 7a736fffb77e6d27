"""A run with what the last one has left in memory has the bytes of a run in a new process."""

import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from test_monitored_steps import Swing, built

import cosim
from cosim.simulation.last_simulator import NAME

SYSTEM = built()
OTHER = [
    {"integrator": "integrators.dormand_prince", "accuracy": 1e-8},
    {"integrator": "integrators.bdf", "accuracy": 1e-4, "event_limit": 2},
    {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.01},
    {"maximum_step": 0.02, "endless_events": "report"},
    {"relative_tolerance": {"u": 1e-4}},
]


def contents(result: cosim.Result) -> list[Any]:
    statistics = {n: v for n, v in result.statistics.items() if n != "wall_time"}
    columns = [result.time.tobytes(), *(values.tobytes() for values in result.signals.values())]
    return [columns, result.units, [repr(event) for event in result.events], result.findings, statistics]


def fresh(until: float, **options: Any) -> list[Any]:
    vars(SYSTEM).pop(NAME, None)
    return contents(cosim.simulate(SYSTEM, until=until, **options))


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    yield
    vars(SYSTEM).pop(NAME, None)


@pytest.mark.parametrize("options", [{}, *OTHER], ids=str)
def test_a_run_is_repeated_to_the_bit(options: dict[str, Any]) -> None:
    first = fresh(2.0, **options)
    for until in (2.0, 0.7, 2.0):
        again = contents(cosim.simulate(SYSTEM, until=until, **options))
        assert (again == first) == (until == 2.0)


def test_settings_of_another_run_have_no_effect() -> None:
    expected = [fresh(1.0, **options) for options in OTHER]
    for _ in range(2):
        for options, alone in zip(OTHER, expected, strict=True):
            assert contents(cosim.simulate(SYSTEM, until=1.0, **options)) == alone


def test_another_start_has_no_effect_on_the_next_run() -> None:
    alone = fresh(1.0)
    state = SYSTEM.default_state()
    state["swing.height"], state["swing.stiffness"], state.accuracy = 3.0, 9.0, 1e-3
    moved = contents(cosim.simulate(SYSTEM, until=1.0, state=state))
    assert moved != alone and state.time == 1.0
    assert contents(cosim.simulate(SYSTEM, until=1.0)) == alone
    again = SYSTEM.default_state()
    again["swing.height"], again["swing.stiffness"] = 3.0, 9.0
    assert contents(cosim.simulate(SYSTEM, until=1.0, state=again)) == moved
    further = cosim.simulate(SYSTEM, until=2.0, state=again)
    assert further.time[0] == 1.0 and state.time == 1.0


class Hurry(cosim.Component):
    """Becomes stiff. Law: level' = -rate (level - 1 / 2), rate = 10000 after 1 s, 1 before."""

    level = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(t, level, level_dot):  # type: ignore[no-untyped-def]
        level_dot[0] = -(1e4 if t > 1.0 else 1.0) * (level - 0.5)


def test_what_a_method_has_noticed_is_forgotten() -> None:
    model = cosim.Model("hurry")
    model.add(Hurry, "hurry")
    system = model.build()
    warned = [
        len(cosim.simulate(system, until=until, integrator="integrators.dormand_prince").warnings)
        for until in (1.5, 0.5, 1.5, 0.5)
    ]
    assert warned == [1, 0, 1, 0]


def test_a_result_is_not_changed_by_the_next_run() -> None:
    first = cosim.simulate(SYSTEM, until=1.0)
    before = contents(first)
    cosim.simulate(SYSTEM, until=2.0)
    assert contents(first) == before


def test_a_run_that_was_stopped_or_has_failed_leaves_nothing() -> None:
    alone = fresh(1.0)

    def fail(time: float) -> bool:
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        cosim.simulate(SYSTEM, until=1.0, progress=fail)
    assert NAME not in vars(SYSTEM)
    assert contents(cosim.simulate(SYSTEM, until=1.0)) == alone
    stopped = cosim.simulate(SYSTEM, until=1.0, progress=lambda time: False)
    assert "stopped" in stopped.message
    assert contents(cosim.simulate(SYSTEM, until=1.0)) == alone


class Reader(cosim.Component):
    """Keeps the State that a handler is called with."""

    count = cosim.discrete(dtype=int)
    states: ClassVar[list[cosim.State]] = []

    @cosim.every(1.0, does="publish")
    def read(self, state: cosim.State) -> None:
        self.states.append(state)


def test_a_run_takes_the_state_of_the_last_one_where_nobody_else_has_it() -> None:
    model = cosim.Model("swing")  # without histories, whose arrays grow
    model.add(Swing, "swing")
    system = model.build()
    alone = contents(cosim.simulate(system, until=1.0))
    kept = vars(system)[NAME][1].state
    before = dict(kept.arrays)
    assert contents(cosim.simulate(system, until=1.0)) == alone
    assert vars(system)[NAME][1].state is kept
    assert all(kept.arrays[name] is array for name, array in before.items())
    given = system.default_state()
    cosim.simulate(system, until=1.0, state=given)
    ended = given.to_bytes()
    assert contents(cosim.simulate(system, until=1.0)) == alone
    assert given.to_bytes() == ended and vars(system)[NAME][1].state is not given


def test_a_state_that_a_handler_has_kept_is_not_taken_again() -> None:
    model = cosim.Model("reader")
    model.add(Reader, "reader")
    system = model.build()
    for _ in range(2):
        cosim.simulate(system, until=1.5)
    first, second = Reader.states[1], Reader.states[-1]
    assert len(Reader.states) == 4 and first is not second


def test_a_state_is_restarted_in_its_own_arrays() -> None:
    simulator = cosim.Simulator(SYSTEM, accuracy=1e-4)
    simulator.advance_to(2.0)
    state, begin = simulator.state, SYSTEM.default_state()
    arrays = dict(state.arrays)
    SYSTEM.restart(state)
    assert (state.stage, state.accuracy, state.versions) == (begin.stage, None, begin.versions)
    for name, array in state.arrays.items():
        values = begin.arrays[name]
        assert array is arrays[name]
        assert array[: values.size].tobytes() == values.tobytes() and not array[values.size :].any()


def test_a_run_inside_a_run_has_a_simulator_of_its_own() -> None:
    alone, inner = fresh(1.0), list[Any]()

    def nested(time: float) -> bool:
        if not inner:
            inner.append(contents(cosim.simulate(SYSTEM, until=1.0)))
        return True

    assert contents(cosim.simulate(SYSTEM, until=1.0, progress=nested)) == alone
    assert inner == [alone]


def test_threads_have_simulators_of_their_own() -> None:
    alone, found = fresh(1.0), list[Any]()
    threads = [
        threading.Thread(target=lambda: found.append(contents(cosim.simulate(SYSTEM, until=1.0))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4


@pytest.mark.parametrize(("first", "second"), [(1, 1.0), (1e-6, np.float64(1e-6))])
def test_equal_settings_of_other_types_are_others(first: Any, second: Any) -> None:
    from cosim.simulation.last_simulator import settings_key

    assert settings_key("m", first, "hold", {}) != settings_key("m", second, "hold", {})
    assert settings_key("m", 1e-6, "hold", {"a": {}}) is None
    assert settings_key(cosim.Simulator, 1e-6, "hold", {}) is None  # type: ignore[arg-type]
