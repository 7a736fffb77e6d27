"""The fixed point of a linear map, computed from its responses to unit vectors."""

from __future__ import annotations

import numpy as np
import pytest

from cosim_master.derivatives.linear_fixed_point import linear_fixed_point


@pytest.mark.parametrize(("directions", "m"), [(1, 0), (1, 1), (1, 3), (2, 3), (3, 3), (5, 2)])
def test_the_map_leaves_the_fixed_point_unchanged(directions: int, m: int) -> None:
    """Unit vectors are passed in groups of as many as there are directions, the last group with fewer."""
    rng = np.random.default_rng(m + 10 * directions)
    a, b = 0.3 * rng.standard_normal((m, m)), rng.standard_normal((directions, m))
    point = linear_fixed_point(lambda x: x @ a.T + b, directions, m)
    assert point.shape == (directions, m)
    np.testing.assert_allclose(point, point @ a.T + b, rtol=1e-12, atol=1e-13)


def test_a_map_without_a_unique_fixed_point_gives_nan() -> None:
    assert np.isnan(linear_fixed_point(lambda x: x + 1.0, 2, 2)).all()
