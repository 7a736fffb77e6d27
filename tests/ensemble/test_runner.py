"""A runner does one run at a time; each equals the run of an ensemble byte for byte."""

import math

import numpy as np
import pytest
from ensemble_models import CASES, ball_model
from ensemble_parts import Blowup

import cosim


@pytest.mark.parametrize("case", ["events", "delay and sampler", "constraint"])
def test_runs_equal_those_of_an_ensemble(case):
    make, values, integrator = CASES[case]
    (path,) = values
    system = make().build()
    ensemble = cosim.Ensemble(system, 0.7, integrator, output_interval=0.07, threads=1)
    run = ensemble.runner([path])
    assert run.paths == (path,) and run.names == ensemble.columns
    result = ensemble.run(values)
    last_rows = [run([value]) for value in values[path]]
    for number, last_row in enumerate(last_rows):
        expected = np.hstack([np.ravel(result[name][number][-1]) for name in ensemble.plan.signals])
        assert last_row.tobytes() == expected.tobytes()
    assert run([values[path][0]]).tobytes() == last_rows[0].tobytes()  # the runs between have no effect


def test_reductions_and_several_values():
    ensemble = cosim.Ensemble(
        ball_model().build(),
        1.0,
        output_interval=0.01,
        reduce={"low": "min(ball.height)", "end": "last(ball.height)"},
    )
    run = ensemble.runner(["ball.height", "ball.restitution"])
    assert run.names == ("low", "end")
    result = ensemble.run({"ball.height": [0.5, 2.0], "ball.restitution": [0.2, 0.9]})
    for number, values in enumerate([(0.5, 0.2), (2.0, 0.9)]):
        assert run(values).tolist() == [result["low"][number], result["end"][number]]


def test_a_run_with_the_default_values():
    ensemble = cosim.Ensemble(ball_model().build(), 0.5, output_interval=0.1)
    assert ensemble.runner([])([]).tolist() == [ensemble.run()[name][0, -1] for name in ensemble.columns]


def test_values_outside_their_bounds_or_shape_are_refused():
    run = cosim.Ensemble(ball_model().build(), 0.5).runner(["ball.restitution"])
    assert run([0.0]).shape == run([1.0]).shape  # the bounds are allowed
    for value in (1.0 + 1e-12, -5e-324, math.nan, math.inf):
        with pytest.raises(cosim.ModelError, match="ball.restitution.*lie.*0.*1"):
            run([value])
    for values in (0.5, [], [0.5, 0.5], [[0.5]]):
        with pytest.raises(cosim.ModelError, match=r"values: have shape.*\(1,\): ball.restitution"):
            run(values)
    assert run([0.5]).tobytes() == run([0.5]).tobytes()


def test_bodies_are_checked_in_each_run():
    make, _, integrator = CASES["constraint"]
    run = cosim.Ensemble(make().build(), 0.1, integrator).runner(["rod.center_of_mass", "rod.mass"])
    expected = run([0.5, 0.0, 0.0, 1.0])
    with pytest.raises(cosim.CosimError, match="mass"):
        run([0.5, 0.0, 0.0, -1.0])
    assert run([0.5, 0.0, 0.0, 1.0]).tobytes() == expected.tobytes()


def test_unknown_and_repeated_paths_are_refused():
    ensemble = cosim.Ensemble(ball_model().build(), 0.5)
    with pytest.raises(cosim.CosimError, match="Nearest: ball.height"):
        ensemble.runner(["ball.hight"])
    with pytest.raises(cosim.ModelError, match="twice"):
        ensemble.runner(["ball.height", "ball.height"])


def test_a_failed_run_does_not_affect_the_next_one():
    model = cosim.Model("m")
    model.add(Blowup, "blowup")
    run = cosim.Ensemble(model.build(), 1.5, output_interval=0.1).runner(["blowup.size"])
    expected = run([0.1])
    with pytest.raises(cosim.SimulationError):
        run([1.0])
    assert run([0.1]).tobytes() == expected.tobytes()
