"""A calibration names what is in doubt: undetermined parameters, and data that no parameter explains."""

import numpy as np
import pytest
from decay_parts import EVEN, RANGES, Product, decay_model, measured

import cosim
from cosim_workbench.studies import Calibration


@pytest.fixture
def model():
    return decay_model()


def test_a_good_fit_has_no_doubts(model):
    fit = Calibration(model, RANGES, measured(EVEN, 0.01, 3), {"decay.shown": "seen"}).fit()
    assert fit.doubts == [] and np.isfinite(list(fit.standard_errors.values())).all()
    exact = Calibration(model, RANGES, measured(EVEN, 0.0, 3), {"decay.shown": "seen"}).fit()
    assert exact.doubts == [] and np.isfinite(list(exact.standard_errors.values())).all()


@pytest.mark.parametrize("value", [0.0, 1.0, -2.0, 0.7])
def test_constant_data_are_a_doubt_and_give_no_interval(model, value):
    data = cosim.Result(EVEN, {"seen": np.full(len(EVEN), value)})
    fit = Calibration(model, {"decay.rate": "0.1 1/s..10 1/s"}, data, {"decay.shown": "seen"}).fit()
    assert any("decay.shown are constant" in text for text in fit.doubts)
    assert np.isinf(fit.standard_errors["decay.rate"]) and "doubt: the data" in str(fit)


def test_data_that_differ_by_rounding_are_constant(model):
    values = np.where(np.arange(len(EVEN)) % 2, 0.3, 0.1 + 0.2)
    data = cosim.Result(EVEN, {"seen": values})
    fit = Calibration(model, {"decay.rate": "0.1 1/s..10 1/s"}, data, {"decay.shown": "seen"}).fit()
    assert any("decay.shown are constant" in text for text in fit.doubts)
    assert np.isinf(fit.standard_errors["decay.rate"])


def test_one_constant_signal_of_two_is_a_doubt(model):
    data = measured(EVEN, 0.01, 5)
    two_signals = cosim.Result(EVEN, {"seen": data["seen"], "still": np.full(len(EVEN), 1.7)})
    signals = {"decay.shown": "seen", "decay.level": "still"}
    fit = Calibration(model, RANGES, two_signals, signals).fit()
    assert any("decay.level are constant" in text for text in fit.doubts)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_data_that_no_parameter_explains_are_a_doubt(model, seed):
    noise = np.random.default_rng(seed).normal(0.0, 1.0, len(EVEN))
    data = cosim.Result(EVEN, {"seen": noise - noise.mean()})
    fit = Calibration(model, RANGES, data, {"decay.shown": "seen"}).fit()
    assert any("data of decay.shown" in text for text in fit.doubts)
    assert np.isinf(list(fit.standard_errors.values())).all()
    known_noise_fit = Calibration(
        model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 1.0}
    ).fit()
    assert not any("no parameter explains" in text for text in known_noise_fit.doubts)


def test_more_than_the_noise_that_was_given_is_a_doubt(model):
    wave = np.exp(-2.5 * EVEN) + 0.2 * np.sin(9.0 * EVEN)
    data = cosim.Result(EVEN, {"seen": wave})
    fit = Calibration(model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 1e-3}).fit()
    assert any("noise of decay.shown remains" in text for text in fit.doubts)


def test_a_parameter_that_the_data_do_not_determine_has_an_infinite_error(model):
    ranges = {**RANGES, "decay.idle": (0.0, 2.0)}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 5), {"decay.shown": "seen"}).fit()
    assert fit.standard_errors["decay.idle"] == np.inf
    assert np.isfinite(fit.standard_errors["decay.rate"])
    assert "determine" in str(fit) and fit.alike() == []


@pytest.mark.parametrize("other_ranges", [{}, {"decay.rate": "0.1 1/s..10 1/s"}])
def test_a_parameter_without_effect_is_a_doubt_and_has_no_interval(model, other_ranges):
    ranges = {"decay.idle": (0.1, 10.0), **other_ranges}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 1, gain=1.0), {"decay.shown": "seen"}).fit()
    assert any("decay.idle does not change" in text for text in fit.doubts)
    assert np.isinf(fit.standard_errors["decay.idle"])
    assert all(np.isfinite(fit.standard_errors[path]) for path in other_ranges)


def test_parameters_that_the_data_do_not_separate_are_named():
    model = cosim.Model("product")
    model.add(Product, "decay")
    ranges = {**RANGES, "decay.idle": (0.5, 2.0)}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 6), {"decay.shown": "seen"}).fit()
    pairs = [(path1, path2) for path1, path2, _ in fit.alike()]
    undetermined = [path for path, error in fit.standard_errors.items() if np.isinf(error)]
    # rounding decides whether they are nearly or completely dependent
    assert pairs == [("decay.gain", "decay.idle")] or undetermined == ["decay.gain", "decay.idle"]
    assert np.isfinite(fit.standard_errors["decay.rate"])


@pytest.mark.parametrize("noise", [0.01, 0.0])
def test_parameters_of_which_the_data_determine_only_the_product_have_no_interval(noise):
    model = cosim.Model("product")
    model.add(Product, "decay")
    ranges = {"decay.gain": (0.1, 10.0), "decay.idle": (0.1, 10.0)}
    fit = Calibration(model, ranges, measured(EVEN, noise, 1, rate=1.0), {"decay.shown": "seen"}).fit()
    assert np.isinf(list(fit.standard_errors.values())).all()
    assert [text for text in fit.doubts if "decay.gain, decay.idle" in text] == fit.doubts != []
