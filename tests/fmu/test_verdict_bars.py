"""Each recorded signal has an error bar that holds and is not wide; the verdict follows from the bars."""

import dataclasses
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray
from verdict_benchmarks import Gain, Integrator, Lag, Mass, Source, Spring, drawn_systems, part, verdicts

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.recording.coupling_errors import CouplingReport
from cosim_master.trust.assess_coupling import EXACT_INPUTS
from cosim_master.trust.verdict import facts_of
from cosim_mechanics import Multibody

Vector = NDArray[np.float64]


class UndeclaredFeedthrough(LinearParticipant):
    """Does not declare which outputs depend directly on which inputs."""

    def describe(self) -> kit.ParticipantDescription:
        return dataclasses.replace(super().describe(), feedthrough=None)


class Counter(cosim.Component):
    """A counter, which has no error bar, and a continuous state, which has one."""

    count = cosim.discrete(dtype=int)
    x = cosim.auxiliary_state(start=0.0)
    u = cosim.input()

    @cosim.every(0.1, does="discrete")
    def tick(count, count_next):
        count_next[0] = count + 1

    @cosim.kernel
    def derivatives(x, u, x_dot):
        x_dot[0] = u - x


def ratios(report: CouplingReport, result: cosim.Result, truth: Mapping[str, Vector]) -> list[float]:
    """Error bar over true error, of each signal in `truth`."""
    return [report[name].error / np.abs(result[name] - values).max() for name, values in truth.items()]


@pytest.mark.parametrize("step", [0.1, 0.01])
def test_the_last_participant_of_a_chain_has_a_bar(step: float) -> None:
    """A ramp is held over each step: its integral lacks half a step times its height."""
    parts = {"ramp": part(Source, amplitude=0.0, slope=1.0), "sum": part(Integrator)}
    loop = CoSimulation(parts, [("ramp.part.y", "sum.part.u")], "jacobi", step)
    result = loop.simulate(2.0, record=["*"])
    assert result["sum.part.y"][-1] == pytest.approx(2.0 - step)
    for report in (result.coupling, loop.verify(result, 2.0)):
        assert report["ramp.part.y"].error == pytest.approx(0.0, abs=1e-12)
        for name in ("sum.part.y", "sum.part.x"):
            assert step <= report[name].error < 3.0 * step
        assert report.worst is not None
        assert report.worst.name.startswith("sum.")
        if step == 0.1:
            assert report.verdict == "smaller step"
        assert report.not_judged == []


@pytest.mark.parametrize("interpolation", ["linear", "held"])
def test_a_series_that_changes_within_steps_has_an_error(interpolation: str) -> None:
    """Lines are held over each step, late by half of one on average; values that jump at steps are exact."""
    series = TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0], [2.0, 0.0]]}, interpolation)
    parts = {"series": series, "lag": part(Lag, time=0.5)}
    loop = CoSimulation(parts, [("series.u", "lag.part.u")], step=0.05)
    result = loop.simulate(2.0)
    fine_result = CoSimulation(parts, [("series.u", "lag.part.u")], step=0.0005).simulate(2.0)
    true_error = np.abs(result["lag.part.y"] - fine_result["lag.part.y"][::100]).max()
    bar = result.coupling["lag.part.y"].error
    if interpolation == "held":
        assert bar == 0.0
        assert result.coupling.verdict == "fine"
    else:
        assert true_error > 0.01
        assert true_error < bar < 3.0 * true_error


@pytest.mark.parametrize(
    ("kind", "series", "is_exact"),
    [
        (Lag, TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0], [2.0, 0.0]]}, "held"), True),
        (Lag, TimedInputs({"u": [[0.0, 3.0]]}, "held"), True),
        (Lag, TimedInputs({"u": [[0.0, 0.0], [1.02, 2.0]]}, "held"), False),
        (Lag, TimedInputs({"u": [[0.0, 1.0], [5.02, 2.0]]}, "held"), True),
        (Lag, TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0]]}, "linear"), False),
        (Gain, TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0]]}, "held"), False),
        (Gain, TimedInputs({"u": [[0.0, 2.0], [5.0, 1.0]]}, "held"), True),
    ],
    ids=["at exchanges", "constant", "between exchanges", "after the end", "lines", "passes late", "passes"],
)
def test_only_inputs_that_change_at_exchanges_are_exact(
    kind: type[cosim.Component], series: TimedInputs, is_exact: bool
) -> None:
    """An input that changes between exchanges, or that a direct output passes on late, has an error."""
    loop = CoSimulation({"series": series, "part": part(kind)}, [("series.u", "part.part.u")], step=0.05)
    report = loop.simulate(3.0, record=["*"]).coupling
    assert (report.how == EXACT_INPUTS) is is_exact
    if is_exact:
        assert all(signal.error == 0.0 for signal in report.signals)
        assert report.verdict == "fine"


