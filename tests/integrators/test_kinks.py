"""Steps with error control end at kinks of `abs`, `max`, `min` and branches, so that accuracies hold."""

import math

import numpy as np
import pytest
from kink_problems import CLASSES, POINTS, UNTIL, Chua, Saturation, clamp, reference, system_of
from scipy.integrate import solve_ivp

import cosim
from cosim import kit
from cosim.kit import MethodSlots, rows_of
from cosim.testing.known_solution import known_system
from cosim.testing.other_mode import results_in_other_mode

METHODS = [
    "bogacki_shampine",
    "runge_kutta_merson",
    "dormand_prince",
    "tsitouras",
    "dormand_prince_853",
    "radau3",
    "radau5",
    "esdirk43",
    "bdf",
]


def integrator_of(name, **options):
    """Return a new integrator."""
    return cosim.registry().get("integrator", f"integrators.{name}")(**options)


def largest_error(cls, method, accuracy):
    """The largest error of a run, also between the ends of steps.

    Each state is compared with its largest value; the unit is the accuracy.
    """
    exact, largest_values, _ = reference(cls)
    simulator = cosim.Simulator(system_of(cls), integrator=f"integrators.{method}", accuracy=accuracy)
    out, largest, k = np.zeros(largest_values.size), 0.0, 1
    while k < POINTS.size:
        simulator.step(UNTIL)
        while k < POINTS.size and POINTS[k] <= simulator.state.time:
            simulator.integrator.interpolate(POINTS[k], out)
            largest = max(largest, float((np.abs(out - exact[:, k]) / largest_values).max()))
            k += 1
    return largest / accuracy


@pytest.mark.few(4)
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("method", METHODS)
def test_errors_are_within_ten_accuracies(cls, method) -> None:
    _, _, amplification = reference(cls)  # a chaotic system enlarges even an error of one accuracy
    # errors of BDF add up in oscillations, with kinks or without
    allowance = 1.5 if method == "bdf" else 1.0
    assert largest_error(cls, method, 1e-6) <= allowance * max(10.0, amplification)


@pytest.mark.by_turns
@pytest.mark.parametrize("accuracy", [1e-5, 1e-8])
@pytest.mark.parametrize("method", ["dormand_prince", "radau5"])
def test_other_accuracies(method, accuracy) -> None:
    for cls in CLASSES:
        _, _, amplification = reference(cls)
        assert largest_error(cls, method, accuracy) <= max(10.0, amplification)


def test_steps_end_just_behind_kinks() -> None:
    simulator = cosim.Simulator(system_of(Chua), integrator="integrators.dormand_prince", accuracy=1e-6)
    last_x, crossings = 0.7, 0
    while simulator.state.time < UNTIL:
        simulator.step(UNTIL)
        x = simulator.state.y[0]
        if (abs(x) > 1.0) != (abs(last_x) > 1.0):
            crossings += 1
            assert abs(abs(x) - 1.0) < 1e-6
            assert simulator.integrator.reason is kit.StepReason.KINK
        last_x = x
    assert crossings >= 3


def test_methods_search_no_kinks_in_smooth_systems() -> None:
    slots = integrator_of("dormand_prince", accuracy=1e-6).kernels(known_system()).slots
    assert rows_of(MethodSlots, slots, 0, 1)[0].kinks == 0


def test_fixed_steps_do_not_end_at_kinks() -> None:
    system = system_of(Chua)
    fixed = integrator_of("runge_kutta_4", fixed_step=0.01)
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    fixed.initialize(system, state)
    while state.time < 1.0:
        assert fixed.step(system, state, 1.0) is kit.StepCode.DONE
    assert fixed.statistics.steps == 100


@pytest.mark.parametrize("method", ["radau3", "radau5", "esdirk43", "bdf"])
def test_implicit_steps_across_a_kink_iterate_more_than_once(method) -> None:
    """From this start `radau5` begins a step 3e-8 before a kink, where the law is linear on both sides.

    With the matrix of the side before the kink, the first iteration looks as if it had converged.
    """
    system = system_of(Saturation)
    state = system.default_state()
    state["part.q"], state["part.v"] = start = (1.353851817905805, 0.8335243270731896)
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.record(["part.q", "part.v"], "grid", interval=0.2, until=12.0)
    simulator.advance_to(12.0)
    rows = np.asarray(simulator.take_rows())

    def law(t, y):
        return [y[1], -y[0] - clamp(5.0 * y[1], -1.0, 1.0) + 2.0 * math.sin(1.7 * t)]

    options = {"t_eval": rows[:, 0], "rtol": 1e-11, "atol": 1e-13, "max_step": 0.02}
    exact = solve_ivp(law, (0.0, 12.0), start, "DOP853", **options).y
    largest_values = np.abs(exact).max(axis=1)
    assert (np.abs(rows[:, 1:].T - exact).max(axis=1) / largest_values).max() < 1e-5


