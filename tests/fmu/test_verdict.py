"""The verdict on a coupling: all that is recorded is judged, bars hold and are not wide, a status follows."""

import dataclasses
import json
import re
import sys
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import advice
import drawn_systems
import verdicts
from drawn_parts import Gain, Integrator, Lag, Mass, Source, Spring
from test_master_coupling import Block

import cosim
from cosim import kit
from cosim.cli import main
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.recording.coupling_errors import CouplingError, CouplingReport
from cosim_master.run import simulation_run
from cosim_master.trust import second_run
from cosim_master.trust.advice import advise
from cosim_master.trust.assess_coupling import EXACT_INPUTS
from cosim_master.trust.verdict import facts_of
from cosim_mechanics import Multibody

Vector = NDArray[np.float64]


def part(kind: type[cosim.Component], **values: Any) -> cosim.Model:
    """A model of one component, which is called as its participant."""
    model = cosim.Model(kind.__name__.lower())
    starts = {key: value for key, value in values.items() if key.startswith("start_")}
    model.add(kind, "part", **{key: value for key, value in values.items() if key not in starts})
    for key, value in starts.items():
        model.set_start(f"part.{key[6:]}", value)
    return model


def ratios(report: CouplingReport, result: cosim.Result, truth: Mapping[str, Vector]) -> list[float]:
    """Bar over error of each output that has a truth."""
    return [report[name].error / np.abs(result[name] - values).max() for name, values in truth.items()]


@pytest.mark.parametrize("step", [0.1, 0.01])
def test_the_end_of_a_chain_is_judged(step: float) -> None:
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
        assert report.verdict == ("smaller step" if step == 0.1 else "fine") or step == 0.01
        assert report.not_judged == []


@pytest.mark.parametrize("interpolation", ["linear", "held"])
def test_series_count_as_sources(interpolation: str) -> None:
    """Along lines they are held over steps, too late by half of one; held ones that jump at steps are not."""
    series = TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0], [2.0, 0.0]]}, interpolation)
    parts = {"series": series, "lag": part(Lag, time=0.5)}
    loop = CoSimulation(parts, [("series.u", "lag.part.u")], step=0.05)
    result = loop.simulate(2.0)
    fine = CoSimulation(parts, [("series.u", "lag.part.u")], step=0.0005).simulate(2.0)
    true = np.abs(result["lag.part.y"] - fine["lag.part.y"][::100]).max()
    bar = result.coupling["lag.part.y"].error
    if interpolation == "held":
        assert bar == 0.0
        assert result.coupling.verdict == "fine"
    else:
        assert true > 0.01
        assert true < bar < 3.0 * true


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
    """No second run shows more of these; whatever changes in between, or is read late, has an error."""
    loop = CoSimulation({"series": series, "part": part(kind)}, [("series.u", "part.part.u")], step=0.05)
    report = loop.simulate(3.0, record=["*"]).coupling
    assert (report.how == EXACT_INPUTS) is is_exact
    if is_exact:
        assert all(each.error == 0.0 for each in report.signals)
        assert report.verdict == "fine"


def test_an_exact_input_beside_one_that_is_not() -> None:
    """One connection with an error is enough."""
    series = TimedInputs({"u": [[0.0, 0.0], [1.0, 2.0]]}, "held")
    parts = {"series": series, "first": part(Lag), "second": part(Lag, time=0.3)}
    wires = [("series.u", "first.part.u"), ("first.part.y", "second.part.u")]
    report = CoSimulation(parts, wires, step=0.05).simulate(3.0).coupling
    assert report.how != EXACT_INPUTS
    assert report["second.part.y"].error > 1e-3


