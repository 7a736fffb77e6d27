"""Co-simulations that are saved in the middle of a run, for tests of checkpoints."""

from pathlib import Path
from typing import Any

import cosim
from cosim_fmu import CoSimulation, SystemParticipant, TimedInputs

LINKS = [
    "left.force -> right.f",
    "right.x -> left.x_other",
    "right.v -> left.v_other",
    "drive.u -> left.f",
]
SPRINGS = {"left.kc": 2.0, "left.cc": 0.1, "left.k": 3.0}
PUSH = {"u": [[0.0, 0.0], [0.3, 1.0], [0.62, -1.0]]}


class Mass(cosim.Component):
    """A mass on a spring that gains 1 % of its speed each time it passes the middle downward."""

    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    f = cosim.input(unit="N")
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x, v, f, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = f - 40.0 * x

    @cosim.witness(direction="falling")
    def middle(x):
        return x

    @cosim.on(middle, does="unrestricted")
    def hit(v, hits, v_next, hits_next):
        v_next[0] = 1.01 * v
        hits_next[0] = hits + 1


def loop_of(fmu: Path, algorithm: str, **options: Any) -> CoSimulation:
    """A co-simulation of two FMUs, a system with events, and a series."""
    model = cosim.Model("third")
    model.add(Mass, "m")
    parts = {"left": fmu, "right": fmu, "third": SystemParticipant(model), "drive": TimedInputs(PUSH)}
    links = [*LINKS, "right.force -> third.m.f"]
    return CoSimulation(parts, links, algorithm, 0.01, options=options, starts=SPRINGS)


def saved_at(loop: CoSimulation, time: float, until: float) -> tuple[bytes, Any]:
    """Run until `until`; return the state saved at `time` and the result."""
    states: list[bytes] = []

    def observe(now: float, values: Any) -> None:
        if not states and now >= time:
            states.append(loop.save())

    result = loop.simulate(until, observe=observe)
    return states[0], result


def assert_same_runs(result: Any, expected: Any) -> None:
    """Both results have the same times, signals and events."""
    assert result.time.tobytes() == expected.time.tobytes()
    assert result.names == expected.names
    for name in result.names:
        assert result[name].tobytes() == expected[name].tobytes(), name
    assert [(e.time, e.handler, e.cause) for e in result.events] == [
        (e.time, e.handler, e.cause) for e in expected.events
    ]
