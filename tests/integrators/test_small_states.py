"""Tolerances follow the size of each state: small amplitudes, starts at 0, rounding, states that return."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from error_problems import Decay
from scipy.integrate import solve_ivp

import cosim
from cosim import registry
from cosim_mechanics import Multibody

EXPLICIT = ("runge_kutta_merson", "tsitouras", "dormand_prince", "dormand_prince_853", "bogacki_shampine")
IMPLICIT = ("radau5", "esdirk43", "bdf", "radau3")
CONTROLLED = (*EXPLICIT, *IMPLICIT)
ACCURACY = 1e-6
OWN = 10.0 * ACCURACY


class Oscillator(cosim.Component):
    """A mass on a spring of 1 N/m."""

    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -q


class Declared(cosim.Component):
    """As `Oscillator`, of a size that its author has declared."""

    q = cosim.position(unit="m", nominal=1.0)
    u = cosim.speed(unit="m/s", nominal=1.0)

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -q


class Driven(cosim.Component):
    """A mass on a spring, at rest until a small force moves it."""

    force = cosim.parameter(unit="N", default=1e-9)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(t, q, u, force, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = force * math.sin(t) - 4.0 * q


class Rod(cosim.Component):
    """Twenty pieces of a cold rod that is heated at one end."""

    heat = cosim.parameter(unit="1", default=1.0)
    y = cosim.auxiliary_state(shape=20)

    @cosim.kernel
    def law(y, heat, y_dot):
        for i in range(20):
            left = y[i - 1] if i > 0 else heat
            right = y[i + 1] if i < 19 else y[i]
            y_dot[i] = 10.0 * (left - 2.0 * y[i] + right)


class Mount(cosim.Component):
    """A mass on three springs, which pull it aside by rounding alone."""

    q = cosim.position(unit="m", shape=3)
    u = cosim.speed(unit="m/s", shape=3)

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        x = 0.0
        y = 0.0
        z = 0.0
        for i in range(3):
            angle = 0.3 + 2.0943951023931953 * i
            a = q[0] - math.cos(angle)
            b = q[1] - math.sin(angle)
            length = math.sqrt(a * a + b * b + q[2] * q[2])
            pull = -100.0 * (length - 0.8) / length
            x += pull * a
            y += pull * b
            z += pull * q[2]
        for i in range(3):
            q_dot[i] = u[i]
        u_dot[0] = x - 0.1 * u[0]
        u_dot[1] = y - 0.1 * u[1]
        u_dot[2] = z - 9.81 - 0.1 * u[2]


class Epidemic(cosim.Component):
    """An infection that dies down to far less than one person and returns."""

    susceptible = cosim.auxiliary_state(start=0.9)
    infected = cosim.auxiliary_state(start=1e-3)

    @cosim.kernel
    def law(susceptible, infected, susceptible_dot, infected_dot):
        meeting = 2.0 * susceptible * infected
        susceptible_dot[0] = 0.001 * (1.0 - susceptible) - meeting
        infected_dot[0] = meeting - 0.4 * infected


class Pushed(cosim.Component):
    """A mass that comes to rest and is pushed again from outside."""

    q = cosim.position(unit="m", start=1.0)
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(t, q, u, q_dot, u_dot):
        force = 0.0
        if t > 60.0:
            force = (t - 60.0) * (t - 60.0)
        q_dot[0] = u
        u_dot[0] = force - q - u


def system_of(part: type[cosim.Component], **values: Any) -> tuple[cosim.System, cosim.State]:
    model = cosim.Model("small")
    model.add(part, "part")
    system = model.build()
    state = system.default_state()
    for name, value in values.items():
        state[f"part.{name}"] = value
    return system, state


def simulator_of(part: type[cosim.Component], integrator: str, options: Any = None, **values: Any) -> Any:
    system, state = system_of(part, **values)
    how = {"integrator": f"integrators.{integrator}", "accuracy": ACCURACY, **(options or {})}
    return cosim.Simulator(system, state, **how)


def rows_of(simulator: Any, until: float, *names: str) -> np.ndarray:
    simulator.record([f"part.{name}" for name in names], "grid", interval=until / 200, until=until)
    simulator.advance_to(until)
    return np.asarray(simulator.take_rows())


def own_error(rows: np.ndarray, right: list[np.ndarray]) -> float:
    return max(float(np.abs(rows[:, i + 1] - y).max() / np.abs(y).max()) for i, y in enumerate(right))


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize("amplitude", [1e-9, 1e-15])
def test_a_small_amplitude_is_as_exact_as_one_of_1(integrator: str, amplitude: float) -> None:
    rows = rows_of(simulator_of(Oscillator, integrator, q=amplitude), 20.0, "q", "u")
    t = rows[:, 0]
    assert own_error(rows, [amplitude * np.cos(t), -amplitude * np.sin(t)]) < OWN


@pytest.mark.parametrize("integrator", CONTROLLED)
def test_so_is_one_that_begins_with_a_speed(integrator: str) -> None:
    rows = rows_of(simulator_of(Oscillator, integrator, u=1e-9), 20.0, "q", "u")
    t = rows[:, 0]
    assert own_error(rows, [1e-9 * np.sin(t), 1e-9 * np.cos(t)]) < OWN


@pytest.mark.parametrize("integrator", CONTROLLED)
def test_so_is_one_that_a_force_moves_from_rest(integrator: str) -> None:
    rows = rows_of(simulator_of(Driven, integrator), 20.0, "q", "u")
    t = rows[:, 0]
    q = (np.sin(t) - 0.5 * np.sin(2.0 * t)) / 3.0
    u = (np.cos(t) - np.cos(2.0 * t)) / 3.0
    assert own_error(rows, [1e-9 * q, 1e-9 * u]) < OWN


def steps(part: type[cosim.Component], integrator: str, until: float, **values: Any) -> int:
    simulator = simulator_of(part, integrator, **values)
    simulator.advance_to(until)
    return int(simulator.statistics.integrator_steps)


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "esdirk43"])
def test_a_power_of_two_changes_no_step(integrator: str) -> None:
    small = steps(Oscillator, integrator, 20.0, q=2.0**-40)
    assert small == pytest.approx(steps(Oscillator, integrator, 20.0, q=1.0), rel=0.02)


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5", "radau3", "bdf"])
def test_what_grows_from_0_through_all_sizes_does_not_stop_a_run(integrator: str) -> None:
    """The last piece of the rod grows like the twentieth power of time."""
    by_a_size_of_1 = {"runge_kutta_merson": 191, "radau5": 119, "radau3": 974, "bdf": 314}[integrator]
    allowed = 1.1 * by_a_size_of_1
    assert steps(Rod, integrator, 10.0) < allowed
    assert steps(Rod, integrator, 10.0, heat=1e-9) < allowed


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "bdf"])
@pytest.mark.parametrize("aside", [0.0, 1e-18])
def test_what_rounding_moves_costs_few_steps(integrator: str, aside: float) -> None:
    start = [aside, 0.0, 0.1]
    usual = {"absolute_tolerance": 1e-3 * float(simulator_of(Mount, integrator).integrator.step_accuracy)}
    before = simulator_of(Mount, integrator, usual, q=start)
    before.advance_to(5.0)
    assert steps(Mount, integrator, 5.0, q=start) < before.statistics.integrator_steps + 70


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize("accuracy", [1e-4, 1e-6])
def test_so_does_what_rounding_moves_where_all_begins_at_0(integrator: str, accuracy: float) -> None:
    found = []
    for of_size_1 in (False, True):
        system, state = system_of(Mount)
        how: dict[str, Any] = {"integrator": f"integrators.{integrator}", "accuracy": accuracy}
        if of_size_1:
            step_accuracy = cosim.Simulator(system, system.default_state(), **how).integrator.step_accuracy
            how["absolute_tolerance"] = 1e-3 * float(step_accuracy)
        simulator = cosim.Simulator(system, state, **how)
        simulator.advance_to(5.0)
        found.append(int(simulator.statistics.integrator_steps))
    assert found[0] < 1.1 * found[1] + 30


@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize("accuracy", [1e-4, 1e-6])
@pytest.mark.parametrize("aside", [0.0, 1e-18])
def test_rounding_makes_the_first_steps_of_a_mount_hardly_shorter(
    integrator: str, accuracy: float, aside: float
) -> None:
    found = []
    for of_size_1 in (False, True):
        how: dict[str, Any] = {"accuracy": accuracy}
        if of_size_1:
            simulator = simulator_of(Mount, integrator, how)
            how["absolute_tolerance"] = 1e-3 * float(simulator.integrator.step_accuracy)
        simulator = simulator_of(Mount, integrator, how, q=[aside, 0.0, 0.1])
        simulator.advance_to(1.0)
        found.append(int(simulator.statistics.integrator_steps))
    assert found[0] < 1.1 * found[1] + 25


@pytest.mark.parametrize("integrator", CONTROLLED)
def test_what_stays_0_costs_nothing(integrator: str) -> None:
    assert steps(Oscillator, integrator, 1e4) < 40


def test_a_users_own_absolute_tolerance_wins() -> None:
    given = {"absolute_tolerance": 1e-9}
    simulator = simulator_of(Oscillator, "runge_kutta_merson", given, q=1e-9)
    simulator.advance_to(20.0)
    assert simulator.statistics.integrator_steps < 40


def test_an_authors_nominal_wins() -> None:
    assert steps(Declared, "runge_kutta_merson", 20.0, q=1e-9) < 40
    system, _ = system_of(Declared)
    integrator = registry().get("integrator", "integrators.runge_kutta_merson")(accuracy=1e-6)
    assert integrator.held_sizes(system).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "esdirk43"])
def test_what_grows_back_from_below_its_tolerance_is_a_finding(integrator: str) -> None:
    model = cosim.Model("epidemic")
    model.add(Epidemic, "town")
    result = model.simulate(until=385.0, integrator=integrator, accuracy=ACCURACY)
    found = [finding for finding in result.findings if finding.kind == "grew back"]
    assert [finding.witness for finding in found] == ["town.infected"]
    assert 150.0 < found[0].time < 450.0


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "bdf"])
@pytest.mark.parametrize(("part", "until"), [(Pushed, 70.0), (Decay, 100.0), (Oscillator, 100.0)])
def test_what_falls_or_is_pushed_is_none(integrator: str, part: type[cosim.Component], until: float) -> None:
    model = cosim.Model("pushed")
    model.add(part, "part")
    assert not model.simulate(until=until, integrator=integrator, accuracy=ACCURACY).findings


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5", "bdf"])
@pytest.mark.parametrize(("part", "until"), [(Driven, 20.0), (Mount, 2.0), (Epidemic, 300.0)])
def test_a_resumed_run_goes_on_to_the_same_bytes(
    integrator: str, part: type[cosim.Component], until: float
) -> None:
    whole = simulator_of(part, integrator)
    for fraction in (0.1, 0.5, 1.0):
        whole.advance_to(fraction * until)
    broken = simulator_of(part, integrator)
    for fraction in (0.1, 0.5, 1.0):
        data = broken.state.to_bytes()
        broken = cosim.Simulator(
            broken.system,
            broken.system.state_from_bytes(data),
            integrator=f"integrators.{integrator}",
            accuracy=ACCURACY,
        )
        broken.advance_to(fraction * until)
    assert broken.state.to_bytes() == whole.state.to_bytes()


class Kinked(cosim.Component):
    """A mass on a spring that is stiff on one side and soft on the other."""

    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -q - 0.9 * abs(q)


@pytest.mark.parametrize("method", ["tsitouras", "dormand_prince", "radau5", "esdirk43", "radau3", "bdf"])
def test_kinks_of_small_states_count_as_those_of_large_ones(method: str) -> None:
    model = cosim.Model("kinked")
    model.add(Kinked, "a")
    result = model.simulate(until=30.0, integrator=f"integrators.{method}", accuracy=ACCURACY)
    stiff, soft = math.sqrt(1.9), math.sqrt(0.1)
    period = math.pi / stiff + math.pi / soft
    since = (np.asarray(result["time"]) + 0.5 * math.pi / stiff) % period
    right = np.where(
        since < math.pi / stiff,
        np.sin(stiff * since),
        -stiff / soft * np.sin(soft * (since - math.pi / stiff)),
    )
    assert np.abs(np.asarray(result["a.q"]).ravel() * 1e9 - right).max() < OWN * stiff / soft


class Beside(cosim.Component):
    """A small oscillator that a large one of another frequency stands beside."""

    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")
    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))

    @cosim.kernel
    def law(q, u, large, q_dot, u_dot, large_dot):
        q_dot[0] = u
        u_dot[0] = -9.0 * q
        large_dot[0] = large[1]
        large_dot[1] = -large[0]


class Hardened(cosim.Component):
    """A small oscillator that is stiffer the farther it moves, and a large one that it does not feel."""

    size = cosim.parameter(default=1.0)
    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")
    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))

    @cosim.kernel
    def law(q, u, large, size, q_dot, u_dot, large_dot):
        share = q / size
        q_dot[0] = u
        u_dot[0] = -size * (share + share * share * share)
        large_dot[0] = large[1]
        large_dot[1] = -large[0]


class Product(cosim.Component):
    """A small state that the product of two large ones drives."""

    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))
    small = cosim.auxiliary_state()

    @cosim.kernel
    def law(large, small, large_dot, small_dot):
        large_dot[0] = large[1]
        large_dot[1] = -large[0]
        small_dot[0] = 8e-9 * large[0] * large[1] - 2.0 * small


class Stiffened(cosim.Component):
    """A small oscillator whose stiffness a large state changes: Mathieu's equation."""

    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))
    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(large, q, u, large_dot, q_dot, u_dot):
        large_dot[0] = large[1]
        large_dot[1] = -large[0]
        q_dot[0] = u
        u_dot[0] = -(4.0 + 2.0 * large[0]) * q


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_small_states_that_large_ones_move_are_solved_for(integrator: str) -> None:
    """Newton's method solves for the large states at once, and not for what their product drives."""
    rows = rows_of(simulator_of(Product, integrator), 20.0, "small")
    t = rows[:, 0]
    right = 1e-9 * (np.cos(2.0 * t) - np.sin(2.0 * t) - np.exp(-2.0 * t))
    assert own_error(rows, [right]) < OWN


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_so_are_those_whose_rate_is_a_product_with_large_ones(integrator: str) -> None:
    rows = rows_of(simulator_of(Stiffened, integrator), 20.0, "q", "u")
    exact = mathieu(rows[:, 0])
    assert own_error(rows, list(1e-9 * exact)) < OWN


