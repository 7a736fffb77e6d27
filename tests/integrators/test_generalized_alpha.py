"""Generalized-alpha: the contract, order 2 with and without constraints, the damping of high frequencies."""

import math

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import cosim
from cosim import kit
from cosim.testing import IntegratorContract
from cosim_integrators.generalized_alpha import GeneralizedAlpha
from cosim_mechanics import Multibody

GRAVITY, START = 9.81, 1.2


class TestContract(IntegratorContract):
    make = GeneralizedAlpha


class TestContractWithoutDamping(IntegratorContract):
    make = staticmethod(lambda **options: GeneralizedAlpha(rho_infinity=1.0, **options))
    test_has_a_docstring = None  # the contract above tests that of the class


def run(system: cosim.System, until: float, rho: float, **options: float) -> cosim.State:
    """Return the State at the end of a run from the default state, assembled."""
    state = system.default_state()
    cosim.assemble(system, state)
    integrator = GeneralizedAlpha(rho_infinity=rho, **options)
    integrator.initialize(system, state)
    assert integrator.advance(system, state, until) is kit.StepCode.DONE
    return state


def pendulum() -> cosim.System:
    """Return a point with three coordinates at the end of a rod."""
    model = Multibody("pendulum", gravity=(0, 0, -GRAVITY))
    bob = model.body("bob", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[math.sin(START), 0, -math.cos(START)])
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    return model.build()


def angle(t: float) -> tuple[float, float]:
    """Return the angle and its rate of a pendulum of 1 m, t after it has started at `START` at rest."""
    k = math.sin(START / 2)
    sn, cn, dn, _ = ellipj(math.sqrt(GRAVITY) * t + ellipk(k * k), k * k)
    return 2 * math.asin(k * sn), 2 * k * math.sqrt(GRAVITY) * cn * dn / math.sqrt(1 - (k * sn) ** 2)


@pytest.mark.parametrize("rho", [0.0, 0.6, 1.0])
def test_order_2_of_positions_speeds_and_forces_of_a_rod(rho: float) -> None:
    system, errors, until = pendulum(), [], 1.3
    theta, rate = angle(until)
    position = np.array([math.sin(theta), 0, -math.cos(theta)])
    velocity = rate * np.array([math.cos(theta), 0, math.sin(theta)])
    tension = 2.0 * (rate**2 + GRAVITY * math.cos(theta))
    for steps in (200, 400, 800):
        state = run(system, until, rho, fixed_step=until / steps)
        assert abs(np.linalg.norm(state.q) - 1.0) < 1e-9
        assert abs(state.q @ state.u) < 1e-9
        force = state["rod.force_on_body2"][3:]
        differences = [state.q - position, state.u - velocity, force + tension * position]
        errors.append([float(np.abs(difference).max()) for difference in differences])
    assert errors[-1][0] < 2e-3
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 2.0) < 0.25), orders


@pytest.mark.parametrize("rho", [0.0, 0.8])
def test_order_2_with_quaternions(rho: float) -> None:
    """The axis of a free symmetric body rotates about its angular momentum at a known rate."""
    model = Multibody("top", gravity=(0, 0, 0))
    model.body("top", mass=1.0, inertia=(1.0, 1.0, 2.0))
    model.joint("ball", child="top", q=(1, 0, 0, 0), u=(0.6, 0.0, 1.5))
    system, errors, until = model.build(), [], 2.0
    momentum = np.array([0.6, 0.0, 3.0])
    axis, rotated = momentum / np.linalg.norm(momentum), np.linalg.norm(momentum) * until  # angle, rad
    z = np.array([0.0, 0.0, 1.0])
    cosine, sine = math.cos(rotated), math.sin(rotated)
    exact = z * cosine + np.cross(axis, z) * sine + axis * (axis @ z) * (1 - cosine)
    for steps in (100, 200, 400):
        state = run(system, until, rho, fixed_step=until / steps)
        errors.append(float(np.abs(state["top.X_GB"][[2, 5, 8]] - exact).max()))
    assert errors[-1] < 1e-3
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 2.0) < 0.25), errors


