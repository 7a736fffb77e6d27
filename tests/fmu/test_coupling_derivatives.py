"""Derivatives that pass the exchanges of co-simulations: closed forms, differences of whole couplings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import how_many
import numpy as np
import pytest
from coupled_oscillators import (
    ALGORITHMS,
    STARTS,
    STEP,
    TIGHT,
    Ball,
    Kicked,
    Oscillator,
    Spring,
    oscillators,
    system_of,
)
from scipy.linalg import expm, expm_frechet

import cosim
from cosim.cli import main
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu import CoSimulation, ProcessParticipant, SystemParticipant, TimedInputs
from cosim_fmu.scenario.scenario_changes import make_changes

MakeFmu = Callable[..., Path]
Make = Callable[[Mapping[str, float]], CoSimulation]
UNTIL = 0.3
"""Six exchanges: a parabola needs three."""
UNTIL_IT_HAS_BOUNCED = 0.6
FEW = {name: STARTS[name] for name in ("one.m.k", "one.m.x")}
"""A parameter and a start value."""


def differences(
    make: Make, starts: Mapping[str, float], weights: Mapping[str, float], names: Sequence[str], until: float
) -> Any:
    """Of sixth order, of whole runs in which all starts with a weight move together."""
    step = 2e-2

    def values(moved: float) -> Any:
        changed = {by: starts[by] + weight * moved for by, weight in weights.items()}
        result = make({**starts, **changed}).simulate(until, inside="nothing", record=names)
        return np.array([result[name] for name in names])

    parts = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}
    return sum(part * (values(i * step) - values(-i * step)) for i, part in parts.items()) / step


def weighed(starts: Mapping[str, float]) -> dict[str, float]:
    """A direction in which each start moves by a share of its own: no error of one hides in another."""
    return {by: (-0.83) ** i * (abs(start) or 1.0) for i, (by, start) in enumerate(starts.items())}


def along(result: cosim.Result, weights: Mapping[str, float], names: Sequence[str]) -> Any:
    """The derivatives of a run in a direction."""
    return sum(
        weight * np.array([result.derivative(name, by) for name in names]) for by, weight in weights.items()
    )


def check(
    make: Make, starts: Mapping[str, float], names: Sequence[str], close: float, until: float = UNTIL
) -> cosim.Result:
    """Compare the derivatives of a coupling by all of its starts with differences.

    A short run moves all starts together, the thorough one each of them alone.
    """
    result = make(starts).simulate(until, record=names, derivatives=list(starts))
    weights = weighed(starts)
    alone = [{by: weight} for by, weight in weights.items()] if how_many.FACTOR > 1 else []
    for direction in (weights, *alone):
        wanted = differences(make, starts, direction, names, until)
        found = along(result, direction, names)
        sizes = np.maximum(1.0, np.abs(wanted).max(axis=1))  # of each signal, whatever its unit
        assert (np.abs(found - wanted).max(axis=1) / sizes).max() < close, direction
    return result


def test_two_linear_oscillators_against_their_map() -> None:
    """With inputs held over a step, z becomes M z; the derivative of M is that of an exponential."""
    k = {"one": 2.0, "two": 3.0}
    loop = CoSimulation(
        {name: system_of(name, Oscillator(k=stiffness)) for name, stiffness in k.items()},
        [
            {"from": "one.m.x", "to": "two.m.force", "factor": 0.7, "convert": False},
            {"from": "two.m.x", "to": "one.m.force", "factor": 0.4, "convert": False},
        ],
        "jacobi",
        STEP,
        tolerance=1e-13,
    )
    result = loop.simulate(UNTIL, record=["one.m.x", "two.m.x"], derivatives=["one.m.k", "two.m.x"])

    def step_map(stiffness: float) -> tuple[Any, Any]:
        """Of (x, v, force), the force held; and how it changes with the stiffness."""
        matrix = STEP * np.array([[0.0, 1.0, 0.0], [-stiffness, -0.3, 1.0], [0.0, 0.0, 0.0]])
        change = STEP * np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        return expm(matrix), expm_frechet(matrix, change, compute_expm=False)

    def both(one: Any, two: Any, gains: tuple[float, float]) -> Any:
        whole = np.zeros((4, 4))
        whole[:2, :2], whole[2:, 2:] = one[:2, :2], two[:2, :2]
        whole[:2, 2], whole[2:, 0] = gains[1] * one[:2, 2], gains[0] * two[:2, 2]
        return whole

    (one, d_one), (two, _) = step_map(2.0), step_map(3.0)
    moved, d_moved = both(one, two, (0.7, 0.4)), both(d_one, np.zeros((3, 3)), (0.7, 0.4))
    z, by_k, by_x = np.array([1.0, 0.0, 1.0, 0.0]), np.zeros(4), np.array([0.0, 0.0, 1.0, 0.0])
    for i in range(len(result)):
        found = [
            result.derivative(f"{name}.m.x", by)[i]
            for by in ("one.m.k", "two.m.x")
            for name in ("one", "two")
        ]
        assert found == pytest.approx([by_k[0], by_k[2], by_x[0], by_x[2]], abs=1e-11)
        z, by_k, by_x = moved @ z, moved @ by_k + d_moved @ z, moved @ by_x
    assert not result.findings


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "algorithm",
    [
        pytest.param(name, marks=[pytest.mark.thorough] * (name == "gauss_seidel along lines"))
        for name in ALGORITHMS
    ],
)
def test_through_the_exchanges_of_each_algorithm(algorithm: str) -> None:
    """Units, a participant that passes values directly, extrapolation, iteration."""
    names = ["one.m.place", "two.m.v", "spring.m.force"]
    starts = {**FEW, "spring.m.stiffness": 0.7}
    # the loop is unstable: what iterations leave over grows threefold in each exchange
    close = 1e-8 if ALGORITHMS[algorithm] == TIGHT else 1e-9
    result = check(lambda starts: oscillators(algorithm, starts), starts, names, close)
    assert not result.findings
    plain = oscillators(algorithm, starts).simulate(UNTIL, record=names)
    assert all(plain[name].tolist() == result[name].tolist() for name in names)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["gauss_seidel", "interface_newton"])
@pytest.mark.parametrize("gain", [0.5, -3.0])
def test_closed_loops_of_direct_feedthrough(algorithm: str, gain: float) -> None:
    """Two springs in a ring: what each gives depends directly on the other, not linearly; it is iterated."""

    def make(starts: Mapping[str, float]) -> CoSimulation:
        springs = {name: system_of(name, Spring()) for name in ("first", "second")}
        return CoSimulation(
            {**springs, "one": system_of("one", Oscillator())},
            [
                {"from": "first.m.force", "to": "second.m.other", "convert": False, "factor": gain},
                {"from": "second.m.force", "to": "first.m.other", "convert": False, "factor": -0.4},
                ("one.m.place", "first.m.one"),
                {"from": "first.m.force", "to": "one.m.force", "factor": -1.0},
            ],
            algorithm,
            STEP,
            options=TIGHT if algorithm == "interface_newton" else {},
            tolerance=1e-12,
            starts=dict(starts),
        )

    starts = {"first.m.stiffness": 0.7, "second.m.stiffness": 0.9, "one.m.x": 0.3}
    close = 1e-7 if algorithm == "interface_newton" else 2e-6  # gauss_seidel settles its loops to 1e-8
    result = check(make, starts, ["one.m.x", "first.m.force", "second.m.force"], close)
    assert np.abs(result.derivative("second.m.force", "one.m.x")).min() > 0.0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("iterations", "close"), [(0, 2e-6), pytest.param(1, 5e-7, marks=pytest.mark.thorough), (3, 5e-7)]
)
def test_adaptive_exchanges_count_as_they_were_taken(iterations: int, close: float) -> None:
    """Their lengths are constants: differences, whose runs choose others, agree to the error of these.

    Where exchanges are repeated, each line depends on what came out of the one before: of three, as of one.
    """

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {name: system_of(name, Oscillator()) for name in ("one", "two")},
            [
                {"from": f"{source}.m.speed", "to": f"{target}.m.force", "convert": False}
                for source, target in (("one", "two"), ("two", "one"))
            ],
            "adaptive",
            STEP,
            options={"tolerance": 1e-4, "iterations": iterations},
            tolerance=1e-12,
            starts=dict(starts),
        )

    by = {name: STARTS[name] for name in ("one.m.k", "two.m.k")}
    names = ["one.m.x", "two.m.x"]
    result = make(by).simulate(UNTIL, record=names, derivatives=list(by))
    assert result.statistics["algorithm"]["exchanges"] > 3 * UNTIL / STEP
    assert (result.statistics["algorithm"].get("iterations", 0) > 0) == (iterations > 0)
    weights = weighed(by)
    wanted = differences(make, by, weights, names, UNTIL)
    assert np.abs(along(result, weights, names) - wanted).max() < close
    for path in by:
        assert np.abs([result.derivative(name, path) for name in names]).max() > 0.02


def test_a_participant_with_longer_steps() -> None:
    names = ["one.m.place", "two.m.v"]
    check(lambda starts: oscillators("gauss_seidel", starts, {"two": 2 * STEP}), FEW, names, 1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi along parabolas", "interface_newton"])
def test_events_and_delays_inside_of_participants(algorithm: str) -> None:
    """A ball bounces within a step, and feels how fast it was 0.03 s ago."""

    def make(starts: Mapping[str, float]) -> CoSimulation:
        ball = system_of("ball", Ball(), late={"source": "m.speed", "delay": 0.03})
        return CoSimulation(
            {"ball": ball, "two": system_of("two", Oscillator())},
            [
                {"from": "ball.late", "to": "two.m.force", "convert": False},
                {"from": "two.m.x", "to": "ball.m.force", "convert": False},
            ],
            algorithm.split()[0],
            0.02,
            options=ALGORITHMS[algorithm],
            tolerance=1e-11,
            starts=dict(starts),
        )

    names = ["ball.m.height", "ball.late", "two.m.x"]
    starts = {"ball.m.e": 0.8, "ball.m.height": 1.0, "two.m.x": 1.0}
    result = make(starts).simulate(UNTIL_IT_HAS_BOUNCED, record=names, derivatives=list(starts))
    assert len(result.events) == 1
    wanted = differences(make, starts, weighed(starts), names, 0.3)
    found = along(result, weighed(starts), names)[:, : wanted.shape[1]]
    assert np.abs(found - wanted).max() < 1e-8
    step = 1e-4
    ends = [
        make({**starts, "ball.m.e": 0.8 + moved}).simulate(
            UNTIL_IT_HAS_BOUNCED, inside="nothing", record=names
        )
        for moved in (-2 * step, -step, step, 2 * step)
    ]
    for name in names:
        low, lower, upper, high = (end[name] for end in ends)
        wanted = (8.0 * (upper - lower) - (high - low)) / (12.0 * step)
        assert np.abs(result.derivative(name, "ball.m.e") - wanted).max() < 1e-6


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "interface_newton"])
def test_an_input_that_jumps_past_a_witness(algorithm: str) -> None:
    """Held inputs jump at exchanges, at fixed times; along lines they pass the witness in between."""

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {"two": system_of("two", Kicked()), "one": system_of("one", Oscillator())},
            [
                {"from": "one.m.x", "to": "two.m.u", "convert": False},
                {"from": "two.m.z", "to": "one.m.force", "convert": False},
            ],
            algorithm,
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-11,
            starts=dict(starts),
        )

    starts = {"two.m.kick": 0.3, "one.m.x": 1.0}
    names = ["one.m.x", "two.m.z"]
    result = make(starts).simulate(1.0, record=names, derivatives=list(starts))
    assert len(result.events) == 1 and not result.findings
    for by in starts:
        step = 1e-4
        ends = [
            make({**starts, by: starts[by] + moved}).simulate(1.0, inside="nothing", record=names)
            for moved in (-2 * step, -step, step, 2 * step)
        ]
        for name in names:
            low, lower, upper, high = (end[name] for end in ends)
            wanted = (8.0 * (upper - lower) - (high - low)) / (12.0 * step)
            assert np.abs(result.derivative(name, by) - wanted).max() < 1e-7
    assert result.derivative("two.m.z", "two.m.kick")[-1] != 0.0


def test_exact_values() -> None:
    """What has no effect has none, exactly; at the start a state moves with its start value alone."""
    loop = oscillators("interface_newton", {})
    names = ["one.m.place", "one.m.x", "two.m.x", "spring.m.force"]
    result = loop.simulate(STEP, record=names, derivatives=["one.m.idle", "one.m.x"])
    for name in names:
        assert result.derivative(name, "one.m.idle").tolist() == [0.0, 0.0]
    assert result.derivative("one.m.x", "one.m.x")[0] == 1.0
    assert result.derivative("one.m.place", "one.m.x")[0] == 1000.0
    assert result.derivative("two.m.x", "one.m.x")[0] == 0.0
    assert result.derivative("spring.m.force", "one.m.x")[0] == pytest.approx(0.7, abs=1e-15)  # equal places
    nothing = loop.simulate(0.0, record=names, derivatives=["one.m.x"])
    assert nothing.time.tolist() == [0.0] and nothing.derivative("one.m.x", "one.m.x").tolist() == [1.0]
    plain = loop.simulate(STEP, record=names)  # compiled again
    assert all(plain[name].tolist() == result[name].tolist() for name in names)
    saved = result.with_derivatives()
    assert saved.unit("d(one.m.place)/d(one.m.x)") == "mm/(m)"


def test_a_single_participant_is_its_own_run() -> None:
    system = system_of("ball", Ball())
    loop = CoSimulation({"ball": system}, [], "jacobi", 0.1, tolerance=1e-9)
    coupled = loop.simulate(UNTIL_IT_HAS_BOUNCED, record=["ball.m.height"], derivatives=["ball.m.e"])
    alone = cosim.simulate(
        system,
        until=UNTIL_IT_HAS_BOUNCED,
        accuracy=1e-9,
        signals=["m.height"],
        output_interval=0.1,
        derivatives=["m.e"],
    )
    at = np.searchsorted(alone.time, coupled.time - 1e-12)
    wanted = alone.derivative("m.height", "m.e")[at]
    assert coupled.derivative("ball.m.height", "ball.m.e") == pytest.approx(wanted, abs=1e-7)
    assert wanted[-1] != 0.0


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel along lines", "interface_newton"])
def test_fmus_by_differences_of_their_own(make_fmu: MakeFmu, algorithm: str) -> None:
    """An FMU, and a system of ours that feels its spring."""
    fmu = make_fmu("mass")

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {"one": fmu, "two": system_of("two", Oscillator())},
            [
                ("one.force", "two.m.force"),
                {"from": "two.m.x", "to": "one.x_other", "convert": False},
                {"from": "two.m.v", "to": "one.v_other", "convert": False},
            ],
            algorithm.split()[0],
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-12,
            starts={"two.m.x": 0.5, **starts},
        )

    starts = {"one.k": 2.0, "one.kc": 0.7, "one.cc": 0.2, "two.m.k": 3.0}
    result = check(make, starts, ["one.x", "one.force", "two.m.x"], 1e-9)
    (told,) = result.findings
    assert told.kind == "derivatives by differences" and "one" in str(told)


def test_an_fmu_that_cannot_go_back(make_fmu: MakeFmu) -> None:
    """It runs beside itself where nothing is taken back, and is refused where exchanges are repeated."""
    fmu = make_fmu("mass", abilities='canHandleVariableCommunicationStepSize="true"')

    def make(algorithm: str) -> CoSimulation:
        connections = ["one.x -> two.x_other", "two.x -> one.x_other"]
        return CoSimulation({"one": fmu, "two": fmu}, connections, algorithm, STEP, starts={"two.kc": 0.5})

    result = make("jacobi").simulate(STEP, derivatives=["one.k"])
    assert result.derivative("one.x", "one.k")[0] == 0.0 and result.derivative("one.x", "one.k")[1] < 0.0
    with pytest.raises(cosim.CosimError, match="one"):
        make("interface_newton").simulate(STEP, derivatives=["one.k"])


@pytest.mark.thorough
def test_fmus_in_processes_of_their_own(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")

    def derivative(one: Any) -> list[float]:
        two = system_of("two", Oscillator())
        link = {"from": "one.x", "to": "two.m.force", "convert": False}
        loop = CoSimulation({"one": one, "two": two}, [link], "jacobi", STEP, tolerance=1e-9)
        result = loop.simulate(4 * STEP, record=["two.m.x"], derivatives=["one.k"])
        found: list[float] = result.derivative("two.m.x", "one.k").tolist()
        return found

    found = derivative(ProcessParticipant(fmu))
    assert found == derivative(fmu)
    assert found[-1] != 0.0


class Cubic(cosim.Participant):
    """Adds up the cube of its input, in Python: y' = gain u^3."""

    def describe(self) -> ParticipantDescription:
        variables = {
            name: ParticipantVariable(name, causality, "real", "1", start)
            for name, causality, start in (
                ("gain", "parameter", 2.0),
                ("u", "input", 0.0),
                ("y", "output", None),
            )
        }
        return ParticipantDescription("python", variables, {"y": frozenset()}, can_restore=False)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        self.gain, self.u, self.y = float(values.get("gain", 2.0)), 0.0, 0.0

    def set(self, names: Sequence[str], values: Any) -> None:
        (self.u,) = values

    def step(self, time: float, size: float) -> float:
        self.y += size * self.gain * self.u**3
        return time + size

    def get(self, names: Sequence[str]) -> Any:
        return [self.y for _ in names]

    def close(self) -> None:
        pass


