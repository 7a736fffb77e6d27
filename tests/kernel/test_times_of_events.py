"""``cosim.at`` takes one time or several, as numbers or as text with a unit, and refuses anything else."""

from typing import Any

import pytest

import cosim


@pytest.mark.parametrize(
    ("times", "expected"), [(0.7, (0.7,)), ("20 ms", (0.02,)), ([1, "500 ms"], (0.5, 1.0))]
)
def test_events_happen_at_the_given_times(times: Any, expected: tuple[float, ...]) -> None:
    class Marked(cosim.Component):
        """Counts events at these times."""

        count = cosim.discrete(dtype=int)

        @cosim.at(times, does="discrete")
        def mark(count, count_next):  # noqa: N805
            count_next[0] = count + 1

    model = cosim.Model("times")
    model.add(Marked, "m")
    result = model.simulate(until=2.0, accuracy=1e-6)
    assert tuple(event.time for event in result.events) == expected


@pytest.mark.parametrize("times", ["20 kg", [None], [], [float("nan")], [0.5, "soon"]])
def test_other_values_are_refused(times: Any) -> None:
    with pytest.raises(cosim.ContractError, match=r"cosim\.at\("):
        cosim.at(times, does="discrete")
