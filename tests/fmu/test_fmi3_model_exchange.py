"""FMUs of FMI 3.0 for Model Exchange agree with exact solutions: events, clocks, tolerances, rollback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bouncing_ball_fmu import G, height
from model3_fmu import make_model3
from swinging_balls import order

from cosim_fmu import CoSimulation, CoSimulationError
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

Make = Callable[[str], Path]


@pytest.fixture
def make(tmp_path: Path, compiled: Callable[..., Path]) -> Make:
    return lambda kind: make_model3(tmp_path, compiled, kind)


def run(
    path: Path, until: float, step: float = 0.1, starts: dict[str, Any] | None = None, **options: Any
) -> Any:
    """A run without values between communication points."""
    part = open_fmu(path, "m", **options)
    assert isinstance(part, ModelExchangeParticipant)
    named = {f"m.{name}": value for name, value in (starts or {}).items()}
    return CoSimulation({"m": part}, [], "jacobi", step, starts=named).simulate(until, inside="nothing")


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5"])
def test_state_events_are_located(make: Make, integrator: str) -> None:
    result = run(make("BALL"), 1.5, integrator=f"integrators.{integrator}", accuracy=1e-9)
    assert result["m.x"] == pytest.approx([height(t) for t in result.time], abs=1e-6)
    assert result["m.count"][-1] == 2


def test_inputs_are_set_in_continuous_time_and_in_event_mode(make: Make) -> None:
    part = open_fmu(make("BALL"), accuracy=1e-9)
    part.initialize(0.0, None, {"push": 1.0})
    try:
        part.step(0.0, 0.2)
        assert part.get(["x"])[0] == pytest.approx(1.0 - 0.5 * (G - 1.0) * 0.04, abs=1e-9)
        part.set(["gear", "push"], [5, 0.0])
        part.step(0.2, 0.1)
        assert part.get(["gear"]) == [5]
        assert part.get(["v"])[0] == pytest.approx(-G * 0.3 + 0.2, abs=1e-9)
    finally:
        part.close()


def test_the_limit_cycle_of_van_der_pol_has_its_known_period(make: Make) -> None:
    """Amplitude and period for mu = 1 are known to many digits."""
    amplitude, period = 2.00861986087484, 6.66328685932313
    result = run(make("VDP"), period, period / 10, {"x": amplitude}, accuracy=1e-11)
    assert result["m.x"][-1] == pytest.approx(amplitude, abs=1e-8)
    assert result["m.v"][-1] == pytest.approx(0.0, abs=1e-8)


def test_a_time_event_at_a_communication_point_belongs_to_the_step_that_ends_there(make: Make) -> None:
    result = run(make("STAIR"), 3.5, 0.5)
    assert result["m.count"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    stopped = run(make("STAIR"), 9.0, 0.4, {"limit": 3})
    assert "stop at 3 s" in stopped.message
    assert stopped["m.count"][-1] == 3


def test_a_clock_ticks_at_its_period(make: Make) -> None:
    result = run(make("TICK"), 1.2, 0.2)
    assert result["m.count"].tolist() == [1, 1, 2, 3, 4, 5, 5]  # ticks at 0, 0.25, 0.5, 0.75 and 1 s
    assert result["m.x"] == pytest.approx(1.0 + result.time)


@pytest.mark.parametrize("nominal", [1.0, 1e-6])
def test_step_events_and_nominal_values(make: Make, nominal: float) -> None:
    """Tolerances are relative to nominal values, so a small state with a small nominal value is exact."""
    starts = {"x": 0.0, "nominal": nominal, "parameter": nominal}
    result = run(make("TURN"), 3.0, 0.25, starts, maximum_step=0.1)
    assert result["m.count"][-1] >= 2
    assert result["m.x"] / nominal + result["m.count"] == pytest.approx(result.time, abs=1e-9)


@pytest.mark.parametrize("nominal", [1.0, 1e-9])
def test_small_states_are_as_exact_as_large_ones(make: Make, nominal: float) -> None:
    """This holds also for a nominal value of 1, which is the default of FMI and may be wrong."""
    starts = {"x": 2e-9, "v": 0.0, "parameter": 0.0, "nominal": nominal}  # mu = 0: a harmonic oscillator
    result = run(make("VDP"), 6.0, 1.0, starts, accuracy=1e-6)
    assert np.max(np.abs(result["m.x"] / 2e-9 - np.cos(result.time))) < 1e-5


def test_steps_become_shorter_where_derivatives_are_not_defined(make: Make) -> None:
    result = run(make("DRAIN"), 1.9, 1.9, accuracy=1e-8)
    assert result["m.x"][-1] == pytest.approx((1.0 - 0.95) ** 2, abs=1e-6)
    with pytest.raises(CoSimulationError, match=r"m: .*DRAIN\.fmu"):
        run(make("DRAIN"), 3.0, 3.0, {"x": -1.0})


def test_states_are_restored_from_memory_and_from_bytes(make: Make) -> None:
    saved, restored = open_fmu(make("BALL")), open_fmu(make("BALL"))
    for part in (saved, restored):
        part.initialize(0.0, None, {})
    try:
        saved.step(0.0, 0.4)
        token = saved.save()
        data = saved.serialize(token)
        expected = [saved.step(0.4, 0.4), *saved.get(["x", "v", "count"])]
        saved.restore(token)
        assert [saved.step(0.4, 0.4), *saved.get(["x", "v", "count"])] == expected
        restored.restore(restored.deserialize(data))
        assert [restored.step(0.4, 0.4), *restored.get(["x", "v", "count"])] == expected
    finally:
        saved.close()
        restored.close()


@pytest.mark.parametrize(
    ("algorithm", "options", "expected"),
    [
        ("jacobi", {}, 1),
        ("jacobi", {"extrapolation": 1}, 2),
        ("gauss_seidel", {"extrapolation": 1}, 2),
        ("waveform_iteration", {}, 2),
    ],
)
def test_couplings_have_the_order_of_participants_that_follow_slopes(
    make: Make, algorithm: str, options: dict[str, Any], expected: float
) -> None:
    """These are the orders of theory for participants whose own steps are exact."""
    parts = {name: make("BALL") for name in "ab"}
    assert order(parts, "x", algorithm, options) == pytest.approx(expected, abs=0.2)