def stiff_pair(stiffness: float) -> tuple[cosim.System, float]:
    """Return two coupled slides, the second of which moves three times as far, and their frequency, rad/s."""
    model = Multibody("slides", gravity=(0, 0, 0))
    for name, q in (("first", 1e-3), ("second", 3e-3)):
        model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        model.joint("slider", child=name, q=q)
    model.add("mechanics.coordinate_spring", "spring", coordinate="first_joint", stiffness=stiffness)
    model.add(
        "mechanics.coordinate_coupler",
        "coupler",
        coordinate1="first_joint",
        coordinate2="second_joint",
        ratio=3.0,
    )
    return model.build(), math.sqrt(stiffness / 10.0)


def oscillator(wh: float, rho: float, steps: int) -> list[float]:
    """Return x of x'' = -w^2 x from 1e-3 at rest with h = 1, by the published formulas."""
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma, beta = 0.5 - alpha_m + alpha_f, 0.25 * (1 - alpha_m + alpha_f) ** 2
    w2, x, v = wh * wh, 1e-3, 0.0
    f = -w2 * x
    # the first step by the trapezoidal rule
    x1 = (x * (1 - w2 / 4) + v) / (1 + w2 / 4)
    v += 0.5 * (f - w2 * x1)
    x, f, a = x1, -w2 * x1, -w2 * x1 + (alpha_m - alpha_f) * (-w2 * x1 - f)
    course = [x]
    for _ in range(steps - 1):
        # (1 - alpha_m) a1 + alpha_m a = (1 - alpha_f) (-w2 x1) + alpha_f f, x1 from Newmark's formula
        predicted = x + v + (0.5 - beta) * a  # x1 without the term of a1
        a1 = (-(1 - alpha_f) * w2 * predicted + alpha_f * f - alpha_m * a) / (
            1 - alpha_m + (1 - alpha_f) * w2 * beta
        )
        x, v = predicted + beta * a1, v + (1 - gamma) * a + gamma * a1
        f, a = -w2 * x, a1
        course.append(x)
    return course


@pytest.mark.parametrize(("wh", "rho"), [(0.5, 0.6), (20.0, 0.8), (2e3, 0.3)])
def test_a_constrained_oscillation_follows_the_published_formulas(wh: float, rho: float) -> None:
    system, w = stiff_pair(1e6)
    state = system.default_state()
    cosim.assemble(system, state)
    integrator = GeneralizedAlpha(rho_infinity=rho, fixed_step=wh / w)
    integrator.initialize(system, state)
    course = []
    for i in range(40):
        assert integrator.step(system, state, (i + 1.5) * wh / w) is kit.StepCode.DONE
        course.append(state.q[0])
    expected = oscillator(wh, rho, 40)
    assert np.allclose(course, expected, rtol=0, atol=1e-6 * max(map(abs, expected)))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_high_frequencies_are_damped_by_the_chosen_radius(rho: float) -> None:
    """A step has the triple eigenvalue -rho: from step n to step 2 n the factor is about rho^n."""
    system, w = stiff_pair(1e6)
    h, n = (
        1e3 / w,
        60 if rho > 0.6 else 20,
    )  # with small rho, corrections of the coupler, 1e-10 m, soon are larger than x
    middle = abs(run(system, n * h, rho, fixed_step=h).q[0])
    end = abs(run(system, 2 * n * h, rho, fixed_step=h).q[0])
    assert end <= 8.0 * rho**n * middle + 1e-18
    if rho > 0.8:
        assert end >= 0.5 * rho**n * middle


def test_states_of_first_order_have_the_same_damping() -> None:
    class Decay(cosim.Component):
        """z' = -1e8 z."""

        z = cosim.auxiliary_state(start=1.0)

        @cosim.kernel
        def rate(z, z_dot):
            z_dot[0] = -1e8 * z

    model = cosim.Model("decay")
    model.add(Decay, "decay")
    system = model.build()
    ends = [abs(run(system, n, 0.7, fixed_step=1.0).y[0]) for n in (50, 100)]
    assert 0.5 * 0.7**50 <= ends[1] / ends[0] <= 4.0 * 0.7**50


def test_the_position_of_a_pendulum_with_error_control() -> None:
    """With an accuracy, steps of variable size end at the right position."""
    system = pendulum()
    state = run(system, 1.3, 0.8, accuracy=1e-6)
    theta, _ = angle(1.3)
    assert np.abs(state.q - [math.sin(theta), 0, -math.cos(theta)]).max() < 2e-4


def test_a_spectral_radius_above_1_is_refused() -> None:
    with pytest.raises(cosim.ModelError, match="rho_infinity.*1.5.*number.*0.*1"):
        GeneralizedAlpha(rho_infinity=1.5, fixed_step=0.1)
