"""The error of a coupling in libraries without Python: what a run in Python says of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import cosim
from cosim.kit import compile_function, head_of
from cosim_fmu import CoSimulation, SystemParticipant, TimedInputs
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.recording.collect_samples import Collected
from cosim_master.trust.assess_coupling import EXACT_INPUTS, assess_coupling
from cosim_master.trust.assess_samples import (
    ERROR,
    FIRST_BAR,
    NOT_KNOWN,
    VERDICT,
    assess_samples,
    assessment_room,
)
from cosim_master.trust.coupling_assessment import assessment_of
from cosim_master.trust.explained_bars import KNOWN, bars_room
from cosim_master.trust.explained_run import linear_bars_of
from cosim_master.trust.least_squares import (
    add_row,
    exponential,
    invert,
    solve_triangle,
    spectral_radius,
)
from cosim_master.trust.linear_equations import room_needed
from cosim_master.trust.run_in_intervals import POINTS, course_room, interval_count
from cosim_master.trust.sampled_wiring import wiring_of
from cosim_master.trust.verdict import VERDICTS


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


def assessed(loop: CoSimulation, result: Any, *, is_plain: bool) -> tuple[np.ndarray[Any, Any], list[str]]:
    """What the kernel functions find after a run."""
    coupled = result.evidence
    coupled.samples.samples()  # all of them have been added
    collected = coupled.samples.collected
    more = np.zeros(4 * collected.present.size)
    copied = Collected(
        *(np.concatenate([x, more]) if n == "kept" else x.copy() for n, x in collected._asdict().items())
    )
    wired, known = assessment_of(coupled, loop.algorithm)
    heads = [head_of(copied), np.concatenate([head_of(wired), head_of(known)])]
    at = [int(head.ctypes.data) for head in heads]
    functions: list[Callable[..., int]] = [assessment_room, assess_samples]
    if not is_plain:
        functions = [compile_function(assessment_room, "ii>i"), compile_function(assess_samples, "iiii>i")]
    room = np.zeros(functions[0](*at))
    functions[1](*at, int(room.ctypes.data), room.size)
    return known.outcome, [".".join(port) for port in coupled.sampled.ports]


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


@pytest.mark.few(2)
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
        found, names = assessed(loop, result, is_plain=is_plain)
        assert VERDICTS[int(found[VERDICT]) - 1] == report.verdict
        errors = dict(zip(names, found[FIRST_BAR:], strict=True))
        assert report.signals
        for each in report.signals:
            assert errors[each.name] == pytest.approx(each.error, rel=1e-4, abs=1e-9 * each.scale)


@pytest.mark.parametrize(
    ("series", "error"),
    [
        ([[0.0, 0.0], [1.0, 2.0]], 0.0),
        ([[0.0, 1.0], [5.02, 2.0]], 0.0),
        ([[0.0, 0.0], [1.02, 2.0]], None),
    ],
    ids=["at exchanges", "after the end", "between exchanges"],
)
@pytest.mark.parametrize("passes", [False, True], ids=["states", "passes late"])
def test_inputs_that_change_at_exchanges_are_exact(
    series: list[list[float]], error: float | None, passes: bool
) -> None:
    """Of a direct output that is read before its input jumps it is not so."""
    parts = {
        "series": TimedInputs({"u": series}, "held"),
        "part": LinearParticipant([[[-1.0]], [[1.0]], [[1.0]], [[float(passes)]]], ["u"], ["y"], [0.5]),
    }
    loop = CoSimulation(parts, [("series.u", "part.u")], "jacobi", 0.05)
    result = loop.simulate(2.0, record=["*"])
    report = assess_coupling(result.evidence, loop.algorithm, loop.step)
    is_exact = error == 0.0 and not (passes and series[-1][0] < 2.0)
    assert (report.how == EXACT_INPUTS) is is_exact
    for is_plain in (False, True) if is_exact else (False,):
        found, names = assessed(loop, result, is_plain=is_plain)
        places = [FIRST_BAR + names.index(each.name) for each in report.signals]
        assert (found[places] == 0.0).all() == is_exact
        assert (VERDICTS[int(found[VERDICT]) - 1], found[ERROR]) == ("fine", 0.0) or not is_exact


def test_participants_without_connections_come_first() -> None:
    """They have no samples, and no number among those that do."""
    random = np.random.default_rng(7)
    parts = {f"alone{i}": participant(random, 1, 0, passes=False) for i in range(8)}
    parts |= {"a": participant(random, 1, 1, passes=False), "b": participant(random, 1, 1, passes=False)}
    loop = CoSimulation(parts, [("a.y0", "b.u0"), ("b.y0", "a.u0")], "jacobi", 0.02)
    result = loop.simulate(3.0, record=["a.y0", "b.y0"])
    found, bars = linear_bars_of(result.evidence.samples.samples(), wiring_of(result.evidence))
    assert found == KNOWN and (bars > 1e-6).all()


@pytest.mark.parametrize("samples", [POINTS, POINTS + 2, 2 * POINTS + 2])
def test_fewer_samples_need_no_more_room(samples: int) -> None:
    """The room is made before it is known how many samples complete the run."""
    for fewer in range(samples - 4, samples + 1):
        count = interval_count(fewer, 4, 2, POINTS)
        assert course_room(count, 4, 2) + room_needed(count, 4, 2) <= bars_room(samples, 4, 2)


class Lag(cosim.Component):
    """Follows what it sees, and shows what it does not have."""

    seen = cosim.input()
    slow = cosim.auxiliary_state(start=1.0)
    out = cosim.output()
    absent = cosim.output()
    never = cosim.output()
    lost = cosim.output()

    @cosim.kernel
    def law(t, seen, slow, slow_dot, out, absent, never, lost):
        slow_dot[0] = 0.5 * seen - slow
        out[0] = slow
        absent[0] = math.nan
        never[0] = math.inf
        lost[0] = slow if t < 1.0 else math.nan


def lags() -> CoSimulation:
    parts = {}
    for name in ("one", "two"):
        made = cosim.Model(name)
        made.add(Lag, "part")
        parts[name] = SystemParticipant(made)
    wires = [("one.part.out", "two.part.seen"), ("two.part.out", "one.part.seen")]
    return CoSimulation(parts, wires, "interface_newton", 0.05)


@pytest.mark.few(1)
@pytest.mark.parametrize("recorded", ["absent", "never"])
def test_an_output_without_a_value_is_not_judged(recorded: str) -> None:
    loop = lags()
    alone = lags().simulate(3.0, record=["*.out"])
    result = loop.simulate(3.0, record=[f"*.part.{recorded}", "*.out"])
    assert result.coupling.verdict == alone.coupling.verdict == "fine"
    assert result.coupling.not_judged == [f"{name}.part.{recorded}" for name in ("one", "two")]
    assert not np.isfinite(np.asarray(result[f"one.part.{recorded}"])).any()
    found, names = assessed(loop, result, is_plain=False)
    assert VERDICTS[int(found[VERDICT]) - 1] == "fine"
    errors = dict(zip(names, found[FIRST_BAR:], strict=True))
    assert errors[f"one.part.{recorded}"] == NOT_KNOWN and errors["one.part.out"] >= 0.0


def test_an_output_that_loses_its_value_is_a_failure() -> None:
    result = lags().simulate(3.0, record=["*.lost"])
    assert result.coupling.verdict == "unstable" and "one.part.lost" in result.coupling.advice
