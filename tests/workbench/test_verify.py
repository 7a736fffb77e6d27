"""A second opinion: which further runs a model gets, how far they agree, and which one is the odd one out."""

import math

import numpy as np
import pytest
from kernel_parts import BouncingBall, Oscillator

import cosim
from cosim_workbench import second_opinion
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.second_opinion import SecondOpinion

TIMES = np.linspace(0.0, 1.0, 11)


class Ended(cosim.Component):
    """A state without a derivative from a time on."""

    y = cosim.auxiliary_state(start=1.0)
    edge = cosim.parameter(default=0.0)

    @cosim.kernel
    def derivatives(t, y, edge, y_dot):
        y_dot[0] = -y if t < edge else math.nan


def oscillator():
    model = cosim.Model("oscillator")
    model.add(Oscillator, "oscillator")
    return model


def run_of(name, values, failure=""):
    """A run with one signal, ``x``, at `TIMES`."""
    return VerifiedRun(name, "a method", cosim.Result(TIMES, {"x": values}), failure)


def test_runs_of_a_smooth_model_agree_to_what_the_accuracy_promises():
    opinion = oscillator().verify(until=5.0, accuracy=1e-8)
    assert [run.name for run in opinion.runs] == [
        *("as given", "tenth of the tolerance", "another method", "shorter steps"),
        *("start moved up by rounding", "start moved down by rounding"),
    ]
    assert "dormand_prince_853, accuracy 1e-09" in opinion.runs[2].method
    assert {a.signal for a in opinion.agreements} >= {"oscillator.x", "oscillator.v", "oscillator.energy"}
    assert opinion.is_confirmed
    assert 6.0 < min(a.digits for a in opinion.agreements) < 12.0
    assert "agree to" in opinion.verdict


def test_an_implicit_method_is_compared_with_another_implicit_one():
    opinion = oscillator().verify(until=1.0, accuracy=1e-6, integrator="integrators.radau5")
    assert "integrators.bdf" in opinion.runs[2].method
    assert opinion.is_confirmed


def test_a_method_given_by_its_last_word_is_not_compared_with_itself():
    opinion = oscillator().verify(until=1.0, accuracy=1e-8, integrator="dormand_prince_853")
    assert "dormand_prince_853" not in opinion.runs[2].method


def test_events_are_counted_and_the_points_after_them_compared():
    model = cosim.Model("ball")
    model.add(BouncingBall, "ball")
    opinion = model.verify(until=1.5, accuracy=1e-8)
    assert len({run.events for run in opinion.runs}) == 1
    assert opinion.runs[0].events > 1
    assert opinion.is_confirmed, str(opinion)


def test_a_fixed_step_that_is_too_long_is_the_odd_one_out():
    opinion = oscillator().verify(until=5.0, integrator="integrators.runge_kutta_4", fixed_step=0.2)
    assert opinion.runs[1].name == "half the step"
    assert not opinion.is_confirmed
    assert {a.odd for a in opinion.doubtful} == {"as given"}
    assert "the odd one out is: as given" in opinion.verdict
    assert "as given" in str(opinion)


def test_the_odd_one_out_is_the_one_without_which_the_others_agree():
    x = np.sin(TIMES)
    runs = [run_of("a", x), run_of("b", x + 1e-9), run_of("c", x + 1e-3)]
    (agreement,) = SecondOpinion(runs, 1e-8, TIMES).agreements
    assert agreement.odd == "c"
    assert agreement.digits == pytest.approx(-math.log10(1e-3 / (math.sin(1.0) + 1e-3)), abs=1e-6)
    assert agreement.digits_without == pytest.approx(9.0, abs=0.1)


