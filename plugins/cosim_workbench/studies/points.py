"""The points of a study: values for each variable, and a seed."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_workbench.studies.variation import Variation

SAMPLERS = {"latin": "LatinHypercube", "sobol": "Sobol", "halton": "Halton", "random": ""}
MOST_POINTS = 50_000_000


class Points(NamedTuple):
    """The values of all points, by path, and the seeds of the points."""

    values: dict[str, NDArray[np.float64]]
    seeds: NDArray[np.int64]


def points_of(variations: Sequence[Variation], sample: str | None, seed: int) -> Points:
    """The points of a study.

    Parameters
    ----------
    variations : sequence of Variation
    sample : str, optional
        ``"latin:1000"``, ``"sobol:1024"``, ``"halton:500"``, ``"random:100"``; a point has one value of each
        grid or list. Without a sample every combination of grids and lists is a point; the last variation
        changes fastest.
    seed : int

    Raises
    ------
    ModelError
        There is no such sample, a range has no count although nothing is drawn, or there are too many points.
    """
    drawn = [v for v in variations if not v.is_seed]
    if sample is None:
        columns = _combinations(drawn)
        count = len(columns[0]) if columns else 1
    else:
        name, count = _read_sample(sample)
        shares = _shares(name, count, len(drawn), seed)
        columns = [v.drawn(shares[:, i]) for i, v in enumerate(drawn)]
    seeds = np.random.SeedSequence(seed).generate_state(count).astype(np.int64)
    by_path = {v.path: column for v, column in zip(drawn, columns, strict=True)}
    values = {v.path: seeds.astype(np.float64) if v.is_seed else by_path[v.path] for v in variations}
    return Points(values, seeds)


def _combinations(variations: Sequence[Variation]) -> list[NDArray[np.float64]]:
    continuous = next((v.path for v in variations if not v.levels), None)
    if continuous is not None:
        raise cosim.ModelError.of(
            continuous, 'has no count: write "1e5..3e5:21" for a grid, or draw samples with "latin:1000"'
        )
    count = 1
    for variation in variations:
        count *= len(variation.levels)
    if count > MOST_POINTS:
        raise cosim.ModelError.of("vary", f"makes {count} points, at most {MOST_POINTS} are possible")
    grids = np.meshgrid(*(v.levels for v in variations), indexing="ij")
    return [grid.reshape(-1) for grid in grids]


def _read_sample(sample: str) -> tuple[str, int]:
    name, _, number = str(sample).partition(":")
    if name not in SAMPLERS:
        raise cosim.LookUpError("sample", name, SAMPLERS)
    if not number.isdecimal() or not 1 <= int(number) <= MOST_POINTS:
        raise cosim.ModelError.of("sample", f'is "{sample}", needs a count: "{name}:1000"')
    return name, int(number)


def _shares(name: str, count: int, dimensions: int, seed: int) -> NDArray[np.float64]:
    """Points of the unit cube, shape (count, dimensions)."""
    if dimensions == 0:
        return np.zeros((count, 0))
    if name == "random":
        return np.random.default_rng(seed).random((count, dimensions))
    from scipy.stats import qmc

    sampler: Any = getattr(qmc, SAMPLERS[name])
    keyword = "rng" if "rng" in inspect.signature(sampler).parameters else "seed"
    engine = sampler(dimensions, **{keyword: np.random.default_rng(seed)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of counts that are not powers of two
        shares: NDArray[np.float64] = engine.random(count)
    return np.clip(shares, 1e-12, 1.0 - 1e-12)  # quantiles of 0 and 1 may be infinite
