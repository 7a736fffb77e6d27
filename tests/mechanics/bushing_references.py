"""The reference file of the bushing: its cases, and its names in ours."""

import json
from pathlib import Path

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "bushing.json").read_text())
CASES = REFERENCE["cases"]

#: From the reference's names to ours.
RENAMED = {
    "F_GB1_body_origin": "F_GB1",
    "F_GB2_body_origin": "F_GB2",
    "zdot_dissipated_energy": "dissipated_energy_dot",
}
QUANTITIES = [
    "X_GF", "X_GM", "X_FM", "q", "potential_energy", "V_GF", "V_GM", "V_FM", "qdot", "f", "F_GM", "F_GF",
    "power_dissipation", "zdot_dissipated_energy", "F_GB1_body_origin", "F_GB2_body_origin",
]  # fmt: skip


def tolerance(case):
    """Relative, as the reference asks for."""
    return 1e-7 if case["kind"] == "near_singular" else 1e-11
