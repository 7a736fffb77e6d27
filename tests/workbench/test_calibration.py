"""Calibration: known parameters come back within their standard errors."""

import importlib
import math
import re
from pathlib import Path

import numpy as np
import pytest
from falling_ball import FallingBall
from workbench_tools import write_model

import cosim
from cosim.cli import main
from cosim_workbench.studies import Calibration


class Decay(cosim.Component):
    """Decays at a constant rate; a second number has no effect."""

    level = cosim.auxiliary_state(unit="m", start=1.0)
    rate = cosim.parameter(unit="1/s", default=1.0)
    gain = cosim.parameter(unit="1", default=1.0)
    idle = cosim.parameter(unit="1", default=1.0)
    shown = cosim.output(unit="m")

    @cosim.kernel
    def derivatives(level, rate, level_dot):
        level_dot[0] = -rate * level

    @cosim.kernel
    def show(level, gain, shown):
        shown[0] = gain * level


class Product(Decay):
    """Shows the product of two numbers and the level."""

    @cosim.kernel
    def show(level, gain, idle, shown):
        shown[0] = gain * idle * level


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


def test_a_repeated_fit_is_the_same(model):
    """It begins again with what is known of the noise, and counts its own runs."""
    calibration = Calibration(model, RANGES, measured(EVEN, 0.01, 3), {"decay.shown": "seen"})
    first, second = calibration.fit(), calibration.fit()
    assert second.values == first.values and second.standard_errors == first.standard_errors
    assert second.runs == first.runs and calibration.runs == 2 * first.runs


@pytest.mark.parametrize("given", [{}, {"integrator": "integrators.heun", "accuracy": 1e-5}])
def test_runs_with_derivatives_use_a_method_of_high_order_unless_one_is_given(model, given, monkeypatch):
    used = []

    def simulate(system, **settings):
        result = run(system, **settings)
        used.append(result.statistics["integrator"])
        return result

    run = cosim.simulate
    monkeypatch.setattr(cosim, "simulate", simulate)
    Calibration(model, RANGES, measured(EVEN, 0.01, 3), {"decay.shown": "seen"}, **given).fit()
    assert set(used) == {"Heun" if given else "DormandPrince853"}


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
    assert (
        "decay.rate" in str(fit) and "remains (rms)" in str(fit) and f"{fit.runs} runs, converged" in str(fit)
    )
    fit.apply()
    assert model.build().default_state()["decay.rate"] == fit.values["decay.rate"]


def slopes(times, rate, gain, noise):
    """Derivatives of the residuals by rate and gain, in closed form."""
    return np.column_stack([-gain * times * np.exp(-rate * times), np.exp(-rate * times)]) / noise


@pytest.mark.parametrize(
    ("times", "error"), [(EVEN, 1e-7), (np.sort(np.random.default_rng(2).uniform(0.0, 2.0, 60)), 1e-4)]
)
def test_derivatives_along_a_run_are_those_of_the_closed_form(model, times, error):
    data = measured(times, 0.0, 0)
    calibration = Calibration(model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 0.01})
    point = np.array([1.3, 0.9])
    expected = slopes(times, *point, 0.01)
    np.testing.assert_allclose(calibration.jacobian(point), expected, rtol=0.0, atol=error * 100.0)
    assert calibration.differences == "" and calibration.runs == 1
    calibration.jacobian(point)
    assert calibration.runs == 1  # it is that run
    other = Calibration(model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 0.01})
    other.runs_of.differences = "compared"
    np.testing.assert_allclose(other.jacobian(point), expected, rtol=0.0, atol=error * 100.0)
    assert other.runs == 4


def test_a_fit_takes_no_run_besides_those_with_derivatives(model, monkeypatch):
    calibration = Calibration(model, RANGES, measured(EVEN, 0.01, 4), {"decay.shown": "seen"})
    points = []
    differentiate = calibration.runs_of.differentiate

    def counted(values):
        points.append(tuple(values.values()))
        return differentiate(values)

    monkeypatch.setattr(calibration.runs_of, "differentiate", counted)
    fit = calibration.fit()
    assert fit.runs == calibration.runs == len(points)
    assert points[0] == tuple(unknown.start for unknown in calibration.unknowns)


