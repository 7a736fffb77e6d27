"""Steps with error control end at kinks of `abs`, `max`, `min` and branches, so that accuracies hold."""

import inspect
import math

import numpy as np
import pytest
from kink_problems import CLASSES, POINTS, UNTIL, Chua, Saturation, clamp, reference, system_of
from scipy.integrate import solve_ivp

import cosim
from cosim import kit
from cosim.functions import interp
from cosim.kit import MethodSlots, rows_of
from cosim.testing.known_solution import known_system
from cosim.testing.other_mode import results_in_other_mode
from cosim_compiler.sources.kernel_sides import sides_of
from cosim_compiler.sources.side_functions import nearer_side

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


def largest_error(cls, method, accuracy):
    """In accuracies of the largest value of each state, between the ends of steps, too."""
    exact, size, _ = reference(cls)
    simulator = cosim.Simulator(system_of(cls), integrator=f"integrators.{method}", accuracy=accuracy)
    out, worst, k = np.zeros(size.size), 0.0, 1
    while k < POINTS.size:
        simulator.step(UNTIL)
        while k < POINTS.size and POINTS[k] <= simulator.state.time:
            simulator.integrator.interpolate(POINTS[k], out)
            worst = max(worst, float((np.abs(out - exact[:, k]) / size).max()))
            k += 1
    return worst / accuracy, simulator.integrator.statistics


@pytest.mark.few(4)
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("method", METHODS)
def test_errors_are_within_ten_accuracies(cls, method) -> None:
    _, _, grown = reference(cls)
    error, _ = largest_error(cls, method, 1e-6)
    often = (
        1.5 if method == "bdf" else 1.0
    )  # whose errors add up where something swings, with kinks or without
    assert error <= often * max(10.0, grown)


@pytest.mark.by_turns
@pytest.mark.parametrize("accuracy", [1e-5, 1e-8])
@pytest.mark.parametrize("method", ["dormand_prince", "radau5"])
def test_other_accuracies(method, accuracy) -> None:
    for cls in CLASSES:
        error, _ = largest_error(cls, method, accuracy)
        assert error <= max(10.0, reference(cls)[2])


def test_steps_end_just_behind_kinks() -> None:
    simulator = cosim.Simulator(system_of(Chua), integrator="integrators.dormand_prince", accuracy=1e-6)
    before, found = 0.7, 0
    while simulator.state.time < UNTIL:
        simulator.step(UNTIL)
        x = simulator.state.y[0]
        if (abs(x) > 1.0) != (abs(before) > 1.0):
            found += 1
            assert abs(abs(x) - 1.0) < 1e-6
            assert simulator.integrator.reason is kit.StepReason.KINK
        before = x
    assert found >= 3


def test_smooth_systems_and_fixed_steps_know_nothing_of_it() -> None:
    integrator = kit_integrator("dormand_prince", known_system(), accuracy=1e-6)
    slots = integrator.kernels(known_system()).slots
    assert rows_of(MethodSlots, slots, 0, 1)[0].kinks == 0
    system = system_of(Chua)
    fixed = kit_integrator("runge_kutta_4", system, fixed_step=0.01)
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    fixed.initialize(system, state)
    while state.time < 1.0:
        assert fixed.step(system, state, 1.0) is kit.StepCode.DONE
    assert fixed.statistics.steps == 100


def kit_integrator(name, system, **options):
    return cosim.registry().get("integrator", f"integrators.{name}")(**options)


@pytest.mark.parametrize("method", ["radau3", "radau5", "esdirk43", "bdf"])
def test_newton_s_method_does_not_trust_the_matrix_before_a_kink(method) -> None:
    """`radau5` begins a step 3e-8 before a kink: linear on both sides, so one iteration seemed enough."""
    system = system_of(Saturation)
    state = system.default_state()
    state["part.q"], state["part.v"] = start = (1.353851817905805, 0.8335243270731896)
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.record(["part.q", "part.v"], "grid", interval=0.2, until=12.0)
    simulator.advance_to(12.0)
    rows = np.asarray(simulator.take_rows())

    def law(t, y):
        return [y[1], -y[0] - clamp(5.0 * y[1], -1.0, 1.0) + 2.0 * math.sin(1.7 * t)]

    how = {"t_eval": rows[:, 0], "rtol": 1e-11, "atol": 1e-13, "max_step": 0.02}
    exact = solve_ivp(law, (0.0, 12.0), start, "DOP853", **how).y
    size = np.abs(exact).max(axis=1)
    assert (np.abs(rows[:, 1:].T - exact).max(axis=1) / size).max() < 1e-5


class AtKink(cosim.Component):
    """Begins on its kink; one state leaves it, one stays there for ever, one touches it."""

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
    """It amplifies an error 140- to 1,800-fold from starts around there: no more from the kink itself."""
    errors = [
        np.abs(chua_at_end(method, start, 1e-6) - chua_at_end("dormand_prince_853", start, 1e-11)).max()
        for start in (kink, 0.99 * kink, 1.01 * kink)
    ]
    assert errors[0] <= 2.0 * max(errors[1:])


class Stick(cosim.Component):
    """Dry friction written as a jump: the speed slides at the jump, which no step can be made to end at."""

    v = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(t, v, v_dot):
        v_dot[0] = 0.3 * math.sin(t) - (1.0 if v > 0.0 else -1.0)


