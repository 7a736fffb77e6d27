"""Integrators of SciPy and SUNDIALS: accuracy, targets, dense output, failures, events, delays."""

import importlib.util
import math

import numpy as np
import pytest
from block_system import BlockSystem, run
from delay_sources import Sine
from stiff_models import Follower
from stiff_problems import PROBLEMS

import cosim
from cosim import kit
from cosim.testing.known_solution import exact, known_system
from cosim_integrators.library import library_integrator
from cosim_integrators.library.cvode import Cvode
from cosim_integrators.library.scipy_bdf import ScipyBdf
from cosim_integrators.library.scipy_dop853 import ScipyDop853
from cosim_integrators.library.scipy_lsoda import ScipyLsoda
from cosim_integrators.library.scipy_radau import ScipyRadau

HAS_SUNDAE = importlib.util.find_spec("sksundae") is not None
NEEDS_SUNDAE = pytest.mark.skipif(not HAS_SUNDAE, reason="scikit-sundae is an extra")
STIFF = [ScipyLsoda, ScipyRadau, ScipyBdf, pytest.param(Cvode, marks=NEEDS_SUNDAE)]
ALL = [ScipyDop853, *STIFF]
SYSTEM = known_system()


class NanAfterTime(cosim.Component):
    """y' = -y until t = 0.5, and NaN after it."""

    y = cosim.auxiliary_state(start=0.5)

    @cosim.kernel
    def derivatives(t, y, y_dot):
        y_dot[0] = -y if t < 0.5 else math.nan