def test_fits_with_exact_derivatives_and_with_differences_are_one(model):
    exact, differences = (
        Calibration(model, RANGES, measured(EVEN, 0.01, 4), {"decay.shown": "seen"}) for _ in range(2)
    )
    differences.runs_of.differences = "compared"
    one, other = exact.fit(), differences.fit()
    assert "derivatives are exact" in str(one) and one.differences == ""
    assert "derivatives are differences" in str(other) and one.runs < other.runs
    for path, value in one.values.items():
        assert value == pytest.approx(other.values[path], abs=1e-3 * one.standard_errors[path])
        assert one.standard_errors[path] == pytest.approx(other.standard_errors[path], rel=1e-4)


class Bouncing(FallingBall):
    """A ball that returns with a share of its speed."""

    share = cosim.parameter(default=0.6)

    @cosim.on(FallingBall.floor, does="unrestricted")
    @cosim.kernel
    def bounce(share, speed, speed_next):
        speed_next[0] = -share * speed


def bounced(times, share):
    """Height of a ball from 1 m, until its second bounce, and the derivative by `share`."""
    first, speed = math.sqrt(2.0 / 9.81), math.sqrt(2.0 * 9.81)
    after = np.maximum(times - first, 0.0)
    height = np.where(times < first, 1.0 - 4.905 * times**2, share * speed * after - 4.905 * after**2)
    return height, speed * after


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


def test_a_delay_is_fitted_with_exact_derivatives(model):
    model.add("measures.delay", "late", source="decay.shown", delay=0.1, longest_delay=0.5)
    late = np.maximum(EVEN - 0.2, 0.0)
    data = cosim.Result(EVEN, {"seen": 1.7 * np.exp(-2.5 * late)})
    fit = Calibration(model, {**RANGES, "late.delay": (0.05, 0.5)}, data, {"late": "seen"}).fit()
    assert fit.differences == ""
    found = [fit.values[path] for path in ("decay.rate", "decay.gain", "late.delay")]
    assert found == pytest.approx([2.5, 1.7, 0.2], rel=1e-5)


def test_what_the_data_do_not_tell_has_an_infinite_error(model):
    ranges = {**RANGES, "decay.idle": (0.0, 2.0)}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 5), {"decay.shown": "seen"}).fit()
    assert fit.standard_errors["decay.idle"] == np.inf
    assert np.isfinite(fit.standard_errors["decay.rate"])
    assert "determine" in str(fit) and fit.alike() == []


def test_a_parameter_at_its_bound_is_told(model):
    ranges = {**RANGES, "decay.rate": "0.1 1/s..2 1/s"}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 5), {"decay.shown": "seen"}).fit()
    assert fit.at_bounds == ["decay.rate"] and "doubt: decay.rate lies" in str(fit)
    assert np.isinf(fit.standard_errors["decay.rate"])


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


def test_parameters_that_cannot_be_told_apart_are_told():
    made = cosim.Model("product")
    made.add(Product, "decay")
    ranges = {**RANGES, "decay.idle": (0.5, 2.0)}
    fit = Calibration(made, ranges, measured(EVEN, 0.01, 6), {"decay.shown": "seen"}).fit()
    told = [(one, other) for one, other, _ in fit.alike()]
    infinite = [path for path, error in fit.standard_errors.items() if np.isinf(error)]
    assert told == [("decay.gain", "decay.idle")] or infinite == ["decay.gain", "decay.idle"]
    assert np.isfinite(fit.standard_errors["decay.rate"])


@pytest.mark.parametrize("start", [0.0, 1e-9, 3.0])
def test_starts_of_any_magnitude(model, start):
    """Steps of differences follow the parameter, or its range where it is nearly zero."""
    model.set_start("decay.rate", start)
    ranges = {"decay.rate": (-1.0, 50.0), "decay.gain": (np.float64(0.1), 10.0)}
    fit = Calibration(model, ranges, measured(EVEN, 0.0, 0), {"decay.shown": "seen"}).fit()
    assert fit.values["decay.rate"] == pytest.approx(2.5, rel=1e-4)


