"""Published stiff problems, to the published solutions."""

import pytest
from block_system import BlockSystem, run
from stiff_problems import PROBLEMS

from cosim_integrators.bdf import Bdf
from cosim_integrators.esdirk43 import Esdirk43
from cosim_integrators.radau3 import Radau3
from cosim_integrators.radau5 import Radau5

# the error at the end may be so many times the accuracy: steps add up, and some problems magnify errors
MARGIN = 30.0
CASES = [(Radau3, 1e-3), (Radau5, 1e-4), (Radau5, 1e-8), (Esdirk43, 1e-5), (Bdf, 1e-6)]


@pytest.mark.by_turns
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
@pytest.mark.parametrize(("method", "accuracy"), CASES)
def test_published_solutions(method, accuracy, problem) -> None:
    system = BlockSystem(problem.block, len(problem.start))
    state = system.state(problem.start, parameters=problem.parameters)
    integrator = method(accuracy=accuracy, absolute_tolerance=accuracy * problem.floor)
    integrator.initialize(system, state)
    run(integrator, system, state, problem.until)
    assert problem.error(state.y) < MARGIN * accuracy
    assert integrator.statistics.evaluations < 25_000
