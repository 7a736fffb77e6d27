"""Patterns for names of signals, in the signals of a run and in selections of a result."""

import numpy as np
import pytest

import cosim


class Cloud(cosim.Component):
    """A vector of states."""

    x = cosim.auxiliary_state(unit="m", shape=3, start=(1.0, 2.0, 3.0))

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0], x_dot[1], x_dot[2] = x[1], x[2], 0.0


def test_elements_are_chosen_by_a_pattern_with_brackets() -> None:
    model = cosim.Model("cloud")
    model.add(Cloud, "cloud")
    result = model.simulate(until=0.1, output_interval=0.1, signals=["cloud.x[*]"])
    assert list(result.signals) == ["cloud.x[0]", "cloud.x[1]", "cloud.x[2]"]
    vector_result = model.simulate(until=0.1, output_interval=0.1, signals=["cloud.x"])
    chosen = vector_result.select("*[1]")
    assert list(chosen.signals) == ["cloud.x[1]"]
    np.testing.assert_array_equal(chosen["cloud.x[1]"], result["cloud.x[1]"])
    with pytest.raises(cosim.LookUpError, match="no signal"):
        model.simulate(until=0.1, signals=["cloud.[x]*?"])
