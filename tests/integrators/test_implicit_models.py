"""Implicit methods in models: events, delays, stiff mounts, bands, closed loops, resuming, failures."""

import math

import numpy as np
import pytest
from block_system import BlockSystem, run
from constraint_references import REFERENCES, model_of, put
from stiff_models import Follower, chain
from stiff_problems import PROBLEMS

import cosim
from cosim import kit
from cosim.testing.other_mode import results_in_other_mode
from cosim_integrators.bdf import Bdf
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.esdirk43 import Esdirk43
from cosim_integrators.generalized_alpha import GeneralizedAlpha
from cosim_integrators.implicit import integrator as machinery
from cosim_integrators.implicit_euler import ImplicitEuler
from cosim_integrators.radau3 import Radau3
from cosim_integrators.radau5 import Radau5
from cosim_integrators.trapezoid import Trapezoid
from cosim_mechanics import Multibody

HIGHER_ORDER = [Radau5, Esdirk43, Bdf]
ALL = [*HIGHER_ORDER, Radau3, ImplicitEuler, Trapezoid, GeneralizedAlpha]
HIRES = next(problem for problem in PROBLEMS if problem.name == "HIRES")


class DelayedFollower(cosim.Component):
    """A stiff state that follows half of its own value one second ago."""

    y = cosim.auxiliary_state(start=1.0)
    delayed_y = cosim.input()
    out = cosim.output()

    @cosim.kernel
    def show(y, out):
        out[0] = y

    @cosim.kernel
    def derivatives(y, delayed_y, y_dot):
        y_dot[0] = -500.0 * (y - 0.5 * delayed_y)


def growing(t, y, p, d, k, h, c, ints, first, count):
    # y' = p[0] y: the matrix of a step of 1 / p[0] is singular for the implicit Euler method
    c[0] = p[0] * y[0]
    c[1] += 1.0


class Sticking(cosim.Component):
    """A derivative that jumps without an event, beside a smooth state."""

    smooth = cosim.auxiliary_state()
    jumping = cosim.auxiliary_state(start=0.5e-3)

    @cosim.kernel
    def derivatives(jumping, smooth_dot, jumping_dot):
        smooth_dot[0] = 1.0
        jumping_dot[0] = -1e6 if jumping > 0.0 else 1e6


@pytest.mark.parametrize("method", [*HIGHER_ORDER, Radau3])
def test_an_event_of_a_stiff_system(method) -> None:
    model = cosim.Model("follower")
    model.add(Follower, "follower")
    simulator = cosim.Simulator(model.build(), integrator=method, accuracy=1e-7)
    simulator.advance_to(2.0)
    assert len(simulator.events) == 1
    # y = cos t + 1e-5 sin t up to the square of the small number
    assert simulator.events[0].time == pytest.approx(math.pi / 3 + 1e-5, abs=1e-6)
    assert simulator.state["follower.y"] == pytest.approx(1.0, abs=1e-9)
    assert simulator.integrator.statistics.steps < 400


@pytest.mark.parametrize("method", HIGHER_ORDER)
def test_a_delay_in_the_loop(method) -> None:
    model = cosim.Model("delayed_follower")
    model.add(DelayedFollower, "follower")
    model.add("measures.delay", "delayed", source="follower.out", delay=1.0)
    model.connect("delayed", "follower.delayed_y")
    simulator = cosim.Simulator(model.build(), integrator=method, accuracy=1e-7)
    for end, value in ((1.0, 0.5), (2.0, 0.25), (3.0, 0.125)):
        simulator.advance_to(end)
        assert simulator.state["follower.y"] == pytest.approx(value, abs=2e-6)
    assert simulator.integrator.statistics.steps < 1000


@pytest.mark.parametrize("method", ["radau5", "esdirk43", "bdf"])
def test_a_body_on_a_very_stiff_mount(method) -> None:
    model = Multibody("mounted")
    body = model.body("body", mass=2.0, inertia=(0.1, 0.2, 0.3))
    model.joint("free", child=body)
    place = {"frame_on_body1": (0.1, 0.05, 0.0), "frame_on_body2": (0.1, 0.05, 0.0)}
    values = {"stiffness": [1e8] * 6, "damping": [1e5] * 6}
    model.add("mechanics.linear_bushing", "mount", body1="ground", body2=body, **place, **values)
    result = model.simulate(until=1.0, integrator=f"integrators.{method}", accuracy=1e-6)
    sag = 2.0 * 9.81 / 1e8  # m; the rotation about the mount, which has an offset, adds to it
    assert result["body.z"][-1] == pytest.approx(-sag * (1.0 + 0.1**2 + 0.05**2), rel=1e-4)
    # an explicit method takes 300,000 steps
    most_steps = {"radau5": 150, "esdirk43": 240, "bdf": 1000}[method]
    assert result.statistics["integrator_steps"] < most_steps


@pytest.mark.few(2)
@pytest.mark.parametrize("method", [*HIGHER_ORDER, GeneralizedAlpha])
def test_a_chain_of_many_states_is_solved_with_a_band_matrix(method) -> None:
    system = chain(70)
    assert system.ny == 210 > machinery.LARGEST_DENSE
    ends = []
    for integrator in (DormandPrince(accuracy=1e-9), method(accuracy=1e-6)):
        state = system.default_state()
        state.set_u(np.cos(np.arange(70.0)))
        state.realize(cosim.Stage.ACCELERATION)
        integrator.initialize(system, state)
        assert integrator.advance(system, state, 0.5) is kit.StepCode.DONE
        ends.append(state.y.copy())
    assert (integrator._shape.sparse_solver, integrator._shape.is_band) == (0, 1)
    assert np.abs(ends[1] - ends[0]).max() < 3e-5


