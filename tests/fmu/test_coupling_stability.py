"""Limits of stability of the master algorithms agree with the eigenvalues of a communication step."""

from typing import Any

import numpy as np
import pytest
from coupling_matrices import (
    amplification,
    contraction,
    first_above_one,
    implicit_amplification,
    spectral_radius,
)
from cut_errors import largest_error
from cuts import STIFF, Cut, TwoMasses

import cosim
from cosim_fmu import CoSimulation

DAMPED = TwoMasses(c1=0.3, c2=0.3, k=10.0, c=0.2)
FORCE, MOTION = DAMPED.force_and_motion(), DAMPED.motion_and_motion()
WINDOW = 401
"""Points of a run over which `rate_of_growth` takes the largest states: several periods."""
FIRST_POINT, LAST_POINT = 1000, 2600
"""The points at which the two windows of `rate_of_growth` begin; the first is after the transient."""
ROUNDING = 1e-6
"""Rounding moves a spectral radius of nearly 1 by less than this."""


def rate_of_growth(cut: Cut, algorithm: str, step: float) -> float:
    """The growth per communication step in a run, from the largest norms of the states in two windows."""
    loop = CoSimulation(cut.make(follows=algorithm == "interface_newton"), cut.links, algorithm, step)
    assert loop.order == ("left", "right")
    result = loop.simulate((LAST_POINT + WINDOW - 1) * step, record=cut.signals)
    sizes = np.linalg.norm([result[name] for name in cut.signals], axis=0)
    first, last = (sizes[point : point + WINDOW].max() for point in (FIRST_POINT, LAST_POINT))
    return float(last / first) ** (1.0 / (LAST_POINT - FIRST_POINT))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("cut", "algorithm"), [(FORCE, "jacobi"), (FORCE, "gauss_seidel"), (MOTION, "jacobi")]
)
def test_runs_grow_at_the_rate_of_the_closed_form_below_and_above_its_limit(cut: Cut, algorithm: str) -> None:
    edge = first_above_one(lambda step: spectral_radius(amplification(cut, step, algorithm)), 0.02)
    for step, is_stable in ((0.85 * edge, True), (1.2 * edge, False)):
        rate = rate_of_growth(cut, algorithm, step)
        assert rate == pytest.approx(spectral_radius(amplification(cut, step, algorithm)), rel=5e-4)
        assert rate != 1.0 and (rate < 1.0) == is_stable


def test_an_implicit_coupling_has_a_limit_of_stability() -> None:
    """It is finite: linear interpolation of inputs cannot follow a stiff motion."""
    cut = STIFF.force_and_motion()
    edge = first_above_one(lambda step: spectral_radius(implicit_amplification(cut, step)) - ROUNDING, 2e-3)
    edge_of_jacobi = first_above_one(lambda step: spectral_radius(amplification(cut, step, "jacobi")), 1e-6)
    assert edge > 50.0 * edge_of_jacobi  # nearly two orders of magnitude
    for step, grows in ((0.95 * edge, False), (1.1 * edge, True)):
        result = CoSimulation(cut.make(follows=True), cut.links, "interface_newton", step).simulate(60 * step)
        sizes = np.max(np.abs([result[name] for name in cut.signals]), axis=0)
        assert (sizes[-1] > 1e3 * sizes[1]) == grows
        if grows:  # at the rate of the closed form, from the 30th to the 50th step
            expected = spectral_radius(implicit_amplification(cut, step))
            assert (sizes[50] / sizes[30]) ** (1.0 / 20.0) == pytest.approx(expected, rel=1e-2)


def test_gauss_seidel_over_motions_is_stable_at_every_step() -> None:
    for step in np.linspace(0.01, 3.0, 300):
        assert spectral_radius(amplification(MOTION, step, "gauss_seidel")) < 1.0
    for step in (0.05, 0.5, 1.5):
        result = CoSimulation(MOTION.make(follows=False), MOTION.links, "gauss_seidel", step).simulate(
            400 * step
        )
        assert max(abs(result[name][-1]) for name in MOTION.signals) < 0.1


def test_fixed_point_iteration_converges_where_its_matrix_contracts() -> None:
    cut = TwoMasses(k=300.0, c=1.0).force_and_motion()
    edge = first_above_one(lambda step: contraction(cut, step), 1e-3)
    options: dict[str, Any] = {"iterations": 400, "tolerance": 1e-9}
    inside = CoSimulation(
        cut.make(follows=True), cut.links, "waveform_iteration", 0.9 * edge, options=options
    )
    assert inside.simulate(3.0 * edge).statistics["algorithm"]["largest_iterations"] > 30
    outside = CoSimulation(
        cut.make(follows=True), cut.links, "waveform_iteration", 1.1 * edge, options=options
    )
    with pytest.raises(cosim.SimulationError, match="did not settle"):
        outside.simulate(3.0 * edge)
    newton = CoSimulation(cut.make(follows=True), cut.links, "interface_newton", 1.1 * edge)
    assert newton.simulate(3.0 * edge).message == ""


STIFF_STEP = 3e-3
"""A communication step of half the fast period of `STIFF`, in s."""


def test_explicit_algorithms_and_fixed_point_iterations_diverge_in_a_stiff_coupling() -> None:
    cut, step = STIFF.force_and_motion(), STIFF_STEP
    for algorithm in ("jacobi", "gauss_seidel"):
        assert spectral_radius(amplification(cut, step, algorithm)) > 1.5
    assert contraction(cut, step) > 1.1
    with pytest.raises(cosim.SimulationError, match="did not settle"):
        largest_error(cut, "waveform_iteration", step, 0.1)


def test_newton_solves_a_stiff_coupling() -> None:
    """The error is 4 % of the motion with the long step, and falls with a shorter one."""
    cut = STIFF.force_and_motion()
    assert largest_error(cut, "interface_newton", STIFF_STEP, 0.5) < 4e-2
    assert largest_error(cut, "interface_newton", 5e-4, 0.5) < 1e-3
