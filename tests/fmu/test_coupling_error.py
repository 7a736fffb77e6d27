"""The error that a coupling made: estimated, verified, and what is said of it."""

import dataclasses
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import error_bars
import nonlinear
import nonlinear_couplings
import sampled
from cuts import TwoMasses
from known_couplings import draw
from test_master_coupling import Block

import cosim
from cosim import kit
from cosim.cli import main
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.participants.system_interface import describe_system
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.recording.coupling_samples import CouplingSamples, SampledInput, Samples
from cosim_master.trust import coupling_error
from cosim_master.trust.clock_ticks import jumps_without_clock, samples_at_ticks
from cosim_master.trust.explained_bars import EXACT
from cosim_master.trust.identified_coupling import IdentifiedErrors
from cosim_master.trust.sampled_wiring import WiredPart, Wiring

FAST = (2, 25)
"""Cases of few exchanges."""
LC = [("coil.i", "capacitor.i_in"), ("capacitor.v", "coil.v_in")]


def circuit() -> dict[str, LinearParticipant]:
    """A capacitor and a coil without losses."""
    return {
        "capacitor": LinearParticipant([[[0.0]], [[1.0]], [[1.0]], [[0.0]]], ["i_in"], ["v"], [1.0]),
        "coil": LinearParticipant([[[0.0]], [[-1.0]], [[1.0]], [[0.0]]], ["v_in"], ["i"], [0.0]),
    }


def test_bars_hold_the_true_errors() -> None:
    cases = [case for seed in FAST if (case := error_bars.check_bars(seed)) is not None]
    assert len(cases) == len(FAST)
    for verified in (False, True):
        found = error_bars.figures(cases, verified)
        assert found["covered"] == 1.0
        assert found["median"] < 5.0


def test_bars_of_a_controller_hold() -> None:
    """Its force follows what it measures at once: what counts there is the last value of an input."""
    case = error_bars.check_bars(3214)
    assert case is not None
    assert case.kind == "servos"
    assert all(bar > error for bar, error in zip(case.bars, case.true, strict=True))


class Hidden(LinearParticipant):
    """Shows its outputs, and none of its states."""

    def describe(self) -> kit.ParticipantDescription:
        """Without x0, x1 …"""
        found = super().describe()
        shown = {name: v for name, v in found.variables.items() if name in {*self.inputs, *self.outputs}}
        assert found.feedthrough is not None
        needs = {name: found.feedthrough[name] for name in self.outputs}
        return dataclasses.replace(found, variables=shown, feedthrough=needs)


@pytest.mark.thorough
def test_predators_and_prey_are_polynomials() -> None:
    case = error_bars.check_bars(1236)
    assert case is not None
    assert case.verdict == "fine"
    assert np.divide(case.bars, case.true) == pytest.approx(EXACT, rel=0.05)


