"""A capacitor and a coil without losses: each exchange with held inputs adds energy to their oscillation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
from cosim_fmu.testing.linear_participant import LinearParticipant

LC = [("coil.i", "capacitor.i_in"), ("capacitor.v", "coil.v_in")]


def circuit() -> dict[str, LinearParticipant]:
    """The capacitor, charged to 1 V, and the coil; the exact voltage is cos t."""
    return {
        "capacitor": LinearParticipant([[[0.0]], [[1.0]], [[1.0]], [[0.0]]], ["i_in"], ["v"], [1.0]),
        "coil": LinearParticipant([[[0.0]], [[-1.0]], [[1.0]], [[0.0]]], ["v_in"], ["i"], [0.0]),
    }