def test_what_passes_directly_is_judged() -> None:
    """An output that follows its input at once, at the end of a chain, is late by a step."""
    parts = {"sine": part(Source, frequency=2.0), "gain": part(Gain, gain=-3.0)}
    result = CoSimulation(parts, [("sine.part.y", "gain.part.u")], "jacobi", 0.02).simulate(3.0)
    truth = {"gain.part.y": -3.0 * np.sin(2.0 * result.time)}
    assert 0.999 < ratios(result.coupling, result, truth)[0] < 4.0


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "interface_newton"])
def test_a_stiff_pair_cut_into_force_and_motion(algorithm: str) -> None:
    """Forces as well as motions: bars hold, and none is wide."""
    case = drawn_systems.DrawnCoupling(
        "stiff",
        {
            "m": (Mass, {"mass": 1.0, "start_x": 1.0}),
            "s": (Spring, {"stiffness": 400.0, "damping": 4.0}),
            "n": (Mass, {"mass": 0.5}),
            "t": (Spring, {"stiffness": 3.0}),
        },
        [
            *[("m.x", "s.x1"), ("m.v", "s.v1"), ("n.x", "s.x2"), ("n.v", "s.v2")],
            *[
                ("s.on1", "m.right"),
                ("s.on2", "n.left"),
                ("n.x", "t.x1"),
                ("n.v", "t.v1"),
                ("t.on1", "n.right"),
            ],
        ],
        *(3.0, 0.005, algorithm),
    )
    result = case.loop().simulate(case.until)
    report, truth = result.coupling, case.truth(result.time)
    found = ratios(report, result, {n: truth[n][:, 0] for n in result.signals if n in truth})
    assert len(found) == 8
    assert min(found) >= 1.0
    assert max(found) < 5.0


def test_a_real_loop_that_newton_solves_is_fine() -> None:
    """Both pass on their inputs at once: the error is tiny, and so is the bar."""
    first = ([[-1.0]], [[1.0]], [[1.0]], [[0.5]])
    second = ([[-3.0]], [[2.0]], [[-1.0]], [[-0.6]])
    parts = {
        "a": LinearParticipant(first, ["u"], ["y"], [1.0], follows=True),
        "b": LinearParticipant(second, ["u"], ["y"], [0.5], follows=True),
    }
    links = [("a.y", "b.u"), ("b.y", "a.u")]
    loop = CoSimulation(parts, links, "interface_newton", 0.01)
    result = loop.simulate(1.0)
    fine = CoSimulation(parts, links, "interface_newton", 0.002).simulate(1.0)
    true = np.abs(result["a.y"] - fine["a.y"][::5]).max()
    bar = result.coupling["a.y"].error
    assert true < 1e-4
    assert true < bar < 10.0 * true
    assert result.coupling.verdict == "fine"


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [7, 0, 1, 2, 3, 4, 13, 6])
def test_couplings_that_are_drawn(seed: int) -> None:
    """One of each kind: stiff, chains, control, sampled, relays, clutches, play, oscillators."""
    found = verdicts.check_verdicts("drawn", seed)
    assert found
    assert {each.verdict for each in found}.isdisjoint({"unknown", "unstable"})
    for each in found:
        assert 0.999 <= each.ratio < 30.0