def mathieu(t: np.ndarray) -> np.ndarray:
    """q and u of a `Stiffened` of amplitude 1."""
    return solved(t, lambda t, q: -(4.0 + 2.0 * math.cos(t)) * q)


def hardened(t: np.ndarray) -> np.ndarray:
    """q and u of a `Hardened` of amplitude 1."""
    return solved(t, lambda t, q: -q - q**3)


def solved(t: np.ndarray, force: Callable[[float, float], float]) -> np.ndarray:
    """q and u of a mass of 1 kg that begins at q = 1 m, by a method of another house."""

    def law(t: float, y: np.ndarray) -> list[float]:
        return [y[1], force(t, y[0])]

    return solve_ivp(law, (0.0, t[-1]), [1.0, 0.0], "DOP853", t_eval=t, rtol=1e-12, atol=1e-14).y


@pytest.mark.few(3)
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize(
    ("part", "exact"),
    [
        (Beside, lambda t: np.array([np.cos(3.0 * t), -3.0 * np.sin(3.0 * t)])),
        (Hardened, hardened),
        (Stiffened, mathieu),
    ],
)
def test_beside_a_state_of_1_the_smallest_is_as_exact_as_others(
    integrator: str, part: type[cosim.Component], exact: Callable[[np.ndarray], np.ndarray]
) -> None:
    errors = []
    for amplitude in (2.0**-10, 2.0**-30, 2.0**-40):
        size = {"size": amplitude} if part is Hardened else {}
        rows = rows_of(simulator_of(part, integrator, q=amplitude, **size), 20.0, "q", "u")
        errors.append(own_error(rows, list(amplitude * exact(rows[:, 0]))))
    assert max(errors[1:]) < max(1.1 * errors[0], OWN)


