"""An FMU in Ecos (ecospy): FMU PACKAGES steps size-in-s input value output… (names) → JSON.

PACKAGES is a folder with what the FMU imports and this environment lacks.
"""

import json
import sys

from ecospy import EcosSimulation, EcosSimulationStructure

path, steps, size, target, value = sys.argv[1], int(sys.argv[3]), float(sys.argv[4]), sys.argv[5], sys.argv[6]
sys.path.append(sys.argv[2])
outputs = sys.argv[7:]
structure = EcosSimulationStructure()
structure.add_model("one", path)
with EcosSimulation(structure=structure, step_size=size) as simulation:
    simulation.set_real(f"one::{target}", float(value))
    simulation.init()
    rows = []
    for _ in range(steps):
        simulation.step(1)
        rows.append([simulation.get_real(f"one::{name}") for name in outputs])
    simulation.terminate()
print()
print(json.dumps({"rows": rows}))
