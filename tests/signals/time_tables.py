"""A table of several points, in a simulation with the integral of its signal."""

from __future__ import annotations

import cosim

TIMES = [0.0, 0.1, 0.3, 0.35, 0.8, 1.0]
SAMPLES = [1.0, 3.0, 2.0, -1.0, 0.5, 4.0]


def simulator_of_table(**parameters: object) -> cosim.Simulator:
    model = cosim.Model("table")
    model.add("signals.time_table", "table", **{"times": TIMES, "samples": SAMPLES, **parameters})
    model.add("measures.integrate", "area", source="table")
    return cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=1e-9)


def values_at(simulator: cosim.Simulator, times: list[float], name: str = "table") -> list[float]:
    values = []
    for t in times:
        simulator.advance_to(t)
        values.append(simulator.state.realize()[name])
    return values
