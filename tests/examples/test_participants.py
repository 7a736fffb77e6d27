"""The tests of the participant example, and a co-simulation of two of its rooms."""

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "participants"
sys.path.insert(0, str(EXAMPLES))

from heated_room import HeatedRoom  # noqa: E402
from relaxed_jacobi import RelaxedJacobi  # noqa: E402
from test_heated_room import TestHeatedRoom as TestHeatedRoom  # noqa: E402
from test_heated_room import TestRelaxedJacobi as TestRelaxedJacobi  # noqa: E402

from cosim_fmu import CoSimulation  # noqa: E402


def test_two_rooms_approach_their_steady_temperatures() -> None:
    rooms = {"room": HeatedRoom(), "next": HeatedRoom(capacity=1e5)}
    connections = [{"from": "room.loss", "to": "next.power", "factor": 0.5}]
    result = CoSimulation(
        rooms, connections, RelaxedJacobi(), "1 min", starts={"room.power": 2000.0}
    ).simulate(36000.0)
    assert abs(result["room.temperature"][-1] - (5.0 + 2000.0 / 80.0)) < 1e-3
    assert abs(result["next.temperature"][-1] - (5.0 + 1000.0 / 80.0)) < 1e-2