class NanBelowState(cosim.Component):
    """x' = -sqrt(x) down to x = 0.5, and NaN below it."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -math.sqrt(x) if x > 0.5 else math.nan


class Oscillator(cosim.Component):
    """x = sin 3 t, and its square as an output."""

    x = cosim.auxiliary_state()
    v = cosim.auxiliary_state(start=3.0)
    square = cosim.output()

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -9.0 * x

    @cosim.kernel
    def outputs(x, square):
        square[0] = x * x


def started(method, **options):
    """Return an initialized integrator and its State."""
    state = SYSTEM.default_state().realize(cosim.Stage.ACCELERATION)
    integrator = method(**options)
    integrator.initialize(SYSTEM, state)
    return integrator, state


def step_until(integrator, state, target):
    """Step until a time; each step has to succeed."""
    while state.time < target:
        assert integrator.step(SYSTEM, state, target) is kit.StepCode.DONE


@pytest.mark.parametrize("method", ALL)
def test_steps_keep_the_accuracy_and_end_at_targets(method) -> None:
    errors = []
    for accuracy in (1e-4, 1e-8):
        integrator, state = started(method, accuracy=accuracy)
        for target in (0.3, 1.0, 2.0):
            step_until(integrator, state, target)
            assert state.time == target
        assert np.array_equal(state.y_dot[:1], state.y[1:2])  # the cache is evaluated at the end of the step
        errors.append(np.abs(state.y - exact(2.0)).max())
        assert errors[-1] < 100 * accuracy
    assert errors[1] < 0.01 * errors[0]
    assert integrator.statistics.steps > 3


@pytest.mark.by_turns
@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("units", [1, 2, 4, 17])
def test_targets_a_few_units_in_the_last_place_apart(method, units) -> None:
    """Libraries refuse targets that they cannot distinguish from the present; the integrators reach them."""
    integrator, state = started(method, accuracy=1e-8)
    for target in (0.1 + 0.2, 1.0, 4.7):
        step_until(integrator, state, target)
        for _ in range(3):
            start = state.time, state.y.copy()
            target = target + units * math.ulp(target)
            step_until(integrator, state, target)
            assert state.time == target
            out = np.zeros(state.y.size)
            integrator.interpolate(math.nextafter(target, 0.0), out)
            assert np.allclose(out, start[1], rtol=0.0, atol=1e-13)
        assert np.abs(state.y - exact(target)).max() < 1e-6
    assert integrator.statistics.steps < 1000


def test_ends_next_to_exact_ticks() -> None:
    """Sums of doubles end a run a few units in the last place before or after the tick of a timer."""

    class Ticking(cosim.Component):
        """An oscillator beside a timer."""

        x = cosim.auxiliary_state(start=1.0)
        v = cosim.auxiliary_state()
        n = cosim.discrete()

        @cosim.kernel
        def derivatives(x, v, x_dot, v_dot):
            x_dot[0] = v
            v_dot[0] = -x

        @cosim.every(0.1, does="discrete")
        def tick(n, n_next):
            n_next[0] = n + 1

    model = cosim.Model("m")
    model.add(Ticking, "p")
    system = model.build()
    ends = np.cumsum(np.full(33, 0.1)).tolist()
    units = {1: 0.0, 3: 1.0, 8: -1.0, 10: -0.5, 33: 4.0}
    for count, distance in units.items():
        until, tick = ends[count - 1], count / 10
        assert (until - tick) / math.ulp(tick) == distance
        result = cosim.simulate(
            system, until=until, integrator="integrators.scipy_lsoda", signals=["p.n", "p.x"]
        )
        assert result["p.n"][-1] in (count, count + 1)
        assert result["p.x"][-1] == pytest.approx(math.cos(until), abs=1e-5)


@pytest.mark.parametrize("method", ALL)
def test_dense_output_and_redo(method) -> None:
    integrator, state = started(method, accuracy=1e-7)
    for _ in range(12):
        integrator.step(SYSTEM, state, 2.0)
    begin, end, out = integrator.previous_time, state.time, np.zeros(3)
    for part in (0.3, 0.7):
        t = begin + part * (end - begin)
        integrator.interpolate(t, out)
        assert np.abs(out - exact(t)).max() < 1e-4
    integrator.interpolate(end, out)
    assert np.array_equal(out, state.y)
    assert integrator.redo(SYSTEM, state, 0.5 * (begin + end)) is kit.StepCode.DONE
    assert state.time == 0.5 * (begin + end)
    # after a redo, dense output still covers the whole step: later events are predicted on it
    integrator.interpolate(begin + 0.7 * (end - begin), out)
    assert np.abs(out - exact(begin + 0.7 * (end - begin))).max() < 1e-4
    assert np.abs(state.y - exact(state.time)).max() < 1e-5
    step_until(integrator, state, 2.0)
    assert np.abs(state.y - exact(2.0)).max() < 1e-5
    with pytest.raises(ValueError, match="inside the last"):
        integrator.interpolate(begin - 1.0, out)


@pytest.mark.parametrize("method", ALL)
def test_steps_are_not_longer_than_the_limit(method) -> None:
    integrator, state = started(method, accuracy=1e-3)
    while state.time < 1.0:
        before = state.time
        assert integrator.step(SYSTEM, state, 1.0, 0.04) is kit.StepCode.DONE
        assert state.time - before <= 0.04 * (1.0 + 1e-12)


@pytest.mark.parametrize("method", ALL)
def test_a_failure_leaves_the_state_as_before(method) -> None:
    system = known_system(end_of_law=0.5)
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    integrator = method(accuracy=1e-6)
    integrator.initialize(system, state)
    code = kit.StepCode.DONE
    while code is kit.StepCode.DONE:
        before = state.to_bytes()
        code = integrator.step(system, state, 1.0)
    assert code is kit.StepCode.BLOCK_FAILED
    assert state.to_bytes() == before
    assert state.stage is cosim.Stage.ACCELERATION


@pytest.mark.parametrize("method", ALL)
def test_a_restored_state_is_integrated_accurately(method) -> None:
    assert not method.capabilities.resumes_exactly
    integrator, state = started(method, accuracy=1e-6)
    step_until(integrator, state, 1.0)
    restored = SYSTEM.state_from_bytes(state.to_bytes()).realize(cosim.Stage.ACCELERATION)
    step_until(method(accuracy=1e-6), restored, 2.0)
    assert np.abs(restored.y - exact(2.0)).max() < 1e-4


@pytest.mark.few(1)
@pytest.mark.parametrize("method", STIFF)
def test_a_stiff_problem(method) -> None:
    problem = next(problem for problem in PROBLEMS if problem.name == "HIRES")
    system = BlockSystem(problem.block, 8)
    state = system.state(problem.start)
    integrator = method(accuracy=1e-6, absolute_tolerance=1e-10)
    integrator.initialize(system, state)
    run(integrator, system, state, problem.until)
    assert problem.error(state.y) < 1e-3
    assert integrator.statistics.jacobians > 0


@pytest.mark.few(2)
@pytest.mark.parametrize("method", STIFF)
def test_an_event(method) -> None:
    model = cosim.Model("follower")
    model.add(Follower, "follower")
    simulator = cosim.Simulator(model.build(), integrator=method, accuracy=1e-7)
    simulator.advance_to(2.0)
    assert [e.time for e in simulator.events] == [pytest.approx(math.pi / 3 + 1e-5, abs=1e-5)]
    assert simulator.state["follower.y"] == pytest.approx(1.0, abs=1e-6)


def test_options_that_libraries_do_not_support_are_refused() -> None:
    with pytest.raises(cosim.ModelError, match="chooses its steps"):
        ScipyRadau(fixed_step=0.1)
    with pytest.raises(cosim.ModelError, match="differs from state"):
        started(ScipyRadau, relative_tolerance={"q": 1e-3})


@pytest.mark.skipif(HAS_SUNDAE, reason="scikit-sundae is installed")
def test_the_error_of_a_missing_library_names_the_extra() -> None:
    with pytest.raises(cosim.ModelError, match=r"pip install cosim-framework\[sundials\]"):
        Cvode(accuracy=1e-6)


@pytest.mark.by_turns
@pytest.mark.parametrize("part", [NanAfterTime, NanBelowState])
@pytest.mark.parametrize("method", ALL)
def test_a_derivative_of_nan_ends_the_run_with_the_name_of_the_state(method, part, monkeypatch) -> None:
    compiled, evaluations = kit.compile_function, 0

    def counting_compile(function, signature):
        walk = compiled(function, signature)

        def counted_walk(*arguments):
            nonlocal evaluations
            evaluations += 1
            assert evaluations < 5_000, "the run does not end"
            return walk(*arguments)

        return counted_walk

    monkeypatch.setattr(library_integrator, "compile_function", counting_compile)
    model = cosim.Model("cliff")
    model.add(part, "part")
    with pytest.raises(cosim.SimulationError, match=r"part\.[xy]: (its derivative|it) is nan"):
        model.simulate(until=2.0, integrator=method, accuracy=1e-6)


@pytest.mark.parametrize("method", ALL)
def test_a_delay_in_a_model_without_states(method) -> None:
    """Steps that would need too many points of history are shortened, without a state to integrate."""
    model = cosim.Model("wave")
    model.add(Sine, "wave")
    model.add("measures.delay", "late", source="wave.y", delay=0.7)
    result = model.simulate(until=2.0, integrator=method(accuracy=1e-7), output_interval=0.01)
    expected = np.sin(6.0 * np.maximum(result.time - 0.7, 0.0))
    assert np.abs(result["late"] - expected).max() < 1e-6


@pytest.mark.parametrize("source", ["oscillator.x", "oscillator.square"])
def test_a_delay_that_ends_many_steps_of_lsoda(source: str) -> None:
    """If LSODA restarted at first order after each of these ends, errors would be 10^5 accuracies or NaN."""
    model = cosim.Model("delayed")
    model.add(Oscillator, "oscillator")
    model.add("measures.delay", "late", source=source, delay=0.7)
    result = model.simulate(until=3.0, integrator="integrators.scipy_lsoda", accuracy=1e-8)
    late = np.sin(3.0 * np.maximum(result.time - 0.7, 0.0))
    assert np.abs(result["late"] - (late if source.endswith("x") else late * late)).max() < 1e-6
    assert result.statistics["integrator_steps"] < 3000


@pytest.mark.few(2)
@pytest.mark.parametrize("method", ["scipy_bdf", "scipy_dop853", "scipy_lsoda", "scipy_radau"])
@pytest.mark.parametrize("rate", [7e6, 7e11])
def test_a_large_state_passes_zero_late_in_a_run(method: str, rate: float) -> None:
    """Near 0 the tolerance of the state is less than its rate times the resolution of time."""

    class Passing(cosim.Component):
        """A straight line; its event at 0 restarts the integrator."""

        x = cosim.auxiliary_state(start=-1.0)
        rate = cosim.parameter(default=1.0)
        events = cosim.discrete(dtype=int)

        @cosim.kernel
        def derivatives(rate, x_dot):
            x_dot[0] = rate

        @cosim.witness(direction="rising")
        def zero(x):
            return x

        @cosim.on(zero, does="unrestricted")
        def count(x, events, x_next, events_next):
            x_next[0] = x
            events_next[0] = events + 1

    model = cosim.Model("passing")
    model.add(Passing(rate=rate), "part")
    system = model.build()
    state = system.default_state()
    state.set_time(150.0)
    state["part.x"] = -10.0 * rate
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.advance_to(170.0)
    assert simulator.state["part.x"] == pytest.approx(10.0 * rate, rel=1e-9)
    assert simulator.state["part.events"] == 1