def test_an_exact_input_beside_one_that_is_not() -> None:
    """One connection with an error is enough."""
    series = TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0]]}, "held")
    parts = {"series": series, "first": part(Lag), "second": part(Lag, time=0.3)}
    wires = [("series.u", "first.part.u"), ("first.part.y", "second.part.u")]
    report = CoSimulation(parts, wires, step=0.05).simulate(3.0).coupling
    assert report.how != EXACT_INPUTS
    assert report["second.part.y"].error > 1e-3


def test_direct_feedthrough_has_a_bar() -> None:
    """An output that follows its input at once, at the end of a chain, is late by a step."""
    parts = {"sine": part(Source, frequency=2.0), "gain": part(Gain, gain=-3.0)}
    result = CoSimulation(parts, [("sine.part.y", "gain.part.u")], "jacobi", 0.02).simulate(3.0)
    truth = {"gain.part.y": -3.0 * np.sin(2.0 * result.time)}
    assert 0.999 < ratios(result.coupling, result, truth)[0] < 4.0


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "interface_newton"])
def test_a_stiff_pair_cut_into_force_and_motion(algorithm: str) -> None:
    """Bars of all forces and motions hold, and none is wide."""
    case = drawn_systems.DrawnCoupling(
        "stiff",
        {
            "m": (Mass, {"mass": 1.0, "start_x": 1.0}),
            "s": (Spring, {"stiffness": 400.0, "damping": 4.0}),
            "n": (Mass, {"mass": 0.5}),
            "t": (Spring, {"stiffness": 3.0}),
        },
        [
            *(("m.x", "s.x1"), ("m.v", "s.v1"), ("n.x", "s.x2"), ("n.v", "s.v2")),
            *(("s.on1", "m.right"), ("s.on2", "n.left")),
            *(("n.x", "t.x1"), ("n.v", "t.v1"), ("t.on1", "n.right")),
        ],
        3.0,
        0.005,
        algorithm,
    )
    result = case.loop().simulate(case.until)
    report, truth = result.coupling, case.exact_outputs(result.time)
    bar_ratios = ratios(report, result, {n: truth[n][:, 0] for n in result.signals if n in truth})
    assert len(bar_ratios) == 8
    assert min(bar_ratios) >= 1.0
    assert max(bar_ratios) < 5.0


def test_an_algebraic_loop_that_newton_solves_is_fine() -> None:
    """Both participants have direct feedthrough: the error is tiny, and so is the bar."""
    matrices_a = ([[-1.0]], [[1.0]], [[1.0]], [[0.5]])
    matrices_b = ([[-3.0]], [[2.0]], [[-1.0]], [[-0.6]])
    parts = {
        "a": LinearParticipant(matrices_a, ["u"], ["y"], [1.0], follows=True),
        "b": LinearParticipant(matrices_b, ["u"], ["y"], [0.5], follows=True),
    }
    links = [("a.y", "b.u"), ("b.y", "a.u")]
    loop = CoSimulation(parts, links, "interface_newton", 0.01)
    result = loop.simulate(1.0)
    fine_result = CoSimulation(parts, links, "interface_newton", 0.002).simulate(1.0)
    true_error = np.abs(result["a.y"] - fine_result["a.y"][::5]).max()
    bar = result.coupling["a.y"].error
    assert true_error < 1e-4
    assert true_error < bar < 10.0 * true_error
    assert result.coupling.verdict == "fine"


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [7, 0, 1, 2, 3, 4, 13, 6])
def test_bars_of_drawn_couplings_hold_and_are_not_wide(seed: int) -> None:
    """One of each kind: stiff, chains, control, sampled, relays, clutches, play, oscillators."""
    checks = verdicts.check_verdicts("drawn", seed)
    assert checks
    assert {check.verdict for check in checks}.isdisjoint({"unknown", "unstable"})
    for check in checks:
        assert 0.999 <= check.ratio < 30.0