class Anchored(cosim.Component):
    """A mass on a spring; where it is, is computed from a place that is far away."""

    place = cosim.parameter(unit="m", default=0.0)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")
    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))

    @cosim.kernel
    def law(q, u, large, place, q_dot, u_dot, large_dot):
        q_dot[0] = u
        u_dot[0] = -100.0 * ((place + q) - place) - u
        large_dot[0] = large[1]
        large_dot[1] = -large[0]


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize("place", [0.1, 10.0])
def test_what_rounding_hides_costs_no_steps(integrator: str, place: float) -> None:
    """The sum is rounded to 1.4e-17 or 1.8e-15, so at most six digits of q are left."""
    free = steps(Anchored, integrator, 20.0, q=1e-11)
    assert steps(Anchored, integrator, 20.0, q=1e-11, place=place) < 1.1 * free


class Shifted(cosim.Component):
    """A mass of 1 kg on a spring, whose length is computed from a place that is far away."""

    place = cosim.parameter(unit="m", default=0.0)
    stiffness = cosim.parameter(unit="N/m", default=1.0)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, place, stiffness, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -stiffness * ((place + q) - place)


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize(("amplitude", "place"), [(1e-9, 0.1), (1e-11, 0.1), (1e-9, 10.0), (3e-7, 3e3)])
@pytest.mark.parametrize("stiffness", [1.0, 900.0])
def test_what_rounding_leaves_of_a_small_state_is_exact(
    integrator: str, amplitude: float, place: float, stiffness: float
) -> None:
    """The noise of one of the two estimates of 8(5,3) passed for that of both: off by 2.8e-3 for 1.2e-5."""
    speed = math.sqrt(stiffness)
    simulator = simulator_of(Shifted, integrator, q=amplitude, place=place, stiffness=stiffness)
    rows = rows_of(simulator, 20.0 / speed, "q", "u")
    t = rows[:, 0] * speed
    error = own_error(rows, [amplitude * np.cos(t), -amplitude * speed * np.sin(t)])
    assert error < max(OWN, 50.0 * math.ulp(place) / amplitude)