class AtKink(cosim.Component):
    """Three states: one leaves a kink at the start, one stays on a kink, one touches a kink at 1 s."""

    leaves = cosim.auxiliary_state(start=0.0)
    stays = cosim.auxiliary_state(start=0.0)
    touches = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(t, leaves, stays, touches, leaves_dot, stays_dot, touches_dot):
        leaves_dot[0] = -1.0 - abs(leaves)
        stays_dot[0] = -abs(stays)
        touches_dot[0] = 2.0 * (t - 1.0) + 0.0 * max(touches, 0.0)


@pytest.mark.parametrize("method", METHODS)
def test_states_exactly_at_a_kink(method) -> None:
    system = system_of(AtKink)
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.advance_to(2.0)
    leaves, stays, touches = simulator.state.y
    assert leaves == pytest.approx(1.0 - math.exp(2.0), rel=1e-5)
    assert stays == 0.0
    assert touches == pytest.approx(1.0, abs=1e-5)
    assert simulator.integrator.statistics.steps < 20000


def chua_at_end(method, start, accuracy):
    """The states of Chua's circuit after 6 s, from a voltage at the start."""
    state = system_of(Chua).default_state()
    state["part.x"] = start
    simulator = cosim.Simulator(system_of(Chua), state, integrator=f"integrators.{method}", accuracy=accuracy)
    simulator.advance_to(UNTIL)
    return simulator.state.y.copy()


@pytest.mark.parametrize("method", ["runge_kutta_merson", "bdf"])
@pytest.mark.parametrize("kink", [1.0, -1.0])
def test_a_start_exactly_on_a_kink_costs_no_accuracy(method, kink) -> None:
    """The error is at most twice that from starts beside the kink.

    From all these starts the circuit amplifies an error by a factor of 140 to 1,800.
    """
    errors = [
        np.abs(chua_at_end(method, start, 1e-6) - chua_at_end("dormand_prince_853", start, 1e-11)).max()
        for start in (kink, 0.99 * kink, 1.01 * kink)
    ]
    assert errors[0] <= 2.0 * max(errors[1:])


class Stick(cosim.Component):
    """Dry friction written as a jump: the speed chatters around zero."""

    v = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(t, v, v_dot):
        v_dot[0] = 0.3 * math.sin(t) - (1.0 if v > 0.0 else -1.0)


def test_at_a_jump_of_a_derivative_error_control_limits_steps() -> None:
    simulator = cosim.Simulator(system_of(Stick), integrator="integrators.dormand_prince", accuracy=1e-2)
    while simulator.state.time < 1.5:
        simulator.step(1.5)
        assert simulator.integrator.reason is not kit.StepReason.KINK
    assert abs(simulator.state.y[0]) < 1e-2
    assert simulator.integrator.statistics.steps < 20000


def test_a_resumed_run_has_the_same_bytes() -> None:
    system = system_of(Chua)
    for method in ("tsitouras", "bdf"):
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6)
        for _ in range(25):
            simulator.step(UNTIL)
        state = system.state_from_bytes(simulator.state.to_bytes())
        resumed = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
        for _ in range(30):
            simulator.step(UNTIL)
            resumed.step(UNTIL)
            assert resumed.state.to_bytes() == simulator.state.to_bytes()


class Ends:
    """States of all problems after 1.5 s."""

    @classmethod
    def texts(cls) -> list[str]:
        """The bytes of the State, for each problem and two methods."""
        texts = []
        for problem in CLASSES:
            for method in ("dormand_prince", "radau5"):
                simulator = cosim.Simulator(
                    system_of(problem), integrator=f"integrators.{method}", accuracy=1e-5
                )
                simulator.advance_to(1.5)
                texts.append(f"{problem.__name__} {method} {simulator.state.to_bytes().hex()}")
        return texts


def test_compiled_is_plain_python() -> None:
    assert results_in_other_mode(Ends, "texts") == Ends.texts()


def test_a_component_can_report_its_kinks() -> None:
    class Table(cosim.Component):
        """Reports its kink in the slot `side_of_kink`: nothing in its law shows it."""

        x = cosim.auxiliary_state(start=-1.0)
        y = cosim.auxiliary_state()
        side_of_kink = cosim.cache_slot(internal=True)

        @cosim.kernel
        def law(x, x_dot, y_dot):
            x_dot[0] = 1.0
            y_dot[0] = math.sqrt(x * x)

        @cosim.kernel
        def side(x, side_of_kink):
            side_of_kink[0] = x

    model = cosim.Model("table")
    model.add(Table, "table")
    simulator = cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=1e-6)
    ends = []
    while simulator.state.time < 2.0:
        simulator.step(2.0)
        ends.append(simulator.state.time)
    assert min(abs(t - 1.0) for t in ends) < 1e-9