def test_the_reference_of_a_sampled_system_has_both_sides_of_a_tick() -> None:
    """The controller's output jumps where it ticks: rows show it before and after, like the whole system."""
    case = drawn_systems.draw(3)
    result = case.loop().simulate(case.until)
    sides = case.exact_outputs(result.time)["controller.controller.u"]
    rows = np.flatnonzero(result.time == 0.2)
    assert rows.size > 1
    before, after = sides[rows[0]], sides[rows[-1]]
    assert before[0] == before[1] != after[0] == after[1]
    # until the tick the controller holds the value of the start, as in the co-simulation
    assert result["controller.controller.u"][rows[0]] == pytest.approx(before[0], abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("which", ["known", "drawn"])
def test_bars_of_many_couplings(which: str) -> None:
    checks = [check for seed in range(5000, 5160) for check in verdicts.check_verdicts(which, seed)]
    figures = verdicts.figures(checks)
    assert figures["hold"] >= 0.95
    assert figures["median"] < 4.0
    assert figures["90 of 100 below"] < 30.0


def test_undeclared_feedthrough_that_does_not_exist_changes_no_bar() -> None:
    """The recorded run shows that the outputs are states."""
    matrices_a = [[[-0.5]], [[1.0]], [[1.0]], [[0.0]]]
    matrices_b = [[[-2.0]], [[-1.0]], [[1.0]], [[0.0]]]
    reports = []
    for kind in (LinearParticipant, UndeclaredFeedthrough):
        parts = {"a": kind(matrices_a, ["u"], ["y"], [1.0]), "b": kind(matrices_b, ["u"], ["y"], [0.0])}
        links = [("a.y", "b.u"), ("b.y", "a.u")]
        reports.append(CoSimulation(parts, links, "jacobi", 0.02).simulate(5.0).coupling)
    assert reports[1]["a.y"].error == pytest.approx(reports[0]["a.y"].error, rel=1e-6)


def test_constant_signals_have_no_error() -> None:
    parts = {"constant": part(Source, amplitude=0.0, offset=2.0), "lag": part(Lag, start_x=2.0)}
    report = CoSimulation(parts, [("constant.part.y", "lag.part.u")], step=0.1).simulate(2.0).coupling
    assert report.verdict == "fine"
    assert max(each.relative for each in report.signals) < 1e-6


def test_signals_without_a_bar_are_listed() -> None:
    parts = {"ramp": part(Source, amplitude=0.0, slope=1.0), "counter": part(Counter)}
    loop = CoSimulation(parts, [("ramp.part.y", "counter.part.u")], step=0.1)
    report = loop.simulate(2.0, record=["*"]).coupling
    assert report.not_judged == ["counter.part.count"]
    assert str(report).endswith("not judged: counter.part.count")
    assert "counter.part.x" in [each.name for each in report.signals]
    assert report.figures()["not_judged"] == report.not_judged


def test_the_residual_of_the_energies_is_compared_with_their_range() -> None:
    """The residual is rounding: relative to its own range the error would exceed 100 %."""
    drive, plant = cosim.Model("drive"), Multibody("plant", gravity=(0, 0, 0))
    drive.measure("measures.sinusoid", "wave", amplitude=10.0, frequency="1 rev/s")
    plant.body("cart", mass=2.0, inertia=(0.01, 0.01, 0.01))
    plant.joint("slider", child="cart", name="way")
    plant.add("mechanics.actuator", "push", coordinate="way")
    loop = CoSimulation(
        {"drive": drive, "plant": plant},
        ["drive.wave -> plant.push.effort"],
        step=1e-3,
        algorithm="gauss_seidel",
    )
    report = loop.simulate(until=1.0).coupling
    signals = {signal.name: signal for signal in report.signals}
    residual, total = signals["plant.energy.residual"], signals["plant.energy.total"]
    assert residual.scale == total.scale > 1.0 and residual.error < 1e-12
    assert report.verdict == "fine" and report.worst.name != residual.name


@pytest.mark.parametrize("may_be_exact", [False, True])
def test_the_four_facts_about_an_algorithm(may_be_exact: bool) -> None:
    """Kernel functions read them by index: order, tolerance, other algorithms exist, inputs may be exact."""
    facts = facts_of(Jacobi(), {}, may_be_exact=may_be_exact)
    assert facts.tolist() == [1.0, 0.0, 1.0, float(may_be_exact)]
