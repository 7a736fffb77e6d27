"""The advice of a verdict: what it promises comes true when it is followed."""

import numpy as np
import pytest
from verdict_benchmarks import advice, drawn_systems

from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.trust.advice import advise


def test_half_the_step_halves_the_bar() -> None:
    """An algorithm of order 1: half the step leaves about half the error."""
    case = drawn_systems.draw(7)
    bars = []
    for step in (case.step, 0.5 * case.step):
        worst = case.loop(step).simulate(case.until).coupling.worst
        assert worst is not None
        bars.append(worst.relative)
    assert bars[1] < 0.7 * bars[0]


@pytest.mark.parametrize(
    ("which", "seed"), [("known", 3006), pytest.param("drawn", 3005, marks=pytest.mark.thorough)]
)
def test_each_advice_reduces_the_error(which: str, seed: int) -> None:
    """The advised step and the advised algorithm reduce the error below what counts as fine."""
    trials = {trial.advised: trial for trial in advice.follow(which, seed)}
    assert set(trials) == {"step", "adaptive"}
    for trial in trials.values():
        assert trial.after < 0.8 * trial.before
        assert trial.after <= trial.bar_after <= advice.ERROR_OF_ADVISED_STEP


@pytest.mark.thorough
@pytest.mark.parametrize("which", ["known", "drawn"])
def test_advice_over_many_drawn_cases(which: str) -> None:
    trials = [trial for seed in range(6000, 6040) for trial in advice.follow(which, seed)]
    assert np.mean([trial.after < trial.before for trial in trials]) >= 0.95
    assert (
        np.mean([trial.after <= advice.ERROR_OF_ADVISED_STEP for trial in trials if trial.advised == "step"])
        >= 0.95
    )


def test_a_step_is_advised_to_one_digit_and_never_rounded_up() -> None:
    for step, relative, advised_step in (
        (0.1, 0.019, "0.05"),
        (0.1, 0.0101, "0.09"),
        (0.1, 0.1, "0.01"),
        (1.0, 1.0, "0.01"),
        (1.0, float("inf"), "0"),
    ):
        _, sentence = advise(relative, step, Jacobi(), {})
        assert f"step of {advised_step} s" in sentence
