"""Corrections belong to the step: its error estimate is corrected too; ends that cannot be are rejected."""

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
    """A crank of 1 m and a slide with a rod of 1 m between them: the slide comes no farther than 2 m.

    With a speed it is sent from 0.9 m toward 3 m.
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


def errors_at(system: cosim.System, y: np.ndarray, names: list[str], what: str) -> np.ndarray:
    state = system.default_state()
    state.set_y(y)
    state.realize(cosim.Stage.ACCELERATION)
    return np.concatenate([np.atleast_1d(state[f"{name}.{what}"]) for name in names])


def correct_estimate(table, ints, t, y, p, d, k, h, c, error, work, slots):
    system = kit.OdeSystem(table, ints, 0, 0, y, p, d, k, h, c)
    project_error(system, kit.MethodArrays(y.shape[0], error, error, error, work, slots), t, error)


def test_the_error_estimate_goes_the_way_of_the_correction() -> None:
    system = spatial_loop()
    state = system.default_state()
    cosim.assemble(system, state)
    names, nq, nu = ["tips", "track"], system.nq, system.nu
    y, c = state.y.copy(), system.arrays(state)[5].copy()
    M = mass_matrix(system, state)
    origin = errors_at(system, np.r_[y[:nq], np.zeros(nu)], names, "velocity_error")
    columns = [errors_at(system, np.r_[y[:nq], one], names, "velocity_error") - origin for one in np.eye(nu)]
    G = np.array(columns).T
    rates = []
    for one in np.eye(nu):
        moved = state.copy()
        moved.set_u(one)
        rates.append(moved.realize(cosim.Stage.ACCELERATION).y_dot[:nq].copy())
    N = np.array(rates).T
    rng = np.random.default_rng(4)
    error = 1e-6 * rng.normal(size=system.ny)
    given = error.copy()
    compiled = native.compile_function(correct_estimate, "TIfFFFIFFFFI>v")
    arrays = system.arrays(state)
    work = np.zeros(kit.WORK_HEADER + 3 * system.ny)
    work[kit.WORK_HEADER + system.ny :][: system.ny] = y
    slots = kit.method_slots(system, [])
    compiled(system.table, system.ints, state.time, *arrays, error, work, slots)
    assert arrays[0].tobytes() == y.tobytes()
    assert state.y_dot.tobytes() == c[: system.ny].tobytes()

    def without(H: np.ndarray, v: np.ndarray) -> np.ndarray:
        back = np.linalg.solve(M, H.T)
        return v - back @ np.linalg.lstsq(H @ back, H @ v, rcond=1e-10)[0]

    wanted = without(G, given[nq:])
    assert np.allclose(error[nq:], wanted, rtol=0, atol=1e-6 * 1e-9 + 1e-14)
    held = G[[i for i, level in enumerate(levels(system, names)) if level == "position"]]
    v = np.linalg.lstsq(N, given[:nq], rcond=None)[0]
    assert np.allclose(error[:nq], N @ without(held, v), rtol=0, atol=2e-11)
    assert np.abs(error - given).max() > 1e-7


def levels(system: cosim.System, names: list[str]) -> list[str]:
    return [level for name in names for level in type(system.parts[name]).levels()]


@pytest.mark.parametrize("name", RUNNERS)
def test_an_end_that_cannot_be_corrected_is_tried_shorter(name: str) -> None:
    """With a tolerance that lets everything pass, the first step ends with the slide out of reach."""
    loose = {"relative_tolerance": 1e6, "absolute_tolerance": 1e6, "initial_step": 3.0}
    simulator = cosim.Simulator(crank(speed=1.0), integrator=f"integrators.{name}", **loose)
    simulator.step(3.0)
    assert simulator.integrator.statistics.rejections > 0
    assert 0.0 < simulator.state.time < 1.5
    assert abs(simulator.state["rod.position_error"][0]) < 1e-9
    assert abs(simulator.state["drive.velocity_error"][0]) < 1e-9


@pytest.mark.parametrize("name", RUNNERS)
def test_a_dead_end_gives_everything_back(name: str) -> None:
    """Many steps in one call end as one by one, memory included, and the run can go another way."""
    system = crank(speed=1.0)
    ends = []
    for many in (True, False):
        integrator = cosim.registry().get("integrator", f"integrators.{name}")(fixed_step=0.01)
        state = system.default_state()
        cosim.assemble(system, state)
        integrator.initialize(system, state)
        before, code = b"", kit.StepCode.DONE
        if many:
            code = integrator.advance(system, state, 3.0)
        while code is kit.StepCode.DONE and state.time < 3.0:
            before = state.to_bytes()
            code = integrator.step(system, state, 3.0)
        assert code in (kit.StepCode.CONSTRAINTS_NOT_MET, kit.StepCode.NO_CONVERGENCE)
        assert many or state.to_bytes() == before
        rates = state.y_dot.copy()
        assert np.array_equal(state.copy().realize(cosim.Stage.ACCELERATION).y_dot, rates)
        state["drive.enabled"] = 0
        state.realize(cosim.Stage.ACCELERATION)
        integrator.restart(system, state)
        assert integrator.advance(system, state, state.time + 0.1) is kit.StepCode.DONE
        ends.append(state.to_bytes())
    assert ends[0] == ends[1]


def test_the_constraint_is_named_where_no_step_is_short_enough() -> None:
    simulator = cosim.Simulator(crank(speed=1.0), integrator="integrators.runge_kutta_4", fixed_step=0.01)
    with pytest.raises(cosim.SimulationError, match=r"rod \((position|velocity)_error .*cannot leave"):
        simulator.advance_to(3.0)
    assert simulator.state.time > 1.0


class Digests:
    """Ends of runs with constraints."""

    @classmethod
    def ends(cls) -> list[str]:
        """For each method its name and a digest; plain Python takes a second for some steps of one."""
        found = []
        for name in RUNNERS:
            simulator = cosim.Simulator(crank(), integrator=f"integrators.{name}", accuracy=1e-3)
            simulator.advance_to(0.3 if FACTOR > 1 else 0.1)
            found.append(f"{name} {hashlib.sha256(simulator.state.to_bytes()).hexdigest()}")
        return found


def test_compiled_is_plain_python() -> None:
    assert results_in_other_mode(Digests, "ends") == Digests.ends()


@pytest.mark.by_turns
@pytest.mark.parametrize("runner", RUNNERS[:4] + RUNNERS[5:])
def test_what_corrections_move_by_rounding_costs_few_steps(runner: str) -> None:
    """The wheel rolls straight on, and rounding alone turns it and moves it aside."""
    system = spatial_loop()
    how = {"integrator": f"integrators.{runner}", "accuracy": 1e-5}
    simulator = cosim.Simulator(system, **how)
    of_size_1 = max(1e-3 * float(simulator.integrator.step_accuracy), 1e-9)
    usual = cosim.Simulator(system, **how, absolute_tolerance=of_size_1)
    for one in (simulator, usual):
        one.advance_to(1.0)
    assert simulator.statistics.integrator_steps < 1.1 * usual.statistics.integrator_steps + 3
