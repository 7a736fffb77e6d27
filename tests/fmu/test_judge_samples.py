"""The error of a coupling by kernel functions, against NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from cosim.kit import compile_function, head_of
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.recording.collect_samples import Collected
from cosim_master.trust.assess_coupling import assess_coupling
from cosim_master.trust.judge_samples import FIRST_BAR, VERDICT, VERDICTS, judge, judge_room
from cosim_master.trust.judged_coupling import judged_of
from cosim_master.trust.least_squares import (
    add_row,
    exponential,
    invert,
    solve_triangle,
    spectral_radius,
)


@pytest.mark.parametrize("seed", range(6))
def test_least_squares(seed: int) -> None:
    """Also where columns depend on each other, or there are fewer rows than columns."""
    random = np.random.default_rng(seed)
    rows, n, r = ((40, 5, 2), (3, 5, 1), (60, 8, 3))[seed % 3]
    data, wanted = random.normal(size=(rows, n)), random.normal(size=(rows, r))
    if seed >= 3:
        data[:, 1] = 2.0 * data[:, 0]
    triangle, right, found, turns = np.zeros(n * n), np.zeros(n * r), np.zeros(n * r), np.zeros(n * n)
    for row, values in zip(data, wanted, strict=True):
        add_row(triangle, right, row.copy(), values.copy(), n, r)
    solve_triangle(triangle, right, found, turns, n, r, 1e-13)
    expected = np.linalg.lstsq(data, wanted, rcond=1e-13)[0]
    assert found.reshape(n, r) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_small_matrices(n: int) -> None:
    matrix = np.random.default_rng(n).normal(size=(n, n))
    found, one, two = (np.zeros(n * n) for _ in range(3))
    assert invert(matrix.ravel().copy(), found, n)
    assert found.reshape(n, n) @ matrix == pytest.approx(np.eye(n), abs=1e-12)
    radius = np.abs(np.linalg.eigvals(matrix)).max()
    assert spectral_radius(matrix.ravel(), one, two, n) == pytest.approx(radius, rel=1e-9)
    exponential(matrix.ravel(), 0.01, 18, found, one, two, n)
    assert found.reshape(n, n) == pytest.approx(expm(0.01 * matrix), abs=1e-14)


def test_matrices_without_an_inverse_and_without_powers() -> None:
    room = np.zeros(4)
    assert not invert(np.array([1.0, 2.0, 2.0, 4.0]), room, 2)
    assert spectral_radius(np.zeros(4), room, room.copy(), 2) == 0.0
    assert spectral_radius(np.array([0.0, 1.0, 0.0, 0.0]), room, room.copy(), 2) == 0.0


def judged(loop: CoSimulation, result: Any, *, is_plain: bool) -> tuple[np.ndarray[Any, Any], list[str]]:
    """What the kernel functions find after a run."""
    coupled = result.evidence
    coupled.samples.samples()  # all of them have been added
    collected = coupled.samples.begun
    more = np.zeros(4 * collected.present.size)
    copied = Collected(
        *(np.concatenate([x, more]) if n == "kept" else x.copy() for n, x in collected._asdict().items())
    )
    known = judged_of(coupled, loop.algorithm)
    heads = [head_of(copied), head_of(known)]
    at = [int(head.ctypes.data) for head in heads]
    functions: list[Callable[..., int]] = [judge_room, judge]
    if not is_plain:
        functions = [compile_function(judge_room, "ii>i"), compile_function(judge, "iiii>i")]
    room = np.zeros(functions[0](*at))
    functions[1](*at, int(room.ctypes.data), room.size)
    return known.found, [".".join(port) for port in coupled.sampled_ports]


def participant(random: np.random.Generator, states: int, inputs: int, *, passes: bool) -> LinearParticipant:
    """A stable one that shows all its states, and an output that may follow its inputs at once."""
    a = random.normal(size=(states, states))
    a -= (np.abs(np.linalg.eigvals(a)).max() + 0.3) * np.eye(states)
    b = random.normal(size=(states, inputs))
    c = np.vstack([np.eye(states), random.normal(size=(1, states))])
    d = np.zeros((states + 1, inputs))
    d[-1] = 0.4 * passes
    names = [f"u{i}" for i in range(inputs)], [f"y{i}" for i in range(states + 1)]
    return LinearParticipant(
        [a.tolist(), b.tolist(), c.tolist(), d.tolist()], *names, random.normal(size=states).tolist()
    )


@pytest.mark.parametrize("seed", range(12))
def test_drawn_couplings(seed: int) -> None:
    random = np.random.default_rng(100 + seed)
    parts = {
        "a": participant(random, 2, 1, passes=False),
        "b": participant(random, 1, 2, passes=seed % 3 == 1),
        "free": participant(random, 2, 1, passes=False),
    }
    links = [("a.y0", "b.u0"), ("b.y1", "a.u0"), ("free.y1", "b.u1")]
    algorithm = ("jacobi", "gauss_seidel", "adaptive")[seed % 3]
    loop = CoSimulation(parts, links, algorithm, (0.05, 0.02, 0.1)[seed % 3])
    is_short = seed == 0  # plain Python takes its time
    result = loop.simulate(0.8 if is_short else 3.0, record=["*.x*", "*.y*"])
    report = assess_coupling(result.evidence, loop.algorithm, loop.step)
    for is_plain in (False, True)[: 1 + is_short]:
        found, names = judged(loop, result, is_plain=is_plain)
        assert VERDICTS[int(found[VERDICT]) - 1] == report.verdict
        errors = dict(zip(names, found[FIRST_BAR:], strict=True))
        assert report.signals
        for each in report.signals:
            assert errors[each.name] == pytest.approx(each.error, rel=1e-4, abs=1e-9 * each.scale)