def test_the_residual_of_the_energies_is_compared_on_their_scale():
    def run(name, residual):
        signals = {"energy.total": np.full(11, 2.0), "energy.residual": residual * TIMES}
        units = dict.fromkeys(signals, "J")
        return VerifiedRun(name, "a method", cosim.Result(TIMES, signals, units))

    opinion = SecondOpinion([run("one", 1e-6), run("other", -1e-8)], 1e-6, TIMES)
    assert opinion.is_confirmed
    assert opinion.agreements[1].digits == pytest.approx(6.3, abs=0.1)
    assert not SecondOpinion([run("one", 1e-3), run("other", 0.0)], 1e-6, TIMES).is_confirmed


def test_nan_in_one_run_alone_agrees_to_nothing():
    x = np.sin(TIMES)
    nan_from_half_on = np.where(TIMES > 0.5, math.nan, x)
    assert (
        SecondOpinion([run_of("a", x), run_of("b", nan_from_half_on)], 1e-6, TIMES).agreements[0].digits
        == 0.0
    )
    assert (
        SecondOpinion([run_of("a", nan_from_half_on), run_of("b", nan_from_half_on)], 1e-6, TIMES)
        .agreements[0]
        .digits
        == 15.0
    )


def test_with_a_failed_run_nothing_is_confirmed():
    x = np.sin(TIMES)
    opinion = SecondOpinion([run_of("a", x), run_of("b", x[:], "it ended")], 1e-6, TIMES)
    assert not opinion.is_confirmed
    assert opinion.verdict == "Not confirmed: b failed."
    assert "failed: it ended" in str(opinion)


def test_a_failure_of_the_run_as_given_is_raised():
    model = cosim.Model("ended")
    model.add(Ended, "ended", edge=0.5)
    with pytest.raises(cosim.SimulationError, match="ended.y"):
        model.verify(until=1.0)


def test_the_given_start_state_is_not_changed():
    model = oscillator()
    state = model.build().default_state()
    state["oscillator.x"] = 2.0
    before = state.to_bytes()
    opinion = model.verify(until=0.5, state=state, accuracy=1e-6)
    assert state.to_bytes() == before
    assert [run.result["oscillator.x"][0] for run in opinion.runs if not run.start_moved_by] == [2.0] * 4
    moved = [run.result["oscillator.x"][0] for run in opinion.runs if run.start_moved_by]
    assert moved == [math.nextafter(2.0, 3.0), 2.0 - math.ulp(2.0)]


def test_constraints_are_solved_by_another_solver_too():
    from cosim_mechanics import Multibody

    model = Multibody("loop", gravity=(0, -9.81, 0))
    body = model.body("first", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    model.joint("pin", child=body, q=[0.4])
    ends = {"point1": (0, 1, 0), "point2": (1, 0, 0)}
    model.add("mechanics.rod", "stay", body1="ground", body2=body, length=1.2, **ends)
    model.set_start("stay.enabled", 0)
    opinion = model.verify(until=0.3, accuracy=1e-8)
    assert [run.name for run in opinion.runs][4] == "another solver"
    assert opinion.runs[4].method.endswith("dynamics.articulated_body")
    assert opinion.is_confirmed, str(opinion)
    assert model.solver_id == "dynamics.sval"


@pytest.mark.parametrize("is_always_off", [False, True])
def test_another_method_that_is_off_by_itself_is_set_aside(monkeypatch, is_always_off):
    """As where a method of high order steps over a short contact: with a smaller tolerance it agrees."""

    original_simulate = second_opinion.simulate

    def simulate(system, **options):
        result = original_simulate(system, **options)
        is_other_method = options.get("integrator", "").endswith("853")
        if is_other_method and (is_always_off or options["accuracy"] > 5e-10):
            result.signals["oscillator.x"] = result["oscillator.x"] + 1e-4
        return result

    monkeypatch.setattr(second_opinion, "simulate", simulate)
    opinion = oscillator().verify(until=1.0, accuracy=1e-8)
    assert opinion.is_confirmed != is_always_off
    assert [run.method.split()[-1] for run in opinion.set_aside] == ([] if is_always_off else ["1e-09"])
    assert ("set aside" in str(opinion)) != is_always_off
    assert {a.odd for a in opinion.doubtful} == ({"another method"} if is_always_off else set())
