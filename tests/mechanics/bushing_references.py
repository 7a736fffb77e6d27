"""The cases of tests/data/bushing.json, and the names that its quantities have in the framework."""

import json
from pathlib import Path

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "bushing.json").read_text())
CASES = REFERENCE["cases"]

RENAMED = {
    "F_GB1_body_origin": "F_GB1",
    "F_GB2_body_origin": "F_GB2",
    "zdot_dissipated_energy": "dissipated_energy_dot",
}
"""From names of the file to those of `LinearBushing`, where they differ."""
QUANTITIES = [
    "X_GF", "X_GM", "X_FM", "q", "potential_energy", "V_GF", "V_GM", "V_FM", "qdot", "f", "F_GM", "F_GF",
    "power_dissipation", "zdot_dissipated_energy", "F_GB1_body_origin", "F_GB2_body_origin",
]  # fmt: skip


def tolerance(case):
    """Return the relative tolerance that the file recommends for a case."""
    return 1e-7 if case["kind"] == "near_singular" else 1e-11
