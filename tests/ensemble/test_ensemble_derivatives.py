"""Derivatives of the runs of an ensemble with respect to parameters and start values."""

import numpy as np
import pytest
from ensemble_models import ball_model, rows_on_grid, simulate_run

import cosim


class Kicked(cosim.Component):
    """Obeys x' = -k x; every 0.5 s, also at the start, x becomes gain x + 1."""

    k = cosim.parameter(default=0.5)
    gain = cosim.parameter(default=0.75)
    x = cosim.auxiliary_state(start=2.0)

    @cosim.kernel
    def derivatives(k, x, x_dot):
        x_dot[0] = -k * x

    @cosim.every(0.5, does="unrestricted")
    @cosim.kernel
    def kick(gain, x, x_next):
        x_next[0] = gain * x + 1.0


@pytest.mark.parametrize("threads", [1, 2])
def test_derivatives_agree_with_single_runs(threads):
    system, by = ball_model().build(), ["ball.restitution", "ball.height"]
    values = {"ball.restitution": [0.3, 0.5, 0.8]}
    options = {"output_interval": 0.25, "signals": ["ball.height"]}
    ensemble = cosim.Ensemble(system, 1.0, threads=threads, derivatives=by, **options)
    result = ensemble.run(values)
    names = [f"d(ball.height)/d({path})" for path in by]
    assert result.signals == ["ball.height", *names]
    assert result.units[names[0]] == "m" and result.units[names[1]] == "m/(m)"
    for run in range(3):
        single = simulate_run(system, values, run, 1.0, derivatives=by, **options)
        for name, path in zip(names, by, strict=True):
            single.signals[name] = single.derivative("ball.height", path)
            assert np.array_equal(result[name][run], rows_on_grid(single, name, result.time))
            assert np.array_equal(result.run(run).derivative("ball.height", path), result[name][run])
    assert result[names[0]][:, -1].all() and len(set(result[names[0]][:, -1])) == 3


def test_derivatives_of_reductions_are_refused():
    system, by = ball_model().build(), ["ball.restitution"]
    with pytest.raises(cosim.ModelError, match="derivatives.*recorded over time"):
        cosim.Ensemble(system, 1.0, reduce=["last(ball.height)"], derivatives=by)


@pytest.mark.parametrize("interval", [0.25, 0.5, 0.3])
def test_derivatives_on_the_grid_are_those_after_updates(interval):
    """The reference is the complex-step derivative of the closed form."""
    model = cosim.Model("m")
    model.add(Kicked(), "m")
    system, by, gains = model.build(), ["m.k", "m.gain", "m.x"], [0.75, 0.0, 1.0]
    options = {"output_interval": interval, "signals": ["m.x"], "accuracy": 1e-10}
    result = cosim.Ensemble(system, 1.2, derivatives=by, **options).run({"m.gain": gains})

    def closed_form(k, gain, x, time):
        ticks = int(time / 0.5 + 1e-9)
        for _ in range(ticks):
            x = (gain * x + 1.0) * np.exp(-k * 0.5)
        return (gain * x + 1.0) * np.exp(-k * (time - 0.5 * ticks))

    for run, gain in enumerate(gains):
        for row, time in enumerate(result.time):
            for number, path in enumerate(by):
                values = np.array([0.5, gain, 2.0], dtype=complex)
                values[number] += 1e-30j
                expected = closed_form(*values, time).imag / 1e-30
                derivative = result[f"d(m.x)/d({path})"][run, row]
                assert derivative == pytest.approx(expected, abs=1e-8), (time, path)