def test_an_object_in_python_behind_values_over_time() -> None:
    """The sum of cubes of an oscillator; what values over time feed has no derivative."""
    source = TimedInputs({"u": ([0.0, 1.0], [1.0, 3.0])})
    loop = CoSimulation(
        {"one": system_of("one", Oscillator()), "sum": Cubic(), "values": source, "other": Cubic()},
        [{"from": "one.m.x", "to": "sum.u", "convert": False}, "values.u -> other.u"],
        "jacobi",
        STEP,
        tolerance=1e-10,
    )
    result = loop.simulate(UNTIL, record=["one.m.x", "sum.y", "other.y"], derivatives=["one.m.k", "sum.gain"])
    x, by_k = result["one.m.x"], result.derivative("one.m.x", "one.m.k")
    steps = np.diff(result.time)
    assert result.derivative("sum.y", "sum.gain") == pytest.approx(result["sum.y"] / 2.0, rel=1e-9)
    wanted = np.concatenate([[0.0], np.cumsum(steps * 6.0 * x[:-1] ** 2 * by_k[:-1])])
    assert result.derivative("sum.y", "one.m.k") == pytest.approx(wanted, abs=1e-9)
    for by in ("one.m.k", "sum.gain"):
        assert set(result.derivative("other.y", by).tolist()) == {0.0}


