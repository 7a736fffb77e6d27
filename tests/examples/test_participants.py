"""The participant and the algorithm to copy: they pass the kit, and run as plugins do."""

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "participants"
sys.path.insert(0, str(EXAMPLES))

from heated_room import HeatedRoom  # noqa: E402
from relaxed_jacobi import RelaxedJacobi  # noqa: E402
from test_heated_room import TestHeatedRoom as TestHeatedRoom  # noqa: E402
from test_heated_room import TestRelaxedJacobi as TestRelaxedJacobi  # noqa: E402

from cosim_fmu import CoSimulation  # noqa: E402


def test_they_run_together() -> None:
    parts = {"room": HeatedRoom(), "next": HeatedRoom(capacity=1e5)}
    wires = [{"from": "room.loss", "to": "next.power", "factor": 0.5}]
    result = CoSimulation(parts, wires, RelaxedJacobi(), "1 min", starts={"room.power": 2000.0}).simulate(
        36000.0
    )
    assert abs(result["room.temperature"][-1] - (5.0 + 2000.0 / 80.0)) < 1e-3
    assert abs(result["next.temperature"][-1] - (5.0 + 1000.0 / 80.0)) < 1e-2
