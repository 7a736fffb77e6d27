"""Variations of a variable as text, and the points of a study: grids, lists, distributions and samples."""

import numpy as np
import pytest

import cosim
from cosim_workbench.studies.points import points_of
from cosim_workbench.studies.variation import read_variation


def shares(count=1000):
    """Evenly spaced shares of a distribution, in the middles of equal parts."""
    return (np.arange(count) + 0.5) / count


@pytest.mark.parametrize(
    ("text", "unit", "levels"),
    [
        ("1..3:3", "1", [1, 2, 3]),
        ("1..100:3:log", "1", [1, 10, 100]),
        ("1 cm .. 3 cm : 3", "m", [0.01, 0.02, 0.03]),
        ("1, 2, 5", "1", [1, 2, 5]),
        ("100 N/mm, 2e5", "N/m", [1e5, 2e5]),
        ("-1e-3..1e-3:2", "1", [-1e-3, 1e-3]),
        ([1, "2 km"], "m", [1, 2000]),
        (np.array([0.5, 1.5]), "m", [0.5, 1.5]),
    ],
)
def test_grids_and_lists(text, unit, levels):
    np.testing.assert_allclose(read_variation("a", text, unit).levels, levels, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "mean", "deviation"),
    [
        ("0..6", 3.0, 6 / 12**0.5),
        ("uniform(0, 6)", 3.0, 6 / 12**0.5),
        ("normal(5, 2)", 5.0, 2.0),
        ("triangular(0, 3, 6)", 3.0, 1.5**0.5),
        ("gamma(4, scale=0.5)", 2.0, 1.0),
        ("norm(5, 2)", 5.0, 2.0),
    ],
)
def test_distributions(text, mean, deviation):
    drawn = read_variation("a", text, "1").drawn(shares())
    assert drawn.mean() == pytest.approx(mean, rel=1e-3) and drawn.std() == pytest.approx(deviation, rel=0.01)


def test_deviations_have_no_offset_of_a_unit():
    drawn = read_variation("a", "normal(20 degC, 5 degC)", "K").drawn(shares())
    assert drawn.mean() == pytest.approx(293.15) and drawn.std() == pytest.approx(5.0, rel=0.01)


def test_distributions_by_factors():
    logs = np.log(read_variation("a", "1..100:log", "1").drawn(shares()))
    assert logs.min() >= 0.0 and logs.max() <= np.log(100) and logs.mean() == pytest.approx(np.log(10))
    logs = np.log(read_variation("a", "lognormal(2 km, 0.3)", "m").drawn(shares()))
    assert logs.mean() == pytest.approx(np.log(2000)) and logs.std() == pytest.approx(0.3, rel=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3..1:3", "larger one"),
        ("1..3:1", "from 2"),
        ("1..3:x", "invalid literal"),
        ("-1..3:5:log", "greater than 0"),
        ("normal(1)", "needs 2"),
        ("normal(1, 0)", "greater than 0"),
        ("narmal(1, 2)", "Nearest"),
        ("1 kg..2 kg:3", "kg"),
        ("nan", "not a quantity"),
        ("1e999, 2", "finite"),
        ("", "Write"),
    ],
)
def test_wrong_variations(text, message):
    with pytest.raises(cosim.ModelError, match=message):
        read_variation("a", text, "m")


def test_points_of_a_grid_are_all_combinations():
    grid = [read_variation("a", "1, 2", "1"), read_variation("b", "10..30:3", "1")]
    points, seeds = points_of(grid, None, 0)
    assert points["a"].tolist() == [1, 1, 1, 2, 2, 2] and points["b"].tolist() == [10, 20, 30] * 2
    assert len(set(seeds.tolist())) == 6


@pytest.fixture
def variations():
    """A range, a list and the seed of each run."""
    return [
        read_variation("a", "0..1", "1"),
        read_variation("b", "10..30:3", "1"),
        read_variation("s", "seed", "1"),
    ]


@pytest.mark.parametrize("sample", ["latin:30", "sobol:30", "halton:30", "random:30"])
def test_points_of_a_sample_follow_from_its_seed(sample, variations):
    points, seeds = points_of(variations, sample, 7)
    repeated, _ = points_of(variations, sample, 7)
    with_another_seed, _ = points_of(variations, sample, 8)
    assert points["a"].tolist() == repeated["a"].tolist() != with_another_seed["a"].tolist()
    assert set(points["b"].tolist()) <= {10.0, 20.0, 30.0} and len(points["a"]) == 30
    assert points["s"].tolist() == seeds.tolist()


def test_a_latin_sample_has_a_point_in_each_part_of_a_range(variations):
    points, _ = points_of(variations, "latin:30", 7)
    assert sorted((points["a"] * 30).astype(int).tolist()) == list(range(30))


def test_wrong_samples(variations):
    with pytest.raises(cosim.ModelError, match="no count"):
        points_of(variations, None, 0)
    with pytest.raises(cosim.LookUpError, match="latin"):
        points_of(variations, "lattin:30", 0)
    with pytest.raises(cosim.ModelError, match="needs a count"):
        points_of(variations, "latin", 0)
