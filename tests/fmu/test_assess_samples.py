"""Kernel functions for libraries without Python assess a coupling exactly as a run in Python does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
from cosim_master.trust.linear_equations import room_needed
from cosim_master.trust.run_in_intervals import POINTS, course_room, interval_count
from cosim_master.trust.sampled_wiring import wiring_of
from cosim_master.trust.verdict import VERDICTS


class Lag(cosim.Component):
    """Follows its input; further outputs are never finite, or no more after 1 s."""

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
    """Two lags that follow each other."""
    parts = {}
    for name in ("one", "two"):
        model = cosim.Model(name)
        model.add(Lag, "part")
        parts[name] = SystemParticipant(model)
    wires = [("one.part.out", "two.part.seen"), ("two.part.out", "one.part.seen")]
    return CoSimulation(parts, wires, "interface_newton", 0.05)


def participant(random: np.random.Generator, states: int, inputs: int, *, passes: bool) -> LinearParticipant:
    """A stable participant that shows all states and a sum of them; `passes` adds its inputs to the sum."""
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


def assess_in_kernel(
    loop: CoSimulation, result: Any, *, is_plain: bool
) -> tuple[np.ndarray[Any, Any], list[str]]:
    """The outcome of the kernel functions after a run, and the names of the sampled outputs."""
    coupled = result.evidence
    coupled.samples.samples()  # adds the samples that the run has not handed over yet
    collected = coupled.samples.collected
    spare = np.zeros(4 * collected.present.size)
    copied = Collected(
        *(np.concatenate([x, spare]) if n == "kept" else x.copy() for n, x in collected._asdict().items())
    )
    wired, known = assessment_of(coupled, loop.algorithm)
    heads = [head_of(copied), np.concatenate([head_of(wired), head_of(known)])]
    addresses = [int(head.ctypes.data) for head in heads]
    functions: list[Callable[..., int]] = [assessment_room, assess_samples]
    if not is_plain:
        functions = [compile_function(assessment_room, "ii>i"), compile_function(assess_samples, "iiii>i")]
    measure_room, assess = functions
    room = np.zeros(measure_room(*addresses))
    assess(*addresses, int(room.ctypes.data), room.size)
    return known.outcome, [".".join(port) for port in coupled.sampled.ports]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(12))
def test_random_linear_couplings_have_the_same_errors(seed: int) -> None:
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
        outcome, names = assess_in_kernel(loop, result, is_plain=is_plain)
        assert VERDICTS[int(outcome[VERDICT]) - 1] == report.verdict
        errors = dict(zip(names, outcome[FIRST_BAR:], strict=True))
        assert report.signals
        for signal in report.signals:
            assert errors[signal.name] == pytest.approx(signal.error, rel=1e-4, abs=1e-9 * signal.scale)


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
    """This does not hold for a direct output, which is read before its input jumps."""
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
        outcome, names = assess_in_kernel(loop, result, is_plain=is_plain)
        places = [FIRST_BAR + names.index(signal.name) for signal in report.signals]
        assert (outcome[places] == 0.0).all() == is_exact
        assert (VERDICTS[int(outcome[VERDICT]) - 1], outcome[ERROR]) == ("fine", 0.0) or not is_exact


def test_participants_without_connections_change_no_bars() -> None:
    """They have no samples and are not counted among the participants that have some."""
    random = np.random.default_rng(7)
    parts = {f"alone{i}": participant(random, 1, 0, passes=False) for i in range(8)}
    parts |= {"a": participant(random, 1, 1, passes=False), "b": participant(random, 1, 1, passes=False)}
    loop = CoSimulation(parts, [("a.y0", "b.u0"), ("b.y0", "a.u0")], "jacobi", 0.02)
    result = loop.simulate(3.0, record=["a.y0", "b.y0"])
    status, bars = linear_bars_of(result.evidence.samples.samples(), wiring_of(result.evidence))
    assert status == KNOWN and (bars > 1e-6).all()


@pytest.mark.parametrize("samples", [POINTS, POINTS + 2, 2 * POINTS + 2])
def test_fewer_samples_need_no_more_room(samples: int) -> None:
    """Memory is allocated before the number of samples of a complete run is known."""
    for fewer in range(samples - 4, samples + 1):
        count = interval_count(fewer, 4, 2, POINTS)
        assert course_room(count, 4, 2) + room_needed(count, 4, 2) <= bars_room(samples, 4, 2)


@pytest.mark.few(1)
@pytest.mark.parametrize("recorded", ["absent", "never"])
def test_an_output_without_a_value_is_not_judged(recorded: str) -> None:
    loop = lags()
    reference = lags().simulate(3.0, record=["*.out"])
    result = loop.simulate(3.0, record=[f"*.part.{recorded}", "*.out"])
    assert result.coupling.verdict == reference.coupling.verdict == "fine"
    assert result.coupling.not_judged == [f"{name}.part.{recorded}" for name in ("one", "two")]
    assert not np.isfinite(np.asarray(result[f"one.part.{recorded}"])).any()
    outcome, names = assess_in_kernel(loop, result, is_plain=False)
    assert VERDICTS[int(outcome[VERDICT]) - 1] == "fine"
    errors = dict(zip(names, outcome[FIRST_BAR:], strict=True))
    assert errors[f"one.part.{recorded}"] == NOT_KNOWN and errors["one.part.out"] >= 0.0


def test_a_run_whose_output_turns_into_nan_is_unstable() -> None:
    result = lags().simulate(3.0, record=["*.lost"])
    assert result.coupling.verdict == "unstable" and "one.part.lost" in result.coupling.advice