def test_a_bar_that_the_misfit_makes_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is 0.2 % of the range, a bar from the misfit 13 %: a smaller step would not make it less."""
    monkeypatch.setattr(coupling_error, "polynomial_answers", lambda *given: [])
    case = error_bars.check_bars(1236)
    assert case is not None
    assert max(np.divide(case.true, case.ranges)) < 0.002
    assert case.verdict == "unknown"
    assert all(1.0 < bar / error < 3.0 for bar, error in zip(case.verified, case.true, strict=True))


@pytest.mark.parametrize("seed", [3030])
def test_what_a_run_does_not_show_is_unknown(seed: int) -> None:
    """Many states behind few outputs; a second run shows the error."""
    case = draw(seed)
    parts = {
        name: Hidden((p.a, p.b, p.c, p.d), p.inputs, p.outputs, p.start, p.follows)
        for name, p in case.make(case.follows).items()
    }
    loop = CoSimulation(parts, case.links, case.algorithm, case.step, options=case.options)
    result = loop.simulate(case.until)
    assert result.coupling.verdict == "unknown"
    report = loop.verify(result, case.until)
    exact = case.truth(result.time)
    for each in report.signals:
        true = np.abs(result[each.name] - exact[each.name]).max()
        assert 1.0 < each.error / true < 2.0


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [pytest.param(3030, marks=pytest.mark.thorough), 3032, 3034])
def test_states_that_are_shown_make_it_known(seed: int) -> None:
    """The same with states among the outputs: the bar is twice the error."""
    case = error_bars.check_bars(seed)
    assert case is not None
    assert case.verdict != "unknown"
    assert np.divide(case.bars, case.true) == pytest.approx(EXACT, rel=0.05)


@pytest.mark.thorough
def test_calibration_holds_on_other_cases() -> None:
    cases = [case for seed in range(1001, 1101) if (case := error_bars.check_bars(seed)) is not None]
    found = error_bars.figures(cases)
    assert found["covered"] >= 0.93
    assert found["median"] < 5.0


def test_estimate_is_the_error_itself_for_linear_participants() -> None:
    """The answer to the defects alone, with no factor of safety, grows as the error does: secularly."""
    loop = CoSimulation(circuit(), LC, "jacobi", 0.01)
    result = loop.simulate(20.0)
    report = result.coupling
    true = np.abs(result["capacitor.v"] - np.cos(result.time)).max()
    assert true > 0.05  # the amplitude grows by 10 % in a circuit without losses
    assert report["capacitor.v"].error == pytest.approx(EXACT * true, rel=1e-3)
    assert report["capacitor.v → coil.v_in"].unit == "1"


@pytest.mark.parametrize("seed", [303, pytest.param(3287, marks=pytest.mark.thorough)])
def test_teeth_of_held_inputs_show_in_the_means_of_outputs(seed: int) -> None:
    """What defects do to first order cancels where heat is kept; the rest was estimated far too small."""
    found = error_bars.check_bars(seed)
    assert found is not None
    ratios = np.divide(found.bars, found.true)
    assert np.all((ratios > 1.5) & (ratios < 5.0))


def test_energy_that_a_bond_creates() -> None:
    bonds = [["capacitor.v", "capacitor.i_in"]]
    loop = CoSimulation(circuit(), LC, "jacobi", 0.01, bonds=bonds)
    result = loop.simulate(5.0)
    energy = 0.5 * (result["capacitor.v"] ** 2 + result["coil.i"] ** 2)
    assert energy[-1] - energy[0] > 0.01
    created = result.coupling.energy
    assert list(created) == ["coil.i → capacitor.i_in"]
    assert created["coil.i → capacitor.i_in"] == pytest.approx(energy[-1] - energy[0], rel=0.02)


def test_bad_bonds_are_all_named() -> None:
    bonds = [["capacitor.v"], ["capacitor.v", "coil.x"], "capacitor.v", ["capacitor.v", "coil.v_in"]]
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation(circuit(), LC, "jacobi", 0.01, bonds=bonds)
    assert len(caught.value.problems) == 4
    assert "coil.x" in str(caught.value)


@pytest.mark.thorough
def test_a_verdict_that_is_followed_helps() -> None:
    pair = TwoMasses(k=5.0, c=0.0).motion_and_motion()
    coarse = CoSimulation(pair.make(False), pair.links, "gauss_seidel", 0.02).simulate(5.0)
    report = coarse.coupling
    assert report.verdict == "smaller step"
    assert report.worst is not None
    step = float(report.advice.split()[4])
    fine = CoSimulation(pair.make(False), pair.links, "gauss_seidel", step).simulate(5.0)
    assert fine.coupling.worst is not None
    assert fine.coupling.worst.relative < 0.25 * report.worst.relative
    assert "adaptive" in report.advice
    other = CoSimulation(pair.make(False), pair.links, "adaptive", 0.02, options={"iterations": 5})
    assert other.simulate(5.0).coupling.verdict == "fine"


def test_too_few_exchanges_say_nothing() -> None:
    report = CoSimulation(circuit(), LC, "jacobi", 0.1).simulate(0.5).coupling
    assert report.verdict == "unknown"
    assert "--verify" in str(report)


def test_values_that_explode_are_told() -> None:
    """Held over ten of its time constants, the circuit grows a hundredfold at each exchange."""
    report = CoSimulation(circuit(), LC, step=10.0).simulate(700.0).coupling
    assert report.verdict == "unstable"
    assert str(report).startswith("coupling unstable: ")
    assert "e+138: the exchange" in report.advice
    assert CoSimulation(circuit(), LC, step=10.0).simulate(200.0).coupling.verdict == "unstable"
    unstable = pytest.raises(cosim.CosimError, match="unstable; try another")
    with np.errstate(all="ignore"), unstable:
        CoSimulation(circuit(), LC, step=10.0).simulate(5000.0)


@pytest.mark.parametrize("order", [1, 2])
def test_extrapolation_that_explodes_does_not_warn(order: int) -> None:
    parts = {
        name: Block({"y": lambda t, u: 1.0 if t == 0.0 else -1e20 * u}, ["u"], feedthrough={"y": frozenset()})
        for name in "ab"
    }
    loop = CoSimulation(
        parts, [("a.y", "b.u"), ("b.y", "a.u")], "jacobi", 0.1, options={"extrapolation": order}
    )
    with pytest.raises(cosim.CosimError, match="unstable; try another"):
        loop.simulate(10.0)


def test_a_run_that_does_not_begin_says_nothing() -> None:
    class Broken(Block):
        def initialize(self, *given: object) -> None:
            raise RuntimeError("broken")

    loop = CoSimulation({"a": Broken({"y": lambda t, u: u}, ["u"])}, [("a.y", "a.u")], "jacobi", 0.1)
    with pytest.raises(cosim.CosimError) as caught:
        loop.simulate(1.0)
    assert caught.value.result.coupling.verdict == "unknown"  # type: ignore[attr-defined]


def test_results_go_to_other_processes() -> None:
    result = CoSimulation(circuit(), LC, "jacobi", 0.1).simulate(2.0)
    assert pickle.loads(pickle.dumps(result)).coupling.verdict == "unknown"
    report = result.coupling
    assert pickle.loads(pickle.dumps(result)).coupling == report
    assert result.statistics["coupling"]["verdict"] == report.verdict


def test_verify_takes_half_the_step_and_leaves_the_loop_as_it_was() -> None:
    loop = CoSimulation(circuit(), LC, "jacobi", 0.01)
    result = loop.simulate(2.0)
    report = loop.verify(result, 2.0)
    assert (loop.step, loop.result) == (0.01, result)
    assert result.coupling is report
    assert "half the step" in str(report)
    true = np.abs(result["capacitor.v"] - np.cos(result.time)).max()
    assert report["capacitor.v"].error == pytest.approx(2.0 * true, rel=0.1)


class Oscillator(cosim.Component):
    """Law: x' = 6 v, v' = -6 x."""

    x = cosim.auxiliary_state(start=1.0)
    v = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = 6.0 * v
        v_dot[0] = -6.0 * x


@pytest.mark.parametrize("settings", [{"accuracy": 1e-3}, {"accuracy": 1e-6}, {"fixed_step": 0.05}])
def test_verify_shows_the_error_of_a_model_that_steps_inside(settings: dict[str, float]) -> None:
    model = cosim.Model("alone")
    model.add(Oscillator(), "part")
    method = "integrators.runge_kutta_3" if "accuracy" in settings else "integrators.runge_kutta_4"
    loop = CoSimulation({"one": SystemParticipant(model, method, **settings)}, (), "gauss_seidel", 2.0)
    result = loop.simulate(6.0, record=["one.part.x"])
    report = loop.verify(result)
    error = np.abs(result["one.part.x"] - np.cos(6.0 * result.time)).max()
    assert error < report["one.part.x"].error < 20.0 * error


class Coarse(LinearParticipant):
    """Steps of 0.02 s inside, whatever the master asks for."""

    def step(self, time: float, size: float) -> float:
        if np.floor((time + size) / 0.02 + 1e-6) > np.floor(time / 0.02 + 1e-6):
            super().step(time + size - 0.02, 0.02)
        return time + size


def test_steps_inside_that_are_longer_are_not_verified() -> None:
    parts = {
        "capacitor": Coarse([[[0.0]], [[1.0]], [[1.0]], [[0.0]]], ["i_in"], ["v"], [1.0]),
        "coil": Coarse([[[0.0]], [[-1.0]], [[1.0]], [[0.0]]], ["v_in"], ["i"], [0.0]),
    }
    loop = CoSimulation(parts, LC, "jacobi", 0.01)
    report = loop.verify(loop.simulate(2.0), 2.0)
    assert report.verdict == "unknown"
    assert "capacitor, coil" in report.advice


def test_what_nothing_feeds_has_no_error() -> None:
    source, sink = Block({"y": lambda t: 3.0}), Block({"y": lambda t, u: u}, ["u"])
    loop = CoSimulation({"source": source, "sink": sink}, [("source.y", "sink.u")], "gauss_seidel", 0.1)
    report = loop.simulate(3.0).coupling
    assert report["source.y"].error == 0.0
    assert report.verdict == "fine"


def test_what_jumps_at_an_exchange_is_not_late() -> None:
    pushes = TimedInputs({"u": [[0.0, 0.0], [0.3, 1.0], [0.71, -1.0]]})
    lag = LinearParticipant([[[-1.0]], [[1.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [0.0])
    back = LinearParticipant([[[-1.0]], [[0.0]], [[1.0]], [[0.0]]], ["u"], ["y"], [0.0])
    links = [("pushes.u", "lag.u"), ("lag.y", "back.u")]
    loop = CoSimulation({"pushes": pushes, "lag": lag, "back": back}, links, "jacobi", 0.01)
    report = loop.simulate(2.0).coupling
    assert report["pushes.u"].defect == pytest.approx(0.0, abs=1e-12)
    assert report["lag.y"].error < 1e-9


@pytest.mark.parametrize("most", [1 << 17, 4096])
def test_jumps_by_rows(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", most)
    samples = CouplingSamples([SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")], 1, jumping=[0])
    samples.start(0.0, [0.0])
    times = np.linspace(0.0, 1.0, 9001)
    steps = np.floor(7.3 * times)[:, None]
    for part in np.array_split(np.arange(9000), 9):
        samples.extend(times[part + 1], steps[part + 1], steps[part])
    assert samples.samples().defects == pytest.approx(0.0, abs=1e-12)


def test_samples_by_rows_and_one_by_one_agree() -> None:
    inputs = [SampledInput("b", 0, 0, 2.0, 1.0, "a.y → b.u"), SampledInput("a", 0, 1, 1.0, 0.0, "b.y → a.u")]
    times = np.linspace(0.0, 5.0, 4001)
    outputs = np.array([np.sin(times), np.cos(times)]).T
    given = np.array([2.0 * outputs[:-1, 0] + 1.0, outputs[:-1, 1]]).T
    one, rows = CouplingSamples(inputs, 2), CouplingSamples(inputs, 2)
    for each in (one, rows):
        each.start(0.0, outputs[0].tolist())
    for k in range(4000):
        one.extend(times[k + 1 : k + 2], outputs[k + 1 : k + 2], given[k : k + 1], np.zeros((1, 2)))
    for part in np.array_split(np.arange(4000), 7):
        rows.extend(times[part + 1], outputs[part + 1], given[part])
    for first, second in zip(one.samples(), rows.samples(), strict=True):
        assert first.tobytes() == second.tobytes()
    # held inputs are half a step late: what they lack is h/2 times what the outputs have gone
    late = one.samples().defects[-1]
    assert late[0] == pytest.approx(-0.5 * times[1] * (outputs[-1, 0] - outputs[0, 0]), rel=2e-3)


def test_thinned_samples_keep_the_integrals(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    times = np.linspace(0.0, 1.0, 9001)
    found = []
    for most in (1 << 20, 4096):
        monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", most)
        samples = CouplingSamples(inputs, 1)
        samples.start(0.0, [0.0])
        for part in np.array_split(np.arange(9000), 20):
            samples.extend(times[part + 1], np.sin(times[part + 1, None]), np.sin(times[part, None]))
        found.append(samples.samples())
    whole, thinned = found
    assert thinned.times.size < 0.5 * whole.times.size
    assert (thinned.times[0], thinned.times[-1]) == (0.0, 1.0)
    places = np.searchsorted(whole.times, thinned.times)
    assert thinned.defects == pytest.approx(whole.defects[places], abs=1e-14)
    assert thinned.inputs == pytest.approx(whole.inputs[places], abs=1e-12)
    assert thinned.outputs.tolist() == whole.outputs[places].tolist()


def test_what_is_kept_does_not_depend_on_how_rows_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", 4096)
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    times = np.append(np.linspace(0.0, 1.0, 9001), 1.00005)  # the last step is cut
    found = []
    for pieces in (1, 7, 300):
        samples = CouplingSamples(inputs, 1)
        samples.start(0.0, [0.0])
        for part in np.array_split(np.arange(9001), pieces):
            samples.extend(times[part + 1], np.sin(times[part + 1, None]), np.sin(times[part, None]))
        found.append(samples.samples())
    for other in found[1:]:
        assert found[0].times.tobytes() == other.times.tobytes()
        for one, same in zip(found[0], other, strict=True):
            assert one.tobytes() == same.tobytes()


@pytest.mark.parametrize("slopes", [None, 0.3], ids=["held", "lines"])
@pytest.mark.parametrize("group", [1, 3])
def test_what_is_kept_is_even(slopes: float | None, group: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples that were dropped twice as often with each halving left one of 2048 at the start."""
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", 4096)
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    samples = CouplingSamples(inputs, 1, group)
    samples.start(0.0, [0.0])
    times = np.arange(1.0, 300_001.0)[:, None]
    given = None if slopes is None else np.full_like(times, slopes)
    samples.extend(times.ravel(), np.sin(1e-4 * times), np.cos(1e-4 * times), given)
    gaps = np.diff(samples.samples().times)
    assert samples.is_thinned
    assert np.unique(gaps[:-1]).size == 1
    assert gaps[-1] <= gaps[0]