def test_the_truth_of_a_sampled_system_has_both_sides_of_a_tick() -> None:
    """The controller's output jumps where it ticks: rows show it before and after, like the whole system."""
    case = drawn_systems.draw(3)
    result = case.loop().simulate(case.until)
    sides = case.truth(result.time)["controller.controller.u"]
    rows = np.flatnonzero(result.time == 0.2)
    assert rows.size > 1
    before, after = sides[rows[0]], sides[rows[-1]]
    assert before[0] == before[1] != after[0] == after[1]
    # it has seen the start until then, as in the co-simulation
    assert result["controller.controller.u"][rows[0]] == pytest.approx(before[0], abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("which", ["known", "drawn"])
def test_bars_hold_and_are_not_wide(which: str) -> None:
    found = [each for seed in range(5000, 5160) for each in verdicts.check_verdicts(which, seed)]
    figures = verdicts.figures(found)
    assert figures["hold"] >= 0.95
    assert figures["median"] < 4.0
    assert figures["90 of 100 below"] < 30.0


def test_advice_that_is_followed_halves_the_bar() -> None:
    """What is said of half the step is what half the step gives."""
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
def test_advice_is_tried(which: str, seed: int) -> None:
    """Each thing that is advised leaves less error; a shorter step as little as it says."""
    found = {each.advised: each for each in advice.follow(which, seed)}
    assert set(found) == {"step", "adaptive"}
    for each in found.values():
        assert each.after < 0.8 * each.before
        assert each.after <= each.bar_after <= advice.ENOUGH


@pytest.mark.thorough
@pytest.mark.parametrize("which", ["known", "drawn"])
def test_advice_holds_over_cases_that_are_drawn(which: str) -> None:
    found = [each for seed in range(6000, 6040) for each in advice.follow(which, seed)]
    assert np.mean([each.after < each.before for each in found]) >= 0.95
    assert np.mean([each.after <= advice.ENOUGH for each in found if each.advised == "step"]) >= 0.95


def test_a_step_is_advised_to_one_digit_and_never_rounded_up() -> None:
    for step, relative, said in (
        (0.1, 0.019, "0.05"),
        (0.1, 0.0101, "0.09"),
        (0.1, 0.1, "0.01"),
        (1.0, 1.0, "0.01"),
        (1.0, float("inf"), "0"),
    ):
        _, sentence = advise(relative, step, Jacobi(), {})
        assert f"step of {said} s" in sentence


class Counting(Block):
    """Counts its steps: a second run would show."""

    steps = 0

    def step(self, time: float, size: float) -> float:
        self.steps += 1
        return super().step(time, size)


def test_a_second_run_disturbs_nobody() -> None:
    """Participants of others are never run again unasked; systems that are, are copies."""
    other = Counting({"y": lambda t, u: np.sin(u) + 0.1 * np.sin(9.0 * t) ** 3}, ["u"])
    lag = part(Lag, time=0.5)
    loop = CoSimulation(
        {"other": other, "lag": lag}, [("other.y", "lag.part.u"), ("lag.part.y", "other.u")], step=0.1
    )
    _ = loop.simulate(3.0).coupling
    assert other.steps == 30

    case = drawn_systems.draw(7)
    loop = case.loop()
    result = loop.simulate(case.until)
    kept = dict(loop.participants)
    assert "half the step" in result.coupling.how
    assert loop.participants == kept
    assert loop.result is result
    unasked = result.coupling
    assert loop.verify(result, case.until).signals == unasked.signals


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [81003, 81004, 81006])
def test_bars_that_are_verified_hold_for_what_samples_and_switches(seed: int) -> None:
    """With 1.25 times the difference of the order of the algorithm, half of them did not."""
    found = verdicts.check_verdicts("drawn", seed, verify=True)
    assert found
    assert {each.verdict for each in found}.isdisjoint({"unknown", "unstable"})
    for each in found:
        assert 0.999 <= each.ratio < 30.0


WIRES = [("left.force", "right.f"), ("right.x", "left.x_other"), ("right.v", "left.v_other")]


@pytest.mark.parametrize(
    ("tool", "member", "runs_again"),
    [
        ("cosim-framework 0.1.0", "documentation/index.html", True),
        ("cosim-framework 0.1.0", "resources/members/0/modelDescription.xml", False),
        ("cosim-framework 0.1.0 with pythonfmu 0.7.0", "documentation/index.html", False),
        ("other 0.1.0", "documentation/index.html", False),
        ("", "documentation/index.html", False),
    ],
)
def test_native_fmus_of_ours_run_again_unasked(
    make_fmu: Callable[..., Path], tool: str, member: str, runs_again: bool
) -> None:
    """Ten exchanges are too few for equations; FMUs of others, and those that hold files, run once."""
    path = make_fmu("mass", tool=tool)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(member, b"")
    starts = {"left.kc": 2.0, "right.k": 5.0}
    loop = CoSimulation({"left": path, "right": path}, WIRES, "jacobi", 0.1, starts=starts)
    kept = dict(loop.participants)
    result = loop.simulate(1.0)
    report = result.coupling
    assert (report.verdict == "unknown") is not runs_again
    assert ("half the step" in report.how) is runs_again
    assert loop.participants == kept
    assert loop.result is result


