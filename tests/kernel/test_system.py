"""One system, many simulators."""

import numpy as np
import pytest
from falling_ball import FallingBall

import cosim
from cosim.run_data.run import ROLES
from cosim.system.blocks import Slot
from cosim_mechanics import Multibody


class Bouncer(FallingBall):
    """A ball that is late by a delay, and counted."""

    bounces = cosim.discrete(dtype=int)

    @cosim.on(FallingBall.floor, does="unrestricted")
    def bounce(speed, bounces, speed_next, bounces_next):
        speed_next[0] = -0.7 * speed
        bounces_next[0] = bounces + 1


def test_simulators_of_one_system_share_nothing_that_a_run_writes():
    """Whatever came between, of the same method or of another one."""

    def built():
        model = cosim.Model("bouncer")
        model.add(Bouncer, "ball")
        model.measure("measures.delay", "late", source="ball.height", delay=0.05)
        return model.build()

    def simulator(system, method="runge_kutta_merson", accuracy=1e-6, **options):
        return cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=accuracy, **options)

    def end(one):
        one.advance_to(1.4)
        return one.state.to_bytes(), [(event.cause, event.time) for event in one.events]

    expected = []
    for first in (0.6, 0.9):
        alone = simulator(built())
        alone.advance_to(first)
        expected.append(end(alone))
    system = built()
    one, two = simulator(system), simulator(system)
    written = [name for name, role in ROLES.items() if role not in ("constant", "computed")]
    for name in [*written, "program", "choice"]:
        mine, other = (getattr(each.compiled_step.arrays, name) for each in (one, two))
        assert not np.shares_memory(mine, other), name
    one.advance_to(0.6)
    others = [
        simulator(system, "bdf"),
        simulator(system, accuracy=1e-3),
        simulator(system, endless_events="report"),
        simulator(system, "runge_kutta_4", fixed_step=0.01),
    ]
    two.advance_to(0.9)
    for other in others:
        other.advance_to(1.0)
    assert [end(one), end(two)] == expected


def test_paths_are_found_however_many_are_asked_for(monkeypatch):
    monkeypatch.setattr("cosim.system.system_variables.KEPT_SIGNALS", 2)
    model, heights = cosim.Model("balls"), {f"ball{i}.height": 1.0 + i for i in range(5)}
    for path, height in heights.items():
        model.add(Bouncer, path.partition(".")[0], height=height)
    system = model.build()
    result = cosim.simulate(system, 0.1, fixed_step=0.1, integrator="integrators.runge_kutta_4",
                            accuracy=1e-3, signals=list(heights))  # fmt: skip
    assert {path: values[0] for path, values in result.signals.items()} == heights
    assert len(system._signals) <= 2


def test_many_paths_mean_what_each_means_alone():
    arm = Multibody("arm", gravity=(0.0, 0.0, -9.81))
    for i in range(3):
        body = arm.body(f"body{i}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        arm.joint("pin", name=f"pin{i}", child=body, parent="ground" if i == 0 else f"body{i - 1}")
    arm.add("measures.maximum", "most", source="pin0.q")
    system = arm.build()
    joint = system.signal("body0.x")
    assert joint.slot.size == 1 and joint.units == ("m",)  # a name for an element, with a unit of its own
    paths = [*system.variables, "pin1.q_dot", "pin0.q[0]", "most"]
    alone = [system.assembly.wiring.signal(path) for path in paths]
    for _ in range(2):  # the names of a class are known from then on
        arrays, offsets, sizes, units, kinds = system.signal_columns(paths)
        assert [Slot(*slot) for slot in zip(arrays, offsets, sizes, strict=True)] == [s.slot for s in alone]
        assert units == [signal.units for signal in alone]
        assert kinds == [signal.declaration.kind for signal in alone]
    assert system.signal_columns([]) == ([], [], [], [], [])
    for path, name in (("pin0.nothing", "nothing"), ("nobody.q", "nobody"), ("pin0.q[7]", "pin0.q")):
        with pytest.raises(cosim.LookUpError, match=name):
            system.signal_columns([path])


def test_variables_of_some_kinds_are_those_of_all_variables():
    def made():
        arm = Multibody("arm", gravity=(0.0, 0.0, -9.81))
        body = arm.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
        arm.joint("pin", name="pin", child=body, parent="ground")
        arm.add("measures.maximum", "most", source="pin.q")
        arm.add("measures.integrate", "area", source="pin.q")
        return arm.build()

    system, kinds = made(), {v.kind for v in made().variables.values()}
    assert {"measure", "parameter", "cache", "position"} <= kinds
    for chosen in [(), ("nothing",), *((kind,) for kind in kinds), ("output", "measure"), tuple(kinds)]:
        expected = [v for v in made().variables.values() if v.kind in chosen]
        for found in (made().variables_of(*chosen), system.variables_of(*chosen)):
            assert list(found.values()) == expected and list(found) == [v.path for v in expected]
        assert list(system.variables)  # known from here on
    assert system.outputs == made().outputs == tuple(system.variables_of("output", "measure"))