class Plain(cosim.MasterAlgorithm):
    """Jacobi as a third party writes it, without `fixed_sequence`."""

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


@pytest.mark.parametrize("values", [1 << 19, 1 << 12], ids=["whole", "thinned"])
def test_bars_of_a_long_run_do_not_depend_on_who_decides(
    values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An algorithm of a third party has the values and bars of ours, to the bit; bars are twice the error."""
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", values)
    step, count = 1e-3, 3000
    matrix = np.array([[0, 1, 0, 0], [-3.5, -0.05, 0.5, 0], [0, 0, 0, 1], [0.5, 0, -3.5, -0.05]])
    once, state = expm(step * matrix), np.array([1.0, 0.0, 0.2, 0.0])
    exact = np.array([(state := once @ state if i else state)[0] for i in range(count + 1)])
    found = []
    for algorithm in (Jacobi(), Plain()):
        models = {name: cosim.Model(name) for name in ("left", "right")}
        for model in models.values():
            model.add(Swinging, "a")
        wires = [("left.a.x", "right.a.other"), ("right.a.x", "left.a.other")]
        loop = CoSimulation(models, wires, algorithm, step, starts={"right.a.x": 0.2})
        result = loop.simulate(count * step, record=["left.a.x"])
        assert result.evidence.samples.is_thinned == (values < 1 << 19)
        found.append((result["left.a.x"].tobytes(), result.coupling["left.a.x"].error))
    assert found[0] == found[1]
    true = np.abs(result["left.a.x"] - exact).max()
    assert 1.9 * true < found[0][1] < 2.2 * true


def test_equations_that_disagree_are_not_known() -> None:
    """Good fits of three rhythms answer 70 times apart: their middle was an eighth of the error."""
    case = nonlinear_couplings.kuramoto()
    result = CoSimulation(case.parts, case.links, "jacobi", case.step).simulate(case.until)
    true = nonlinear.exact(case, result.time)
    report = result.coupling
    for name, values in true.items():
        assert report[name].error >= np.abs(result[name] - values).max()
    assert report.verdict == "unknown"


@pytest.mark.parametrize(("still", "missed"), [(0.0, 0.0), (5.0, 0.0), (5.0, 1e-15)])
@pytest.mark.parametrize(
    ("misfit", "counts"), [(0.0, True), (9e-14, True), (0.025, True), (np.nextafter(0.025, 1.0), False)]
)
def test_an_output_that_stays_does_not_discard_equations(
    still: float, missed: float, misfit: float, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misfit of rounding is not compared with a smaller one: others round in another way."""
    ends = np.array([[0.0, still], [1.0, still]])
    answers = [
        IdentifiedErrors(np.array([[0.0, 0.0], [error, 0.0]]), np.array([part, missed]))
        for error, part in ((0.02, 1e-14), (0.25, misfit))
    ]
    monkeypatch.setattr(coupling_error, "_answers", lambda *given: answers)
    samples = Samples(np.array([0.0, 1.0]), ends, *[np.zeros((2, 0))] * 5)
    _, is_known = coupling_error._bars(samples, np.array([], dtype=np.intp), [], (), 1)
    assert is_known != counts  # errors more than ten times apart are not known


def test_samples_may_be_looked_at_on_the_way() -> None:
    """As when an observer asks, or a checkpoint is written."""
    inputs = [SampledInput("b", 0, 0, 1.0, 0.0, "a.y → b.u")]
    looked, never = CouplingSamples(inputs, 1, 4), CouplingSamples(inputs, 1, 4)
    for each in (looked, never):
        each.start(0.0, [0.0])
        for k in range(1, 11):
            each.extend(np.array([0.1 * k]), np.array([[k * k]]), np.array([[k]]))
            if each is looked:
                assert each.samples().times[-1] == 0.1 * k
    for one, other in zip(looked.samples(), never.samples(), strict=True):
        assert one.tobytes() == other.tobytes()


class OwnJacobi(cosim.MasterAlgorithm):
    """As a third party writes it, without saying that it always makes the same calls."""

    def step(self, exchange: cosim.kit.Exchange, time: float, size: float) -> None:
        for name in exchange.order:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)


