"""Calibration: parameters that made the data come back within their standard errors."""

import math

import numpy as np
import pytest
from decay_parts import EVEN, RANGES, Decay, decay_model, measured

import cosim
from cosim_workbench.studies import Calibration


@pytest.fixture
def model():
    return decay_model()


def test_errors_are_as_large_as_the_standard_errors_say(model):
    """The root mean square of 24 errors in standard errors is 1 within three deviations of such a mean."""
    scores = []
    for seed in range(12):
        calibration = Calibration(model, RANGES, measured(EVEN, 0.01, seed), {"decay.shown": "seen"})
        fit = calibration.fit()
        assert fit.is_converged and not fit.at_bounds
        scores.append((fit.values["decay.rate"] - 2.5) / fit.standard_errors["decay.rate"])
        scores.append((fit.values["decay.gain"] - 1.7) / fit.standard_errors["decay.gain"])
        assert fit.deviations["decay.shown"] == pytest.approx(0.01, rel=0.3)
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.5


def test_a_repeated_fit_is_the_same(model):
    """The second fit starts with the noise that the first one found, and counts its own runs."""
    calibration = Calibration(model, RANGES, measured(EVEN, 0.01, 3), {"decay.shown": "seen"})
    first, second = calibration.fit(), calibration.fit()
    assert second.values == first.values and second.standard_errors == first.standard_errors
    assert second.runs == first.runs and calibration.runs == 2 * first.runs


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


def test_a_file_is_fitted_with_known_noise_from_several_starts(model, tmp_path):
    measured(EVEN, 0.01, 4).to_csv(tmp_path / "m.csv")
    calibration = Calibration(
        model, RANGES, tmp_path / "m.csv", {"decay.shown": "seen"}, noise={"decay.shown": "1 cm"}
    )
    fit = calibration.fit(starts=10)
    assert abs(fit.values["decay.rate"] - 2.5) < 4.0 * fit.standard_errors["decay.rate"]
    for text in ("decay.rate", "remains (rms)", f"{fit.runs} runs, converged"):
        assert text in str(fit)
    fit.apply()
    assert model.build().default_state()["decay.rate"] == fit.values["decay.rate"]


@pytest.mark.parametrize("start", [0.0, 1e-9, 3.0])
def test_starts_of_any_magnitude(model, start):
    """A start of 0 or nearly so does not stop the fit: the range then gives the size of steps."""
    model.set_start("decay.rate", start)
    ranges = {"decay.rate": (-1.0, 50.0), "decay.gain": (np.float64(0.1), 10.0)}
    fit = Calibration(model, ranges, measured(EVEN, 0.0, 0), {"decay.shown": "seen"}).fit()
    assert fit.values["decay.rate"] == pytest.approx(2.5, rel=1e-4)


def test_a_delay_is_fitted_with_exact_derivatives(model):
    model.add("measures.delay", "late", source="decay.shown", delay=0.1, longest_delay=0.5)
    late = np.maximum(EVEN - 0.2, 0.0)
    data = cosim.Result(EVEN, {"seen": 1.7 * np.exp(-2.5 * late)})
    fit = Calibration(model, {**RANGES, "late.delay": (0.05, 0.5)}, data, {"late": "seen"}).fit()
    assert fit.differences == ""
    values = [fit.values[path] for path in ("decay.rate", "decay.gain", "late.delay")]
    assert values == pytest.approx([2.5, 1.7, 0.2], rel=1e-5)


def test_a_parameter_at_its_bound_is_a_doubt(model):
    ranges = {**RANGES, "decay.rate": "0.1 1/s..2 1/s"}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 5), {"decay.shown": "seen"}).fit()
    assert fit.at_bounds == ["decay.rate"] and "doubt: decay.rate lies" in str(fit)
    assert np.isinf(fit.standard_errors["decay.rate"])


class Burst(Decay):
    """Shows a value that is infinite where the gain is 5 or more."""

    @cosim.kernel
    def show(level, gain, shown):
        shown[0] = level / max(5.0 - gain, 0.0) if gain < 5.0 else math.inf


def test_points_with_infinite_residuals_are_left_behind_unless_all_are_infinite():
    model = cosim.Model("burst")
    model.add(Burst, "decay", rate=2.5)
    values = np.exp(-2.5 * EVEN) / 3.0
    data = cosim.Result(EVEN, {"seen": values})
    fit = Calibration(model, {"decay.gain": (0.0, 9.0)}, data, {"decay.shown": "seen"}).fit(starts=6)
    assert fit.values["decay.gain"] == pytest.approx(2.0, rel=1e-4) and fit.doubts == []
    with pytest.raises(cosim.SimulationError, match="finite numbers"):
        Calibration(model, {"decay.gain": (6.0, 9.0)}, data, {"decay.shown": "seen"}).fit()


@pytest.mark.parametrize(
    ("ranges", "signals", "options", "message"),
    [
        ({"decay.rat": (0, 1)}, {"decay.shown": "seen"}, {}, "decay.rate"),
        ({"decay.rate": "1, 2"}, {"decay.shown": "seen"}, {}, "needs a range"),
        ({"decay.rate": "2..1"}, {"decay.shown": "seen"}, {}, "larger one"),
        (RANGES, {"decay.shown": "sen"}, {}, "seen"),
        (RANGES, {"decay.show": "seen"}, {}, "decay.shown"),
        (RANGES, {"decay.rate": "seen"}, {}, "m cannot be converted to 1/s"),
        (RANGES, {}, {}, "signal at least"),
        (RANGES, {"decay.shown": "seen"}, {"noise": {"decay.shown": 0.0}}, "deviation > 0"),
    ],
)
def test_wrong_arguments(model, ranges, signals, options, message):
    with pytest.raises(cosim.CosimError, match=message):
        Calibration(model, ranges, measured(EVEN, 0.01, 1), signals, **options)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_data_whose_squares_are_no_numbers_are_refused(model, size):
    data = cosim.Result(EVEN, {"seen": size * np.exp(-EVEN)})
    with pytest.raises(cosim.ModelError, match="seen.*squares"):
        Calibration(model, RANGES, data, {"decay.shown": "seen"})
