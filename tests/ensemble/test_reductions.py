"""Reductions of runs: their values, their units, and their faults."""

import numpy as np
import pytest
from ensemble_models import ball_model
from ensemble_parts import Fuse, distance, overshoot

import cosim


def test_reductions_agree_with_numpy():
    model = ball_model()
    values = {"ball.restitution": np.linspace(0.2, 0.9, 7)}
    recorded = model.simulate_many(values, 1.5, output_interval=0.01)
    names = ("last", "first", "max", "min", "mean", "rms", "span", "integral")
    reduce = {
        **{name: f"{name}(ball.height)" for name in names},
        "q": "quantile(ball.height, 0.9)",
        "over": (overshoot, "ball.height"),
        "far": (distance, "ball.height", "ball.speed"),
    }
    result = model.simulate_many(values, 1.5, output_interval=0.01, reduce=reduce)
    height, speed, t = recorded["ball.height"], recorded["ball.speed"], recorded.time
    np.testing.assert_array_equal(result["last"], height[:, -1])
    np.testing.assert_array_equal(result["first"], height[:, 0])
    np.testing.assert_array_equal(result["max"], height.max(axis=1))
    np.testing.assert_array_equal(result["min"], height.min(axis=1))
    np.testing.assert_allclose(result["mean"], np.trapezoid(height, t) / 1.5, rtol=1e-12)
    np.testing.assert_allclose(result["integral"], np.trapezoid(height, t), rtol=1e-12)
    np.testing.assert_allclose(result["rms"], np.sqrt(np.trapezoid(height**2, t) / 1.5), rtol=1e-12)
    np.testing.assert_allclose(result["span"], np.ptp(height, axis=1), rtol=1e-12)
    np.testing.assert_allclose(result["q"], np.quantile(height, 0.9, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(result["over"], height.max(axis=1) - height[:, -1])
    np.testing.assert_array_equal(result["far"], np.abs(height - speed).max(axis=1))
    assert result.units["max"] == "m" and result.units["over"] == "1"
    with pytest.raises(cosim.LookUpError, match="Only reductions were recorded"):
        _ = result.values


@pytest.mark.parametrize(
    ("reduce", "message"),
    [
        (["maximum(ball.height)"], "Nearest: .*max"),
        (["max(ball.hight)"], "ball.height"),
        (["max ball.height"], "max\\(engine.z\\)"),
        (["quantile(ball.height, 2)"], "from 0 to 1"),
        (["max(ball.height)", "max(ball.height)"], "dictionary"),
        ([(overshoot, "ball.height", "ball.speed")], "takes 2 arguments"),
        ([overshoot], "with its signals"),
    ],
)
def test_impossible_reductions_are_refused(reduce, message):
    with pytest.raises(cosim.CosimError, match=message):
        cosim.Ensemble(ball_model().build(), 1.0, reduce=reduce)


def test_units_of_reductions():
    model = cosim.Model("fuse")
    model.add(Fuse, "integral")
    reduce = {
        "area": "integral(integral.heat)",
        "integral_low": "min(integral.heat)",
        "mean": "mean(integral.heat)",
    }
    result = model.simulate_many({"integral.power": [1.0]}, until=1.0, reduce=reduce)
    assert {name: result.units[name] for name in reduce} == {"area": "J.s", "integral_low": "J", "mean": "J"}