def test_a_second_run_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds of processor time, as far as can be told after half a second."""
    now = [7.0]
    monkeypatch.setattr(second_run, "process_time", lambda: now[0])
    left = second_run.TimeLeft(12.0)
    left(2.0)
    now[0] += second_run.SHORTEST
    left(2.0)
    now[0] = 7.75
    left(2.75)
    with pytest.raises(cosim.CosimError, match="more than 10 s"):
        left(2.5)


@pytest.mark.parametrize("seconds", [pytest.param(0.0, marks=pytest.mark.thorough), 11.0])
def test_a_verdict_without_the_second_run_that_takes_too_long(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    case = drawn_systems.draw(7)
    result = case.loop().simulate(case.until)
    monkeypatch.setattr(simulation_run, "MOST_SECONDS_WITHOUT_PROGRESS", 0.0)
    monkeypatch.setattr(second_run, "process_time", partial(next, count(0.0, seconds)))
    assert ("half the step" in result.coupling.how) is (seconds == 0.0)


class Counter(cosim.Component):
    """Counts, and shows a number."""

    count = cosim.discrete(dtype=int)
    x = cosim.auxiliary_state(start=0.0)
    u = cosim.input()

    @cosim.every(0.1, does="discrete")
    def tick(count, count_next):
        count_next[0] = count + 1

    @cosim.kernel
    def derivatives(x, u, x_dot):
        x_dot[0] = u - x


def test_what_is_not_judged_is_listed() -> None:
    parts = {"ramp": part(Source, amplitude=0.0, slope=1.0), "counter": part(Counter)}
    loop = CoSimulation(parts, [("ramp.part.y", "counter.part.u")], step=0.1)
    report = loop.simulate(2.0, record=["*"]).coupling
    assert report.not_judged == ["counter.part.count"]
    assert str(report).endswith("not judged: counter.part.count")
    assert "counter.part.x" in [each.name for each in report.signals]
    assert report.figures()["not_judged"] == report.not_judged


class Doubtful(LinearParticipant):
    """Says that all outputs may depend on all inputs."""

    def describe(self) -> kit.ParticipantDescription:
        return dataclasses.replace(super().describe(), feedthrough=None)


def test_feedthrough_that_is_only_possible_is_tried_without() -> None:
    """Outputs that are states are taken for them where the run says so."""
    matrices = [[[-0.5]], [[1.0]], [[1.0]], [[0.0]]]
    back = [[[-2.0]], [[-1.0]], [[1.0]], [[0.0]]]
    found = []
    for kind in (LinearParticipant, Doubtful):
        parts = {"a": kind(matrices, ["u"], ["y"], [1.0]), "b": kind(back, ["u"], ["y"], [0.0])}
        links = [("a.y", "b.u"), ("b.y", "a.u")]
        found.append(CoSimulation(parts, links, "jacobi", 0.02).simulate(5.0).coupling)
    assert found[1]["a.y"].error == pytest.approx(found[0]["a.y"].error, rel=1e-6)


def test_what_is_constant_or_alone_has_no_error() -> None:
    parts = {"constant": part(Source, amplitude=0.0, offset=2.0), "lag": part(Lag, start_x=2.0)}
    report = CoSimulation(parts, [("constant.part.y", "lag.part.u")], step=0.1).simulate(2.0).coupling
    assert report.verdict == "fine"
    assert max(each.relative for each in report.signals) < 1e-6


def exploding() -> CoSimulation:
    """A circuit that is held over ten of its time constants."""
    matrices = [[[0.0]], [[1.0]], [[1.0]], [[0.0]]]
    parts = {
        "capacitor": LinearParticipant(matrices, ["i_in"], ["v"], [1.0]),
        "coil": LinearParticipant([[[0.0]], [[-1.0]], [[1.0]], [[0.0]]], ["v_in"], ["i"], [0.0]),
    }
    return CoSimulation(parts, [("coil.i", "capacitor.i_in"), ("capacitor.v", "coil.v_in")], step=10.0)


def test_what_is_required_is_an_error_when_it_is_not_so() -> None:
    coarse = drawn_systems.DrawnCoupling(
        "chain", {"s": (Source, {"slope": 1.0}), "i": (Integrator, {})}, [("s.y", "i.u")], 2.0, 0.2
    )
    result = coarse.loop().simulate(2.0)
    result.require("known")
    with pytest.raises(CouplingError, match=r"smaller step.*required"):
        result.require("fine")
    coarse.loop(0.001).simulate(2.0).require("fine")
    with pytest.raises(CouplingError, match="unstable"):
        exploding().simulate(700.0).require("known")
    with pytest.raises(cosim.CosimError, match="'good'.*verdict, needs 'fine'.*'known'"):
        result.require("good")


SCENARIO = """
connections = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
[participants.left]
fmu = "mass.fmu"
[participants.left.parameters]
kc = {stiffness}
[participants.right]
fmu = "mass.fmu"
[participants.right.parameters]
k = 5.0
[master]
algorithm = "jacobi"
step = {step}
until = {until}
"""


@pytest.fixture
def run(
    make_fmu: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Write a scenario and run it: exit status, standard output, standard error."""
    (tmp_path / "mass.fmu").write_bytes(make_fmu("mass").read_bytes())

    def run(
        *words: str, stiffness: float = 2.0, step: float = 0.02, until: float = 1.0
    ) -> tuple[int, str, str]:
        text = SCENARIO.format(stiffness=stiffness, step=step, until=until)
        (tmp_path / "loop.toml").write_text(text)
        status = main(["cosimulate", str(tmp_path / "loop.toml"), "-o", str(tmp_path / "r.csv"), *words])
        return status, *capsys.readouterr()

    return run


