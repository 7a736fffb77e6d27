"""A repeated run reuses the simulator of the last one, and has the bytes of a run in a new process."""

import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from swing_parts import Swing, delayed_swing

import cosim
from cosim.simulation.last_simulator import NAME

SYSTEM = delayed_swing()
OTHER_SETTINGS = [
    {"integrator": "integrators.dormand_prince", "accuracy": 1e-8},
    {"integrator": "integrators.bdf", "accuracy": 1e-4, "event_limit": 2},
    {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.01},
    {"maximum_step": 0.02, "endless_events": "report"},
    {"relative_tolerance": {"u": 1e-4}},
]


def contents(result: cosim.Result) -> list[Any]:
    """All that a result holds but for the time that its run took."""
    statistics = {n: v for n, v in result.statistics.items() if n != "wall_time"}
    columns = [result.time.tobytes(), *(values.tobytes() for values in result.signals.values())]
    return [columns, result.units, [repr(event) for event in result.events], result.findings, statistics]


def run_without_reuse(until: float, **options: Any) -> list[Any]:
    """The contents of a run with a new simulator."""
    vars(SYSTEM).pop(NAME, None)
    return contents(cosim.simulate(SYSTEM, until=until, **options))


@pytest.fixture(autouse=True)
def forget_last_simulator() -> Iterator[None]:
    yield
    vars(SYSTEM).pop(NAME, None)


@pytest.mark.parametrize("options", [{}, *OTHER_SETTINGS], ids=str)
def test_a_run_is_repeated_to_the_bit(options: dict[str, Any]) -> None:
    expected = run_without_reuse(2.0, **options)
    for until in (2.0, 0.7, 2.0):
        repeated = contents(cosim.simulate(SYSTEM, until=until, **options))
        assert (repeated == expected) == (until == 2.0)


def test_settings_of_another_run_have_no_effect() -> None:
    expected = [run_without_reuse(1.0, **options) for options in OTHER_SETTINGS]
    for _ in range(2):
        for options, alone in zip(OTHER_SETTINGS, expected, strict=True):
            assert contents(cosim.simulate(SYSTEM, until=1.0, **options)) == alone


def test_another_start_has_no_effect_on_the_next_run() -> None:
    alone = run_without_reuse(1.0)
    state = SYSTEM.default_state()
    state["swing.height"], state["swing.stiffness"], state.accuracy = 3.0, 9.0, 1e-3
    moved = contents(cosim.simulate(SYSTEM, until=1.0, state=state))
    assert moved != alone and state.time == 1.0
    assert contents(cosim.simulate(SYSTEM, until=1.0)) == alone
    equal_state = SYSTEM.default_state()
    equal_state["swing.height"], equal_state["swing.stiffness"] = 3.0, 9.0
    assert contents(cosim.simulate(SYSTEM, until=1.0, state=equal_state)) == moved
    continued = cosim.simulate(SYSTEM, until=2.0, state=equal_state)
    assert continued.time[0] == 1.0 and state.time == 1.0


class Hurry(cosim.Component):
    """Becomes stiff. Law: level' = -rate (level - 1 / 2), rate = 10000 after 1 s, 1 before."""

    level = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(t, level, level_dot):  # type: ignore[no-untyped-def]
        level_dot[0] = -(1e4 if t > 1.0 else 1.0) * (level - 0.5)


def test_warnings_of_a_run_are_forgotten_in_the_next_one() -> None:
    model = cosim.Model("hurry")
    model.add(Hurry, "hurry")
    system = model.build()
    warned = [
        len(cosim.simulate(system, until=until, integrator="integrators.dormand_prince").warnings)
        for until in (1.5, 0.5, 1.5, 0.5)
    ]
    assert warned == [1, 0, 1, 0]


def test_a_result_is_not_changed_by_the_next_run() -> None:
    result = cosim.simulate(SYSTEM, until=1.0)
    before = contents(result)
    cosim.simulate(SYSTEM, until=2.0)
    assert contents(result) == before


def test_the_simulator_of_a_stopped_or_failed_run_is_not_reused() -> None:
    alone = run_without_reuse(1.0)

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


def test_the_state_of_the_last_run_is_reused_unless_it_was_given_by_the_user() -> None:
    model = cosim.Model("swing")  # without histories, whose arrays grow
    model.add(Swing, "swing")
    system = model.build()
    alone = contents(cosim.simulate(system, until=1.0))
    last_state = vars(system)[NAME][1].state
    arrays = dict(last_state.arrays)
    assert contents(cosim.simulate(system, until=1.0)) == alone
    assert vars(system)[NAME][1].state is last_state
    assert all(last_state.arrays[name] is array for name, array in arrays.items())
    own_state = system.default_state()
    cosim.simulate(system, until=1.0, state=own_state)
    end = own_state.to_bytes()
    assert contents(cosim.simulate(system, until=1.0)) == alone
    assert own_state.to_bytes() == end and vars(system)[NAME][1].state is not own_state


def test_a_state_that_a_handler_keeps_is_not_reused() -> None:
    model = cosim.Model("reader")
    model.add(Reader, "reader")
    system = model.build()
    for _ in range(2):
        cosim.simulate(system, until=1.5)
    state, later_state = Reader.states[1], Reader.states[-1]
    assert len(Reader.states) == 4 and state is not later_state


def test_a_state_is_restarted_in_its_own_arrays() -> None:
    simulator = cosim.Simulator(SYSTEM, accuracy=1e-4)
    simulator.advance_to(2.0)
    state, start = simulator.state, SYSTEM.default_state()
    arrays = dict(state.arrays)
    SYSTEM.restart(state)
    assert (state.stage, state.accuracy, state.versions) == (start.stage, None, start.versions)
    for name, array in state.arrays.items():
        values = start.arrays[name]
        assert array is arrays[name]
        assert array[: values.size].tobytes() == values.tobytes() and not array[values.size :].any()


def test_a_run_inside_a_run_has_a_simulator_of_its_own() -> None:
    alone, inner_contents = run_without_reuse(1.0), list[Any]()

    def nested(time: float) -> bool:
        if not inner_contents:
            inner_contents.append(contents(cosim.simulate(SYSTEM, until=1.0)))
        return True

    assert contents(cosim.simulate(SYSTEM, until=1.0, progress=nested)) == alone
    assert inner_contents == [alone]


def test_threads_have_simulators_of_their_own() -> None:
    alone, outcomes = run_without_reuse(1.0), list[Any]()
    threads = [
        threading.Thread(target=lambda: outcomes.append(contents(cosim.simulate(SYSTEM, until=1.0))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [alone] * 4


@pytest.mark.parametrize(("first", "second"), [(1, 1.0), (1e-6, np.float64(1e-6))])
def test_equal_settings_of_different_types_are_not_the_same_settings(first: Any, second: Any) -> None:
    from cosim.simulation.last_simulator import settings_key

    assert settings_key("m", first, "hold", {}) != settings_key("m", second, "hold", {})
    assert settings_key("m", 1e-6, "hold", {"a": {}}) is None
    assert settings_key(cosim.Simulator, 1e-6, "hold", {}) is None  # type: ignore[arg-type]
