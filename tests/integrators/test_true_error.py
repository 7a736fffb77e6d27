"""The error of recorded signals, inside steps as well, is at most ten times the accuracy.

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
HIGHER_ORDER = (
    "runge_kutta_merson",
    "dormand_prince",
    "tsitouras",
    "dormand_prince_853",
    "radau5",
    "esdirk43",
)
HIGHER_ORDER += ("bdf",)
LOWER_ORDER = ("bogacki_shampine", "runge_kutta_3", "radau3", "heun", "trapezoid", "generalized_alpha")
LIBRARIES = ("scipy_dop853", "scipy_lsoda", "scipy_radau", "scipy_bdf", "cvode")
INTEGRATORS = (*HIGHER_ORDER, *LOWER_ORDER, *LIBRARIES)


@functools.cache
def exact(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the states at the recorded times, shape (ny, rows), and the largest value of each."""
    problem = BY_NAME[name]
    solve, start = problem.solver()
    states = solve(start)(np.linspace(0.0, problem.until, ROWS))
    scale = np.abs(states).max(axis=1)
    return states, np.where(scale > 0.0, scale, 1.0)


def measure(problem: ErrorProblem, integrator: str, accuracy: float, **options: object) -> tuple[float, int]:
    """Return the largest error of a state, relative to its largest value, and the number of evaluations."""
    system, state = problem.system()
    settings = {"integrator": f"integrators.{integrator}", "accuracy": accuracy, **options}
    simulator = cosim.Simulator(system, state, **settings)  # type: ignore[arg-type]
    paths = [v.path for v in system.variables.values() if v.slot.array == "y"]
    simulator.record(paths, "grid", interval=problem.until / (ROWS - 1), until=problem.until)
    simulator.advance_to(problem.until)
    rows = simulator.take_rows()
    states, scale = exact(problem.name)
    assert rows.shape == (ROWS, 1 + states.shape[0])
    error = float((np.abs(rows[:, 1:].T - states) / scale[:, None]).max())
    return error, simulator.statistics.evaluations


def check(problem: ErrorProblem, integrator: str, accuracy: float) -> None:
    """Run a problem and check its error."""
    ratio = measure(problem, integrator, accuracy)[0] / accuracy
    allowed = max(PROMISED, problem.growth)
    case = f"{problem.name}, {integrator}, {accuracy:g}"
    assert ratio <= allowed, f"{case}: {ratio:.3g} accuracies, allowed are {allowed:g}"


def rod() -> cosim.System:
    """A point on a rod, carried by three coordinates."""
    model = Multibody("rod", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[1.0, 0, 0])
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    return model.build()


def table() -> str:
    """Return the table of what each method holds one step to, in accuracies."""
    lines = ["| integrator | 1e-4 | 1e-6 | 1e-8 |", "|---|---|---|---|"]
    names_of_shares: dict[tuple[float, ...], list[str]] = {}
    for name in INTEGRATORS:
        method = cosim.registry().get("integrator", f"integrators.{name}")
        shares = tuple(accuracy_of_step(a, *method.step_share) / a for a in ACCURACIES)
        names_of_shares.setdefault(shares, []).append(f"`{name}`")
    for shares, names in sorted(names_of_shares.items(), reverse=True):
        lines.append(f"| {', '.join(names)} | {' | '.join(f'{share:.2g}' for share in shares)} |")
    return "\n".join(lines)


@pytest.mark.by_turns
@pytest.mark.parametrize("name", ["oscillator", "Bessel", "motor", "van der Pol"])
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5", "bdf", "scipy_dop853"])
def test_errors_are_within_ten_accuracies(name: str, integrator: str) -> None:
    check(BY_NAME[name], integrator, 1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_errors_of_every_integrator_on_every_problem(integrator: str, accuracy: float) -> None:
    if integrator == "cvode" and importlib.util.find_spec("sksundae") is None:
        pytest.skip("scikit-sundae is not installed")
    if integrator in LOWER_ORDER and accuracy < 1e-6:
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


def test_tolerances_of_a_user_are_not_reduced() -> None:
    """Tolerances that follow from an accuracy are reduced by the share of a step; those of a user are not."""
    system, _ = BY_NAME["oscillator"].system()
    share = 2.0 * 1e-6**0.125  # `step_share` of the method at 1e-6
    assert RungeKuttaMerson(accuracy=1e-6).tolerances(system)[0] == pytest.approx(
        [1e-6 * share] * 2, rel=1e-12
    )
    assert RungeKuttaMerson(accuracy=1e-6).tolerances(system)[1] == pytest.approx(
        [1e-9 * share] * 2, rel=1e-12
    )
    relative = RungeKuttaMerson(accuracy=1e-3, relative_tolerance=1e-6)
    assert relative.tolerances(system)[0].tolist() == [1e-6, 1e-6]
    assert relative.tolerances(system)[1].tolist() == [1e-9, 1e-9]
    assert relative.step_accuracy == 1e-3
    absolute = RungeKuttaMerson(accuracy=1e-6, absolute_tolerance=1e-8).tolerances(system)
    assert absolute[0] == pytest.approx([1e-6 * share] * 2, rel=1e-12)
    assert absolute[1].tolist() == [1e-8, 1e-8]
    by_group = RungeKuttaMerson(accuracy=1e-6, relative_tolerance={"q": 1e-3}).tolerances(
        system
    )  # there are no coordinates
    assert by_group[0].tolist() == [1e-6, 1e-6]
    assert RungeKuttaMerson(accuracy=1e-6, fixed_step=0.1).step_accuracy == 1e-6


def test_a_step_is_never_held_to_more_than_the_accuracy() -> None:
    assert Radau3(accuracy=1e-2).step_accuracy == 1e-2
    assert Radau3(accuracy=1e-6).step_accuracy == pytest.approx(1e-7)


def test_the_documentation_has_this_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")


def test_corrections_of_constraints_do_not_shorten_steps_of_bdf() -> None:
    """Corrections change ends by 1e-10, so the absolute tolerance is not less than 1e-9."""
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