EXPLODES = {"stiffness": 1e6, "step": 0.1, "until": 3.0}


def test_a_coupling_that_explodes_fails_with_its_results(run: Callable[..., Any], tmp_path: Path) -> None:
    status, said, _ = run(**EXPLODES)
    assert "coupling unstable: " in said
    assert status == 1
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 32
    status, said, complaint = run("-q", **EXPLODES)
    assert (status, said) == (1, "")
    assert "coupling unstable: " in complaint


def test_require_on_the_command_line(run: Callable[..., Any], tmp_path: Path) -> None:
    coarse: dict[str, float] = {"step": 0.1, "until": 4.0}
    assert run("--require", "fine", step=0.0005)[0] == 0
    assert run(**coarse)[0] == 0
    status, _, complaint = run("--require", "fine", **coarse)
    assert status == 1
    assert re.match("the verdict on the coupling is '.*', and 'fine' is required: ", complaint)
    assert (tmp_path / "r.csv").exists()
    assert main(["cosimulate", "x.toml", "--require", "good"]) == 2


def test_what_is_required_is_verified_if_the_run_shows_too_little(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    few: dict[str, float] = {"step": 0.1, "until": 1.0}
    assert "coupling error unknown" in run(**few)[1]
    status, said, complaint = run("--require", "known", **few)
    assert (status, complaint) == (0, "")
    assert "against half" in said

    def fail(*arguments: Any) -> None:
        raise cosim.CosimError("no shorter step")

    monkeypatch.setattr(CoSimulation, "verify", fail)
    status, said, complaint = run("--require", "known", **few)
    assert status == 1
    assert complaint.startswith("warning: a second run to find the coupling error fails: no shorter step\n")
    assert run("--verify", **few)[0] == 2


def test_quiet_says_a_bad_verdict_alone(run: Callable[..., Any]) -> None:
    assert run("-q", step=0.0005) == (0, "", "")
    status, said, complaint = run("-q", step=0.1, until=4.0)
    assert (status, said) == (0, "")
    assert complaint.startswith("coupling error")
    for word, wanted in (("fine", 1), ("known", 0)):
        status, said, complaint = run("-q", "--require", word, step=0.1, until=4.0)
        assert (status, said, complaint.count("coupling error")) == (wanted, "", 1)


def test_the_verdict_stands_at_the_top_of_json(run: Callable[..., Any]) -> None:
    _, said, _ = run("--json", step=0.0005)
    document = json.loads(said)
    assert list(document)[:4] == ["cosim", "command", "status", "verdict"]
    assert document["verdict"] == "fine"
    assert document["result"]["coupling"]["signals"]


def test_the_residual_of_the_energies_is_judged_on_their_scale() -> None:
    """It is rounding: 990 % of its range was off, and another algorithm was advised."""
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
    judged = {each.name: each for each in report.signals}
    residual, total = judged["plant.energy.residual"], judged["plant.energy.total"]
    assert residual.scale == total.scale > 1.0 and residual.error < 1e-12
    assert report.verdict == "fine" and report.worst.name != residual.name


@pytest.mark.parametrize("may_be_exact", [False, True])
def test_the_facts_of_a_coupling_stand_in_four_places(may_be_exact: bool) -> None:
    """Kernel functions read them by place: the order, a tolerance, another algorithm, exact inputs."""
    facts = facts_of(Jacobi(), {}, may_be_exact=may_be_exact)
    assert facts.tolist() == [1.0, 0.0, 1.0, float(may_be_exact)]
