"""Error bars of couplings hold the true errors, and the verdict says what to do."""

import dataclasses
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from lossless_circuit import LC, circuit
from scipy.linalg import expm

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import error_bars
import nonlinear
import nonlinear_couplings
from cuts import TwoMasses
from known_couplings import draw
from python_block import Block

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust import coupling_error
from cosim_master.trust.explained_bars import EXACT
from cosim_master.trust.identified_coupling import IdentifiedErrors

FAST = (2, 25)
"""Seeds of drawn couplings with few exchanges."""


class HiddenStates(LinearParticipant):
    """A linear participant that shows its outputs and none of its states."""

    def describe(self) -> kit.ParticipantDescription:
        """The description without the variables x0, x1 …"""
        description = super().describe()
        names = {*self.inputs, *self.outputs}
        variables = {name: v for name, v in description.variables.items() if name in names}
        assert description.feedthrough is not None
        feedthrough = {name: description.feedthrough[name] for name in self.outputs}
        return dataclasses.replace(description, variables=variables, feedthrough=feedthrough)


class ThirdPartyJacobi(cosim.MasterAlgorithm):
    """`jacobi` as a third party writes it, without `fixed_sequence`: it decides in Python."""

    def step(self, exchange: kit.Exchange, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


class Swinging(cosim.Component):
    """A mass on a spring, and on a weaker one to another: x'' = -3 x - 0.05 x' - 0.5 (x - other)."""

    x = cosim.position(start=1.0)
    v = cosim.speed()
    other = cosim.input(start=0.0)

    @cosim.kernel
    def derivatives(x, v, other, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -3.0 * x - 0.05 * v - 0.5 * (x - other)


def test_bars_hold_the_true_errors() -> None:
    cases = [case for seed in FAST if (case := error_bars.check_bars(seed)) is not None]
    assert len(cases) == len(FAST)
    for verified in (False, True):
        figures = error_bars.figures(cases, verified)
        assert figures["covered"] == 1.0
        assert figures["median"] < 5.0


def test_bars_of_a_controller_hold_the_true_errors() -> None:
    """Its force depends directly on its inputs, so the last value of an input counts, not the mean."""
    case = error_bars.check_bars(3214)
    assert case is not None
    assert case.kind == "servos"
    assert all(bar > error for bar, error in zip(case.bars, case.true, strict=True))


@pytest.mark.thorough
def test_polynomial_equations_of_predators_and_prey_are_identified() -> None:
    case = error_bars.check_bars(1236)  # draws predators and prey
    assert case is not None
    assert case.verdict == "fine"
    assert np.divide(case.bars, case.true) == pytest.approx(EXACT, rel=0.05)


def test_a_bar_that_is_large_for_a_misfit_leaves_the_error_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is 0.2 % of the range, the bar 13 %, for the misfit of linear equations.

    A smaller step would not lower the misfit, so that is no advice.
    """
    monkeypatch.setattr(coupling_error, "polynomial_answers", lambda *given: [])
    case = error_bars.check_bars(1236)
    assert case is not None
    assert max(np.divide(case.true, case.ranges)) < 0.002
    assert case.verdict == "unknown"
    assert all(1.0 < bar / error < 3.0 for bar, error in zip(case.verified, case.true, strict=True))


def test_with_many_hidden_states_the_error_is_unknown_without_a_second_run() -> None:
    case = draw(3030)
    parts = {
        name: HiddenStates((p.a, p.b, p.c, p.d), p.inputs, p.outputs, p.start, p.follows)
        for name, p in case.make(case.follows_slopes).items()
    }
    loop = CoSimulation(parts, case.links, case.algorithm, case.step, options=case.options)
    result = loop.simulate(case.until)
    assert result.coupling.verdict == "unknown"
    report = loop.verify(result, case.until)
    exact = case.exact_outputs(result.time)
    for signal in report.signals:
        true = np.abs(result[signal.name] - exact[signal.name]).max()
        assert 1.0 < signal.error / true < 2.0


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [pytest.param(3030, marks=pytest.mark.thorough), 3032, 3034])
def test_with_states_among_the_outputs_the_error_is_known(seed: int) -> None:
    """The bar is twice the error."""
    case = error_bars.check_bars(seed)
    assert case is not None
    assert case.verdict != "unknown"
    assert np.divide(case.bars, case.true) == pytest.approx(EXACT, rel=0.05)


@pytest.mark.thorough
def test_bars_hold_93_percent_of_errors_of_cases_that_did_not_calibrate_them() -> None:
    cases = [case for seed in range(1001, 1101) if (case := error_bars.check_bars(seed)) is not None]
    figures = error_bars.figures(cases)
    assert figures["covered"] >= 0.93
    assert figures["median"] < 5.0


def test_the_estimate_for_linear_participants_is_the_error() -> None:
    """The bar is `EXACT` times the estimate, which grows with the error over the whole run."""
    loop = CoSimulation(circuit(), LC, "jacobi", 0.01)
    result = loop.simulate(20.0)
    report = result.coupling
    true = np.abs(result["capacitor.v"] - np.cos(result.time)).max()
    assert true > 0.05  # the amplitude grows by 10 % in a circuit without losses
    assert report["capacitor.v"].error == pytest.approx(EXACT * true, rel=1e-3)
    assert report["capacitor.v → coil.v_in"].unit == "1"


@pytest.mark.parametrize("seed", [303, pytest.param(3287, marks=pytest.mark.thorough)])
def test_bars_of_systems_that_keep_heat_hold_the_true_errors(seed: int) -> None:
    """The effect of held inputs cancels to first order there; the rest must not be estimated too small."""
    case = error_bars.check_bars(seed)
    assert case is not None
    ratios = np.divide(case.bars, case.true)
    assert np.all((ratios > 1.5) & (ratios < 5.0))


def test_the_energy_that_a_bond_creates_is_reported() -> None:
    bonds = [["capacitor.v", "capacitor.i_in"]]
    loop = CoSimulation(circuit(), LC, "jacobi", 0.01, bonds=bonds)
    result = loop.simulate(5.0)
    energy = 0.5 * (result["capacitor.v"] ** 2 + result["coil.i"] ** 2)
    assert energy[-1] - energy[0] > 0.01
    created = result.coupling.energy
    assert list(created) == ["coil.i → capacitor.i_in"]
    assert created["coil.i → capacitor.i_in"] == pytest.approx(energy[-1] - energy[0], rel=0.02)


def test_all_wrong_bonds_are_reported_together() -> None:
    bonds = [["capacitor.v"], ["capacitor.v", "coil.x"], "capacitor.v", ["capacitor.v", "coil.v_in"]]
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation(circuit(), LC, "jacobi", 0.01, bonds=bonds)
    assert len(caught.value.problems) == 4
    assert "coil.x" in str(caught.value)


@pytest.mark.thorough
def test_following_the_advice_lowers_the_error() -> None:
    pair = TwoMasses(k=5.0, c=0.0).motion_and_motion()
    coarse = CoSimulation(pair.make(False), pair.links, "gauss_seidel", 0.02).simulate(5.0)
    report = coarse.coupling
    assert report.verdict == "smaller step"
    assert report.worst is not None
    step = float(report.advice.split()[4])  # the advised step is the fifth word
    fine = CoSimulation(pair.make(False), pair.links, "gauss_seidel", step).simulate(5.0)
    assert fine.coupling.worst is not None
    assert fine.coupling.worst.relative < 0.25 * report.worst.relative
    assert "adaptive" in report.advice
    other = CoSimulation(pair.make(False), pair.links, "adaptive", 0.02, options={"iterations": 5})
    assert other.simulate(5.0).coupling.verdict == "fine"


def test_after_few_exchanges_the_error_is_unknown() -> None:
    report = CoSimulation(circuit(), LC, "jacobi", 0.1).simulate(0.5).coupling
    assert report.verdict == "unknown"
    assert "--verify" in str(report)


def test_divergence_is_reported() -> None:
    """With inputs held over ten time constants, the circuit grows a hundredfold at each exchange."""
    report = CoSimulation(circuit(), LC, step=10.0).simulate(700.0).coupling
    assert report.verdict == "unstable"
    assert str(report).startswith("coupling unstable: ")
    assert "e+138: the exchange" in report.advice
    assert CoSimulation(circuit(), LC, step=10.0).simulate(200.0).coupling.verdict == "unstable"
    unstable = pytest.raises(cosim.CosimError, match="unstable; try another")
    with np.errstate(all="ignore"), unstable:
        CoSimulation(circuit(), LC, step=10.0).simulate(5000.0)


@pytest.mark.parametrize("order", [1, 2])
def test_diverging_extrapolation_is_an_error_without_warnings(order: int) -> None:
    parts = {
        name: Block({"y": lambda t, u: 1.0 if t == 0.0 else -1e20 * u}, ["u"], feedthrough={"y": frozenset()})
        for name in "ab"
    }
    loop = CoSimulation(
        parts, [("a.y", "b.u"), ("b.y", "a.u")], "jacobi", 0.1, options={"extrapolation": order}
    )
    with pytest.raises(cosim.CosimError, match="unstable; try another"):
        loop.simulate(10.0)


def test_after_a_failed_initialization_the_error_is_unknown() -> None:
    class Broken(Block):
        def initialize(self, *arguments: object) -> None:
            raise RuntimeError("broken")

    loop = CoSimulation({"a": Broken({"y": lambda t, u: u}, ["u"])}, [("a.y", "a.u")], "jacobi", 0.1)
    with pytest.raises(cosim.CosimError) as caught:
        loop.simulate(1.0)
    assert caught.value.result.coupling.verdict == "unknown"  # type: ignore[attr-defined]


def test_results_can_be_pickled_before_and_after_their_assessment() -> None:
    result = CoSimulation(circuit(), LC, "jacobi", 0.1).simulate(2.0)
    assert pickle.loads(pickle.dumps(result)).coupling.verdict == "unknown"
    report = result.coupling
    assert pickle.loads(pickle.dumps(result)).coupling == report
    assert result.statistics["coupling"]["verdict"] == report.verdict


def test_an_output_without_inputs_has_no_error() -> None:
    source, sink = Block({"y": lambda t: 3.0}), Block({"y": lambda t, u: u}, ["u"])
    loop = CoSimulation({"source": source, "sink": sink}, [("source.y", "sink.u")], "gauss_seidel", 0.1)
    report = loop.simulate(3.0).coupling
    assert report["source.y"].error == 0.0
    assert report.verdict == "fine"


def test_an_input_that_jumps_at_an_exchange_has_no_defect() -> None:
    pushes = TimedInputs({"u": [[0.0, 0.0], [0.3, 1.0], [0.71, -1.0]]})
    lag = LinearParticipant([[[-1.0]], [[1.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [0.0])
    back = LinearParticipant([[[-1.0]], [[0.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [0.0])
    links = [("pushes.u", "lag.u"), ("lag.y", "back.u")]
    loop = CoSimulation({"pushes": pushes, "lag": lag, "back": back}, links, "jacobi", 0.01)
    report = loop.simulate(2.0).coupling
    assert report["pushes.u"].defect == pytest.approx(0.0, abs=1e-12)
    assert report["lag.y"].error < 1e-9


@pytest.mark.parametrize("values", [1 << 19, 1 << 12], ids=["whole", "thinned"])
def test_bars_of_a_long_run_are_the_same_for_an_algorithm_in_python(
    values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the same values and bars to the bit; the bars are twice the error."""
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", values)
    step, count = 1e-3, 3000
    matrix = np.array([[0, 1, 0, 0], [-3.5, -0.05, 0.5, 0], [0, 0, 0, 1], [0.5, 0, -3.5, -0.05]])
    step_matrix, state = expm(step * matrix), np.array([1.0, 0.0, 0.2, 0.0])
    exact = np.array([(state := step_matrix @ state if i else state)[0] for i in range(count + 1)])
    outcomes = []
    for algorithm in (Jacobi(), ThirdPartyJacobi()):
        models = {name: cosim.Model(name) for name in ("left", "right")}
        for model in models.values():
            model.add(Swinging, "a")
        wires = [("left.a.x", "right.a.other"), ("right.a.x", "left.a.other")]
        loop = CoSimulation(models, wires, algorithm, step, starts={"right.a.x": 0.2})
        result = loop.simulate(count * step, record=["left.a.x"])
        assert result.evidence.samples.is_thinned == (values < 1 << 19)
        outcomes.append((result["left.a.x"].tobytes(), result.coupling["left.a.x"].error))
    assert outcomes[0] == outcomes[1]
    true = np.abs(result["left.a.x"] - exact).max()
    assert 1.9 * true < outcomes[0][1] < 2.2 * true


def test_if_fitted_equations_disagree_the_error_is_unknown() -> None:
    """Several equations fit three coupled oscillators well; their errors differ by a factor of 70.

    The middle of these errors is an eighth of the true one.
    """
    case = nonlinear_couplings.kuramoto()
    result = CoSimulation(case.parts, case.links, "jacobi", case.step).simulate(case.until)
    true = nonlinear.exact(case, result.time)
    report = result.coupling
    for name, values in true.items():
        assert report[name].error >= np.abs(result[name] - values).max()
    assert report.verdict == "unknown"


@pytest.mark.parametrize(("constant", "constant_misfit"), [(0.0, 0.0), (5.0, 0.0), (5.0, 1e-15)])
@pytest.mark.parametrize(
    ("misfit", "counts"), [(0.0, True), (9e-14, True), (0.025, True), (np.nextafter(0.025, 1.0), False)]
)
def test_equations_that_fit_within_a_limit_count_also_beside_a_constant_output(
    constant: float, constant_misfit: float, misfit: float, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Misfits of rounding size are not compared: which of them is smaller is chance."""
    outputs = np.array([[0.0, constant], [1.0, constant]])
    answers = [
        IdentifiedErrors(np.array([[0.0, 0.0], [error, 0.0]]), np.array([part, constant_misfit]))
        for error, part in ((0.02, 1e-14), (0.25, misfit))
    ]
    monkeypatch.setattr(coupling_error, "_answers", lambda *arguments: answers)
    samples = Samples(np.array([0.0, 1.0]), outputs, *[np.zeros((2, 0))] * 5)
    _, is_known = coupling_error._bars(samples, np.array([], dtype=np.intp), [], (), 1)
    assert is_known != counts  # if both count, their errors, more than ten times apart, disagree


def test_with_thinned_samples_both_loops_estimate_the_same_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The samples are thinned in both loops."""
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", 0)
    links = [("left.one.x", "right.one.other"), ("right.one.x", "left.one.other")]
    reports = []
    for algorithm in ("jacobi", ThirdPartyJacobi()):
        parts = {}
        for name in ("left", "right"):
            parts[name] = cosim.Model(name)
            parts[name].add(Swinging, "one")
        loop = CoSimulation(parts, links, algorithm, 0.01, starts={"right.one.x": 0.2})
        reports.append(loop.simulate(90.0).coupling)
    compiled, in_python = reports
    assert compiled.verdict == in_python.verdict != "unknown"
    assert [(c.name, c.error, c.defect) for c in compiled.connections] == [
        (c.name, c.error, c.defect) for c in in_python.connections
    ]


def test_exact_outputs_of_drawn_couplings_are_those_of_small_steps() -> None:
    """This checks the reference of the other tests, the couplings whose exact outputs are known."""
    for seed in (0, 2, 4):
        case = draw(seed)
        until = 0.05 * case.until
        loop = CoSimulation(
            *(case.make(True), case.links, "waveform_iteration", until / 200),
            options={"tolerance": 1e-12, "absolute_tolerance": 1e-12},
        )
        result = loop.simulate(until)
        for name, values in case.exact_outputs(result.time).items():
            if name in result:
                assert result[name] == pytest.approx(values, abs=1e-4 * (1.0 + np.abs(values).max()))


@pytest.mark.parametrize("most_numbers", [1 << 19, 1 << 14], ids=["all samples", "thinned"])
def test_bars_of_long_runs_count_the_first_exchange(
    most_numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`jacobi` has nothing to extrapolate there: outputs of direct feedthrough are the least exact."""
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", most_numbers)
    case = draw(6003)
    case = dataclasses.replace(case, step=case.until / 7000)  # more than the intervals that are looked at
    assert case.algorithm == "jacobi"
    result = case.loop().simulate(case.until)
    difference = np.abs(result["p1.y0"] - case.exact_outputs(result.time)["p1.y0"])
    assert int(np.argmax(difference)) == 1
    (signal,) = (signal for signal in result.coupling.signals if signal.name == "p1.y0")
    assert difference[1] <= signal.error <= 3.0 * difference[1]