class Tiny(Cubic):
    """Adds up the sine of a parameter in parts of a millionth: y' = sin(gain / 1e-6)."""

    def __init__(self, nominal: float | None) -> None:
        self.nominal = nominal

    def describe(self) -> ParticipantDescription:
        gain = ParticipantVariable("gain", "parameter", start=0.0, nominal=self.nominal)
        variables = {"gain": gain, "y": ParticipantVariable("y", "output")}
        return ParticipantDescription("python", variables, {"y": frozenset()}, can_restore=False)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        self.gain, self.y = float(values.get("gain", 0.0)), 0.0

    def step(self, time: float, size: float) -> float:
        self.y += size * math.sin(self.gain / 1e-6)
        return time + size


@pytest.mark.parametrize(
    ("nominal", "gain", "is_exact"), [(1e-6, 0.0, True), (None, 0.0, False), (1e9, 2e-6, True)]
)
def test_a_parameter_of_zero_varies_by_its_nominal_value(
    nominal: float | None, gain: float, is_exact: bool
) -> None:
    """One that is not 0 varies by its own size; without either scale the finding says what is lost."""
    loop = CoSimulation({"tiny": Tiny(nominal)}, [], "jacobi", STEP, starts={"tiny.gain": gain})
    result = loop.simulate(UNTIL, record=["tiny.y"], derivatives=["tiny.gain"])
    wanted = 1e6 * math.cos(gain / 1e-6) * result.time
    (finding,) = [f for f in result.findings if f.kind == "derivatives by differences"]
    if is_exact:
        assert result.derivative("tiny.y", "tiny.gain") == pytest.approx(wanted, rel=1e-9)
        assert "relative error below" in finding.message
    else:
        assert result.derivative("tiny.y", "tiny.gain")[-1] != pytest.approx(wanted[-1], rel=0.1)
        assert "no digit is certain" in finding.message


