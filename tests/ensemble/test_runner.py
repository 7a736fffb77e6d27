"""A runner does one run after the other; each is that of an ensemble, to the byte."""

import math

import numpy as np
import pytest
from ensemble_parts import Blowup
from test_ensemble import CASES, ball

import cosim


@pytest.mark.parametrize("case", ["events", "delay and sampler", "constraint"])
def test_each_run_is_that_of_an_ensemble(case):
    make, values, integrator = CASES[case]
    (path,) = values
    system = make().build()
    ensemble = cosim.Ensemble(system, 0.7, integrator, output_interval=0.07, threads=1)
    run = ensemble.runner([path])
    assert run.paths == (path,) and run.names == ensemble.columns
    whole = ensemble.run(values)
    finals = [run([value]) for value in values[path]]
    for number, final in enumerate(finals):
        expected = np.hstack([np.ravel(whole[name][number][-1]) for name in ensemble.plan.signals])
        assert final.tobytes() == expected.tobytes()
    assert run([values[path][0]]).tobytes() == finals[0].tobytes()  # nothing is left of the runs between


def test_reductions_and_several_values():
    ensemble = cosim.Ensemble(
        ball().build(),
        1.0,
        output_interval=0.01,
        reduce={"low": "min(ball.height)", "end": "last(ball.height)"},
    )
    run = ensemble.runner(["ball.height", "ball.restitution"])
    assert run.names == ("low", "end")
    found = ensemble.run({"ball.height": [0.5, 2.0], "ball.restitution": [0.2, 0.9]})
    for number, values in enumerate([(0.5, 0.2), (2.0, 0.9)]):
        assert run(values).tolist() == [found["low"][number], found["end"][number]]


def test_a_run_without_other_values():
    ensemble = cosim.Ensemble(ball().build(), 0.5, output_interval=0.1)
    assert ensemble.runner([])([]).tolist() == [ensemble.run()[n][0, -1] for n in ensemble.columns]


def test_what_a_call_refuses():
    run = cosim.Ensemble(ball().build(), 0.5).runner(["ball.restitution"])
    assert run([0.0]).shape == run([1.0]).shape  # the bounds themselves
    for wrong in (1.0 + 1e-12, -5e-324, math.nan, math.inf):
        with pytest.raises(cosim.ModelError, match="ball.restitution.*lie.*0.*1"):
            run([wrong])
    for wrong in (0.5, [], [0.5, 0.5], [[0.5]]):
        with pytest.raises(cosim.ModelError, match=r"values: have shape.*\(1,\): ball.restitution"):
            run(wrong)
    assert run([0.5]).tobytes() == run([0.5]).tobytes()


def test_values_that_need_more_than_bounds_are_checked_each_time():
    make, _, integrator = CASES["constraint"]
    run = cosim.Ensemble(make().build(), 0.1, integrator).runner(["rod.center_of_mass", "rod.mass"])
    good = run([0.5, 0.0, 0.0, 1.0])
    with pytest.raises(cosim.CosimError, match="mass"):
        run([0.5, 0.0, 0.0, -1.0])
    assert run([0.5, 0.0, 0.0, 1.0]).tobytes() == good.tobytes()


def test_what_no_runner_takes():
    ensemble = cosim.Ensemble(ball().build(), 0.5)
    with pytest.raises(cosim.CosimError, match="Nearest: ball.height"):
        ensemble.runner(["ball.hight"])
    with pytest.raises(cosim.ModelError, match="twice"):
        ensemble.runner(["ball.height", "ball.height"])


def test_a_run_that_fails_raises_and_the_next_one_does_not():
    model = cosim.Model("m")
    model.add(Blowup, "blowup")
    run = cosim.Ensemble(model.build(), 1.5, output_interval=0.1).runner(["blowup.size"])
    good = run([0.1])
    with pytest.raises(cosim.SimulationError):
        run([1.0])
    assert run([0.1]).tobytes() == good.tobytes()
