"""The search for pairs of shapes that may touch, against a comparison of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cosim_mechanics.forces.neighbour_cells import LEVELS, list_pairs, sort_by_size


def pairs_of(
    centers: Any, radii: Any, room: int = 12, owners: Any = None
) -> tuple[int, set[tuple[int, int]]]:
    """Return the number of pairs that `list_pairs` counts, and the pairs that it writes."""
    count = len(radii)
    pairs = np.full(2 * room * count, -1.0)
    order, levels, per_length = np.zeros(count), np.zeros(count), np.zeros(LEVELS)
    bounded = sort_by_size(np.asarray(radii), order, levels, per_length)
    owners = np.arange(count) if owners is None else owners
    count_of_pairs = list_pairs(
        np.ravel(centers), np.asarray(radii), owners, bounded, order, levels, per_length,
        np.zeros(3 * count), np.zeros(4 * count), np.zeros(count), pairs,
    )  # fmt: skip
    written = pairs[pairs >= 0].astype(int).reshape(-1, 2)
    assert np.all(pairs[2 * len(written) :] == -1.0)
    return count_of_pairs, {(a, b) for a, b in written.tolist()}


def all_pairs(centers: Any, radii: Any) -> set[tuple[int, int]]:
    """Return all pairs of balls that overlap."""
    distances = np.linalg.norm(centers[:, None] - centers[None], axis=-1)
    return set(zip(*np.nonzero(np.triu(distances < radii[:, None] + radii[None], 1)), strict=True))


@pytest.mark.parametrize("width", [0.3, 1.0, 30.0])
def test_all_pairs_that_overlap_are_listed(width: float) -> None:
    random = np.random.default_rng(11)
    sizes = [np.full(150, 0.1), random.uniform(0.01, 0.15, 150), 0.2 * 2.0 ** -random.uniform(0, 20, 150)]
    sizes[2][:3] = 5.0, 1.0, 0.5
    for radii in sizes:
        centers = random.uniform(-width, width, (150, 3))
        count, pairs = pairs_of(centers, radii, 150)
        assert pairs == all_pairs(centers, radii)
        assert count == len(pairs)


def test_shapes_of_one_body_and_half_spaces_are_no_pairs() -> None:
    assert pairs_of(np.zeros((3, 3)), [0.1, 0.2, 0.0], owners=np.array([1, 1, 0])) == (0, set())
    assert pairs_of(np.zeros((3, 3)), [0.1, 0.2, 0.0], owners=np.array([1, 2, 0])) == (1, {(0, 1)})


def test_balls_whose_surfaces_just_meet_are_no_pair() -> None:
    assert pairs_of([[0.0, 0, 0], [0.5, 0, 0]], [0.25, 0.25]) == (0, set())
    assert pairs_of([[0.0, 0, 0], [np.nextafter(0.5, 0), 0, 0]], [0.25, 0.25]) == (1, {(0, 1)})
    assert pairs_of([[0.0, 0, 0]], [0.1]) == (0, set())


def test_pairs_beyond_the_room_are_counted() -> None:
    assert pairs_of(np.zeros((5, 3)) + np.arange(5)[:, None] * 1e-3, np.full(5, 0.1), 1)[0] == 10