@pytest.mark.thorough
def test_the_command_fits_a_file(tmp_path, monkeypatch, capsys):
    import json

    write_model(tmp_path)
    monkeypatch.chdir(tmp_path)
    true = {"mount_left.stiffness[5]": 3.1e5, "mount_left.damping[5]": 900.0}
    run = cosim.Model.from_file("mount.toml").simulate_many(
        {path: [value] for path, value in true.items()},
        **{"until": 0.2, "output_interval": 0.002, "signals": ["engine.z", "vertical_speed"]},
    )
    random = np.random.default_rng(2)
    lines = ["time,height [mm],vertical_speed [m/s],other"]
    noisy = (1e3 * (run["engine.z"][0] + random.normal(0.0, 2e-5, len(run.time)))).tolist()
    speed = (run["vertical_speed"][0] + random.normal(0.0, 1e-3, len(run.time))).tolist()
    lines += [f"{t!r},{z!r},{v!r},0" for t, z, v in zip(run.time.tolist(), noisy, speed, strict=True)]
    (tmp_path / "m.csv").write_text("\n".join(lines) + "\n", "utf-8")
    words = ["calibrate", "mount.toml", "--data", "m.csv"]
    words += [
        "--fit",
        "mount_left.stiffness[5]=100 N/mm..400 N/mm",
        "--fit",
        "mount_left.damping[5]=100..2000",
    ]
    both = ["--signal", "engine.z=height", "--signal", "vertical_speed"]
    assert main([*words, *both, "-o", "fit.csv", "--plot", "fit.png", "--noise", "engine.z=20 um"]) == 0
    said = capsys.readouterr().out
    assert "one standard error" in said and "measured and simulated → fit.csv" in said
    assert set(cosim.read_result("fit.csv").names) == {
        *("engine.z", "vertical_speed", "engine.z measured", "vertical_speed measured")
    }
    assert (tmp_path / "fit.png").stat().st_size > 5000
    assert main([*words, "--json"]) == 0  # the column that is called as a signal
    answer = json.loads(capsys.readouterr().out)["result"]
    assert answer["differences"] == ""
    found = answer["parameters"]
    for path, value in true.items():
        assert abs(found[path]["value"] - value) < 4.0 * found[path]["standard_error"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--fit", "engine.mass"], "PATH=VALUE"),
        (["--fit", "engine.mas=1..2", "--signal", "engine.z=y"], "engine.mass"),
        (["--fit", "engine.mas=1..2", "--signal", "engine.z=height"], "height"),
        (["--fit", "engine.mass=1..2", "--fit", "engine.mass=1..3"], "twice"),
        (["--fit", "engine.mass=1..2", "--signal", "engine.z=x"], "x"),
        (["--fit", "engine.mass=1..2"], "write --signal PATH=COLUMN"),
        (["--fit", "engine.mass=1..2", "--data", "none.csv"], "none.csv"),
        (["--fit", "engine.mass=1..2", "--plot", "a.txt"], "picture"),
        (["--fit", "engine.mass=1..2", "-o", "a.xyz"], "a.xyz"),
    ],
)
def test_faults_of_the_command_have_no_traceback(words, says, tmp_path, capsys, monkeypatch):
    write_model(tmp_path)
    (tmp_path / "m.csv").write_text("time,y\n0,1\n0.1,2\n0.2,2\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "mount.toml", "--data", "m.csv", *words]) == 2
    said = capsys.readouterr().err
    assert says in said and "Traceback" not in said


PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"


@pytest.mark.thorough
def test_standard_errors_of_the_page_hold_over_draws_of_the_noise(tmp_path, monkeypatch):
    """As the page says of 200 draws: 68 and 95 of 100, within three deviations of such a count."""
    monkeypatch.chdir(tmp_path)
    source = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S).group(1)
    (tmp_path / "quarter_car_page.py").write_text(source, "utf-8")  # a class needs a file with its source
    monkeypatch.syspath_prepend(tmp_path)
    page = importlib.import_module("quarter_car_page")
    ranges = {u.path: (u.low, u.high) for u in page.calibration.unknowns}
    clean = {"z_body": page.run["car.body"][0], "z_wheel": page.run["car.wheel"][0]}
    scores = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        noisy = {name: values + random.normal(0.0, 0.5e-3, len(values)) for name, values in clean.items()}
        data = cosim.Result(page.run.time, noisy)
        fit = Calibration(page.model, ranges, data, {"car.body": "z_body", "car.wheel": "z_wheel"}).fit()
        scores.append(
            [(fit.values[path] - page.true[path]) / fit.standard_errors[path] for path in page.true]
        )
    within = np.abs(scores)
    assert within.shape == (200, 4)
    assert (((within < 1.0).mean(0) > 0.58) & ((within < 1.0).mean(0) < 0.78)).all()
    assert ((within < 2.0).mean(0) > 0.905).all()


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


