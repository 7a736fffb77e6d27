"""Corrections to constraints are a part of the step.

They correct its error estimate too; a step whose end cannot be corrected is rejected.
"""

import hashlib

import numpy as np
import pytest
from how_many import FACTOR

import cosim
from cosim import kit
from cosim.contracts.constraints import project_error
from cosim.testing.other_mode import results_in_other_mode
from cosim_compiler import native
from cosim_dynamics import mass_matrix
from cosim_mechanics import Multibody

RUNNERS = ["runge_kutta_merson", "dormand_prince_853", "radau5", "esdirk43", "generalized_alpha", "bdf"]


def spatial_loop() -> cosim.System:
    """Two arms on ball and gimbal joints whose tips are held together, and a rolling disc."""
    model = Multibody("loop", gravity=(0, 0, -9.81))
    for name, joint in (("left", "ball"), ("right", "gimbal")):
        model.body(name, mass=1.0, center_of_mass=(0.5, 0.1, 0), inertia=(0.1, 0.2, 0.3))
        q = (1, 0.1, 0.2, 0.3) if joint == "ball" else (0.3, 0.4, -0.2)
        model.joint(joint, child=name, q=q, frame_on_parent=(0 if name == "left" else 1.2, 0, 0))
    model.constraint(
        "ball_constraint", "tips", body1="left", body2="right", point1=(1, 0, 0), point2=(0.2, 0.6, 0)
    )
    model.body("wheel", mass=2.0, inertia=(0.2, 0.1, 0.1))
    model.joint("free", child="wheel", q=(1, 0, 0, 0, 3, 0, 0.5), u=(0, 1.0, 0.2, 0, 0, 0))
    model.constraint("rolling_ball", "track", body1="ground", body2="wheel", radius=0.5, normal=(0, 0, 1))
    return model.build()


