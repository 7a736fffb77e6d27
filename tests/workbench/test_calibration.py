"""Calibration: known parameters come back within their standard errors."""

import numpy as np
import pytest

import cosim
from cosim_workbench.studies import Calibration


class Decay(cosim.Component):
    """Decays at a constant rate; a second number has no effect."""

    level = cosim.auxiliary_state(unit="m", start=1.0)
    rate = cosim.parameter(unit="1/s", default=1.0, minimum=0.0)
    gain = cosim.parameter(unit="1", default=1.0)
    idle = cosim.parameter(unit="1", default=1.0)
    shown = cosim.output(unit="m")

    @cosim.kernel
    def derivatives(level, rate, level_dot):
        level_dot[0] = -rate * level

    @cosim.kernel
    def show(level, gain, shown):
        shown[0] = gain * level


@pytest.fixture
def model():
    made = cosim.Model("decay")
    made.add(Decay, "decay")
    return made


def measured(times, noise, seed, rate=2.5, gain=1.7, unit="m"):
    values = gain * np.exp(-rate * times) + np.random.default_rng(seed).normal(0.0, noise, len(times))
    scale = 1000.0 if unit == "mm" else 1.0
    return cosim.Result(times, {"seen": scale * values}, {"seen": unit})


RANGES = {"decay.rate": "0.1 1/s..10 1/s", "decay.gain": (0.1, 10.0)}
EVEN = np.linspace(0.0, 2.0, 81)


def test_errors_are_as_large_as_the_standard_errors_say(model):
    scores = []
    for seed in range(12):
        calibration = Calibration(model, RANGES, measured(EVEN, 0.01, seed), {"decay.shown": "seen"})
        fit = calibration.fit()
        assert fit.is_converged and not fit.at_bounds
        scores += [(fit.values["decay.rate"] - 2.5) / fit.standard_errors["decay.rate"]]
        scores += [(fit.values["decay.gain"] - 1.7) / fit.standard_errors["decay.gain"]]
        assert fit.deviations["decay.shown"] == pytest.approx(0.01, rel=0.3)
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.5


def test_standard_errors_are_those_of_the_linearized_problem(model):
    fit = Calibration(model, RANGES, measured(EVEN, 0.01, 3), {"decay.shown": "seen"}).fit()
    rate, gain = fit.values["decay.rate"], fit.values["decay.gain"]
    columns = np.column_stack([-gain * EVEN * np.exp(-rate * EVEN), np.exp(-rate * EVEN)])
    variance = np.sum(fit.residuals["decay.shown"] ** 2) / (len(EVEN) - 2)
    expected = variance * np.linalg.inv(columns.T @ columns)
    np.testing.assert_allclose(fit.covariance, expected, rtol=1e-4)
    assert fit.correlation[0, 0] == pytest.approx(1.0) and 0.0 < fit.correlation[0, 1] < 1.0


@pytest.mark.parametrize("times", [np.sort(np.random.default_rng(2).uniform(0.0, 2.0, 60)), EVEN[7:]])
def test_times_of_any_spacing_and_units_of_columns(model, times):
    data = measured(times, 0.0, 0, unit="mm")
    fit = Calibration(model, RANGES, data, {"decay.shown": "seen"}).fit()
    assert fit.values["decay.rate"] == pytest.approx(2.5, rel=1e-4)
    assert fit.values["decay.gain"] == pytest.approx(1.7, rel=1e-4)


def test_csv_noise_starts_and_apply(model, tmp_path):
    measured(EVEN, 0.01, 4).to_csv(tmp_path / "m.csv")
    calibration = Calibration(
        model, RANGES, tmp_path / "m.csv", {"decay.shown": "seen"}, noise={"decay.shown": "1 cm"}
    )
    fit = calibration.fit(starts=10)
    assert abs(fit.values["decay.rate"] - 2.5) < 4.0 * fit.standard_errors["decay.rate"]
    assert "decay.rate" in str(fit) and "remains (rms)" in str(fit) and f"{fit.runs} runs" in str(fit)
    fit.apply()
    assert model.build().default_state()["decay.rate"] == fit.values["decay.rate"]


def test_what_the_data_do_not_tell_has_an_infinite_error(model):
    ranges = {**RANGES, "decay.idle": (0.0, 2.0)}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 5), {"decay.shown": "seen"}).fit()
    assert fit.standard_errors["decay.idle"] == np.inf
    assert np.isfinite(fit.standard_errors["decay.rate"])


def test_a_parameter_at_its_bound_is_told(model):
    ranges = {**RANGES, "decay.rate": "0.1 1/s..2 1/s"}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 5), {"decay.shown": "seen"}).fit()
    assert fit.at_bounds == ["decay.rate"] and "at an end of its range" in str(fit)


@pytest.mark.parametrize(
    ("ranges", "signals", "more", "says"),
    [
        ({"decay.rat": (0, 1)}, {"decay.shown": "seen"}, {}, "decay.rate"),
        ({"decay.rate": "1, 2"}, {"decay.shown": "seen"}, {}, "needs a range"),
        ({"decay.rate": "2..1"}, {"decay.shown": "seen"}, {}, "larger one"),
        (RANGES, {"decay.shown": "sen"}, {}, "seen"),
        (RANGES, {"decay.show": "seen"}, {}, "decay.shown"),
        (RANGES, {"decay.rate": "seen"}, {}, "m"),
        (RANGES, {}, {}, "signal at least"),
        (RANGES, {"decay.shown": "seen"}, {"noise": {"decay.shown": 0.0}}, "deviation > 0"),
    ],
)
def test_faults(model, ranges, signals, more, says):
    with pytest.raises(cosim.CosimError, match=says):
        Calibration(model, ranges, measured(EVEN, 0.01, 1), signals, **more)