def test_a_scenario_writes_them(
    tmp_path: Path, make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.toml").write_text(
        'connections = ["one.x -> two.x_other", "two.x -> one.x_other"]\n'
        '[participants.one]\nfmu = "mass.fmu"\n[participants.two]\nfmu = "mass.fmu"\n'
        'parameters = { kc = 0.5 }\n[master]\nalgorithm = "jacobi"\nstep = 0.05\nuntil = 0.5\n'
    )
    assert main(["cosimulate", "loop.toml", "-q", "--derivatives", "two.kc, one.k"]) == 0
    written = cosim.read_result(tmp_path / "loop.csv")
    loop = CoSimulation.from_file(tmp_path / "loop.toml")
    result = loop.simulate(derivatives=["two.kc", "one.k"])
    for by in ("two.kc", "one.k"):
        found = written.derivative("two.x", by)
        assert found.tolist() == result.derivative("two.x", by).tolist()
        assert abs(found[-1]) > 1e-4
    assert main(["cosimulate", "loop.toml", "-q", "--derivatives", "two.weight"]) == 2
    assert "two.weight" in capsys.readouterr().err


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "interface_newton"])
def test_connections_between_parameters(make_fmu: MakeFmu, algorithm: str) -> None:
    """A chain from one system through an FMU to another system, with a factor: each passes its value once."""
    fmu = make_fmu("mass")

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {"two": system_of("two", Oscillator()), "one": system_of("one", Oscillator()), "mass": fmu},
            [
                {"from": "mass.k", "to": "two.m.c", "factor": 0.3, "convert": False},
                {"from": "one.m.k", "to": "mass.k", "factor": 0.5, "convert": False},
                {"from": "one.m.x", "to": "two.m.force", "convert": False},
                {"from": "two.m.x", "to": "mass.x_other", "convert": False},
            ],
            algorithm,
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-12,
            starts={"mass.kc": 0.7, **starts},
        )

    starts = {"one.m.k": 2.0, "one.m.x": 0.5}
    result = check(make, starts, ["one.m.x", "two.m.x", "mass.x"], 1e-9)
    assert np.abs(result.derivative("two.m.x", "one.m.k")[-1]) > 1e-4
    with pytest.raises(cosim.ModelError, match="connected"):
        make({}).simulate(UNTIL, derivatives=["two.m.c"])


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "interface_newton"])
def test_parameters_that_change_over_time(algorithm: str) -> None:
    """They become 5 and 0.9 whatever they were; other parameters and start values matter before and after."""
    entries = [{"at": 0.1, "set": {"one.m.k": 5.0}}, {"at": 0.25, "set": {"two.m.c": 0.9}}]

    def make(starts: Mapping[str, float]) -> CoSimulation:
        systems: dict[str, Any] = {
            name: SystemParticipant(system_of(name, Oscillator())) for name in ("one", "two")
        }
        all_starts = {"one.m.k": 2.0, "two.m.c": 0.8, **starts}
        changes, wires = make_changes(entries, systems, all_starts, lambda key, text: pytest.fail(text))
        return CoSimulation(
            {"changes": changes, **systems},
            [
                *wires,
                {"from": "one.m.x", "to": "two.m.force", "convert": False},
                {"from": "two.m.x", "to": "one.m.force", "convert": False},
            ],
            algorithm,
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-12,
            starts=all_starts,
        )

    starts = {"one.m.c": 0.3, "one.m.x": 0.5, "two.m.k": 3.0}
    check(make, starts, ["one.m.x", "two.m.x", "one.m.k"], 1e-9, until=0.4)


@pytest.mark.parametrize(
    ("by", "more", "words"),
    [
        ("one.m.force", {}, "connected"),
        ("three.m.k", {}, "three"),
        (3, {}, "3"),
        ("one.m.stiff", {}, "stiff"),
        ("one.m.place", {}, "start value"),
        ("one.m.k", {"inside": "events"}, "nothing"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(by: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(cosim.CosimError, match=words):
        oscillators("jacobi", {}).simulate(UNTIL, derivatives=[by], **more)
