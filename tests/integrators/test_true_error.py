"""What accuracy means: the error of what is recorded, between the ends of steps as well, in accuracies.

The table in docs/integrators.md is made here: `python tests/integrators/test_true_error.py` prints it.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from error_problems import ERROR_PROBLEMS, ErrorProblem

import cosim
from cosim.contracts.tolerances import accuracy_of_step
from cosim_integrators.bdf import Bdf
from cosim_integrators.radau3 import Radau3
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson
from cosim_mechanics import Multibody

PAGE = Path(__file__).parents[2] / "docs" / "integrators.md"
BY_NAME = {problem.name: problem for problem in ERROR_PROBLEMS}
ROWS = 401
PROMISED = 10.0  # accuracies, or as many as the problem makes of a small error at the start
ACCURACIES = (1e-4, 1e-6, 1e-8)
HIGHER = ("runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853", "radau5", "esdirk43")
HIGHER += ("bdf",)
LOWER = ("bogacki_shampine", "runge_kutta_3", "radau3", "heun", "trapezoid", "generalized_alpha")
LIBRARIES = ("scipy_dop853", "scipy_lsoda", "scipy_radau", "scipy_bdf", "cvode")
EVERY = (*HIGHER, *LOWER, *LIBRARIES)


@functools.cache
def exact(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The states at the recorded times, shape (ny, rows), and the largest of each."""
    problem = BY_NAME[name]
    solve, start = problem.solver()
    states = solve(start)(np.linspace(0.0, problem.until, ROWS))
    scale = np.abs(states).max(axis=1)
    return states, np.where(scale > 0.0, scale, 1.0)


def compared(problem: ErrorProblem, integrator: str, accuracy: float, **options: object) -> tuple[float, int]:
    """The largest error of a state at a recorded time, relative to its largest value; and evaluations."""
    system, state = problem.system()
    how = {"integrator": f"integrators.{integrator}", "accuracy": accuracy, **options}
    simulator = cosim.Simulator(system, state, **how)  # type: ignore[arg-type]
    paths = [v.path for v in system.variables.values() if v.slot.array == "y"]
    simulator.record(paths, "grid", interval=problem.until / (ROWS - 1), until=problem.until)
    simulator.advance_to(problem.until)
    rows = simulator.take_rows()
    states, scale = exact(problem.name)
    assert rows.shape == (ROWS, 1 + states.shape[0])
    error = float((np.abs(rows[:, 1:].T - states) / scale[:, None]).max())
    return error, simulator.statistics.evaluations


def check(problem: ErrorProblem, integrator: str, accuracy: float) -> None:
    ratio = compared(problem, integrator, accuracy)[0] / accuracy
    allowed = max(PROMISED, problem.growth)
    where = f"{problem.name}, {integrator}, {accuracy:g}"
    assert ratio <= allowed, f"{where}: {ratio:.3g} accuracies, allowed are {allowed:g}"


@pytest.mark.by_turns
@pytest.mark.parametrize("name", ["turns", "Bessel", "motor", "van der Pol"])
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5", "bdf", "scipy_dop853"])
def test_what_is_recorded_is_right_within_ten_accuracies(name: str, integrator: str) -> None:
    check(BY_NAME[name], integrator, 1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize("integrator", EVERY)
def test_so_it_is_with_every_integrator_on_every_problem(integrator: str, accuracy: float) -> None:
    if integrator == "cvode" and importlib.util.find_spec("sksundae") is None:
        pytest.skip("scikit-sundae is not installed")
    if integrator in LOWER and accuracy < 1e-6:
        pytest.skip("many millions of steps")
    for problem in ERROR_PROBLEMS:
        check(problem, integrator, accuracy)


@pytest.mark.thorough
@pytest.mark.parametrize("problem", ERROR_PROBLEMS, ids=lambda problem: problem.name)
def test_growth_of_small_errors(problem: ErrorProblem) -> None:
    solve, start = problem.solver()
    times = np.linspace(0.0, problem.until, 201)
    scale = exact(problem.name)[1]
    total = np.zeros((start.size, times.size))
    for i, size in enumerate(1e-5 * scale):
        shift = np.zeros(start.size)
        shift[i] = size
        ends = [solve(start + sign * shift, 1e-12)(times) for sign in (1.0, -1.0)]
        total += np.abs(ends[0] - ends[1]) / 2e-5 / scale[:, None]
    assert total.max() == pytest.approx(problem.growth, rel=0.1)


def test_a_tolerance_that_is_given_is_taken_as_it_is() -> None:
    system, _ = BY_NAME["turns"].system()
    made = RungeKuttaMerson
    share = 2.0 * 1e-6**0.125
    assert made(accuracy=1e-6).tolerances(system)[0] == pytest.approx([1e-6 * share] * 2, rel=1e-12)
    assert made(accuracy=1e-6).tolerances(system)[1] == pytest.approx([1e-9 * share] * 2, rel=1e-12)
    given = made(accuracy=1e-3, relative_tolerance=1e-6)
    assert given.tolerances(system)[0].tolist() == [1e-6, 1e-6]
    assert given.tolerances(system)[1].tolist() == [1e-9, 1e-9]
    assert given.step_accuracy == 1e-3
    only = made(accuracy=1e-6, absolute_tolerance=1e-8).tolerances(system)
    assert only[0] == pytest.approx([1e-6 * share] * 2, rel=1e-12)
    assert only[1].tolist() == [1e-8, 1e-8]
    some = made(accuracy=1e-6, relative_tolerance={"q": 1e-3}).tolerances(system)  # there are no coordinates
    assert some[0].tolist() == [1e-6, 1e-6]
    assert made(accuracy=1e-6, fixed_step=0.1).step_accuracy == 1e-6


def test_a_share_is_never_more_than_the_accuracy() -> None:
    assert Radau3(accuracy=1e-2).step_accuracy == 1e-2
    assert Radau3(accuracy=1e-6).step_accuracy == pytest.approx(1e-7)


def table() -> str:
    """What one step is held to by each method, in accuracies."""
    lines = ["| integrator | 1e-4 | 1e-6 | 1e-8 |", "|---|---|---|---|"]
    found: dict[tuple[float, ...], list[str]] = {}
    for name in EVERY:
        method = cosim.registry().get("integrator", f"integrators.{name}")
        shares = tuple(accuracy_of_step(a, *method.step_share) / a for a in ACCURACIES)
        found.setdefault(shares, []).append(f"`{name}`")
    for shares, names in sorted(found.items(), reverse=True):
        lines.append(f"| {', '.join(names)} | {' | '.join(f'{share:.2g}' for share in shares)} |")
    return "\n".join(lines)


def test_the_table_in_the_documentation_is_this_one() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


def rod() -> cosim.System:
    """A point on a rod, carried by three coordinates."""
    model = Multibody("rod", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[1.0, 0, 0])
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    return model.build()


def test_corrections_of_constraints_do_not_shorten_the_steps_of_differences() -> None:
    """Ends that are corrected by 1e-10 left differences that no step was short enough for."""
    system = rod()
    assert Bdf(accuracy=1e-8).tolerances(system)[1].min() == pytest.approx(1e-9)
    assert Bdf(accuracy=1e-8, absolute_tolerance=1e-12).tolerances(system)[1].max() == 1e-12
    simulator = cosim.Simulator(system, integrator=Bdf, accuracy=1e-8)
    simulator.advance_to(1.5)
    q, u = simulator.state.q, simulator.state.u
    assert abs(0.5 * u @ u + 9.81 * q[2]) < 1e-6
    assert simulator.integrator.statistics.steps < 1000


if __name__ == "__main__":
    print(table())