def test_both_loops_estimate_the_same_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bars of a run of which not all samples are kept were 457 times as large in the loop in Python."""
    monkeypatch.setattr("cosim_master.recording.coupling_samples.MOST_NUMBERS", 0)
    links = [("left.one.x", "right.one.other"), ("right.one.x", "left.one.other")]
    reports = []
    for algorithm in ("jacobi", OwnJacobi()):
        parts = {}
        for name in ("left", "right"):
            parts[name] = cosim.Model(name)
            parts[name].add(Swinging, "one")
        loop = CoSimulation(parts, links, algorithm, 0.01, starts={"right.one.x": 0.2})
        reports.append(loop.simulate(90.0).coupling)
    one, other = reports
    assert one.verdict == other.verdict != "unknown"
    assert [(e.name, e.error, e.defect) for e in one.connections] == [
        (e.name, e.error, e.defect) for e in other.connections
    ]


def test_command_line_tells_and_writes_it(
    make_fmu: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mass.fmu").write_bytes(make_fmu("mass").read_bytes())
    (tmp_path / "loop.toml").write_text(SCENARIO)
    table, output = tmp_path / "errors.csv", tmp_path / "r.csv"
    given = ["cosimulate", str(tmp_path / "loop.toml"), "-o", str(output), "--coupling", str(table)]
    assert main(given) == 0
    said = capsys.readouterr().out
    assert "coupling error" in said
    assert "(estimated, largest: " in said
    assert "energy created" in said
    rows = table.read_text().splitlines()
    assert rows[0] == "connection,error,range,unit,mean_defect,how,verdict"
    assert {row.split(",")[3] for row in rows[1:]} == {"N", "m", "m/s"}
    assert main([*given, "--verify"]) == 0
    assert "step, largest" in capsys.readouterr().out
    assert main([*given[:-1], str(tmp_path / "nowhere" / "e.csv")]) != 0


SCENARIO = """
connections = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
bonds = [["right.f", "right.v"]]
[participants.left]
fmu = "mass.fmu"
[participants.left.parameters]
kc = 2.0
[participants.right]
fmu = "mass.fmu"
[master]
algorithm = "jacobi"
step = 0.02
until = 1.0
"""


def test_known_couplings_solve_themselves() -> None:
    """The exact outputs are those of the participants coupled with small steps."""
    for seed in (0, 2, 4):
        case = draw(seed)
        until = 0.05 * case.until
        loop = CoSimulation(
            *(case.make(True), case.links, "waveform_iteration", until / 200),
            options={"tolerance": 1e-12, "absolute_tolerance": 1e-12},
        )
        result = loop.simulate(until)
        for name, values in case.truth(result.time).items():
            if name in result:
                assert result[name] == pytest.approx(values, abs=1e-4 * (1.0 + np.abs(values).max()))


@pytest.mark.parametrize("seed", [3, *(pytest.param(n, marks=pytest.mark.thorough) for n in (16, 24, 25))])
def test_bars_of_sampled_controllers(seed: int) -> None:
    """They look at their inputs when they tick: what is given in between is not an error of the coupling."""
    case = sampled.check_bars(seed)
    assert 1.0 < case.bar / case.true < 5.0
    assert case.verdict != "unknown"


def test_a_sampled_controller_that_is_asked_in_time_makes_no_error() -> None:
    case = sampled.check_bars(18)
    assert case.true < 1e-12
    assert case.bar < 1e-9
    assert case.verdict == "fine"


@pytest.mark.parametrize("early", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_what_others_do_between_slow_ticks_counts(early: bool) -> None:
    """A fast loop errs behind each tick, and has forgotten it at the next one."""

    def simulated(step: float) -> cosim.Result:
        plant = ([[0.0, 1.0], [-25.0, -2.0]], [[0.0, 0.0], [25.0, 25.0]], [[1.0, 0.0]], [[0.0, 0.0]])
        parts = {
            "plant": LinearParticipant(plant, ["u", "v"], ["y"], [0.0, 0.0]),
            "brake": LinearParticipant(([[-5.0]], [[5.0]], [[-0.5]], [[0.0]]), ["y"], ["v"], [0.0]),
            "controller": sampled.Sampled(sampled.Law(10.0, 0.9, 0.0, 0.0), early),
        }
        links = [
            ("plant.y", "brake.y"),
            ("brake.v", "plant.v"),
            ("plant.y", "controller.y"),
            ("controller.u", "plant.u"),
        ]
        return CoSimulation(parts, links, "jacobi", step).simulate(until=30.0)

    result, better = simulated(0.05), simulated(0.01)
    true = np.abs(result["plant.y"] - better["plant.y"][::5]).max()
    assert true > 0.1
    assert result.coupling["plant.y"].error > true
    assert result.coupling.verdict == "unknown"


@pytest.mark.parametrize("exchanges", [5, pytest.param(40, marks=pytest.mark.thorough)])
def test_a_fast_plant_errs_between_slow_ticks(exchanges: int) -> None:
    """It is told of a tick when an exchange has gone by, and has forgotten that at the next one."""
    plant = LinearParticipant(([[-2.0]], [[2.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [0.3])
    law = sampled.Law(6.0, 0.9, 0.0, 0.0)
    parts = {"plant": plant, "controller": sampled.Sampled(law, early=True)}
    links = [("plant.y", "controller.y"), ("controller.u", "plant.u")]
    result = CoSimulation(parts, links, "jacobi", 6.0 / exchanges).simulate(until=120.0)
    system = sampled.Plant(plant.a, plant.b, plant.c, np.array([0.3]))
    exact = sampled.exact(system, law, True, result.time)
    true = np.abs(result["plant.y"] - exact).max()
    assert true > 0.1
    assert result.coupling["plant.y"].error > true
    assert result.coupling.verdict == "unknown"


class Sampler(cosim.Component):
    """Holds what it has seen at its last tick."""

    y = cosim.input()
    seen = cosim.discrete()
    u = cosim.output()
    twice = cosim.output()
    both = cosim.output()
    ramp = cosim.output()

    @cosim.every(0.1, does="discrete")
    def sample(y, seen_next):
        seen_next[0] = y

    @cosim.kernel
    def law(seen, u):
        u[0] = 1.0 - 2.0 * seen

    @cosim.kernel
    def doubled(u, twice):
        twice[0] = 2.0 * u

    @cosim.kernel
    def mixed(u, y, both):
        both[0] = u + y

    @cosim.kernel
    def timed(t, seen, ramp):
        ramp[0] = t * seen


def test_outputs_that_follow_discrete_variables_alone_are_discrete() -> None:
    model = cosim.Model("controller")
    model.add(Sampler, "sampler")
    model.add(Sampler, "second")
    model.connect("sampler.both", "second.y")
    found = describe_system(model.build()).discrete
    assert found == {f"{part}.{name}" for part in ("sampler", "second") for name in ("seen", "u", "twice")}


def test_ticks_of_one_clock_are_found_among_exchanges() -> None:
    """They may be uneven; a tick may leave an output as it was; early ones show at the end of an exchange."""
    clock = 0.25 * np.arange(41)
    times = np.unique(np.r_[clock, 0.01 + 0.07 * np.arange(140)])
    of_ticks = np.searchsorted(times, clock)
    for late in (True, False):
        outputs = np.zeros((times.size, 1))
        for place in np.delete(of_ticks, [7, 20])[1:-1]:
            outputs[place + (not late) :] += 1.0
        zero = np.zeros((times.size, 1))
        samples = Samples(times, outputs, zero, zero, zero[:, :0], zero, zero)
        one = np.zeros(1, dtype=np.intp)
        ((found, behind),) = samples_at_ticks(samples, one, one, one)
        assert not behind.any()
        assert found.times == pytest.approx(clock[: found.times.size], abs=1e-12)
        assert found.times.size >= 40
    rare = samples._replace(outputs=np.cumsum(np.random.default_rng(1).random((times.size, 1)) < 0.2, axis=0))
    assert samples_at_ticks(rare, one, one, one) == []


@pytest.mark.parametrize(
    ("changes", "is_late"),
    [
        ([], False),
        ([3], True),
        ([3, 7], True),
        ([3, 5, 7], False),
        ([2, 4, 8], False),
        ([1, 2, 6], False),
        ([1, 2, 7], True),
    ],
)
def test_an_output_that_no_clock_changes_is_late_by_its_jump(changes: list[int], is_late: bool) -> None:
    """Up to two changes show no clock, and of three or more one ticks in silence half of the time at most."""
    times = np.arange(12.0)
    outputs = np.zeros((12, 2))
    for change in changes:
        outputs[change:, 1] += 2.0
    nothing = np.zeros((12, 1))
    samples = Samples(times, outputs, nothing, nothing, np.zeros((12, 0)), nothing, nothing)
    none = np.zeros(0, dtype=np.intp)
    wiring = Wiring(
        np.array([0]), [WiredPart([0], [], []), WiredPart([1], [0], [])], [[], []], [[], []], none, none
    )
    late = jumps_without_clock(samples, wiring, [1])
    assert late.tolist() == [0.0, 2.0 if is_late else 0.0]
