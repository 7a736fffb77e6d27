"""Error bars of couplings with sampled controllers, whose outputs change at the ticks of a clock."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import sampled

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.participants.system_interface import describe_system
from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.clock_ticks import jumps_without_clock, samples_at_ticks
from cosim_master.trust.sampled_wiring import WiredPart, Wiring


@pytest.mark.parametrize("seed", [3, *(pytest.param(n, marks=pytest.mark.thorough) for n in (16, 24, 25))])
def test_bars_of_sampled_controllers_hold_the_true_errors(seed: int) -> None:
    """They read their inputs at ticks only, so defects between ticks cause no error."""
    case = sampled.check_bars(seed)
    assert 1.0 < case.bar / case.true < 5.0
    assert case.verdict != "unknown"


def test_a_sampled_controller_whose_ticks_are_exchanges_causes_no_error() -> None:
    case = sampled.check_bars(18)
    assert case.true < 1e-12
    assert case.bar < 1e-9
    assert case.verdict == "fine"


@pytest.mark.parametrize("early", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_errors_between_slow_ticks_count(early: bool) -> None:
    """A fast loop has errors after each tick that have decayed at the next one."""

    def simulate(step: float) -> cosim.Result:
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

    result, better = simulate(0.05), simulate(0.01)
    true = np.abs(result["plant.y"] - better["plant.y"][::5]).max()
    assert true > 0.1
    assert result.coupling["plant.y"].error > true
    assert result.coupling.verdict == "unknown"


@pytest.mark.parametrize("exchanges", [5, pytest.param(40, marks=pytest.mark.thorough)])
def test_errors_of_a_fast_plant_between_slow_ticks_count(exchanges: int) -> None:
    """The plant receives the output of a tick one exchange late; this error has decayed at the next tick."""
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
    """Outputs that depend on a sample alone, on other outputs, on the input and on time."""

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
    discrete = describe_system(model.build()).discrete
    assert discrete == {f"{part}.{name}" for part in ("sampler", "second") for name in ("seen", "u", "twice")}


def test_the_ticks_of_a_clock_are_identified_among_exchanges() -> None:
    """The exchanges are uneven, two ticks do not change the output, and ticks may show an exchange late."""
    clock = 0.25 * np.arange(41)
    times = np.unique(np.r_[clock, 0.01 + 0.07 * np.arange(140)])
    tick_rows = np.searchsorted(times, clock)
    for is_same_row in (True, False):
        outputs = np.zeros((times.size, 1))
        for row in np.delete(tick_rows, [7, 20])[1:-1]:
            outputs[row + (not is_same_row) :] += 1.0
        zero = np.zeros((times.size, 1))
        samples = Samples(times, outputs, zero, zero, zero[:, :0], zero, zero)
        first = np.zeros(1, dtype=np.intp)  # the index of the only input, output and participant
        ((at_ticks, behind),) = samples_at_ticks(samples, first, first, first)
        assert not behind.any()
        assert at_ticks.times == pytest.approx(clock[: at_ticks.times.size], abs=1e-12)
        assert at_ticks.times.size >= 40
    random_changes = np.random.default_rng(1).random((times.size, 1)) < 0.2
    without_clock = samples._replace(outputs=np.cumsum(random_changes, axis=0))
    assert samples_at_ticks(without_clock, first, first, first) == []


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
def test_an_output_that_jumps_without_a_clock_is_late_by_its_jump(changes: list[int], is_late: bool) -> None:
    """Two changes do not show a clock; three do if at least half of its ticks change the output."""
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
