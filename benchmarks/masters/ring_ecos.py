"""A ring of node.fmu in Ecos (ecospy): FMU count steps → JSON."""

import json
import sys
import time

from ecospy import EcosSimulation, EcosSimulationStructure

path, count, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
structure = EcosSimulationStructure()
for i in range(count):
    structure.add_model(f"n{i}", path)
for i in range(count):
    structure.make_real_connection(f"n{i}::y", f"n{(i + 1) % count}::u")
with EcosSimulation(structure=structure, step_size=1e-3) as simulation:
    simulation.set_real("n0::y", 2.0)
    simulation.init()
    begun = time.perf_counter()
    simulation.step(steps)
    seconds = time.perf_counter() - begun
    value = simulation.get_real("n0::y")
    simulation.terminate()
print()
print(json.dumps({"seconds": seconds, "value": value}))