class Quick(cosim.Component):
    """As `Hardened` alone, twenty times as fast."""

    size = cosim.parameter(default=1.0)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, size, q_dot, u_dot):
        share = q / size
        q_dot[0] = u
        u_dot[0] = -400.0 * size * (share + share * share * share)


def beside_a_pendulum(amplitude: float) -> tuple[cosim.System, cosim.State]:
    """A bob that a rod keeps on a sphere, and a small oscillator that does not feel it."""
    model = Multibody("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[1.0, 0, 0])
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    model.add(Quick, "part", size=amplitude)
    system = model.build()
    state = system.default_state()
    state["part.q"] = amplitude
    return system, state


@pytest.mark.few(2)
@pytest.mark.parametrize("integrator", CONTROLLED)
def test_beside_constraints_the_smallest_is_as_exact_as_others(integrator: str) -> None:
    errors = []
    for amplitude in (2.0**-10, 2.0**-30, 2.0**-40):
        system, state = beside_a_pendulum(amplitude)
        how = {"integrator": f"integrators.{integrator}", "accuracy": ACCURACY}
        rows = rows_of(cosim.Simulator(system, state, **how), 1.0, "q", "u")
        exact = solved(rows[:, 0], lambda t, q: -400.0 * (q + q**3))
        errors.append(own_error(rows, list(amplitude * exact)))
    assert max(errors[1:]) < max(1.2 * errors[0], OWN)
