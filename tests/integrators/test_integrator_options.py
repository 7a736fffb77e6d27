"""Options of integrators: the values that are refused, defaults, and tolerances by group and path."""

import math

import pytest

import cosim
from cosim.testing.known_solution import known_system
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.kit import ExplicitRungeKutta


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"accuracy": 0.0}, "accuracy is 0.0, needs a number above 0 and at most 0.1"),
        ({"accuracy": 10}, "accuracy is 10, needs a number above 0 and at most 0.1: 1e-6 for six digits"),
        ({"accuracy": True}, "accuracy is True, needs a number"),
        ({"accuracy": math.nan}, "accuracy is nan, needs a number"),
        ({"fixed_step": 0.1, "accuracy": 1.5}, "accuracy is 1.5, needs a number above 0 and at most 1"),
        ({"accuracy": math.inf}, "accuracy is inf, needs a number"),
        ({"initial_step": -1.0}, "initial_step is -1.0"),
        ({"fixed_step": math.inf}, "fixed_step is inf"),
        ({"minimum_step": -1e-3}, "minimum_step is -0.001"),
        ({"maximum_step": 0.0}, "maximum_step is 0.0"),
        ({"minimum_step": 0.2, "maximum_step": 0.1}, "below minimum_step 0.2; exchange them"),
        ({"initial_step": 0.2, "maximum_step": 0.1}, "initial_step is 0.2, must lie between"),
        ({"initial_step": 0.1, "fixed_step": 0.1}, "initial_step has no effect beside fixed_step"),
        ({"absolute_tolerance": 0.0}, "absolute_tolerance is 0.0, must be a positive number"),
        ({"relative_tolerance": {"q": -1.0}}, r"relative_tolerance\['q'\] is -1.0"),
    ],
)
def test_invalid_options_are_refused(options, text) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        DormandPrince(**options)


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(cosim.ModelError) as caught:
        DormandPrince(accuracy=-1.0, minimum_step=-1.0, relative_tolerance=math.nan)
    assert len(caught.value.problems) == 3


def test_a_method_without_an_error_estimate_needs_a_fixed_step() -> None:
    with pytest.raises(cosim.ModelError, match="ExplicitEuler: fixed_step.*error estimate"):
        ExplicitEuler(accuracy=1e-6)
    assert ExplicitEuler(accuracy=1e-6, fixed_step=0.1).fixed_step == 0.1


def test_the_default_and_the_loosest_accuracy() -> None:
    assert DormandPrince(accuracy=0.1).accuracy == 0.1
    assert DormandPrince(accuracy=1.0, fixed_step=0.1).accuracy == 0.1  # it only locates events
    assert DormandPrince().accuracy == 1e-6


def test_a_class_needs_a_butcher_tableau() -> None:
    with pytest.raises(cosim.ContractError, match="must be a ButcherTableau"):

        class Wrong(ExplicitRungeKutta):
            """A dictionary is no tableau."""

            tableau = {"order": 1}

    class Abstract(ExplicitRungeKutta):
        """A base without coefficients."""

    with pytest.raises(cosim.ContractError, match="no tableau"):
        Abstract(fixed_step=0.1)


def test_statistics_are_those_of_the_current_integrator() -> None:
    simulator = cosim.Simulator(known_system(), integrator=DormandPrince, accuracy=1e-8)
    simulator.advance_to(1.0)
    simulator.reset_integrator(ExplicitEuler, fixed_step=0.1)
    assert simulator.statistics.evaluations == 0
    simulator.advance_to(2.0)
    assert simulator.statistics.evaluations == simulator.statistics.integrator_steps == 10


def test_tolerances_by_group_and_path() -> None:
    system = known_system()
    tolerances = {"q": 1e-3, "known.z": 1e-5, "known": 1e-4}
    relative, absolute = DormandPrince(accuracy=1e-7, relative_tolerance=tolerances).tolerances(system)
    assert relative.tolist() == [1e-4, 1e-4, 1e-4]  # the last entry holds for the whole part
    relative, absolute = DormandPrince(
        accuracy=1e-7, relative_tolerance={"known.v": 0.0}, absolute_tolerance={"z": 1e-2, "*.v": 1e-9}
    ).tolerances(system)
    assert relative.tolist() == [1e-7, 0.0, 1e-7]
    assert absolute.tolist() == pytest.approx([1e-10, 1e-9, 1e-2])
    with pytest.raises(cosim.ModelError, match="'knwon.z'.*Nearest: known.z"):
        DormandPrince(absolute_tolerance={"knwon.z": 1.0}).tolerances(system)


def test_tolerances_follow_the_order_of_the_mapping_at_construction() -> None:
    system = known_system()
    tolerances = {"known": 1e-4, "known.z": 1e-5}
    method = DormandPrince(relative_tolerance=tolerances)
    assert method.tolerances(system)[0].tolist() == [1e-4, 1e-4, 1e-5]
    reversed_order = DormandPrince(relative_tolerance=dict(reversed(tolerances.items())))
    assert reversed_order.tolerances(system)[0].tolist() == [1e-4, 1e-4, 1e-4]
    assert method.tolerances(system)[0].tolist() == [1e-4, 1e-4, 1e-5]
    tolerances["known.z"] = 0.0  # the method has a copy
    assert method.tolerances(system)[0].tolist() == [1e-4, 1e-4, 1e-5]
    assert method.held_sizes(system).tolist() == [0.0, 0.0, 0.0]
    exact = DormandPrince(relative_tolerance=tolerances)
    assert exact.tolerances(system)[0].tolist() == [1e-4, 1e-4, 0.0]
    assert exact.held_sizes(system).tolist() == [0.0, 0.0, 1.0]


def test_a_loose_group_does_not_limit_the_step() -> None:
    def steps(**options):
        simulator = cosim.Simulator(known_system(), integrator=DormandPrince, accuracy=1e-9, **options)
        simulator.advance_to(5.0)
        return simulator.statistics.integrator_steps

    all_groups = {"q": 1e-2, "u": 1e-2, "z": 1e-2}
    assert steps(relative_tolerance={"z": 1e-2}) > 2 * steps(relative_tolerance=all_groups)
