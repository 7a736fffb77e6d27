"""Calibrations use derivatives along runs where these have them, and differences of runs else."""

import math

import numpy as np
import pytest
from decay_parts import EVEN, RANGES, Decay, decay_model, measured
from falling_ball import FallingBall

import cosim
from cosim_workbench.studies import Calibration


@pytest.fixture
def model():
    return decay_model()


def slopes(times, rate, gain, noise):
    """Derivatives of the residuals of `Decay.shown` by rate and gain, in closed form."""
    return np.column_stack([-gain * times * np.exp(-rate * times), np.exp(-rate * times)]) / noise


@pytest.mark.parametrize(
    ("times", "tolerance"), [(EVEN, 1e-7), (np.sort(np.random.default_rng(2).uniform(0.0, 2.0, 60)), 1e-4)]
)
def test_derivatives_along_a_run_are_those_of_the_closed_form(model, times, tolerance):
    data = measured(times, 0.0, 0)
    calibration = Calibration(model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 0.01})
    point = np.array([1.3, 0.9])
    expected = slopes(times, *point, 0.01)  # residuals are in deviations of 0.01 m: a hundred a metre
    np.testing.assert_allclose(calibration.jacobian(point), expected, rtol=0.0, atol=tolerance * 100.0)
    assert calibration.differences == "" and calibration.runs == 1
    calibration.jacobian(point)
    assert calibration.runs == 1, "the run of this point is there already"
    by_differences = Calibration(model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 0.01})
    by_differences.runs_of.differences = "compared"
    np.testing.assert_allclose(by_differences.jacobian(point), expected, rtol=0.0, atol=tolerance * 100.0)
    assert by_differences.runs == 4  # two for each parameter: central differences


@pytest.mark.parametrize("options", [{}, {"integrator": "integrators.heun", "accuracy": 1e-5}])
def test_runs_with_derivatives_use_a_method_of_high_order_unless_one_is_given(model, options, monkeypatch):
    methods = []

    def simulate(system, **settings):
        result = run(system, **settings)
        methods.append(result.statistics["integrator"])
        return result

    run = cosim.simulate
    monkeypatch.setattr(cosim, "simulate", simulate)
    Calibration(model, RANGES, measured(EVEN, 0.01, 3), {"decay.shown": "seen"}, **options).fit()
    assert set(methods) == {"Heun" if options else "DormandPrince853"}


def test_a_fit_takes_no_run_besides_those_with_derivatives(model, monkeypatch):
    calibration = Calibration(model, RANGES, measured(EVEN, 0.01, 4), {"decay.shown": "seen"})
    points = []
    differentiate = calibration.runs_of.differentiate

    def record_point(values):
        points.append(tuple(values.values()))
        return differentiate(values)

    monkeypatch.setattr(calibration.runs_of, "differentiate", record_point)
    fit = calibration.fit()
    assert fit.runs == calibration.runs == len(points)
    assert points[0] == tuple(unknown.start for unknown in calibration.unknowns)


def test_fits_with_exact_derivatives_and_with_differences_agree(model):
    calibrations = [
        Calibration(model, RANGES, measured(EVEN, 0.01, 4), {"decay.shown": "seen"}) for _ in range(2)
    ]
    calibrations[1].runs_of.differences = "compared"
    exact, differenced = (calibration.fit() for calibration in calibrations)
    assert "derivatives are exact" in str(exact) and exact.differences == ""
    assert "derivatives are differences" in str(differenced) and exact.runs < differenced.runs
    for path, value in exact.values.items():
        assert value == pytest.approx(differenced.values[path], abs=1e-3 * exact.standard_errors[path])
        assert exact.standard_errors[path] == pytest.approx(differenced.standard_errors[path], rel=1e-4)


class Bouncing(FallingBall):
    """A ball that returns with a share of its speed."""

    share = cosim.parameter(default=0.6)

    @cosim.on(FallingBall.floor, does="unrestricted")
    @cosim.kernel
    def bounce(share, speed, speed_next):
        speed_next[0] = -share * speed


def bounced(times, share):
    """Heights of a `Bouncing` ball from 1 m until its second bounce, and their derivatives by `share`."""
    impact, speed = math.sqrt(2.0 / 9.81), math.sqrt(2.0 * 9.81)
    since_impact = np.maximum(times - impact, 0.0)
    height = np.where(
        times < impact, 1.0 - 4.905 * times**2, share * speed * since_impact - 4.905 * since_impact**2
    )
    return height, speed * since_impact


def test_a_model_with_events_is_calibrated_by_derivatives_through_them():
    model = cosim.Model("bouncing")
    model.add(Bouncing, "ball")
    times = np.linspace(0.0, 1.0, 51)
    data = cosim.Result(times, {"z": bounced(times, 0.8)[0]})
    calibration = Calibration(model, {"ball.share": (0.5, 0.9)}, data, {"ball.height": "z"})
    scale = calibration.deviations["ball.height"]
    np.testing.assert_allclose(
        calibration.jacobian(np.array([0.7]))[:, 0] * scale, bounced(times, 0.7)[1], atol=1e-7
    )
    fit = calibration.fit()
    assert fit.differences == "" and fit.values["ball.share"] == pytest.approx(0.8, abs=1e-8)


class Kinked(Decay):
    """Its rate jumps where no event is."""

    @cosim.kernel
    def derivatives(level, rate, level_dot):
        level_dot[0] = -rate * (level if level > 0.5 else 0.25)


def test_a_run_without_derivatives_is_fitted_by_differences_and_says_why():
    model = cosim.Model("kinked")
    model.add(Kinked, "decay")
    kink = math.log(2.0) / 2.5
    levels = np.where(kink > EVEN, np.exp(-2.5 * EVEN), 0.5 - 0.625 * (EVEN - kink))
    data = cosim.Result(EVEN, {"seen": 1.7 * levels})
    fit = Calibration(model, RANGES, data, {"decay.shown": "seen"}).fit()
    assert fit.differences == "decay.level: its derivative jumps where no event is: make a witness of it"
    assert f"derivatives are differences of runs: {fit.differences}" in str(fit)
    assert fit.values["decay.rate"] == pytest.approx(2.5, rel=1e-4)


def test_a_model_without_derivatives_says_why(model):
    data = cosim.Result(EVEN, {"seen": 1.7 * np.exp(-2.5 * EVEN)})
    integrator = "integrators.scipy_radau"
    calibration = Calibration(model, RANGES, data, {"decay.shown": "seen"}, integrator=integrator)
    calibration.runs_of.prepare(["decay.shown"], EVEN)
    assert calibration.runs_of.differentiate({"decay.rate": 2.5}) is None
    assert "in Python: they have no tangents" in calibration.differences