@pytest.mark.parametrize("distance", [0.1, 0.31])
def test_intermediate_targets_do_not_shorten_the_steps_between_them(distance) -> None:
    """A target costs backward differences about one step; they keep their order and step length."""
    system = BlockSystem(HIRES.block, 8)
    steps, ends = [], []
    for targets in ([31.0], [distance * (i + 1) for i in range(round(31.0 / distance))]):
        state = system.state(HIRES.start)
        integrator = Bdf(accuracy=1e-6, absolute_tolerance=1e-10)
        integrator.initialize(system, state)
        for target in targets:
            assert integrator.advance(system, state, target) is kit.StepCode.DONE
        steps.append(integrator.statistics.steps)
        ends.append(state.y.copy())
    assert steps[1] < 1.1 * len(targets) + 1.3 * steps[0]
    assert np.abs(ends[1] / ends[0] - 1.0).max() < 1e-4


@pytest.mark.parametrize("method", ALL)
def test_states_that_one_integrator_steps_alternately_do_not_disturb_each_other(method) -> None:
    """One integrator for two States in turn takes the same steps as one for each."""
    system = BlockSystem(HIRES.block, 8)
    ends = []
    for shared in (False, True):
        integrators = (
            [method(accuracy=1e-4)] * 2 if shared else [method(accuracy=1e-4), method(accuracy=1e-4)]
        )
        states = [system.state(HIRES.start), system.state(np.array(HIRES.start) * 0.5)]
        for integrator, state in zip(integrators, states, strict=True):
            integrator.initialize(system, state)
        for _ in range(12):
            for integrator, state in zip(integrators, states, strict=True):
                assert integrator.step(system, state, 300.0) is kit.StepCode.DONE
        ends.append(b"".join(s.y.tobytes() + s.integrator_memory.tobytes() for s in states))
    assert ends[0] == ends[1]


class Digests:
    """States of all methods at the end of a run, for the comparison with plain Python."""

    @classmethod
    def ends(cls) -> list[str]:
        system = BlockSystem(HIRES.block, 8)
        digests = []
        for method in ALL:
            state = system.state(HIRES.start)
            integrator = method(accuracy=1e-3)
            integrator.initialize(system, state)
            run(integrator, system, state, 0.5)
            digests.append((state.y.tobytes() + state.integrator_memory.tobytes()).hex())
        return digests


def test_plain_python_gives_the_same_bytes() -> None:
    assert results_in_other_mode(Digests, "ends") == Digests.ends()


def test_a_singular_matrix_is_a_failure_to_converge() -> None:
    system = BlockSystem(growing, 1)
    state = system.state([1.0], parameters=(8.0,))
    integrator = ImplicitEuler(fixed_step=0.125)
    integrator.initialize(system, state)
    before = state.integrator_memory.copy()
    assert integrator.step(system, state, 1.0) is kit.StepCode.NO_CONVERGENCE
    assert state.time == 0.0
    assert state.y[0] == 1.0
    assert np.array_equal(state.integrator_memory, before)


@pytest.mark.parametrize("method", [Radau5, Esdirk43])
def test_step_control_avoids_a_step_with_a_singular_matrix(method) -> None:
    system = BlockSystem(growing, 1)
    state = system.state([1.0], parameters=(8.0,))
    integrator = method(accuracy=1e-6, initial_step=0.25 / 8.0)
    integrator.initialize(system, state)
    run(integrator, system, state, 0.5)
    assert state.y[0] == pytest.approx(math.exp(4.0), rel=1e-4)


def test_the_error_of_newtons_method_names_the_state() -> None:
    model = cosim.Model("model")
    model.add(Sticking, "sticking")
    simulator = cosim.Simulator(model.build(), integrator="integrators.radau5", fixed_step=0.01)
    with pytest.raises(cosim.SimulationError, match=r"sticking\.jumping.*largest"):
        simulator.advance_to(1.0)
    assert simulator.state.time == 0.0


@pytest.mark.parametrize(
    ("method", "accuracy"), [*((m, 1e-7) for m in HIGHER_ORDER), (Trapezoid, 1e-5), (GeneralizedAlpha, 1e-5)]
)
def test_a_closed_loop_stays_closed(method, accuracy) -> None:
    """Corrections of constraints do not damage what a method carries from step to step."""
    assert method.capabilities.supports_constraints
    reference = REFERENCES["spatial_ball_loop"]
    first_sample, last_sample = reference["trajectory"]["samples"][0], reference["trajectory"]["samples"][-1]
    system = model_of(reference).build()
    state = system.default_state()
    put(reference, first_sample, system, state)
    simulator = cosim.Simulator(system, state, integrator=method, accuracy=accuracy)
    simulator.advance_to(last_sample["t"])
    state = simulator.state.realize(cosim.Stage.REPORT)
    assert np.abs(state.q - np.array(last_sample["q"])).max() < 10 * accuracy
    assert np.abs(state["c0.position_error"]).max() < 1e-9
    assert simulator.integrator.statistics.steps < (1000 if method in HIGHER_ORDER else 4000)