def test_a_derivative_that_jumps_stays_to_error_control() -> None:
    simulator = cosim.Simulator(system_of(Stick), integrator="integrators.dormand_prince", accuracy=1e-2)
    while simulator.state.time < 1.5:
        simulator.step(1.5)
        assert simulator.integrator.reason is not kit.StepReason.KINK
    assert abs(simulator.state.y[0]) < 1e-2
    assert simulator.integrator.statistics.steps < 20000


def test_a_resumed_run_goes_on_to_the_same_bytes() -> None:
    system = system_of(Chua)
    for method in ("tsitouras", "bdf"):
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6)
        for _ in range(25):
            simulator.step(UNTIL)
        state = system.state_from_bytes(simulator.state.to_bytes())
        other = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=1e-6)
        for _ in range(30):
            simulator.step(UNTIL)
            other.step(UNTIL)
            assert other.state.to_bytes() == simulator.state.to_bytes()


class Ends:
    """States of all problems after some time."""

    @classmethod
    def found(cls) -> list[str]:
        """For each problem and some methods."""
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
    assert results_in_other_mode(Ends, "found") == Ends.found()


# what the sources tell


def law(x, y, z, k, x_dot, y_dot, z_dot):
    """Kinks of many kinds."""
    f = abs(x + 1.0) - abs(x - 1.0)
    g = 2.0 * f
    x_dot[0] = max(g, k, z)
    h = abs(y) if z > 0.0 else 0.0
    for i in range(3):
        u = x * i
        y_dot[0] = min(u, 1.0)
    z_dot[0] = clamp(y, -1.0, 1.0) + h + max(k, 2.0)
    z_dot[0] += 1.0 + (abs(z) if y > 0.0 else 0.0)


def test_what_is_found_in_a_source() -> None:
    sides = sides_of(law, frozenset(["k"]))
    read = [list(inspect.signature(f).parameters) for f in sides.functions]
    assert read.count(["x"]) == 2 + 3
    assert ["x", "k"] in read and ["x", "z", "k"] in read and ["y", "z"] in read
    assert read.count(["y"]) == 3  # of clamp two; and the branch in the last line
    first = law.__code__.co_firstlineno
    assert sides.missed == (first + 10,)
    named = {tuple(r): f for r, f in zip(read, sides.functions, strict=True)}
    assert named["x", "k"](0.75, 3.0) == 0.0 or named["x", "k"](0.75, 3.0) == 1e-300
    assert named["y", "z"](-2.0, 1.0) == -2.0
    assert named["y", "z"](-2.0, -1.0) == 1e300


def test_parameters_have_no_kinks() -> None:
    assert sides_of(law, frozenset("xyzk")).functions == ()
    assert sides_of(law, frozenset("xyzk")).lines == ()


def law_of_neighbours(x, y_dot):
    last = len(x) - 1
    for i in range(last + 1):
        left = x[i - 1] if i > 0 else 0.0
        right = x[i + 1] if i < last else 0.0
        y_dot[i] = left + right + max(i, 3)
        if i > last - y_dot.shape[0]:
            y_dot[i] -= 1.0


def law_of_some(x, n, y_dot):
    for i in range(len(x)):
        if x[i] > 0.0:
            y_dot[i] = float(i)
        if i > n:
            y_dot[i] = float(len(x))


def test_lengths_and_places_in_arrays_have_no_kinks() -> None:
    assert sides_of(law_of_neighbours, frozenset()).functions == ()
    assert sides_of(law_of_neighbours, frozenset()).lines == ()
    assert len(sides_of(law_of_some, frozenset(["n"])).functions) == 1
    assert len(sides_of(law_of_some, frozenset()).functions) == 2


def test_the_sign_of_the_nearer_one() -> None:
    assert nearer_side(1e300, 0.0) == 1e-300
    assert nearer_side(-3.0, 2.0) == -2.0
    assert nearer_side(-3.0, -2.0) == 2.0


def test_a_component_tells_its_kinks_itself() -> None:
    class Table(cosim.Component):
        """Tells its kink in a slot."""

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


class FromTables(cosim.Component):
    """Reads one table at a place that moves, and another one at a place that does not."""

    at = cosim.parameter(default=0.5)
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(at, x, x_dot):
        slope = interp(at, (0.0, 1.0), (1.0, 2.0))
        x_dot[0] = -interp(x, (0.0, 0.5, 1.0), (0.0, 0.1, 1.0)) - slope * max(x - 0.2, 0.0)


def test_kinks_of_tables_are_known_to_be_missed() -> None:
    """They were missed, and `cosim describe` said nothing of them."""
    assert len(FromTables.kink_functions) == 1  # that of `max`
    missed = kit.missed_kinks(FromTables.kernels, FromTables.arguments, FromTables.declarations)
    assert missed == [f"law:{FromTables.kernels['law'].function.__code__.co_firstlineno + 3}"]


def test_describe_says_what_happens_at_kinks() -> None:
    from cosim_workbench.describe_command import describe

    for adaptive in ("dormand_prince", "radau5", "bdf", "generalized_alpha"):
        assert "error control end" in describe(f"integrators.{adaptive}")
        assert "a power below 2" in describe(f"integrators.{adaptive}")
    for other in ("velocity_verlet", "runge_kutta_4", "scipy_bdf", "cvode"):
        assert "kinks: stepped over" in describe(f"integrators.{other}")
    assert "kinks: announced" in describe("signals.limiter")
    assert "error control end" in describe("measures.rate_limiter")
    assert "kinks" not in describe("measures.integrate")