def test_one_constant_signal_of_two_is_a_doubt_alone(model):
    data = measured(EVEN, 0.01, 5)
    both = cosim.Result(EVEN, {"seen": data["seen"], "still": np.full(len(EVEN), 1.7)})
    signals = {"decay.shown": "seen", "decay.level": "still"}
    fit = Calibration(model, RANGES, both, signals).fit()
    assert any("decay.level are constant" in text for text in fit.doubts)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_data_that_no_parameter_explains_are_a_doubt(model, seed):
    noise = np.random.default_rng(seed).normal(0.0, 1.0, len(EVEN))
    data = cosim.Result(EVEN, {"seen": noise - noise.mean()})
    fit = Calibration(model, RANGES, data, {"decay.shown": "seen"}).fit()
    assert any("data of decay.shown" in text for text in fit.doubts)
    assert np.isinf(list(fit.standard_errors.values())).all()
    known = Calibration(model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 1.0}).fit()
    assert not any("no parameter explains" in text for text in known.doubts)


def test_more_than_the_noise_that_was_given_is_a_doubt(model):
    wave = np.exp(-2.5 * EVEN) + 0.2 * np.sin(9.0 * EVEN)
    data = cosim.Result(EVEN, {"seen": wave})
    fit = Calibration(model, RANGES, data, {"decay.shown": "seen"}, noise={"decay.shown": 1e-3}).fit()
    assert any("noise of decay.shown remains" in text for text in fit.doubts)


class Burst(Decay):
    """Shows what is infinite where a number is large."""

    @cosim.kernel
    def show(level, gain, shown):
        shown[0] = level / max(5.0 - gain, 0.0) if gain < 5.0 else math.inf


def test_infinite_residuals_are_passed_or_said():
    model = cosim.Model("burst")
    model.add(Burst, "decay", rate=2.5)
    values = np.exp(-2.5 * EVEN) / 3.0
    data = cosim.Result(EVEN, {"seen": values})
    fit = Calibration(model, {"decay.gain": (0.0, 9.0)}, data, {"decay.shown": "seen"}).fit(starts=6)
    assert fit.values["decay.gain"] == pytest.approx(2.0, rel=1e-4) and fit.doubts == []
    with pytest.raises(cosim.SimulationError, match="finite numbers"):
        Calibration(model, {"decay.gain": (6.0, 9.0)}, data, {"decay.shown": "seen"}).fit()


@pytest.mark.parametrize("noise", [0.01, 0.0])
def test_parameters_that_only_their_product_tells_have_no_interval(noise):
    model = cosim.Model("product")
    model.add(Product, "decay")
    ranges = {"decay.gain": (0.1, 10.0), "decay.idle": (0.1, 10.0)}
    fit = Calibration(model, ranges, measured(EVEN, noise, 1, rate=1.0), {"decay.shown": "seen"}).fit()
    assert np.isinf(list(fit.standard_errors.values())).all()
    assert [text for text in fit.doubts if "decay.gain, decay.idle" in text] == fit.doubts != []


@pytest.mark.parametrize("others", [{}, {"decay.rate": "0.1 1/s..10 1/s"}])
def test_a_parameter_without_effect_is_a_doubt_and_has_no_interval(model, others):
    ranges = {"decay.idle": (0.1, 10.0), **others}
    fit = Calibration(model, ranges, measured(EVEN, 0.01, 1, gain=1.0), {"decay.shown": "seen"}).fit()
    assert any("decay.idle does not change" in text for text in fit.doubts)
    assert np.isinf(fit.standard_errors["decay.idle"])
    assert all(np.isfinite(fit.standard_errors[path]) for path in others)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_data_whose_squares_are_no_numbers_are_refused(model, size):
    data = cosim.Result(EVEN, {"seen": size * np.exp(-EVEN)})
    with pytest.raises(cosim.ModelError, match="seen.*squares"):
        Calibration(model, RANGES, data, {"decay.shown": "seen"})