def crank(speed: float | None = None) -> cosim.System:
    """A crank of 1 m and a slide with a rod of 1 m between them: the slide reaches at most 2 m.

    With a speed, m/s, a prescribed motion drives the slide from 0.9 m toward 3 m.
    """
    model = Multibody("press", gravity=(0, 0, 0))
    model.body("crank", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    model.body("slide", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("pin", child="crank", q=1.2)
    model.joint("slider", child="slide", q=0.9, u=1.0)
    model.add("mechanics.rod", "rod", body1="crank", point1=(1, 0, 0), body2="slide", length=1.0)
    if speed is not None:
        model.add("measures.sinusoid", "path", amplitude=3.0, frequency=speed / 3.0, phase=0.3)
        model.add("mechanics.prescribed_motion", "drive", coordinate="slide_joint", source="path")
    return model.build()


def constraint_errors(system: cosim.System, y: np.ndarray, names: list[str], level: str) -> np.ndarray:
    """The errors of the named constraints at some states, of level "position" or "velocity"."""
    state = system.default_state()
    state.set_y(y)
    state.realize(cosim.Stage.ACCELERATION)
    return np.concatenate([np.atleast_1d(state[f"{name}.{level}_error"]) for name in names])


def levels(system: cosim.System, names: list[str]) -> list[str]:
    """The level of each equation of the named constraints."""
    return [level for name in names for level in type(system.parts[name]).levels()]


def constraint_matrix(system: cosim.System, y: np.ndarray, names: list[str]) -> np.ndarray:
    """G of the velocity errors G u + b: a column for each speed."""
    q = y[: system.nq]
    at_rest = constraint_errors(system, np.r_[q, np.zeros(system.nu)], names, "velocity")
    columns = [
        constraint_errors(system, np.r_[q, unit_speed], names, "velocity") - at_rest
        for unit_speed in np.eye(system.nu)
    ]
    return np.array(columns).T


def rate_matrix(state: cosim.State) -> np.ndarray:
    """N of q' = N u: a column for each speed."""
    system, columns = state.system, []
    for unit_speed in np.eye(system.nu):
        moved = state.copy()
        moved.set_u(unit_speed)
        columns.append(moved.realize(cosim.Stage.ACCELERATION).y_dot[: system.nq].copy())
    return np.array(columns).T


def without_violation(matrix: np.ndarray, mass: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """Speeds without the part that violates constraints; masses define what is orthogonal."""
    directions = np.linalg.solve(mass, matrix.T)
    multipliers = np.linalg.lstsq(matrix @ directions, matrix @ speeds, rcond=1e-10)[0]
    return speeds - directions @ multipliers


def correct_estimate(table, ints, t, y, p, d, k, h, c, error, work, slots):
    system = kit.OdeSystem(table, ints, 0, 0, y, p, d, k, h, c)
    project_error(system, kit.MethodArrays(y.shape[0], error, error, error, work, slots), t, error)


def corrected_estimate(system: cosim.System, state: cosim.State, estimate: np.ndarray) -> np.ndarray:
    """The error estimate of a step that ends at a State, as methods correct it."""
    compiled = native.compile_function(correct_estimate, "TIfFFFIFFFFI>v")
    work = np.zeros(kit.WORK_HEADER + 3 * system.ny)
    work[kit.WORK_HEADER + system.ny :][: system.ny] = state.y
    arrays, slots, error = system.arrays(state), kit.method_slots(system, []), estimate.copy()
    compiled(system.table, system.ints, state.time, *arrays, error, work, slots)
    return error


def test_the_error_estimate_is_corrected_like_the_states() -> None:
    """Its positions and speeds lose the parts that violate constraints; the State stays as it is."""
    system, names = spatial_loop(), ["tips", "track"]
    state = system.default_state()
    cosim.assemble(system, state)
    y, rates = state.y.copy(), system.arrays(state)[5][: system.ny].copy()
    mass = mass_matrix(system, state)
    all_constraints = constraint_matrix(system, y, names)
    position_rows = [i for i, level in enumerate(levels(system, names)) if level == "position"]
    N = rate_matrix(state)
    estimate = 1e-6 * np.random.default_rng(4).normal(size=system.ny)
    corrected = corrected_estimate(system, state, estimate)
    assert state.y.tobytes() == y.tobytes()
    assert state.y_dot.tobytes() == rates.tobytes()

    nq = system.nq
    speeds = without_violation(all_constraints, mass, estimate[nq:])
    assert np.allclose(corrected[nq:], speeds, rtol=0, atol=1.1e-14)
    # errors of positions are treated as displacements N v; constraints of speeds alone do not limit them
    displacement_speeds = np.linalg.lstsq(N, estimate[:nq], rcond=None)[0]
    positions = N @ without_violation(all_constraints[position_rows], mass, displacement_speeds)
    assert np.allclose(corrected[:nq], positions, rtol=0, atol=2e-11)
    assert np.abs(corrected - estimate).max() > 1e-7


@pytest.mark.parametrize("name", RUNNERS)
def test_an_end_that_cannot_be_corrected_is_tried_shorter(name: str) -> None:
    """The tolerances accept any error, so the first step tries to move the slide out of reach."""
    options = {"relative_tolerance": 1e6, "absolute_tolerance": 1e6, "initial_step": 3.0}
    simulator = cosim.Simulator(crank(speed=1.0), integrator=f"integrators.{name}", **options)
    simulator.step(3.0)
    assert simulator.integrator.statistics.rejections > 0
    assert 0.0 < simulator.state.time < 1.5
    assert abs(simulator.state["rod.position_error"][0]) < 1e-9
    assert abs(simulator.state["drive.velocity_error"][0]) < 1e-9


def run_to_the_limit(name: str, system: cosim.System, *, one_by_one: bool) -> bytes:
    """Step until the slide cannot go on, release it, and continue: the State at the end of that."""
    integrator = cosim.registry().get("integrator", f"integrators.{name}")(fixed_step=0.01)
    state = system.default_state()
    cosim.assemble(system, state)
    integrator.initialize(system, state)
    before, code = b"", kit.StepCode.DONE
    if not one_by_one:
        code = integrator.advance(system, state, 3.0)
    while code is kit.StepCode.DONE and state.time < 3.0:
        before = state.to_bytes()
        code = integrator.step(system, state, 3.0)
    assert code in (kit.StepCode.CONSTRAINTS_NOT_MET, kit.StepCode.NO_CONVERGENCE)
    if one_by_one:
        assert state.to_bytes() == before
    rates = state.y_dot.copy()
    assert np.array_equal(state.copy().realize(cosim.Stage.ACCELERATION).y_dot, rates)
    state["drive.enabled"] = 0
    state.realize(cosim.Stage.ACCELERATION)
    integrator.restart(system, state)
    assert integrator.advance(system, state, state.time + 0.1) is kit.StepCode.DONE
    return state.to_bytes()


@pytest.mark.parametrize("name", RUNNERS)
def test_a_failed_step_restores_the_state(name: str) -> None:
    """One call with many steps and many calls with one step stop at the same State, memory included."""
    system = crank(speed=1.0)
    ends = [run_to_the_limit(name, system, one_by_one=one_by_one) for one_by_one in (False, True)]
    assert ends[0] == ends[1]


def test_the_constraint_is_named_where_no_step_is_short_enough() -> None:
    simulator = cosim.Simulator(crank(speed=1.0), integrator="integrators.runge_kutta_4", fixed_step=0.01)
    with pytest.raises(cosim.SimulationError, match=r"rod \((position|velocity)_error .*cannot leave"):
        simulator.advance_to(3.0)
    assert simulator.state.time > 1.0


class Digests:
    """States at the ends of runs with constraints."""

    @classmethod
    def ends(cls) -> list[str]:
        """The name of each method and a digest of its State; runs are short, since plain Python is slow."""
        digests = []
        for name in RUNNERS:
            simulator = cosim.Simulator(crank(), integrator=f"integrators.{name}", accuracy=1e-3)
            simulator.advance_to(0.3 if FACTOR > 1 else 0.1)
            digests.append(f"{name} {hashlib.sha256(simulator.state.to_bytes()).hexdigest()}")
        return digests


def test_compiled_is_plain_python() -> None:
    assert results_in_other_mode(Digests, "ends") == Digests.ends()


@pytest.mark.by_turns
@pytest.mark.parametrize("runner", RUNNERS[:4] + RUNNERS[5:])
def test_rounding_of_corrections_costs_few_steps(runner: str) -> None:
    """The wheel rolls straight on; only rounding turns it and moves it aside.

    The second run has an absolute tolerance as for values of size 1, so it does not see such small values.
    """
    system = spatial_loop()
    options = {"integrator": f"integrators.{runner}", "accuracy": 1e-5}
    simulator = cosim.Simulator(system, **options)
    tolerance_of_size_1 = max(1e-3 * float(simulator.integrator.step_accuracy), 1e-9)
    tolerant = cosim.Simulator(system, **options, absolute_tolerance=tolerance_of_size_1)
    simulator.advance_to(1.0)
    tolerant.advance_to(1.0)
    assert simulator.statistics.integrator_steps < 1.1 * tolerant.statistics.integrator_steps + 3
